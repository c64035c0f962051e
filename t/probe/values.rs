// For t/pprobe.t: each call prints the values that a probe is to record, in the form of the trace
// file of tracefs.
use std::hint::black_box;

mod store {
    pub struct Store {
        pub id: u32,
        pub name: String,
        pub items: Vec<i32>,
    }
    impl Store {
        #[inline(never)]
        pub fn save(&mut self, key: &str, n: i64, opt: Option<u32>) -> i64 {
            eprintln!(
                "save id={} len={} key__len={} n={} item={}",
                self.id,
                self.name.len(),
                key.len(),
                n,
                self.items[1]
            );
            self.id += 1;
            let r = n * 2 + self.id as i64 + opt.unwrap_or(0) as i64;
            eprintln!("save__return retval={}", r);
            r
        }
    }
    pub trait Shape {
        fn area(&self, scale: u64) -> u64;
    }
    pub struct Square(pub u64);
    impl Shape for Square {
        #[inline(never)]
        fn area(&self, scale: u64) -> u64 {
            eprintln!("area scale={} side={}", scale, self.0);
            self.0 * self.0 * scale
        }
    }
}
use store::Shape;

#[inline(never)]
fn sum(v: &[u32], many: [u64; 3], a: u64, b: u64, c: u64, d: u64, e: u64, f: u64, g: u64) -> u64 {
    eprintln!("sum a={} f={} g={} m={}", a, f, g, many[1]);
    v.iter().map(|x| *x as u64).sum::<u64>() + many[2] + a + b + c + d + e + f + g
}

#[inline(never)]
fn panics(n: i32) -> i32 {
    eprintln!("panics n={}", n);
    if n % 2 == 1 {
        panic!("odd");
    }
    eprintln!("panics__return retval={}", n + 1);
    n + 1
}

#[inline(never)]
fn show<T: std::fmt::Display>(t: T) -> usize {
    format!("{}", t).len()
}

fn main() {
    std::panic::set_hook(Box::new(|_| {}));
    let n: i64 = std::env::args().nth(1).map(|s| s.parse().unwrap()).unwrap_or(3);
    let mut s = store::Store { id: 5, name: String::from("stored"), items: vec![10, 20, 30] };
    let mut t = 0u64;
    for i in 0..n {
        let key = format!("key{}", i);
        t += s.save(&key, i * 1000, if i % 2 == 0 { Some(i as u32) } else { None }) as u64;
        let sq = store::Square(i as u64 + 2);
        t += sq.area(black_box(3));
        let v = vec![1u32, 2, 3];
        t += sum(&v, black_box([i as u64, 7, 8]), 1, 2, 3, 4, 5, black_box(i as u64 + 100), black_box(77));
        t += std::panic::catch_unwind(|| panics(black_box(i as i32))).unwrap_or(0) as u64;
        t += show(&key[..]) as u64 + show(i) as u64;
    }
    println!("{}", t);
}

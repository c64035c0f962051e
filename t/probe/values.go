// For t/pprobe.t: each call prints the values that a probe is to record, in the form of the trace
// file of tracefs.
package main

import (
	"fmt"
	"os"
	"strconv"
)

type Store struct {
	id    int
	name  string
	items []int32
}

type Shape interface{ Area(scale int) int }
type Square struct{ side int }

//go:noinline
func (s *Square) Area(scale int) int {
	fmt.Fprintf(os.Stderr, "Area scale=%d side=%d\n", scale, s.side)
	return s.side * s.side * scale
}

//go:noinline
func (s *Store) Save(key string, n int64, flag bool, list []int32) int64 {
	fmt.Fprintf(os.Stderr, "Save id=%d n=%d flag=%d item=%d len=%d first=%d keylen=%d\n",
		s.id, n, b2i(flag), s.items[1], len(list), list[0], len(key))
	s.id++
	r := n*2 + int64(s.id)
	fmt.Fprintf(os.Stderr, "Save__return retval=%d\n", r)
	return r
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

//go:noinline
func many(a, b, c, d, e, f, g, h, i, j, k int, s string) int {
	fmt.Fprintf(os.Stderr, "many a=%d i=%d j=%d k=%d slen=%d\n", a, i, j, k, len(s))
	return a + b + c + d + e + f + g + h + i + j + k + len(s)
}

//go:noinline
func deep(n int, buf [64]byte) int {
	fmt.Fprintf(os.Stderr, "deep n=%d\n", n)
	if n == 0 {
		return int(buf[3])
	}
	buf[n&63]++
	return deep(n-1, buf) + 1
}

func main() {
	n := 3
	if len(os.Args) > 1 {
		n, _ = strconv.Atoi(os.Args[1])
	}
	s := &Store{5, "stored", []int32{10, 20, 30}}
	t := int64(0)
	for i := 0; i < n; i++ {
		t += s.Save("key"+strconv.Itoa(i), int64(i*1000), i%2 == 0, []int32{int32(i), 2})
		var sh Shape = &Square{i + 2}
		t += int64(sh.Area(3))
		t += int64(many(i, 2, 3, 4, 5, 6, 7, 8, i+9, i+10, i+11, "hello"))
		c := make(chan int)
		go func() { c <- deep(40, [64]byte{}) }()
		t += int64(<-c)
	}
	fmt.Println(t)
}

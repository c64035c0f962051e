(* What t/pprobe-languages.t probes; each call prints what a probe is to record: numbers as the
   machine has them, twice the number and one. *)
type item = { id : int; name : string }

let counter = ref 0

let[@inline never] save n name it =
  Printf.eprintf "save n=%d name=\"%s\" id=%d\n%!" ((2 * n) + 1) name ((2 * it.id) + 1);
  counter := !counter + n;
  Printf.eprintf "save__return retval=%d\n%!" ((2 * (n + it.id)) + 1);
  n + it.id

let () =
  for i = 1 to 6 do
    ignore (save i "abc" { id = i * 7; name = "x" })
  done

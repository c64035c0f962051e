! What t/pprobe-languages.t probes; each call prints what a probe is to record.
module store
  implicit none
  integer :: counter = 0
  type item
    integer :: id
    real(8) :: weight
  end type
contains
  subroutine save_item(n, w, name, v, it)
    integer, intent(in) :: n
    real(8), intent(in) :: w
    character(*), intent(in) :: name
    integer, intent(in) :: v(:)
    type(item), intent(in) :: it
    write (0, '(a,i0,a,i0,3a,i0)') 'save_item n=', n, ' id=', it%id, ' name="', name(1:3), '" counter=', counter
    counter = counter + n + int(w) + v(2)
  end subroutine
  integer function twice(n)
    integer, intent(in) :: n
    twice = n * 2
    write (0, '(a,i0)') 'twice__return retval=', twice
  end function
end module

subroutine outside(n)
  integer, intent(in) :: n
  write (0, '(a,i0)') 'outside n=', n
end subroutine

program main
  use store
  integer :: a(4) = [1, 2, 3, 4], i
  type(item) :: t
  do i = 1, 6
    a(2) = -i
    t%id = i * 7
    t%weight = 0.5
    call save_item(twice(i), 1.5d0, 'abc' // char(0), a, t)
    call outside(i * 3)
  end do
end program

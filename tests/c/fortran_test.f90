! The Fortran module: what it refuses, with a status and a message, and a job of integers with a mapping after that.
module checks
  use, intrinsic :: iso_c_binding
  use shiplap
  implicit none
  integer :: failures = 0
contains
  subroutine expect(what, condition)
    character(*), intent(in) :: what
    logical, intent(in) :: condition
    if (condition) return
    failures = failures + 1
    print "(2a)", "not so: ", what
  end subroutine
  subroutine expect_usage(what, status)
    character(*), intent(in) :: what
    integer, intent(in) :: status
    call expect(what // " is refused", status == shiplap_usage)
  end subroutine

  ! Every item needs two elements of the first array.
  integer(c_int) function pairs(first, count, user, first_element, elements) bind(C)
    integer(c_int64_t), value :: first, count
    type(c_ptr), value :: user
    integer(c_int64_t), intent(out) :: first_element, elements
    first_element = 2 * first
    elements = 2 * count
    pairs = 0
    if (c_associated(user)) pairs = 1
  end function
  integer(c_int) function sums(chunk, user) bind(C)
    type(shiplap_chunk), intent(in) :: chunk
    type(c_ptr), value :: user
    integer(c_int32_t), pointer, contiguous :: from(:), to(:)
    integer(c_int64_t) :: i
    call shiplap_elements(chunk, 1, from)
    call shiplap_elements(chunk, 2, to)
    do i = chunk%first + 1, chunk%first + chunk%count
      to(i) = from(2 * i - 1) + from(2 * i)
    end do
    sums = 0
    if (c_associated(user)) sums = 1
  end function
end module

program fortran_test
  use checks
  implicit none
  integer, parameter :: n = 1000
  type(shiplap_node) :: node
  type(shiplap_job) :: job, never
  type(shiplap_plan) :: plan
  type(shiplap_prepared) :: prepared
  integer(c_int32_t), target :: from(2 * n), to(n), shaped(7, 300)
  integer(c_int32_t), allocatable, target :: unallocated(:)
  integer :: status, i

  call node%open("virtual:no-such-gpu", status=status)
  call expect_usage("an unknown device", status)
  call expect("its name is in the message", index(shiplap_message(), "no-such-gpu") > 0)
  call node%open("virtual:h200")
  call expect("the device has a name", node%device() == "virtual:h200")
  call expect("the version has two points", index(shiplap_version(), ".") > 0)

  call never%array("from", shiplap_in, from, status)
  call expect_usage("an array of a job that is not created", status)
  call never%create("empty", 0, status)
  call expect_usage("a job without items", status)
  call job%create("sums", 400)
  call job%array("shaped", shiplap_in, shaped)
  call job%host_kernel(sums, status=status)
  call expect_usage("400 items over a last dimension of 300", status)
  call expect("the message names the array", index(shiplap_message(), "shaped") > 0)
  call job%create("sums", int(n, c_int64_t))
  call job%array("section", shiplap_in, from(1:n:2), status)
  call expect_usage("a section", status)
  call job%array("unallocated", shiplap_in, unallocated, status)
  call expect_usage("an array that is not allocated", status)
  call job%array("from", shiplap_in, from)
  call job%halo("form", 1, 1, status)
  call expect_usage("a halo of an unknown array", status)
  call expect("the message is that of the library again", index(shiplap_message(), "form") > 0)
  call job%halo("from", -1, 1, status)
  call expect_usage("a negative halo", status)
  call job%map("from", pairs)
  call job%array("to", shiplap_out, to)
  call job%host_kernel(sums)

  from = [(i, i=1, 2 * n)]
  call plan%of_job(node, job)
  call prepared%prepare(node, plan)
  call prepared%run()
  call expect("every sum is right", all(to == [(4 * i - 1, i=1, n)]))
  call prepared%fetch("to", status)
  call expect_usage("fetching an array that does not stay", status)
  call prepared%destroy()
  call plan%destroy()
  call job%destroy()
  call node%close()
  if (failures > 0) error stop "some of it is not so"
end program

!> A time step of an ocean model in Fortran: density (state) and buoyancy differences (buoydiff) of all levels on the
!> GPU, then a part of the host, which mixes columns. Temperature and salinity cross the link once for both kernels.
!>   ocean_step [DEVICE [NX [NY [LEVELS]]]]
module ocean
  use, intrinsic :: iso_c_binding
  use shiplap
  implicit none
  integer, parameter :: steps = 3
  integer :: nx = 192, ny = 128, levels = 42
  real(c_double), allocatable, target :: t(:,:,:), s(:,:,:), rho(:,:,:), difference(:,:,:)

  interface
    !> Those of ocean_kernels.cu.
    integer(c_int) function state_on_gpu(chunk, user) bind(C)
      import :: c_int, c_ptr, shiplap_chunk
      type(shiplap_chunk), intent(in) :: chunk
      type(c_ptr), value :: user
    end function
    integer(c_int) function buoydiff_on_gpu(chunk, user) bind(C)
      import :: c_int, c_ptr, shiplap_chunk
      type(shiplap_chunk), intent(in) :: chunk
      type(c_ptr), value :: user
    end function
  end interface

contains

  !> The density in g/cm^3 by the linear equation of state of POP, at temperature t in degrees C and salinity s in kg/kg.
  elemental real(c_double) function density(t, s)
    real(c_double), intent(in) :: t, s
    density = 1.0259d0 - 2.55d-4 * (t - 19.0d0) + 0.764d0 * (s - 0.035d0)
  end function

  !> The items are levels: the last dimension.
  integer(c_int) function state_on_host(chunk, user) bind(C)
    type(shiplap_chunk), intent(in) :: chunk
    type(c_ptr), value :: user
    real(c_double), pointer, contiguous :: t1(:), s1(:), rho1(:)
    call shiplap_elements(chunk, 1, t1)
    call shiplap_elements(chunk, 2, s1)
    call shiplap_elements(chunk, 3, rho1)
    rho1 = density(t1, s1)
    state_on_host = 0
  end function

  !> 980.6 (1 - rho above / rho here) in cm/s^2; 0 at the surface.
  integer(c_int) function buoydiff_on_host(chunk, user) bind(C)
    type(shiplap_chunk), intent(in) :: chunk
    type(c_ptr), value :: user
    real(c_double), pointer, contiguous :: rho1(:), difference1(:), d(:,:,:), r(:,:,:)
    integer :: first, last, top, level
    call shiplap_elements(chunk, 1, rho1)
    call shiplap_elements(chunk, 2, difference1)
    first = int(chunk%first) + 1
    last = int(chunk%first + chunk%count)
    top = max(first - 1, 1)  ! the halo
    r(1:nx, 1:ny, top:last) => rho1
    d(1:nx, 1:ny, first:last) => difference1
    do level = first, last
      if (level == 1) then
        d(:,:,1) = 0
      else
        d(:,:,level) = 980.6d0 * (1 - r(:,:,level - 1) / r(:,:,level))
      end if
    end do
    buoydiff_on_host = 0
  end function

  !> What stays on the host: columns are mixed where water is heavier than the water below.
  subroutine mix_columns(t, difference)
    real(c_double), intent(inout) :: t(:,:,:)
    real(c_double), intent(in) :: difference(:,:,:)
    integer :: level
    do level = 2, size(t, 3)
      where (difference(:,:,level) < 0) t(:,:,level) = 0.5d0 * (t(:,:,level) + t(:,:,level - 1))
    end do
  end subroutine
  integer(c_int) function mix(user) bind(C)
    type(c_ptr), value :: user
    call mix_columns(t, difference)
    mix = 0
  end function

end module

program ocean_step
  use ocean
  implicit none
  type(shiplap_node) :: node
  type(shiplap_job) :: state, buoydiff
  type(shiplap_step) :: step
  type(shiplap_plan) :: plan
  type(shiplap_prepared) :: prepared
  real(c_double), allocatable :: t_expected(:,:,:), rho_expected(:,:,:), d_expected(:,:,:)
  real(c_double) :: seconds
  character(len=256) :: argument
  integer :: i, level

  if (command_argument_count() >= 2) nx = number(2)
  if (command_argument_count() >= 3) ny = number(3)
  if (command_argument_count() >= 4) levels = number(4)
  allocate (t(nx, ny, levels), s(nx, ny, levels), rho(nx, ny, levels), difference(nx, ny, levels))
  call random_number(t)
  call random_number(s)
  t = 20 * t
  s = 0.03d0 + 0.01d0 * s
  t_expected = t

  if (command_argument_count() >= 1) then
    call get_command_argument(1, argument)
    call node%open(argument)
  else
    call node%open()
  end if
  call state%create("state", levels)
  call state%array("t", shiplap_in, t)
  call state%array("s", shiplap_in, s)
  call state%array("rho", shiplap_out, rho)
  call state%host_kernel(state_on_host)
  call buoydiff%create("buoydiff", levels)
  call buoydiff%array("rho", shiplap_in, rho)
  call buoydiff%halo("rho", 1, 0)
  call buoydiff%array("difference", shiplap_out, difference)
  call buoydiff%host_kernel(buoydiff_on_host)
#ifdef WITH_CUDA
  call state%gpu_kernel(state_on_gpu)
  call buoydiff%gpu_kernel(buoydiff_on_gpu)
#endif
  call step%create("ocean")
  call step%kernel(state)
  call step%kernel(buoydiff)
  call step%host("mix", mix, [shiplap_writes(t), shiplap_reads(difference)])
  call step%temporary("rho")

  call plan%of_step(node, step)
  write (*, "(a)", advance="no") plan%explain()
  call prepared%prepare(node, plan)
  do i = 1, steps
    call prepared%run(seconds)
  end do
  print "(a, f0.3, a, f0.3, a)", "The last step took ", seconds * 1d3, " ms, ", plan%predicted() * 1d3, " ms predicted."

  allocate (d_expected(nx, ny, levels))
  do i = 1, steps
    rho_expected = density(t_expected, s)
    d_expected(:,:,1) = 0
    do level = 2, levels
      d_expected(:,:,level) = 980.6d0 * (1 - rho_expected(:,:,level - 1) / rho_expected(:,:,level))
    end do
    call mix_columns(t_expected, d_expected)
  end do
  if (maxval(abs(t - t_expected)) > 1d-9) error stop "the temperature is wrong"
  if (maxval(abs(difference - d_expected)) > 1d-9) error stop "the buoyancy differences are wrong"
  call prepared%destroy()
  call plan%destroy()
  call step%destroy()
  call buoydiff%destroy()
  call state%destroy()
  call node%close()

contains

  integer function number(position)
    integer, intent(in) :: position
    call get_command_argument(position, argument)
    read (argument, *) number
  end function

end program

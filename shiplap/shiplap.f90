!> shiplap from Fortran: the objects of shiplap.h, whose comments say more about jobs, steps and plans.
!>
!> Elements are counted from 1 here; the components of a shiplap_chunk and the arguments of a shiplap_mapping count from
!> 0. An item is what the last dimension counts, or a part of it: of t(nx, ny, levels), each of `levels` items owns one
!> level. Arrays are contiguous, have the attribute target, and live as long as plans of them run.
!>
!> Procedures that can fail take an optional `status`, which becomes one of the constants below. Without it a failure
!> ends the program with the message. Objects are not copied: two copies would give one handle back twice.
module shiplap
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  implicit none
  private

  public :: shiplap_node, shiplap_job, shiplap_step, shiplap_plan, shiplap_prepared
  public :: shiplap_chunk, shiplap_access, shiplap_options
  public :: shiplap_kernel, shiplap_host_work, shiplap_mapping
  public :: shiplap_elements, shiplap_reads, shiplap_writes, shiplap_message, shiplap_version

  integer, parameter, public :: shiplap_success = 0, shiplap_failure = 1, shiplap_check_failed = 2, &
    shiplap_unsupported = 3, shiplap_timed_out = 4, shiplap_cancelled = 5, shiplap_usage = 64

  enum, bind(C)
    enumerator :: shiplap_in = 0, shiplap_out = 1, shiplap_inout = 2, shiplap_broadcast = 3, shiplap_carried = 4, &
      shiplap_scratch = 5
  end enum
  public :: shiplap_in, shiplap_out, shiplap_inout, shiplap_broadcast, shiplap_carried, shiplap_scratch

  !> Why this module, and not the library, has refused the last call that failed.
  character(len=:), allocatable, save :: refusal

  !> A chunk for which a kernel is launched: items first + 1 to first + count. `stream` is the cudaStream_t.
  type, bind(C) :: shiplap_chunk
    integer(c_int64_t) :: first
    integer(c_int64_t) :: count
    integer(c_int64_t) :: blocks
    type(c_ptr) :: stream
    integer(c_size_t) :: array_count
    type(c_ptr) :: arrays  !< for shiplap_elements
  end type

  type, bind(C) :: chunk_part
    type(c_ptr) :: data
    integer(c_int64_t) :: first
    integer(c_int64_t) :: count
    integer(c_size_t) :: element_size
  end type

  !> A part of an array that the host reads or writes, from shiplap_reads or shiplap_writes.
  type, bind(C) :: shiplap_access
    private
    type(c_ptr) :: data = c_null_ptr
    integer(c_size_t) :: bytes = 0
    integer(c_int) :: writes = 0
  end type

  !> What a caller may ask of a plan (see shiplap_options in shiplap.h).
  type, bind(C) :: shiplap_options
    integer(c_size_t) :: size = 48  !< bytes of this type: the library refuses another version's
    integer(c_int64_t) :: device_memory = 0
    integer(c_int64_t) :: runs = 1
    real(c_double) :: race = 0
    integer(c_int) :: may_pin = 1
    integer(c_int) :: quick = 0
    integer(c_int) :: check_reach = 0
  end type

  abstract interface
    !> Launches the kernel for a chunk on chunk%stream, or does its work on the host. Returns 0, or a number that stops
    !> the run. On the host it may be called for several chunks at once.
    integer(c_int) function shiplap_kernel(chunk, user) bind(C)
      import :: c_int, c_ptr, shiplap_chunk
      type(shiplap_chunk), intent(in) :: chunk
      type(c_ptr), value :: user
    end function
    !> Does the work of a part of the host. Returns 0, or a number that stops the run.
    integer(c_int) function shiplap_host_work(user) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), value :: user
    end function
    !> Says which elements a kernel is handed for `count` items; the first item and the first element count from 0.
    integer(c_int) function shiplap_mapping(first, count, user, first_element, elements) bind(C)
      import :: c_int, c_int64_t, c_ptr
      integer(c_int64_t), value :: first, count
      type(c_ptr), value :: user
      integer(c_int64_t), intent(out) :: first_element, elements
    end function
  end interface

  !> A device with the profile of its links.
  type :: shiplap_node
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure, public :: open => node_open
    procedure, public :: close => node_close
    procedure, public :: device => node_device
  end type

  !> Work that is cut along its items: arrays and a kernel.
  type :: shiplap_job
    private
    type(c_ptr) :: handle = c_null_ptr
    character(len=:), allocatable :: name
    integer(int64) :: items = 0
    character(len=:), allocatable :: cut_elsewhere  !< the array whose last dimension is no multiple of the items
  contains
    !> call job%create("state", levels): makes a job of this number of items.
    generic, public :: create => create_int32, create_int64
    procedure, private :: create_int32, create_int64
    procedure, public :: destroy => job_destroy
    !> call job%array("t", shiplap_in, t): adds an array of any rank.
    generic, public :: array => array_real32, array_real64, array_int32, array_int64
    procedure, private :: array_real32, array_real64, array_int32, array_int64
    generic, public :: scratch => scratch_int32, scratch_int64
    procedure, private :: scratch_int32, scratch_int64
    procedure, public :: halo => job_halo
    procedure, public :: map => job_map
    procedure, public :: keep => job_keep
    procedure, public :: gpu_kernel => job_gpu_kernel
    procedure, public :: host_kernel => job_host_kernel
    procedure, public :: kernel_time => job_kernel_time
    procedure, public :: work => job_work
  end type

  !> Kernels and parts of the host that run one after the other over the same arrays.
  type :: shiplap_step
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure, public :: create => step_create
    procedure, public :: destroy => step_destroy
    procedure, public :: kernel => step_kernel
    procedure, public :: host => step_host
    procedure, public :: repeat => step_repeat
    procedure, public :: stays_on_gpu => step_stays_on_gpu
    procedure, public :: temporary => step_temporary
  end type

  !> How a job or a step will be run.
  type :: shiplap_plan
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure, public :: of_job => plan_of_job
    procedure, public :: of_step => plan_of_step
    procedure, public :: destroy => plan_destroy
    procedure, public :: explain => plan_explain
    procedure, public :: predicted => plan_predicted
  end type

  !> A plan that is ready to run any number of times.
  type :: shiplap_prepared
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure, public :: prepare => prepared_prepare
    procedure, public :: destroy => prepared_destroy
    procedure, public :: run => prepared_run
    procedure, public :: changed => prepared_changed
    procedure, public :: fetch => prepared_fetch
  end type

  !> call shiplap_elements(chunk, n, p): p points to what the chunk has of the n-th array. Its bounds are those of the
  !> elements in the whole array, counted from 1; slabs(1:nx, 1:ny, l1:l2) => p gives it the array's shape.
  interface shiplap_elements
    module procedure elements_real32, elements_real64, elements_int32, elements_int64
  end interface
  !> A part of an array that the host only reads.
  interface shiplap_reads
    module procedure reads_real32, reads_real64, reads_int32, reads_int64
  end interface
  !> A part of an array that the host writes, and may read before.
  interface shiplap_writes
    module procedure writes_real32, writes_real64, writes_int32, writes_int64
  end interface

  interface
    type(c_ptr) function c_version() bind(C, name="shiplap_version")
      import :: c_ptr
    end function
    type(c_ptr) function c_message() bind(C, name="shiplap_message")
      import :: c_ptr
    end function
    integer(c_int) function c_open(node, device, profile) bind(C, name="shiplap_open")
      import :: c_ptr, c_int
      type(c_ptr), intent(inout) :: node
      type(c_ptr), value :: device, profile
    end function
    subroutine c_close(node) bind(C, name="shiplap_close")
      import :: c_ptr
      type(c_ptr), value :: node
    end subroutine
    type(c_ptr) function c_device(node) bind(C, name="shiplap_device")
      import :: c_ptr
      type(c_ptr), value :: node
    end function
    integer(c_int) function c_job_create(job, name, items) bind(C, name="shiplap_job_create")
      import :: c_ptr, c_int, c_int64_t, c_char
      type(c_ptr), intent(inout) :: job
      character(kind=c_char) :: name(*)
      integer(c_int64_t), value :: items
    end function
    subroutine c_job_destroy(job) bind(C, name="shiplap_job_destroy")
      import :: c_ptr
      type(c_ptr), value :: job
    end subroutine
    integer(c_int) function c_job_array(job, name, role, data, elements, size) bind(C, name="shiplap_job_array")
      import :: c_ptr, c_int, c_int64_t, c_size_t, c_char
      type(c_ptr), value :: job, data
      character(kind=c_char) :: name(*)
      integer(c_int), value :: role
      integer(c_int64_t), value :: elements
      integer(c_size_t), value :: size
    end function
    integer(c_int) function c_job_halo(job, array, before, after) bind(C, name="shiplap_job_halo")
      import :: c_ptr, c_int, c_int64_t, c_char
      type(c_ptr), value :: job
      character(kind=c_char) :: array(*)
      integer(c_int64_t), value :: before, after
    end function
    integer(c_int) function c_job_map(job, array, mapping, user) bind(C, name="shiplap_job_map")
      import :: c_ptr, c_funptr, c_int, c_char
      type(c_ptr), value :: job, user
      character(kind=c_char) :: array(*)
      type(c_funptr), value :: mapping
    end function
    integer(c_int) function c_job_keep(job, array) bind(C, name="shiplap_job_keep")
      import :: c_ptr, c_int, c_char
      type(c_ptr), value :: job
      character(kind=c_char) :: array(*)
    end function
    integer(c_int) function c_job_gpu_kernel(job, kernel, user) bind(C, name="shiplap_job_gpu_kernel")
      import :: c_ptr, c_funptr, c_int
      type(c_ptr), value :: job, user
      type(c_funptr), value :: kernel
    end function
    integer(c_int) function c_job_host_kernel(job, kernel, user) bind(C, name="shiplap_job_host_kernel")
      import :: c_ptr, c_funptr, c_int
      type(c_ptr), value :: job, user
      type(c_funptr), value :: kernel
    end function
    integer(c_int) function c_job_kernel_time(job, seconds) bind(C, name="shiplap_job_kernel_time")
      import :: c_ptr, c_int, c_double
      type(c_ptr), value :: job
      real(c_double), value :: seconds
    end function
    integer(c_int) function c_job_work(job, flops, double_precision, device_bytes) bind(C, name="shiplap_job_work")
      import :: c_ptr, c_int, c_double
      type(c_ptr), value :: job
      real(c_double), value :: flops, device_bytes
      integer(c_int), value :: double_precision
    end function
    integer(c_int) function c_step_create(step, name) bind(C, name="shiplap_step_create")
      import :: c_ptr, c_int, c_char
      type(c_ptr), intent(inout) :: step
      character(kind=c_char) :: name(*)
    end function
    subroutine c_step_destroy(step) bind(C, name="shiplap_step_destroy")
      import :: c_ptr
      type(c_ptr), value :: step
    end subroutine
    integer(c_int) function c_step_kernel(step, job) bind(C, name="shiplap_step_kernel")
      import :: c_ptr, c_int
      type(c_ptr), value :: step, job
    end function
    integer(c_int) function c_step_host(step, name, accesses, count, work, user, seconds) &
        bind(C, name="shiplap_step_host")
      import :: c_ptr, c_funptr, c_int, c_size_t, c_char, c_double, shiplap_access
      type(c_ptr), value :: step, user
      character(kind=c_char) :: name(*)
      type(shiplap_access) :: accesses(*)
      integer(c_size_t), value :: count
      type(c_funptr), value :: work
      real(c_double), value :: seconds
    end function
    integer(c_int) function c_step_repeat(step, times) bind(C, name="shiplap_step_repeat")
      import :: c_ptr, c_int, c_int64_t
      type(c_ptr), value :: step
      integer(c_int64_t), value :: times
    end function
    integer(c_int) function c_step_stays_on_gpu(step, array) bind(C, name="shiplap_step_stays_on_gpu")
      import :: c_ptr, c_int, c_char
      type(c_ptr), value :: step
      character(kind=c_char) :: array(*)
    end function
    integer(c_int) function c_step_temporary(step, array) bind(C, name="shiplap_step_temporary")
      import :: c_ptr, c_int, c_char
      type(c_ptr), value :: step
      character(kind=c_char) :: array(*)
    end function
    integer(c_int) function c_plan_job(plan, node, job, options) bind(C, name="shiplap_plan_job")
      import :: c_ptr, c_int, shiplap_options
      type(c_ptr), intent(inout) :: plan
      type(c_ptr), value :: node, job
      type(shiplap_options) :: options
    end function
    integer(c_int) function c_plan_step(plan, node, step, options) bind(C, name="shiplap_plan_step")
      import :: c_ptr, c_int, shiplap_options
      type(c_ptr), intent(inout) :: plan
      type(c_ptr), value :: node, step
      type(shiplap_options) :: options
    end function
    subroutine c_plan_destroy(plan) bind(C, name="shiplap_plan_destroy")
      import :: c_ptr
      type(c_ptr), value :: plan
    end subroutine
    type(c_ptr) function c_explain(plan) bind(C, name="shiplap_explain")
      import :: c_ptr
      type(c_ptr), value :: plan
    end function
    real(c_double) function c_predicted(plan) bind(C, name="shiplap_predicted")
      import :: c_ptr, c_double
      type(c_ptr), value :: plan
    end function
    integer(c_int) function c_prepare(prepared, node, plan) bind(C, name="shiplap_prepare")
      import :: c_ptr, c_int
      type(c_ptr), intent(inout) :: prepared
      type(c_ptr), value :: node, plan
    end function
    subroutine c_prepared_destroy(prepared) bind(C, name="shiplap_prepared_destroy")
      import :: c_ptr
      type(c_ptr), value :: prepared
    end subroutine
    integer(c_int) function c_run(prepared, seconds) bind(C, name="shiplap_run")
      import :: c_ptr, c_int, c_double
      type(c_ptr), value :: prepared
      real(c_double), intent(inout) :: seconds
    end function
    integer(c_int) function c_changed(prepared, array) bind(C, name="shiplap_changed")
      import :: c_ptr, c_int, c_char
      type(c_ptr), value :: prepared
      character(kind=c_char) :: array(*)
    end function
    integer(c_int) function c_fetch(prepared, array) bind(C, name="shiplap_fetch")
      import :: c_ptr, c_int, c_char
      type(c_ptr), value :: prepared
      character(kind=c_char) :: array(*)
    end function
    integer(c_size_t) function c_strlen(text) bind(C, name="strlen")
      import :: c_ptr, c_size_t
      type(c_ptr), value :: text
    end function
  end interface

contains

  !> Why the last call that failed did so, and what to do. Ask in the thread that made the call.
  function shiplap_message() result(text)
    character(len=:), allocatable :: text
    if (allocated(refusal)) then
      text = refusal
    else
      call get_text(c_message(), text)
    end if
  end function

  !> The version of the library, as in "0.1.0".
  function shiplap_version() result(text)
    character(len=:), allocatable :: text
    call get_text(c_version(), text)
  end function

  !> Opens a device, "cuda:0" or "virtual:h200"; without one the first GPU, or a virtual one where there is none.
  subroutine node_open(node, device, profile, status)
    class(shiplap_node), intent(inout) :: node
    character(*), intent(in), optional :: device, profile
    integer, intent(out), optional :: status
    character(kind=c_char), allocatable, target :: c_device_name(:), c_profile_name(:)
    type(c_ptr) :: device_pointer, profile_pointer
    device_pointer = c_null_ptr
    profile_pointer = c_null_ptr
    if (present(device)) then
      c_device_name = c_text(device)
      device_pointer = c_loc(c_device_name)
    end if
    if (present(profile)) then
      c_profile_name = c_text(profile)
      profile_pointer = c_loc(c_profile_name)
    end if
    call node%close()
    call finish(c_open(node%handle, device_pointer, profile_pointer), status)
  end subroutine

  subroutine node_close(node)
    class(shiplap_node), intent(inout) :: node
    call c_close(node%handle)
    node%handle = c_null_ptr
  end subroutine

  !> The name of the node's device, as in "cuda:0".
  function node_device(node) result(text)
    class(shiplap_node), intent(in) :: node
    character(len=:), allocatable :: text
    call get_text(c_device(node%handle), text)
  end function

  subroutine create_int32(job, name, items, status)
    class(shiplap_job), intent(inout) :: job
    character(*), intent(in) :: name
    integer(int32), intent(in) :: items
    integer, intent(out), optional :: status
    call job%create(name, int(items, int64), status)
  end subroutine
  subroutine create_int64(job, name, items, status)
    class(shiplap_job), intent(inout) :: job
    character(*), intent(in) :: name
    integer(int64), intent(in) :: items
    integer, intent(out), optional :: status
    call job%destroy()
    if (items < 1) then
      call refuse(name // " has no items: give it at least one", status)
      return
    end if
    job%name = name
    job%items = items
    job%cut_elsewhere = ""
    call finish(c_job_create(job%handle, c_text(name), int(items, c_int64_t)), status)
  end subroutine

  subroutine job_destroy(job)
    class(shiplap_job), intent(inout) :: job
    call c_job_destroy(job%handle)
    job%handle = c_null_ptr
  end subroutine

  subroutine add_array(job, name, role, data, elements, last, bytes, contiguous, status)
    class(shiplap_job), intent(inout) :: job
    character(*), intent(in) :: name
    integer(c_int), intent(in) :: role
    type(c_ptr), intent(in) :: data
    integer(c_int64_t), intent(in) :: elements, last
    integer, intent(in) :: bytes
    logical, intent(in) :: contiguous
    integer, intent(out), optional :: status
    if (.not. allocated(job%name)) then
      call refuse("array " // name // " is added to a job that is not created: call job%create first", status)
    else if (.not. contiguous) then
      call refuse(job%name // ": array " // name // " is not contiguous: give the whole array", status)
    else if (elements < 1 .or. bytes < 1) then
      call refuse(job%name // ": array " // name // " has no elements, or is not allocated", status)
    else
      if (role <= shiplap_inout .and. mod(last, job%items) /= 0 .and. mod(job%items, last) /= 0) job%cut_elsewhere = name
      call finish(c_job_array(job%handle, c_text(name), role, data, elements, int(bytes, c_size_t)), status)
    end if
  end subroutine

  !> Whether the items are those of the last dimension of each array, or equal parts or groups of them.
  logical function is_cut_at_items(job, status)
    class(shiplap_job), intent(in) :: job
    integer, intent(out), optional :: status
    is_cut_at_items = .true.
    if (.not. allocated(job%cut_elsewhere)) return
    is_cut_at_items = len(job%cut_elsewhere) == 0
    if (.not. is_cut_at_items) call refuse(job%name // ": the last dimension of " // job%cut_elsewhere // &
      " and the items do not divide each other: items are what the last dimension counts, or give a mapping", status)
  end function

  subroutine array_real32(job, name, role, array, status)
    class(shiplap_job), intent(inout) :: job
    character(*), intent(in) :: name
    integer(c_int), intent(in) :: role
    real(real32), target, intent(in) :: array(..)
    integer, intent(out), optional :: status
    call add_array(job, name, role, c_loc(array), size(array, kind=c_int64_t), &
                   last_extent(shape(array, kind=c_int64_t)), 4, is_contiguous(array), status)
  end subroutine
  subroutine array_real64(job, name, role, array, status)
    class(shiplap_job), intent(inout) :: job
    character(*), intent(in) :: name
    integer(c_int), intent(in) :: role
    real(real64), target, intent(in) :: array(..)
    integer, intent(out), optional :: status
    call add_array(job, name, role, c_loc(array), size(array, kind=c_int64_t), &
                   last_extent(shape(array, kind=c_int64_t)), 8, is_contiguous(array), status)
  end subroutine
  subroutine array_int32(job, name, role, array, status)
    class(shiplap_job), intent(inout) :: job
    character(*), intent(in) :: name
    integer(c_int), intent(in) :: role
    integer(int32), target, intent(in) :: array(..)
    integer, intent(out), optional :: status
    call add_array(job, name, role, c_loc(array), size(array, kind=c_int64_t), &
                   last_extent(shape(array, kind=c_int64_t)), 4, is_contiguous(array), status)
  end subroutine
  subroutine array_int64(job, name, role, array, status)
    class(shiplap_job), intent(inout) :: job
    character(*), intent(in) :: name
    integer(c_int), intent(in) :: role
    integer(int64), target, intent(in) :: array(..)
    integer, intent(out), optional :: status
    call add_array(job, name, role, c_loc(array), size(array, kind=c_int64_t), &
                   last_extent(shape(array, kind=c_int64_t)), 8, is_contiguous(array), status)
  end subroutine

  !> Adds memory on the GPU for the kernel of a chunk: `elements` elements of `bytes` bytes for all items together.
  subroutine scratch_int32(job, name, elements, bytes, status)
    class(shiplap_job), intent(inout) :: job
    character(*), intent(in) :: name
    integer(int32), intent(in) :: elements
    integer, intent(in) :: bytes
    integer, intent(out), optional :: status
    call job%scratch(name, int(elements, int64), bytes, status)
  end subroutine
  subroutine scratch_int64(job, name, elements, bytes, status)
    class(shiplap_job), intent(inout) :: job
    character(*), intent(in) :: name
    integer(int64), intent(in) :: elements
    integer, intent(in) :: bytes
    integer, intent(out), optional :: status
    call add_array(job, name, shiplap_scratch, c_null_ptr, elements, 1_c_int64_t, bytes, .true., status)
  end subroutine

  !> Says that the kernel reads what `before` items before its chunk and `after` items behind it own of an array too. At
  !> the ends of the array there are none.
  subroutine job_halo(job, array, before, after, status)
    class(shiplap_job), intent(inout) :: job
    character(*), intent(in) :: array
    integer, intent(in) :: before, after
    integer, intent(out), optional :: status
    if (before < 0 .or. after < 0) then
      call refuse("a halo of " // array // " has 0 items or more on each side", status)
      return
    end if
    call finish(c_job_halo(job%handle, c_text(array), int(before, c_int64_t), int(after, c_int64_t)), status)
  end subroutine

  !> Says which elements of an array the kernel is handed for a chunk, where they are not those that its items own.
  subroutine job_map(job, array, mapping, user, status)
    class(shiplap_job), intent(inout) :: job
    character(*), intent(in) :: array
    procedure(shiplap_mapping) :: mapping
    type(c_ptr), intent(in), optional :: user
    integer, intent(out), optional :: status
    if (allocated(job%cut_elsewhere)) then
      if (job%cut_elsewhere == array) job%cut_elsewhere = ""
    end if
    call finish(c_job_map(job%handle, c_text(array), c_funloc(mapping), given_user(user)), status)
  end subroutine

  !> Says that a broadcast or carried array stays on the GPU from run to run.
  subroutine job_keep(job, array, status)
    class(shiplap_job), intent(inout) :: job
    character(*), intent(in) :: array
    integer, intent(out), optional :: status
    call finish(c_job_keep(job%handle, c_text(array)), status)
  end subroutine

  !> Sets the function that launches the kernel on a GPU, after all arrays. It launches only.
  subroutine job_gpu_kernel(job, kernel, user, status)
    class(shiplap_job), intent(inout) :: job
    procedure(shiplap_kernel) :: kernel
    type(c_ptr), intent(in), optional :: user
    integer, intent(out), optional :: status
    if (.not. is_cut_at_items(job, status)) return
    call finish(c_job_gpu_kernel(job%handle, c_funloc(kernel), given_user(user)), status)
  end subroutine

  !> Sets the function that does the kernel's work on the host, which virtual devices run, after all arrays.
  subroutine job_host_kernel(job, kernel, user, status)
    class(shiplap_job), intent(inout) :: job
    procedure(shiplap_kernel) :: kernel
    type(c_ptr), intent(in), optional :: user
    integer, intent(out), optional :: status
    if (.not. is_cut_at_items(job, status)) return
    call finish(c_job_host_kernel(job%handle, c_funloc(kernel), given_user(user)), status)
  end subroutine

  !> States the time of the kernel in seconds for all items, on data that are on the GPU.
  subroutine job_kernel_time(job, seconds, status)
    class(shiplap_job), intent(inout) :: job
    real(real64), intent(in) :: seconds
    integer, intent(out), optional :: status
    call finish(c_job_kernel_time(job%handle, seconds), status)
  end subroutine

  !> States what the kernel does for all items: floating-point operations, whether in double precision, and bytes that
  !> it reads and writes in the GPU's memory.
  subroutine job_work(job, flops, double_precision, device_bytes, status)
    class(shiplap_job), intent(inout) :: job
    real(real64), intent(in) :: flops, device_bytes
    logical, intent(in) :: double_precision
    integer, intent(out), optional :: status
    call finish(c_job_work(job%handle, flops, merge(1_c_int, 0_c_int, double_precision), device_bytes), status)
  end subroutine

  !> Makes a step without parts.
  subroutine step_create(step, name, status)
    class(shiplap_step), intent(inout) :: step
    character(*), intent(in) :: name
    integer, intent(out), optional :: status
    call step%destroy()
    call finish(c_step_create(step%handle, c_text(name)), status)
  end subroutine

  subroutine step_destroy(step)
    class(shiplap_step), intent(inout) :: step
    call c_step_destroy(step%handle)
    step%handle = c_null_ptr
  end subroutine

  !> Adds the kernel of a job with its arrays. Jobs that name the same memory share an array.
  subroutine step_kernel(step, job, status)
    class(shiplap_step), intent(inout) :: step
    class(shiplap_job), intent(in) :: job
    integer, intent(out), optional :: status
    call finish(c_step_kernel(step%handle, job%handle), status)
  end subroutine

  !> Adds a part of the host with its accesses to arrays of the step. `seconds` is what it takes, as far as it is known.
  subroutine step_host(step, name, work, accesses, user, seconds, status)
    class(shiplap_step), intent(inout) :: step
    character(*), intent(in) :: name
    procedure(shiplap_host_work) :: work
    type(shiplap_access), intent(in) :: accesses(:)
    type(c_ptr), intent(in), optional :: user
    real(real64), intent(in), optional :: seconds
    integer, intent(out), optional :: status
    real(c_double) :: time
    time = 0
    if (present(seconds)) time = seconds
    call finish(c_step_host(step%handle, c_text(name), accesses, size(accesses, kind=c_size_t), c_funloc(work), &
                            given_user(user), time), status)
  end subroutine

  !> Runs all parts `times` times in a step.
  subroutine step_repeat(step, times, status)
    class(shiplap_step), intent(inout) :: step
    integer, intent(in) :: times
    integer, intent(out), optional :: status
    if (times < 1) then
      call refuse("a step runs its parts at least once: repeat it one time or more", status)
      return
    end if
    call finish(c_step_repeat(step%handle, int(times, c_int64_t)), status)
  end subroutine

  !> Says that the host neither reads nor changes an array between steps.
  subroutine step_stays_on_gpu(step, array, status)
    class(shiplap_step), intent(inout) :: step
    character(*), intent(in) :: array
    integer, intent(out), optional :: status
    call finish(c_step_stays_on_gpu(step%handle, c_text(array)), status)
  end subroutine

  !> Says that an array has no values before and after a step.
  subroutine step_temporary(step, array, status)
    class(shiplap_step), intent(inout) :: step
    character(*), intent(in) :: array
    integer, intent(out), optional :: status
    call finish(c_step_temporary(step%handle, c_text(array)), status)
  end subroutine

  !> Plans a job. On a GPU the kernel is launched to measure it; the arrays hold the same values afterwards.
  subroutine plan_of_job(plan, node, job, options, status)
    class(shiplap_plan), intent(inout) :: plan
    class(shiplap_node), intent(in) :: node
    class(shiplap_job), intent(in) :: job
    type(shiplap_options), intent(in), optional :: options
    integer, intent(out), optional :: status
    call plan%destroy()
    call finish(c_plan_job(plan%handle, node%handle, job%handle, given_options(options)), status)
  end subroutine

  !> Plans a step; of the options, device_memory, quick and check_reach count.
  subroutine plan_of_step(plan, node, step, options, status)
    class(shiplap_plan), intent(inout) :: plan
    class(shiplap_node), intent(in) :: node
    class(shiplap_step), intent(in) :: step
    type(shiplap_options), intent(in), optional :: options
    integer, intent(out), optional :: status
    call plan%destroy()
    call finish(c_plan_step(plan%handle, node%handle, step%handle, given_options(options)), status)
  end subroutine

  subroutine plan_destroy(plan)
    class(shiplap_plan), intent(inout) :: plan
    call c_plan_destroy(plan%handle)
    plan%handle = c_null_ptr
  end subroutine

  !> What to do, what it gains and why, in lines of at most 80 columns.
  function plan_explain(plan) result(text)
    class(shiplap_plan), intent(in) :: plan
    character(len=:), allocatable :: text
    call get_text(c_explain(plan%handle), text)
  end function

  !> The predicted time of a run in seconds.
  real(real64) function plan_predicted(plan)
    class(shiplap_plan), intent(in) :: plan
    plan_predicted = c_predicted(plan%handle)
  end function

  !> Binds a plan to the arrays of its job or step, and allocates memory on the GPU.
  subroutine prepared_prepare(prepared, node, plan, status)
    class(shiplap_prepared), intent(inout) :: prepared
    class(shiplap_node), intent(in) :: node
    class(shiplap_plan), intent(in) :: plan
    integer, intent(out), optional :: status
    call prepared%destroy()
    call finish(c_prepare(prepared%handle, node%handle, plan%handle), status)
  end subroutine

  subroutine prepared_destroy(prepared)
    class(shiplap_prepared), intent(inout) :: prepared
    call c_prepared_destroy(prepared%handle)
    prepared%handle = c_null_ptr
  end subroutine

  !> Runs once and waits for the end; `seconds` gets the time on the device.
  subroutine prepared_run(prepared, seconds, status)
    class(shiplap_prepared), intent(inout) :: prepared
    real(real64), intent(out), optional :: seconds
    integer, intent(out), optional :: status
    real(c_double) :: time
    time = 0
    call finish(c_run(prepared%handle, time), status)
    if (present(seconds)) seconds = time
  end subroutine

  !> Says that the caller has changed an array that stays on the GPU: the next run brings it again.
  subroutine prepared_changed(prepared, array, status)
    class(shiplap_prepared), intent(inout) :: prepared
    character(*), intent(in) :: array
    integer, intent(out), optional :: status
    call finish(c_changed(prepared%handle, c_text(array)), status)
  end subroutine

  !> Copies an array that stays on the GPU to the caller's memory, and waits.
  subroutine prepared_fetch(prepared, array, status)
    class(shiplap_prepared), intent(inout) :: prepared
    character(*), intent(in) :: array
    integer, intent(out), optional :: status
    call finish(c_fetch(prepared%handle, c_text(array)), status)
  end subroutine

  function part_of(chunk, n, element_size) result(part)
    type(shiplap_chunk), intent(in) :: chunk
    integer, intent(in) :: n, element_size
    type(chunk_part) :: part
    type(chunk_part), pointer :: parts(:)
    character(len=120) :: why
    if (n < 1 .or. n > chunk%array_count) then
      write (why, "(a,i0,a,i0)") "a kernel asks for array ", n, " of a job, which has ", chunk%array_count
      error stop why
    end if
    call c_f_pointer(chunk%arrays, parts, [chunk%array_count])
    part = parts(n)
    if (part%element_size /= element_size) then
      write (why, "(a,i0,a,i0,a,i0,a)") "array ", n, " has elements of ", part%element_size, " bytes, and the pointer of ", &
        element_size, ": take a pointer of the array's type"
      error stop why
    end if
  end function

  subroutine elements_real32(chunk, n, elements)
    type(shiplap_chunk), intent(in) :: chunk
    integer, intent(in) :: n
    real(real32), pointer, contiguous, intent(out) :: elements(:)
    real(real32), pointer, contiguous :: found(:)
    type(chunk_part) :: part
    part = part_of(chunk, n, 4)
    call c_f_pointer(part%data, found, [part%count])
    elements(part%first + 1:) => found
  end subroutine
  subroutine elements_real64(chunk, n, elements)
    type(shiplap_chunk), intent(in) :: chunk
    integer, intent(in) :: n
    real(real64), pointer, contiguous, intent(out) :: elements(:)
    real(real64), pointer, contiguous :: found(:)
    type(chunk_part) :: part
    part = part_of(chunk, n, 8)
    call c_f_pointer(part%data, found, [part%count])
    elements(part%first + 1:) => found
  end subroutine
  subroutine elements_int32(chunk, n, elements)
    type(shiplap_chunk), intent(in) :: chunk
    integer, intent(in) :: n
    integer(int32), pointer, contiguous, intent(out) :: elements(:)
    integer(int32), pointer, contiguous :: found(:)
    type(chunk_part) :: part
    part = part_of(chunk, n, 4)
    call c_f_pointer(part%data, found, [part%count])
    elements(part%first + 1:) => found
  end subroutine
  subroutine elements_int64(chunk, n, elements)
    type(shiplap_chunk), intent(in) :: chunk
    integer, intent(in) :: n
    integer(int64), pointer, contiguous, intent(out) :: elements(:)
    integer(int64), pointer, contiguous :: found(:)
    type(chunk_part) :: part
    part = part_of(chunk, n, 8)
    call c_f_pointer(part%data, found, [part%count])
    elements(part%first + 1:) => found
  end subroutine

  function access_of(data, bytes, contiguous, writes) result(access)
    type(c_ptr), intent(in) :: data
    integer(c_size_t), intent(in) :: bytes
    logical, intent(in) :: contiguous
    integer(c_int), intent(in) :: writes
    type(shiplap_access) :: access
    if (.not. contiguous) error stop "what a part of the host reads or writes is contiguous: give it in contiguous pieces"
    access = shiplap_access(data, bytes, writes)
  end function

  type(shiplap_access) function reads_real32(array)
    real(real32), target, intent(in) :: array(..)
    reads_real32 = access_of(c_loc(array), 4 * size(array, kind=c_size_t), is_contiguous(array), 0_c_int)
  end function
  type(shiplap_access) function reads_real64(array)
    real(real64), target, intent(in) :: array(..)
    reads_real64 = access_of(c_loc(array), 8 * size(array, kind=c_size_t), is_contiguous(array), 0_c_int)
  end function
  type(shiplap_access) function reads_int32(array)
    integer(int32), target, intent(in) :: array(..)
    reads_int32 = access_of(c_loc(array), 4 * size(array, kind=c_size_t), is_contiguous(array), 0_c_int)
  end function
  type(shiplap_access) function reads_int64(array)
    integer(int64), target, intent(in) :: array(..)
    reads_int64 = access_of(c_loc(array), 8 * size(array, kind=c_size_t), is_contiguous(array), 0_c_int)
  end function
  type(shiplap_access) function writes_real32(array)
    real(real32), target, intent(inout) :: array(..)
    writes_real32 = access_of(c_loc(array), 4 * size(array, kind=c_size_t), is_contiguous(array), 1_c_int)
  end function
  type(shiplap_access) function writes_real64(array)
    real(real64), target, intent(inout) :: array(..)
    writes_real64 = access_of(c_loc(array), 8 * size(array, kind=c_size_t), is_contiguous(array), 1_c_int)
  end function
  type(shiplap_access) function writes_int32(array)
    integer(int32), target, intent(inout) :: array(..)
    writes_int32 = access_of(c_loc(array), 4 * size(array, kind=c_size_t), is_contiguous(array), 1_c_int)
  end function
  type(shiplap_access) function writes_int64(array)
    integer(int64), target, intent(inout) :: array(..)
    writes_int64 = access_of(c_loc(array), 8 * size(array, kind=c_size_t), is_contiguous(array), 1_c_int)
  end function

  subroutine finish(done, status)
    integer(c_int), intent(in) :: done
    integer, intent(out), optional :: status
    character(len=:), allocatable :: why
    if (done /= shiplap_success .and. allocated(refusal)) deallocate (refusal)
    if (present(status)) then
      status = done
    else if (done /= shiplap_success) then
      why = shiplap_message()
      error stop why
    end if
  end subroutine

  pure integer(c_int64_t) function last_extent(extents)
    integer(c_int64_t), intent(in) :: extents(:)
    last_extent = 1
    if (size(extents) > 0) last_extent = max(1_c_int64_t, extents(size(extents)))
  end function

  subroutine refuse(why, status)
    character(*), intent(in) :: why
    integer, intent(out), optional :: status
    if (.not. present(status)) error stop why
    refusal = why
    status = shiplap_usage
  end subroutine

  function c_text(text) result(characters)
    character(*), intent(in) :: text
    character(kind=c_char), allocatable :: characters(:)
    characters = [transfer(trim(text), [character(kind=c_char) ::], len_trim(text)), c_null_char]
  end function

  subroutine get_text(pointer, text)
    type(c_ptr), intent(in) :: pointer
    character(len=:), allocatable, intent(out) :: text
    character(kind=c_char), pointer :: characters(:)
    integer :: i, length
    length = int(c_strlen(pointer))
    call c_f_pointer(pointer, characters, [length])
    allocate (character(len=length) :: text)
    do i = 1, length
      text(i:i) = characters(i)
    end do
  end subroutine

  type(c_ptr) function given_user(user)
    type(c_ptr), intent(in), optional :: user
    given_user = c_null_ptr
    if (present(user)) given_user = user
  end function

  type(shiplap_options) function given_options(options)
    type(shiplap_options), intent(in), optional :: options
    if (present(options)) given_options = options
  end function

end module

// Describes a job in calls: its arrays one by one, then the kernel, which gets a typed view of each array.
//   auto job = Job{levels, "density"}.in("t", t).in("s", s, halo(1, 0)).out("rho", rho)
//                  .kernel(enqueue).host_kernel(compute);
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/workload/array_data.hpp"
#include "shiplap/workload/job.hpp"
#include "shiplap/workload/view.hpp"

struct CUstream_st;  // what a cudaStream_t points to

namespace shiplap {

namespace detail {
/// Whether a kernel that returns a `Result` may mean it as the size of an output: unsigned integers may be sizes, and
/// `int`, `bool` and enumerations are a status that nobody reads.
template <class Result>
inline constexpr bool may_be_a_size =
    std::is_unsigned_v<std::remove_cvref_t<Result>>&& std::numeric_limits<std::remove_cvref_t<Result>>::digits >=
    std::numeric_limits<unsigned>::digits;

/// Throws UsageError for an array without elements and for a null pointer.
void require_data(const std::string& job, const std::string& array, const void* data, std::uint64_t elements);
/// The job with one more array. Throws UsageError when it has a kernel already.
Job with_array(Job, Array);
/// The job with the first `elements` elements of the array `cut` as a broadcast array. Throws UsageError unless `cut`
/// is an input with elements of this size, and at least as many.
Job with_prefix(Job, const std::string& cut, std::string array, Bytes element, std::uint64_t elements);
/// The job whose kernel reads each byte of the array this number of times. Throws UsageError without such an array.
Job with_reads(Job, const std::string&, double times);

/// Facts of an array for the message on an index outside of its view.
struct ViewedArray {
  std::string name;                    ///< name of the array
  std::uint64_t elements = 0;          ///< number of elements of the whole array
  std::uint64_t elements_of_item = 0;  ///< elements that each item owns; 0: the items do not own equally many
};
/// The blocks with their size in bytes. Throws UsageError for no blocks, blocks that are not whole elements, a null
/// list and blocks that reach beyond the pool.
Blocks sized_blocks(const std::string& job, const std::string& array, Blocks, Bytes pool, Bytes element);
/// The arrays of a job, for messages.
std::shared_ptr<const std::vector<ViewedArray>> viewed_arrays(const Job&);

/// A kernel on the host asked a view for an element that its chunk does not reach.
class OutsideOfView : public Error {
 public:
  /// `message` names the array, the index and the elements that the chunk reaches.
  OutsideOfView(const std::string& message, std::string array, std::uint64_t index)
      : Error(message), array_(std::move(array)), index_(index) {}
  /// Name of the array.
  const std::string& array() const { return array_; }
  /// The index that was asked for.
  std::uint64_t index() const { return index_; }

 private:
  std::string array_;
  std::uint64_t index_;
};
/// Throws Error with the message and an explanation: the array's number of elements for an index that the array does
/// not have, otherwise the elements that an item owns.
[[noreturn]] void explain(const OutsideOfView&, const std::vector<ViewedArray>&);
}  // namespace detail

/// A job whose arrays have these element types, const for those that are only read. The job refers to the arrays, which
/// must outlive its runs. Each call returns a new description and leaves this one as it is. Arrays are described before
/// `kernel` and `host_kernel`; all other calls may come before or after these.
///
/// An array is given as a contiguous range with data() and size() (std::vector, std::span, std::array, pinned_vector,
/// thrust::host_vector, thrust::universal_vector, cuda::std::span, …), as a C array, or as a pointer followed by the
/// number of elements. Its elements are trivially copyable and in memory of the host. They must outlive the runs, so a
/// temporary must be a view. Throws UsageError for an array without elements, a null pointer, a view with gaps between
/// its elements, a negative length, and a name that another array has.
template <class... Elements>
class [[nodiscard]] DescribedJob : public Job {
 public:
  /// Continues the description of a job. Programs begin with Job::in, Job::out and so on.
  explicit DescribedJob(Job job) : Job(std::move(job)) {}

  /// Adds an array that is read in chunks. With n items and e elements, item i owns the elements [i e / n, (i + 1) e /
  /// n). `plan` refuses an array that is cut and has no multiple of n elements, unless it is `mapped_by` a function.
  template <class Data>
  auto in(std::string array, Data&& data, Reach reach = {}) const {
    return given_in(std::move(array), Role::in, detail::elements_of(std::forward<Data>(data)), std::move(reach));
  }
  /// Adds blocks of a pool that are read in chunks (see blocks.hpp). The views have the elements of all blocks in the
  /// order of the list, and with n items and b blocks, item i owns the blocks [i b / n, (i + 1) b / n).
  template <class Pool>
  auto in(std::string array, Pool&& pool, const Blocks& blocks) const {
    return given_blocks(std::move(array), Role::in, as_const(detail::elements_of(std::forward<Pool>(pool))), blocks);
  }
  /// Adds `elements` elements from `data` on that are read in chunks.
  template <class T>
  auto in(std::string array, const T* data, std::uint64_t elements, Reach reach = {}) const {
    return given_in(std::move(array), Role::in, std::span(data, elements), std::move(reach));
  }
  /// Adds an array that is written in chunks. The kernel must write every element of its chunk: what it does not write
  /// is undefined afterwards, and not what it was before the run. Describe an array of which a kernel writes a part as
  /// `inout`. A kernel whose output has a size that depends on the data writes to a segment of each item, and the
  /// number of elements in it to a second output.
  template <class Data>
  auto out(std::string array, Data&& data, Reach reach = {}) const {
    return given(std::move(array), Role::out, detail::writable_elements_of(std::forward<Data>(data)), std::move(reach));
  }
  /// Adds blocks of a pool that are written in chunks, as `in` does. The list names every block once.
  template <class Pool>
  auto out(std::string array, Pool&& pool, const Blocks& blocks) const {
    return given_blocks(std::move(array), Role::out, detail::writable_elements_of(std::forward<Pool>(pool)), blocks);
  }
  /// Adds `elements` elements from `data` on that are written in chunks.
  template <class T>
  auto out(std::string array, T* data, std::uint64_t elements, Reach reach = {}) const {
    return given(std::move(array), Role::out, detail::writable_elements_of(std::span(data, elements)),
                 std::move(reach));
  }
  /// Adds an array that is read and written in place in chunks.
  template <class Data>
  auto inout(std::string array, Data&& data, Reach reach = {}) const {
    return given(std::move(array), Role::inout, detail::writable_elements_of(std::forward<Data>(data)),
                 std::move(reach));
  }
  /// Adds blocks of a pool that are read and written in place in chunks, as `in` does. The list names every block once.
  template <class Pool>
  auto inout(std::string array, Pool&& pool, const Blocks& blocks) const {
    return given_blocks(std::move(array), Role::inout, detail::writable_elements_of(std::forward<Pool>(pool)), blocks);
  }
  /// Adds `elements` elements from `data` on that are read and written in place in chunks.
  template <class T>
  auto inout(std::string array, T* data, std::uint64_t elements, Reach reach = {}) const {
    return given(std::move(array), Role::inout, detail::writable_elements_of(std::span(data, elements)),
                 std::move(reach));
  }
  /// Adds an array of which every chunk reads all elements, and which each run copies once.
  template <class... Data>
  auto broadcast(std::string array, Data&&... data) const {
    return given_in(std::move(array), Role::broadcast, detail::elements_of(std::forward<Data>(data)...), {});
  }
  /// Adds an array of which every chunk reads and writes all elements, one chunk after the other: a state or a sum.
  template <class... Data>
  auto carried(std::string array, Data&&... data) const {
    return given(std::move(array), Role::carried, detail::writable_elements_of(std::forward<Data>(data)...), {});
  }
  /// Adds an array of which every chunk reads all elements, as `broadcast` does, and which stays on the GPU from one
  /// run of a prepared job to the next. The first run copies it. After the caller has changed it, `Prepared::changed`
  /// has the next run copy it again.
  template <class... Described>
  auto kept(std::string array, Described&&... described) const {
    return keeping(broadcast(std::move(array), std::forward<Described>(described)...));
  }
  /// Adds an array of which every chunk reads and writes all elements, as `carried` does, and which stays on the GPU
  /// from one run of a prepared job to the next. The first run copies it there, and `Prepared::fetch` copies it back.
  template <class... Described>
  auto kept_state(std::string array, Described&&... described) const {
    return keeping(carried(std::move(array), std::forward<Described>(described)...));
  }
  /// Adds memory on the GPU for `elements` elements of T, which is cut into chunks like an array. Its content is
  /// undefined when the kernel of a chunk starts. Chunks never share it, even if the reach of each chunk is the whole
  /// scratch.
  template <class T>
  auto scratch(std::string array, std::uint64_t elements, Reach reach = {}) const {
    return with<T>(std::move(array), Role::scratch, std::move(reach), std::span<T>(static_cast<T*>(nullptr), elements));
  }
  /// Adds the first `elements` elements of the array `cut` as a broadcast array, such as a surface that all levels
  /// refer to. The elements cross the link once for both arrays.
  template <class T>
  auto prefix_of(const std::string& cut, std::string array, std::uint64_t elements) const {
    return DescribedJob<Elements..., const T>(
        detail::with_prefix(*this, cut, std::move(array), Bytes{sizeof(T)}, elements));
  }

  /// Adds an array of which only the shape is known, for planning or until `Array::data` is set. T is const for an
  /// array that is only read.
  template <class T>
  auto shaped(std::string array, Role role, std::uint64_t elements, Reach reach = {}) const {
    return with<T>(std::move(array), role, std::move(reach), std::span<T>(static_cast<T*>(nullptr), elements));
  }

  /// Sets the kernel for GPUs. `enqueue(stream, chunk, views...)`, with a view for each array in the order of their
  /// description, submits the work of a chunk to the stream and returns without waiting for it. The work is whatever a
  /// stream can capture: any number of kernels and library calls. It allocates nothing and waits for nothing. What it
  /// returns is not read: it throws where it cannot submit the work.
  ///
  /// When `enqueue` is called. `plan` calls it for chunks of several sizes: three times at most while its launches are
  /// captured and counted, then once for each timed launch unless the job states its time (some tens of launches on
  /// resident data, and as many again with zero-copy), and also for `PlanOptions::check_reach` and each run of a race.
  /// `prepare` calls it once for each chunk of a graph. A run calls it once for each chunk, unless the schedule is a
  /// graph. It may be called for the same items any number of times, and not in the order of the chunks.
  ///
  /// By which thread. The thread that calls `plan`, `prepare` or `run` calls `enqueue`, so that the calls of a plan or
  /// a run come one after the other; `run_async` has a thread of its own. With several GPUs a thread of the library for
  /// each further GPU calls it at the same time. Two executions that run at once each call it too. The GPU that the
  /// stream belongs to is selected in the thread. These threads call the same `enqueue` object or copies of it, so
  /// state that it changes must be thread-safe.
  ///
  /// What the views are. View i has the elements of its array that the chunk reaches, in global indices. On the GPU,
  /// data() of a chunk without a halo or mapping is a multiple of 256 bytes. In a launch that uses zero-copy for any
  /// array, data() of every array has the offset modulo 256 bytes that its first element has in the whole array. The
  /// views and `stream` are valid during the call, and for the work that it submits.
  template <class Enqueue>
  DescribedJob kernel(Enqueue enqueue) const {
    static_assert(std::is_invocable_v<Enqueue&, CUstream_st*, Chunk, View<Elements>...>,
                  "the kernel is called with (cudaStream_t, Chunk, View of each array in their order)");
    require_no_size<std::invoke_result<Enqueue&, CUstream_st*, Chunk, View<Elements>...>>();
    DescribedJob result = *this;
    result.binding.cuda = [call = std::move(enqueue),
                           arrays_seen = detail::viewed_arrays(*this)](const Launch& launch) mutable {
      apply(launch, *arrays_seen, [&](Chunk chunk, auto... views) {
        static_cast<void>(call(static_cast<CUstream_st*>(launch.stream), chunk, views...));
      });
    };
    return result;
  }
  /// Sets the function that computes a chunk on the host, for virtual devices: `compute(chunk, views...)`. A run calls
  /// it once for each chunk, and so does each run of a race; `plan` calls it for `PlanOptions::check_reach` besides.
  /// The threads are those that call a `kernel`. `compute` must have written all elements of the outputs when it
  /// returns; what it returns is not read. Its views throw Error for an index that the chunk does not reach.
  template <class Compute>
  DescribedJob host_kernel(Compute compute) const {
    static_assert(std::is_invocable_v<Compute&, Chunk, View<Elements>...>,
                  "the host kernel is called with (Chunk, View of each array in their order)");
    require_no_size<std::invoke_result<Compute&, Chunk, View<Elements>...>>();
    DescribedJob result = *this;
    result.binding.host = [call = std::move(compute),
                           arrays_seen = detail::viewed_arrays(*this)](const Launch& launch) mutable {
      try {
        apply(launch, *arrays_seen, [&](Chunk chunk, auto... views) { static_cast<void>(call(chunk, views...)); });
      } catch (const detail::OutsideOfView& outside) {
        detail::explain(outside, *arrays_seen);
      }
    };
    return result;
  }
  /// States the thread blocks of the kernel: a thread block of `threads` threads works on up to `items_of_block` items.
  /// When several thread blocks share the same items, `blocks_per_group` is their number. A chunk then never ends
  /// within the items of a thread block. `plan` refuses zeros.
  DescribedJob with_blocks(std::uint64_t items_of_block, unsigned threads, std::uint64_t blocks_per_group = 1) const {
    return changed([&](Job& job) {
      job.items_per_block = items_of_block;
      job.threads_per_block = threads;
      job.blocks_per_item_group = blocks_per_group;
    });
  }
  /// States the thread blocks of the kernel as `with_blocks` does, and that the kernel works with any number of them.
  /// The kernel must launch `Chunk::blocks` thread blocks. A plan may then limit the grid of a kernel that accesses
  /// host memory.
  DescribedJob takes_any_grid(std::uint64_t items_of_block, unsigned threads,
                              std::uint64_t blocks_per_group = 1) const {
    DescribedJob result = with_blocks(items_of_block, threads, blocks_per_group);
    result.any_grid = true;
    return result;
  }
  /// States that the kernel reads and writes each byte of its arrays about once, spread over its time. Zero-copy
  /// strategies are then considered on any node. Without this call they are considered only if the kernel was measured
  /// with zero-copy, as `plan` does on a GPU for pinned and managed arrays.
  DescribedJob zero_copy_suits() const {
    return changed([](Job& job) { job.each_byte_once = true; });
  }
  /// States that the kernel accesses bytes of its arrays repeatedly. Zero-copy is then neither measured nor considered.
  DescribedJob touches_bytes_repeatedly() const {
    return changed([](Job& job) { job.each_byte_once = false; });
  }
  /// States how often the kernel reads each byte of the array on average (see Array::times_read). Throws UsageError
  /// when no array has this name. `plan` refuses less than 1, more than 1e9, and arrays that are not copied in chunks.
  DescribedJob reads(const std::string& array, double times) const {
    return DescribedJob(detail::with_reads(*this, array, times));
  }
  /// States the kernel time of the whole job on resident data, in proportion to the items. Without a stated time it is
  /// measured on a GPU, and derived from bytes and operations elsewhere. `plan` refuses a time that is negative or not
  /// finite.
  DescribedJob kernel_time(Seconds time) const {
    return kernel_time({.points = {{items, Interval<Seconds>::exact(time)}}, .limited = {}, .origin = "stated"});
  }
  /// Refuses a number without a unit when it is compiled.
  template <class Number, class = std::enable_if_t<std::is_arithmetic_v<Number>>>
  DescribedJob kernel_time(Number) const {
    static_assert(!std::is_arithmetic_v<Number>,
                  "the kernel's time needs a unit: write kernel_time(5ms), or Seconds{0.005}");
    return *this;
  }
  /// States the cost of the kernel, for example from a kernel profile that was measured on a GPU.
  DescribedJob kernel_time(KernelCost known) const {
    return changed([&](Job& job) { job.cost = std::move(known); });
  }
  /// States the floating-point operations of the whole job, in single precision. The kernel's time is derived from them
  /// and from the device traffic when it is neither stated nor measured.
  DescribedJob with_flops(double operations) const {
    return changed([&](Job& job) {
      job.flops = operations;
      job.double_precision = false;
    });
  }
  /// States the floating-point operations of the whole job, in double precision.
  DescribedJob with_double_precision_flops(double operations) const {
    return changed([&](Job& job) {
      job.flops = operations;
      job.double_precision = true;
    });
  }
  /// States the bytes that the kernel reads and writes in device memory in the whole job. Without this call each array
  /// counts once, and an array that is read and written counts twice.
  DescribedJob with_device_traffic(Bytes bytes) const {
    return changed([&](Job& job) { job.device_traffic = bytes; });
  }
  /// States the fraction (more than 0, at most 1) of the GPU's peak rate, by bytes or by operations, that the kernel
  /// reaches on resident data. A derived time is divided by it.
  DescribedJob with_efficiency(double fraction) const {
    return changed([&](Job& job) { job.efficiency = fraction; });
  }

 private:
  template <class Invoked>
  static constexpr void require_no_size() {
    static_assert(!detail::may_be_a_size<typename Invoked::type>,
                  "the size of an output does not depend on what a kernel returns: give each item a segment of the "
                  "output, and write how much of it is used to a second output (docs/how-to/describe-arrays.md). A "
                  "status or another result is not read: return nothing");
  }
  template <class Job>
  static Job keeping(Job job) {
    job.arrays.back().kept = true;
    return job;
  }
  template <class Change>
  DescribedJob changed(const Change& change) const {
    DescribedJob result = *this;
    change(static_cast<Job&>(result));
    return result;
  }
  template <class T>
  auto given(std::string array, Role role, std::span<T> data, Reach reach) const {
    detail::require_data(name, array, data.data(), data.size());
    return with<T>(std::move(array), role, std::move(reach), data);
  }
  template <class T>
  auto given_in(std::string array, Role role, std::span<T> data, Reach reach) const {
    return given(std::move(array), role, std::span<const T>(data), std::move(reach));
  }
  template <class T>
  static std::span<const T> as_const(std::span<T> data) {
    return data;
  }
  template <class T>
  auto given_blocks(std::string array, Role role, std::span<T> pool, const Blocks& blocks) const {
    detail::require_data(name, array, pool.data(), pool.size());
    const Blocks sized = detail::sized_blocks(name, array, blocks, Bytes{pool.size_bytes()}, Bytes{sizeof(T)});
    auto result = with<T>(std::move(array), role, {}, pool);
    Array& added = result.arrays.back();
    added.size = sized.block * sized.count;
    added.blocks = sized;
    return result;
  }
  template <class Element, class T>
  DescribedJob<Elements..., Element> with(std::string array, Role role, Reach reach, std::span<T> data) const {
    // A device tells what memory it is when the job is planned.
    return DescribedJob<Elements..., Element>(detail::with_array(
        *this, {.name = std::move(array),
                .role = role,
                .size = Bytes{data.size() * sizeof(T)},
                .element = Bytes{sizeof(T)},
                .memory = MemoryKind::pinned,
                .reach = std::move(reach),
                .data = reinterpret_cast<std::byte*>(const_cast<std::remove_const_t<T>*>(data.data()))}));
  }

  using ViewedArrays = std::vector<detail::ViewedArray>;
  template <class Call>
  static void apply(const Launch& launch, const ViewedArrays& arrays_seen, const Call& call) {
    apply(launch, arrays_seen, call, std::index_sequence_for<Elements...>());
  }
  template <class Call, std::size_t... I>
  static void apply(const Launch& launch, const ViewedArrays& arrays_seen, const Call& call,
                    std::index_sequence<I...>) {
    call(Chunk{launch.first_item, launch.items, launch.blocks},
         View<Elements>(reinterpret_cast<Elements*>(launch.operands[I]),
                        launch.origins.empty() ? 0 : launch.origins[I].count / sizeof(Elements),
                        launch.lengths[I].count / sizeof(Elements), arrays_seen[I].name.c_str())...);
  }
};

template <class... Described>
auto Job::in(std::string array, Described&&... described) const {
  return DescribedJob<>(*this).in(std::move(array), std::forward<Described>(described)...);
}
template <class... Described>
auto Job::out(std::string array, Described&&... described) const {
  return DescribedJob<>(*this).out(std::move(array), std::forward<Described>(described)...);
}
template <class... Described>
auto Job::inout(std::string array, Described&&... described) const {
  return DescribedJob<>(*this).inout(std::move(array), std::forward<Described>(described)...);
}
template <class... Described>
auto Job::broadcast(std::string array, Described&&... described) const {
  return DescribedJob<>(*this).broadcast(std::move(array), std::forward<Described>(described)...);
}
template <class... Described>
auto Job::carried(std::string array, Described&&... described) const {
  return DescribedJob<>(*this).carried(std::move(array), std::forward<Described>(described)...);
}

template <class... Described>
auto Job::kept(std::string array, Described&&... described) const {
  return DescribedJob<>(*this).kept(std::move(array), std::forward<Described>(described)...);
}
template <class... Described>
auto Job::kept_state(std::string array, Described&&... described) const {
  return DescribedJob<>(*this).kept_state(std::move(array), std::forward<Described>(described)...);
}

template <class T>
auto Job::scratch(std::string array, std::uint64_t elements, Reach reach) const {
  return DescribedJob<>(*this).scratch<T>(std::move(array), elements, std::move(reach));
}

template <class T>
auto Job::shaped(std::string array, Role role, std::uint64_t elements, Reach reach) const {
  return DescribedJob<>(*this).shaped<T>(std::move(array), role, elements, std::move(reach));
}

}  // namespace shiplap

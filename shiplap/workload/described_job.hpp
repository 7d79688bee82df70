// The comfortable way to describe a job: its arrays one by one, then the kernel, which gets a typed view of each array.
//   auto job = Job{levels, "density"}.in("t", t).in("s", s, halo(1, 0)).out("rho", rho)
//                  .kernel(enqueue).host_kernel(compute);
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/workload/job.hpp"
#include "shiplap/workload/view.hpp"

struct CUstream_st;  // what a cudaStream_t points to

namespace shiplap {

/// A contiguous range of elements that can be copied byte by byte. The elements must outlive the call, so that a
/// temporary must be a view.
template <class Data>
concept HostArray = std::ranges::contiguous_range<Data> && std::ranges::sized_range<Data> &&
    std::ranges::borrowed_range<Data> && std::is_trivially_copyable_v<std::ranges::range_value_t<Data>>;
/// A HostArray whose elements can be written.
template <class Data>
concept WritableArray =
    HostArray<Data> && !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<Data>>>;

/// A job whose arrays have these element types, const for those that are only read. It refers to the arrays, which must
/// outlive its runs. Each call gives a further description and leaves this one as it is.
template <class... Elements>
class DescribedJob : public Job {
 public:
  /// Goes on from there. Programs begin with Job::in, Job::out and so on.
  explicit DescribedJob(Job job) : Job(std::move(job)) {}

  /// Adds an array that is read in chunks. With n items and e elements, item i owns the elements [i e / n, (i + 1) e /
  /// n).
  template <HostArray Data>
  auto in(std::string array, Data&& data, Reach reach = {}) const {
    return with<const std::ranges::range_value_t<Data>>(std::move(array), Role::in, std::move(reach), std::span(data));
  }
  /// Adds an array that is written in chunks. The kernel must write every element of its chunk.
  template <WritableArray Data>
  auto out(std::string array, Data&& data, Reach reach = {}) const {
    return with<std::ranges::range_value_t<Data>>(std::move(array), Role::out, std::move(reach), std::span(data));
  }
  /// Adds an array that is read and written in place in chunks.
  template <WritableArray Data>
  auto inout(std::string array, Data&& data, Reach reach = {}) const {
    return with<std::ranges::range_value_t<Data>>(std::move(array), Role::inout, std::move(reach), std::span(data));
  }
  /// Adds an array of which every chunk reads all elements.
  template <HostArray Data>
  auto resident(std::string array, Data&& data) const {
    return with<const std::ranges::range_value_t<Data>>(std::move(array), Role::resident, {}, std::span(data));
  }
  /// Adds an array of which every chunk reads and writes all elements, one chunk after the other: a state or a sum.
  template <WritableArray Data>
  auto carried(std::string array, Data&& data) const {
    return with<std::ranges::range_value_t<Data>>(std::move(array), Role::carried, {}, std::span(data));
  }
  /// Adds memory on the GPU for `elements` elements of T, which is cut into chunks like an array. Its content is
  /// undefined when the kernel of a chunk starts. Chunks never share it, even where the reach of each chunk is all of
  /// it.
  template <class T>
  auto scratch(std::string array, std::uint64_t elements, Reach reach = {}) const {
    return with<T>(std::move(array), Role::scratch, std::move(reach), std::span<T>(static_cast<T*>(nullptr), elements));
  }
  /// Adds the first `elements` elements of the array `cut` as a resident array, such as a surface that all levels refer
  /// to. The elements cross the link once for both.
  template <class T>
  auto prefix_of(const std::string& cut, std::string array, std::uint64_t elements) const {
    const auto found = std::ranges::find(arrays, cut, &Array::name);
    if (found == arrays.end() || found->role != Role::in)
      throw UsageError(name + ": " + array + " is to be the front of " + cut +
                       ", which must be described before and be an input");
    if (found->element.count != sizeof(T) || elements * sizeof(T) > found->size.count)
      throw UsageError(name + ": " + array + " has other elements than " + cut + ", or more of them");
    auto job = shaped<const T>(std::move(array), Role::resident, elements);
    job.arrays.back().prefix_of = static_cast<std::uint32_t>(found - arrays.begin());
    job.arrays.back().memory = found->memory;
    return job;
  }

  /// Adds an array of which only the shape is known, for planning or until `Array::data` is set. T is const for an
  /// array that is only read.
  template <class T>
  auto shaped(std::string array, Role role, std::uint64_t elements, Reach reach = {}) const {
    return with<T>(std::move(array), role, std::move(reach), std::span<T>(static_cast<T*>(nullptr), elements));
  }

  /// Sets the kernel. `enqueue(stream, chunk, views...)`, with a view for each array in their order, submits the work
  /// of a chunk to the stream and does not wait for it. The work may be kernels and library calls that a stream can
  /// capture. The grid is its own unless `takes_any_grid` says otherwise.
  template <class Enqueue>
  DescribedJob kernel(Enqueue enqueue) const {
    static_assert(std::is_invocable_v<Enqueue&, CUstream_st*, Chunk, View<Elements>...>,
                  "the kernel is called with (cudaStream_t, Chunk, View of each array in their order)");
    DescribedJob result = *this;
    result.any_grid = false;
    result.binding.cuda = [call = std::move(enqueue), names = names_of_arrays()](const Launch& launch) mutable {
      apply(launch, *names,
            [&](Chunk chunk, auto... views) { call(static_cast<CUstream_st*>(launch.stream), chunk, views...); });
    };
    return result;
  }
  /// Sets the function that computes a chunk on the host, for virtual devices and for verification: `compute(chunk,
  /// views...)`.
  template <class Compute>
  DescribedJob host_kernel(Compute compute) const {
    static_assert(std::is_invocable_v<Compute&, Chunk, View<Elements>...>,
                  "the host kernel is called with (Chunk, View of each array in their order)");
    DescribedJob result = *this;
    result.binding.host = [call = std::move(compute), names = names_of_arrays()](const Launch& launch) mutable {
      apply(launch, *names, [&](Chunk chunk, auto... views) { call(chunk, views...); });
    };
    return result;
  }
  /// States that the kernel works with the number of blocks in `Chunk::blocks`. A plan may then limit the grid of a
  /// kernel that accesses host memory.
  DescribedJob takes_any_grid(std::uint64_t items_of_a_block, unsigned threads_of_a_block) const {
    if (items_of_a_block == 0 || threads_of_a_block == 0)
      throw UsageError(name + ": a block has one item and one thread at least");
    DescribedJob result = *this;
    result.any_grid = true;
    result.items_per_block = items_of_a_block;
    result.threads_per_block = threads_of_a_block;
    return result;
  }
  /// Kernel time of the whole job on resident data, where it is known; else it is measured before planning.
  DescribedJob takes(Seconds kernel_time) const {
    DescribedJob result = *this;
    result.cost = {.points = {{items, Interval<Seconds>::exact(kernel_time)}}, .limited = {}, .origin = "stated"};
    return result;
  }

 private:
  template <class Element, class T>
  DescribedJob<Elements..., Element> with(std::string array, Role role, Reach reach, std::span<T> data) const {
    if (binding.host || binding.cuda)
      throw UsageError("array " + array + " of " + name +
                       ": describe all arrays before the kernel, which is handed them");
    Job job = *this;
    // Whoever knows what memory it is says so before planning (`locate`).
    job.arrays.push_back({.name = std::move(array),
                          .role = role,
                          .size = Bytes{data.size() * sizeof(T)},
                          .element = Bytes{sizeof(T)},
                          .memory = MemoryKind::pinned,
                          .reach = std::move(reach),
                          .data = reinterpret_cast<std::byte*>(const_cast<std::remove_const_t<T>*>(data.data()))});
    return DescribedJob<Elements..., Element>(std::move(job));
  }

  using Names = std::vector<std::string>;
  std::shared_ptr<const Names> names_of_arrays() const {
    auto names = std::make_shared<Names>();
    for (const Array& array : arrays) names->push_back(array.name);
    return names;
  }

  template <class Call>
  static void apply(const Launch& launch, const Names& names, const Call& call) {
    apply(launch, names, call, std::index_sequence_for<Elements...>());
  }
  template <class Call, std::size_t... I>
  static void apply(const Launch& launch, const Names& names, const Call& call, std::index_sequence<I...>) {
    call(Chunk{launch.first_item, launch.items, launch.blocks},
         View<Elements>(reinterpret_cast<Elements*>(launch.operands[I]),
                        launch.origins.empty() ? 0 : launch.origins[I].count / sizeof(Elements),
                        launch.lengths[I].count / sizeof(Elements), names[I].c_str())...);
  }
};

template <class Data>
auto Job::in(std::string array, Data&& data, Reach reach) const {
  return DescribedJob<>(*this).in(std::move(array), std::forward<Data>(data), std::move(reach));
}
template <class Data>
auto Job::out(std::string array, Data&& data, Reach reach) const {
  return DescribedJob<>(*this).out(std::move(array), std::forward<Data>(data), std::move(reach));
}
template <class Data>
auto Job::inout(std::string array, Data&& data, Reach reach) const {
  return DescribedJob<>(*this).inout(std::move(array), std::forward<Data>(data), std::move(reach));
}
template <class Data>
auto Job::resident(std::string array, Data&& data) const {
  return DescribedJob<>(*this).resident(std::move(array), std::forward<Data>(data));
}
template <class Data>
auto Job::carried(std::string array, Data&& data) const {
  return DescribedJob<>(*this).carried(std::move(array), std::forward<Data>(data));
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

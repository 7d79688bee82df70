// The items of a job that one rank works on, as a job of its own whose kernel sees indices of the whole arrays.
//   auto mine = shiplap::job_of_share(job, shares.items[rank], {shiplap::local_part("u", u), shiplap::local_part("out",
//   out)});
#pragma once

#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

#include "shiplap/core/units.hpp"
#include "shiplap/workload/job.hpp"
#include "shiplap/workload/view.hpp"

namespace shiplap {

/// The elements of a distributed array that this rank has in its memory.
struct LocalPart {
  std::string array;          ///< name of the array
  std::byte* data = nullptr;  ///< address of the first of these elements
  Bytes element;              ///< size of an element
  ElementRange elements;      ///< which elements of the whole array these are
};

/// The elements of the array that the view has, which are those of this rank and the halo that its items read. The
/// memory is the caller's and outlives the runs.
template <class T>
LocalPart local_part(std::string array, View<T> view) {
  static_assert(!std::is_const_v<T>, "the halo of a distributed array is written, so its view is not const");
  return {std::move(array), reinterpret_cast<std::byte*>(view.data()), Bytes{sizeof(T)}, {view.first(), view.size()}};
}

/// The job of a rank that works on `items` of the job `whole`. Its kernel is that of `whole`, and is called with chunks
/// and views whose indices are those of the whole job and the whole arrays.
///
/// A rank has each array in one of two ways. An array of `whole` with memory is whole in the memory of this rank, halo
/// included. An array in `held` is distributed: this rank has the elements that its items reach. Arrays in neither way
/// have no memory, so that the result can be planned with a stated or derived kernel time, and not run.
///
/// Resident arrays are whole on every rank. The flops, the device traffic and the cost of the kernel are those of the
/// items: a launch over items with twice the average density takes as long as one over twice as many average items.
/// Where `whole` promises an offset modulo 256 bytes, it is the offset from the first element that this rank reaches.
///
/// Throws UsageError for no items, items that the job does not have, a `carried` array, an array in `held` that the job
/// does not have or that is an array of blocks, elements of another size, and held elements that do not include those
/// that the items reach.
Job job_of_share(const Job& whole, ItemRange items, const std::vector<LocalPart>& held = {});

/// The number of items of average density that have as much data as the items before `item`: the measure by which
/// shares are cut. It is `item` where the items have equally much data.
double items_before(const Job&, std::uint64_t item);

/// The elements of an array that a rank with these items needs, halo included.
inline ElementRange elements_of_share(const Job& whole, const Array& array, ItemRange items) {
  const ByteRange reach = reach_of(whole, array, items);
  return {reach.offset.count / array.element.count, reach.length.count / array.element.count};
}
/// The elements of the array with this name that a rank with these items needs, halo included. Throws UsageError for a
/// name that no array has.
ElementRange elements_of_share(const Job& whole, const std::string& array, ItemRange items);

/// The cost of a kernel for items that have `density` times the data of those that the cost counts in.
KernelCost cost_at_density(KernelCost, double density);

}  // namespace shiplap

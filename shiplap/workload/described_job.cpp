#include "shiplap/workload/described_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/schedule/blocks.hpp"

namespace shiplap {
namespace {

[[noreturn]] void refuse_name(const Job& job, const std::string& array) {
  throw UsageError(fmt::format(
      "{}: two arrays are called {}, so that messages could not tell them apart: give each a name of its own", job.name,
      array));
}

}  // namespace

void detail::require_data(const std::string& job, const std::string& array, const void* data, std::uint64_t elements) {
  if (elements == 0)
    throw UsageError(
        fmt::format("{}: array {} has no elements, so that nothing can be copied: give it elements, or leave it "
                    "out of the job",
                    job, array));
  if (data == nullptr)
    throw UsageError(
        fmt::format("{}: array {} is a null pointer with {} elements: give the address of its memory, or use "
                    "`.shaped` while only the shape is known",
                    job, array, elements));
}

void detail::refuse_gaps() {
  throw UsageError(
      "the elements of this array do not follow one another in memory, as those of a view with strides: give a "
      "contiguous "
      "copy, or `strided` blocks of the whole array");
}

Job detail::with_array(Job job, Array array) {
  if (array.size.count > std::numeric_limits<std::ptrdiff_t>::max())
    throw UsageError(
        fmt::format("{}: array {} has more bytes than memory can have: is its length negative?", job.name, array.name));
  if (std::ranges::find(job.arrays, array.name, &Array::name) != job.arrays.end()) refuse_name(job, array.name);
  if (job.binding.host || job.binding.cuda)
    throw UsageError(
        fmt::format("{}: array {} is described after the kernel, which is handed the arrays before it: "
                    "describe all arrays before `.kernel` and `.host_kernel`",
                    job.name, array.name));
  job.arrays.push_back(std::move(array));
  return job;
}

Job detail::with_prefix(Job job, const std::string& cut, std::string array, Bytes element, std::uint64_t elements) {
  const auto found = std::ranges::find(job.arrays, cut, &Array::name);
  if (found == job.arrays.end() || found->role != Role::in)
    throw UsageError(fmt::format(
        "{}: {} is a prefix of {}, which is no input that is described before it: describe that array first, "
        "with `.in`",
        job.name, array, cut));
  if (found->blocks)
    throw UsageError(
        fmt::format("{}: {} is a prefix of {}, which is blocks of a pool: describe {} as an array of its own", job.name,
                    array, cut, array));
  if (found->element != element || elements > found->size.count / element.count)
    throw UsageError(
        fmt::format("{}: {} has elements of another size than {}, or more of them: give it the same type and at most "
                    "as many elements",
                    job.name, array, cut));
  Array prefix{.name = std::move(array),
               .role = Role::broadcast,
               .size = element * elements,
               .element = element,
               .memory = found->memory,
               .prefix_of = static_cast<std::uint32_t>(found - job.arrays.begin())};
  return with_array(std::move(job), std::move(prefix));
}

Job detail::with_reads(Job job, const std::string& array, double times) {
  const auto found = std::ranges::find(job.arrays, array, &Array::name);
  if (found == job.arrays.end())
    throw UsageError(fmt::format("{}: `.reads` names the array {}, which is not described before it", job.name, array));
  found->times_read = times;
  return job;
}

Blocks detail::sized_blocks(const std::string& job, const std::string& array, Blocks blocks, Bytes pool,
                            Bytes element) {
  if (blocks.block.count == 0) blocks.block = blocks.pitch = element * blocks.elements;
  blocks.pool = pool;
  if (blocks.count == 0)
    throw UsageError(
        fmt::format("{}: array {} has no blocks, so that nothing can be moved: give it indices, or leave it out of the "
                    "job",
                    job, array));
  if (blocks.indices.count > 0 && blocks.indices.data == nullptr)
    throw UsageError(fmt::format("{}: the {} indices of array {} are a null pointer: give the address of their memory",
                                 job, blocks.indices.count, array));
  if (blocks.block.count == 0 || blocks.block.count % element.count != 0 || blocks.pitch.count % element.count != 0)
    throw UsageError(
        fmt::format("{}: blocks of array {} have {} B at a pitch of {} B, and its elements have {} B: a block and the "
                    "pitch are whole elements, at least one",
                    job, array, blocks.block.count, blocks.pitch.count, element.count));
  if (blocks.pitch < blocks.block)
    throw UsageError(fmt::format(
        "{}: blocks of array {} have {} B at a pitch of {} B, so that they overlap: give a pitch of a block "
        "or more",
        job, array, blocks.block.count, blocks.pitch.count));
  const bool regular = blocks.indices.data == nullptr;
  const std::uint64_t starts = blocks_of_pool(pool, blocks.block, blocks.pitch);
  if (starts == 0 || (regular && blocks.count > starts))
    throw UsageError(
        fmt::format("{}: the pool of array {} has {} B, which is {} block{} of {} B, and {} are wanted: give a larger "
                    "pool, or fewer blocks",
                    job, array, pool.count, starts, starts == 1 ? "" : "s", blocks.block.count,
                    regular ? std::to_string(blocks.count) : "some"));
  return blocks;
}

std::shared_ptr<const std::vector<detail::ViewedArray>> detail::viewed_arrays(const Job& job) {
  auto arrays = std::make_shared<std::vector<ViewedArray>>();
  for (const Array& array : job.arrays) {
    const std::uint64_t elements = array.size.count / std::max<std::uint64_t>(1, array.element.count);
    const bool is_equal = !stays(array.role) && !array.reach.elements && job.items > 0 && elements % job.items == 0;
    arrays->push_back(
        {.name = array.name, .elements = elements, .elements_of_item = is_equal ? elements / job.items : 0});
  }
  return arrays;
}

void detail::explain(const OutsideOfView& outside, const std::vector<ViewedArray>& arrays) {
  const auto array = std::ranges::find(arrays, outside.array(), &ViewedArray::name);
  if (array == arrays.end()) throw Error(outside.what());
  const std::uint64_t last_forward = std::numeric_limits<std::uint64_t>::max() / 2;
  if (outside.index() > last_forward)
    throw Error(fmt::format("{}[{}] is before the first element of {}: let its kernel ask for elements from 0 on",
                            array->name, static_cast<std::int64_t>(outside.index()), array->name));
  if (outside.index() >= array->elements)
    throw Error(
        fmt::format("{}[{}] is beyond the end of {}, which has {} elements: let its kernel end before, or give "
                    "the array more elements",
                    array->name, outside.index(), array->name, array->elements));
  if (array->elements_of_item <= 1) throw Error(outside.what());
  throw Error(fmt::format("{} (item i owns the elements [{} i, {} (i + 1)) of {})", outside.what(),
                          array->elements_of_item, array->elements_of_item, array->name));
}

namespace {

void require_valid_cost(const Job& job) {
  const auto require = [&](Seconds time) {
    if (!std::isfinite(time.count()) || time < Seconds{0})
      throw UsageError(
          fmt::format("{}: its kernel is said to take {} s, which is no time: `.kernel_time` wants a finite number of "
                      "seconds, 0 or more",
                      job.name, time.count()));
  };
  for (const KernelCost::Point& point : job.cost.points) {
    require(point.work.value);
    require(point.work.low);
    require(point.work.high);
  }
}

void require_valid_numbers(const Job& job) {
  if (job.items == 0)
    throw UsageError(fmt::format(
        "{}: its number of items is 0, so that there is no work: `Job{{items}}` wants at least 1", job.name));
  if (job.items_per_block == 0 || job.blocks_per_item_group == 0 || job.threads_per_block == 0)
    throw UsageError(fmt::format(
        "{}: its kernel has blocks of {} items and {} threads, {} blocks for each group of items: `.with_blocks` and "
        "`.takes_any_grid` want at least 1 of each",
        job.name, job.items_per_block, job.threads_per_block, job.blocks_per_item_group));
  if (!std::isfinite(job.flops) || job.flops < 0)
    throw UsageError(
        fmt::format("{}: it has {} operations: `.with_flops` wants a finite number, 0 or more", job.name, job.flops));
  if (!(job.efficiency > 0 && job.efficiency <= 1))
    throw UsageError(
        fmt::format("{}: its efficiency is {}: `.with_efficiency` wants a fraction of more than 0 and at "
                    "most 1",
                    job.name, job.efficiency));
}

/// Throws UsageError for blocks that were not described by `.in`, `.out` or `.inout` and do not fit the array.
void require_valid_blocks(const Job& job, const Array& array) {
  if (!is_input(array.role) && !is_output(array.role))
    throw UsageError(
        fmt::format("{}: array {} is blocks of a pool and is not cut into chunks: describe it with `.in`, `.out` or "
                    "`.inout`",
                    job.name, array.name));
  const Blocks sized = detail::sized_blocks(job.name, array.name, *array.blocks, array.blocks->pool, array.element);
  if (!sized.has_shape_of(*array.blocks) || array.size != sized.block * sized.count || array.reach.before > 0 ||
      array.reach.after > 0 || array.reach.elements)
    throw UsageError(
        fmt::format("{}: the size and the reach of array {} do not fit its blocks: describe it with `.in`, `.out` or "
                    "`.inout`",
                    job.name, array.name));
}

/// Throws UsageError for an array that is not read at least once, and for one that is read more often than is counted.
void require_valid_times_read(const Job& job, const Array& array) {
  constexpr double most = 1e9;
  if (!(array.times_read >= 1 && array.times_read <= most))
    throw UsageError(
        fmt::format("{}: the kernel is said to read each byte of array {} {} times: `.reads` wants a number from 1 to "
                    "{:.0e}",
                    job.name, array.name, array.times_read, most));
  if (array.times_read > 1 && !is_input(array.role))
    throw UsageError(
        fmt::format("{}: array {} is said to be read several times, and is not copied to the GPU in chunks: `.reads` "
                    "is for arrays of `.in` and `.inout`",
                    job.name, array.name));
}

/// Throws UsageError for arrays that are cut and have no element, or no whole number of elements, for each item.
void require_fitting_length(const Job& job, const Array& array) {
  if (array.blocks && array.blocks->count % job.items != 0)
    throw UsageError(
        fmt::format("{}: array {} has {} blocks for {} items, so that chunks would end within a block: give it a "
                    "multiple of the items, or as many items as blocks",
                    job.name, array.name, array.blocks->count, job.items));
  // Workloads stated by hand may have an array without bytes.
  if (stays(array.role) || array.reach.elements || array.size.count == 0) return;
  const std::uint64_t elements = array.size.count / array.element.count;
  if (elements < job.items)
    throw UsageError(
        fmt::format("{}: array {} has {} elements for {} items, so that some items would own none: give it "
                    "an element for each item at least, or say with `mapped_by` which ones a chunk needs",
                    job.name, array.name, elements, job.items));
  if (elements % job.items != 0)
    throw UsageError(
        fmt::format("{}: array {} has {} elements for {} items, so that items own different numbers of elements: give "
                    "it a multiple of the items, or say with `mapped_by` which ones a chunk needs",
                    job.name, array.name, elements, job.items));
}

}  // namespace

void require_valid(const Job& job) {
  for (const Array& array : job.arrays)
    if (array.blocks) require_valid_blocks(job, array);
  require_valid_numbers(job);
  require_valid_cost(job);
  std::set<std::string> names;
  for (const Array& array : job.arrays) {
    if (!names.insert(array.name).second) refuse_name(job, array.name);
    if (array.element.count == 0)
      throw UsageError(
          fmt::format("{}: elements of array {} have 0 bytes: give the size of one", job.name, array.name));
    if (array.kept && (!stays(array.role) || array.prefix_of))
      throw UsageError(fmt::format(
          "{}: array {} {}, so it cannot stay on the GPU from run to run: describe an array of its own of which every "
          "chunk reads all elements with `.kept` or `.kept_state`",
          job.name, array.name, array.prefix_of ? "is a part of another array" : "is cut into chunks"));
    require_fitting_length(job, array);
    require_valid_times_read(job, array);
  }
  const auto is_result = [](const Array& a) { return is_output(a.role) || a.role == Role::carried; };
  if (std::ranges::none_of(job.arrays, is_result))
    throw UsageError(
        fmt::format("{}: no array is written, so that nothing would come back from the GPU: describe the results with "
                    "`.out`, `.inout`, `.carried` or `.kept_state`",
                    job.name));
  require_valid_prefixes(job);
}

}  // namespace shiplap

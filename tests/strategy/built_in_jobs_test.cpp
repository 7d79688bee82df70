// The schedules of the built-in workloads: sound, and without a dependency that validation would not miss.
#include <gtest/gtest.h>

#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/schedule/validate.hpp"
#include "tests/support/built_in_workloads.hpp"

namespace shiplap {
namespace {

/// Whether `later` comes after `earlier` by streams and dependencies alone, found by walking back.
bool is_ordered(const Schedule& schedule, OpId earlier, OpId later) {
  std::vector<bool> reached(schedule.ops.size(), false);
  reached[later.index()] = true;
  for (std::size_t i = later.index() + 1; i-- > 0;) {
    if (!reached[i]) continue;
    if (i == earlier.index()) return true;
    const Op& op = schedule.ops[i];
    for (const OpId before : op.after) reached[before.index()] = true;
    for (std::size_t j = i; !op.stream.is_none() && j-- > 0;)
      if (schedule.ops[j].stream == op.stream) {
        reached[j] = true;
        break;
      }
  }
  return false;
}

std::vector<Choice> choices() {
  std::vector<Choice> all;
  for (const char* strategy :
       {"streams", "hybrid", "hybrid-mirror", "implicit", "staged", "managed-prefetch", "managed-implicit"})
    for (const Layout layout : {Layout::per_chunk, Layout::few, Layout::three})
      for (const std::uint32_t ring : {0u, 2u}) {
        const bool laid_out = find_strategy(strategy).memory == ArrayMemory::pinned;
        if (!laid_out && layout != Layout::three) continue;
        all.push_back({.strategy = strategy, .chunks = 5, .layout = layout, .streams = 2, .ring = ring, .threads = 2});
      }
  return all;
}

TEST(BuiltInJobs, give_schedules_from_which_no_needed_dependency_can_be_left_out) {
  for (const std::string& name : testing::small_workloads()) {
    std::size_t needed = 0;
    for (Choice choice : choices()) {
      const Strategy& strategy = find_strategy(choice.strategy);
      const Job job = testing::workload_for(name, strategy).job;
      if (!testing::can_run(job, strategy)) continue;
      choice.chunks = static_cast<std::uint32_t>(std::min<std::uint64_t>(choice.chunks, job.items));
      const Schedule schedule = strategy.schedule(job, choice, {.device_memory = 256_MiB});
      const auto found = problems(schedule);
      EXPECT_TRUE(found.empty()) << name << ", " << to_string(choice) << ": " << found.front();
      for (std::uint32_t i = 0; i < schedule.ops.size(); ++i)
        for (std::size_t d = 0; d < schedule.ops[i].after.size(); ++d) {
          Schedule without = schedule;
          const OpId before = schedule.ops[i].after[d];
          without.ops[i].after.erase(without.ops[i].after.begin() + static_cast<std::ptrdiff_t>(d));
          if (!problems(without, 1).empty()) {
            ++needed;
          } else if (!strategy.zero_copy) {  // zero-copy strategies: small pieces may lie side by side in a slot
            EXPECT_TRUE(is_ordered(without, before, OpId{i}))
                << name << ", " << to_string(choice) << ": " << describe(schedule, OpId{i}) << " need not wait for "
                << describe(schedule, before) << ", says the validation";
          }
        }
    }
    EXPECT_GT(needed, 20u) << name;
  }
}

/// Bytes that copies bring over the link, by direction.
std::pair<std::uint64_t, std::uint64_t> copied(const Schedule& schedule) {
  std::pair<std::uint64_t, std::uint64_t> bytes;
  for (const Op& op : schedule.ops)
    if (const auto* copy = std::get_if<Copy>(&op.what)) {
      if (direction(schedule, *copy) == CopyDirection::host_to_device) bytes.first += copy->from.length.count;
      if (direction(schedule, *copy) == CopyDirection::device_to_host) bytes.second += copy->from.length.count;
    }
  return bytes;
}

TEST(BuiltInJobs, send_every_byte_over_the_link_once_in_any_number_of_chunks) {
  for (const std::string& name : testing::small_workloads()) {
    const Strategy& streams = find_strategy("streams");
    const Job job = testing::workload_for(name, streams).job;
    std::uint64_t in = 0;
    std::uint64_t out = 0;
    for (const Array& array : job.arrays) {
      if (is_input(array.role) || stays(array.role)) in += size_on_host(array).count;
      if (is_output(array.role) || array.role == Role::carried) out += size_on_host(array).count;
    }
    for (const std::uint32_t chunks : testing::chunk_counts(job))
      for (const std::uint32_t ring : {0u, 2u})
        EXPECT_EQ(copied(streams.schedule(job, {.chunks = chunks, .ring = ring}, {.device_memory = 256_MiB})),
                  std::pair(in, out))
            << name << " in " << chunks << " chunks, ring of " << ring;
  }
}

// van Werkhoven et al. 2014: the difference of level k is written by the kernel of level k + 1.
TEST(BuiltInJobs, bring_the_local_buoyancy_difference_of_a_level_back_after_the_kernel_of_the_next_one) {
  const Job job = testing::workload_for("pop-buoydiff:nx=8,ny=4,nz=6", find_strategy("streams")).job;
  const Schedule schedule =
      find_strategy("streams").schedule(job, {.chunks = 6, .layout = Layout::per_chunk}, {.device_memory = 256_MiB});
  constexpr std::uint64_t level = 8 * 4 * 8;  // bytes
  const BufferId local{static_cast<std::uint32_t>(job.arrays.size() - 1)};
  std::size_t looked_at = 0;
  for (std::uint32_t i = 0; i < schedule.ops.size(); ++i) {
    const auto* copy = std::get_if<Copy>(&schedule.ops[i].what);
    if (copy == nullptr || copy->to.buffer != local) continue;
    const std::uint64_t last_level = (copy->to.offset + copy->to.length).count / level - 1;
    const std::uint64_t writer = std::min<std::uint64_t>(last_level + 1, 5);
    for (std::uint32_t k = 0; k < schedule.ops.size(); ++k)
      if (const auto* kernel = std::get_if<Kernel>(&schedule.ops[k].what); kernel && kernel->first_item == writer) {
        EXPECT_TRUE(is_ordered(schedule, OpId{k}, OpId{i})) << "level " << last_level;
        ++looked_at;
      }
  }
  EXPECT_EQ(looked_at, 5u);
}

}  // namespace
}  // namespace shiplap

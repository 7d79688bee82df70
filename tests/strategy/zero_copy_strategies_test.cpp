// The strategies whose kernels access host memory: implicit, hybrid and hybrid-mirror.
#include <gtest/gtest.h>

#include <algorithm>

#include "shiplap/core/error.hpp"
#include "shiplap/schedule/validate.hpp"
#include "shiplap/strategy/strategy.hpp"
#include "tests/strategy/shapes.hpp"
#include "tests/support/jobs.hpp"

namespace shiplap {
namespace {

TEST(Hybrid, gives_sound_schedules_that_copy_one_way_and_map_the_other) {
  for (const auto& roles : pinned_roles)
    for (const char* name : {"hybrid", "hybrid-mirror"})
      for (const Choice& choice : all_shapes()) {
        const Job job = job_with(roles);
        const Schedule schedule = find_strategy(name).schedule(job, choice, roomy);
        const auto found = problems(schedule);
        EXPECT_TRUE(found.empty()) << name << " " << to_string(choice) << ": " << found.front();
        const bool maps_in = std::string_view(name) == "hybrid-mirror";
        for (const Op& op : schedule.ops) {
          if (const auto* copy = std::get_if<Copy>(&op.what)) {
            const bool to_device = direction(schedule, *copy) == CopyDirection::host_to_device;
            const Role role = job.arrays[(to_device ? copy->from : copy->to).buffer.index()].role;
            EXPECT_TRUE(role == Role::broadcast || (maps_in ? role != Role::in : role == Role::in));
            continue;
          }
          for (const Flow& flow : std::get<Kernel>(op.what).flows) {
            const Role role = job.arrays[flow.buffer.index()].role;
            EXPECT_EQ(maps_in, role == Role::in);
            EXPECT_TRUE(flow.mode == AccessMode::write ? role != Role::in : role != Role::out);
          }
        }
      }
}

TEST(Hybrid, gives_sound_schedules_whatever_the_sizes_of_its_arrays_and_their_places_in_slots) {
  for (const char* name : {"hybrid", "hybrid-mirror", "streams"})
    for (const std::uint64_t size : {100u, 128u, 300u, 700u})
      for (Choice choice : all_shapes()) {
        // As found by chance: pieces of one array lie beside each other in a slot where those of others do not.
        Job job = job_with({Role::scratch, Role::in, Role::out, Role::broadcast}, 12);
        for (std::size_t a = 0; a < 3; ++a) job.arrays[a].size = Bytes{12 * (size / (a + 1) | 1)};
        choice.chunks = std::min(choice.chunks, 12u);
        const auto found = problems(find_strategy(name).schedule(job, choice, roomy));
        EXPECT_TRUE(found.empty()) << name << " " << size << " " << to_string(choice) << ", ring " << choice.ring
                                   << ": " << found.front();
      }
}

TEST(Hybrid, aligns_what_it_copies_as_the_array_is_so_that_all_operands_of_a_kernel_are_aligned_alike) {
  Job job = job_with({Role::in, Role::out}, 6045);
  for (Array& array : job.arrays) array.size = Bytes{6045 * 3};
  for (const char* name : {"hybrid", "hybrid-mirror"}) {
    const Schedule schedule = find_strategy(name).schedule(job, {.chunks = 7}, roomy);
    for (const Op& op : schedule.ops) {
      const auto* kernel = std::get_if<Kernel>(&op.what);
      if (kernel == nullptr) continue;
      for (const Access& operand : kernel->operands)
        EXPECT_EQ(operand.region.offset.count % 256, operand.origin.count % 256) << name;
    }
  }
  // Without arrays in host memory the kernel may use the widest accesses in every chunk.
  const Schedule streams = find_strategy("streams").schedule(job, {.chunks = 7}, roomy);
  for (const Op& op : streams.ops) {
    const auto* kernel = std::get_if<Kernel>(&op.what);
    if (kernel == nullptr) continue;
    for (const Access& operand : kernel->operands) EXPECT_EQ(operand.region.offset.count % 256, 0u);
  }
}

TEST(Implicit, moves_every_byte_by_the_kernel_and_copies_only_what_stays) {
  Job job = job_with({Role::in, Role::inout, Role::out, Role::broadcast}, 6000);
  job.cost.limited = {{.items = 6000, .blocks = 2, .work = Interval<Seconds>::exact(milliseconds(9))}};
  const Schedule schedule = find_strategy("implicit").schedule(job, {.max_grid = 3}, roomy);
  EXPECT_TRUE(problems(schedule).empty());
  ASSERT_EQ(schedule.ops.size(), 2u);
  const auto& kernel = std::get<Kernel>(schedule.ops[1].what);
  EXPECT_EQ(kernel.blocks, 3u);
  EXPECT_NEAR(in_milliseconds(kernel.work), 6, 1e-9) << "in proportion to what two blocks take";
  ASSERT_EQ(kernel.flows.size(), 4u);  // in; inout both ways; out
  for (const Flow& flow : kernel.flows) {
    EXPECT_EQ(flow.bytes.count, 6000u * 8);
    EXPECT_EQ(flow.in_flight.count, 3u * 256 * 16);
  }
}

TEST(HybridMirror, takes_what_was_measured_of_the_kernel_on_its_inputs_in_host_memory) {
  Job job = job_with({Role::in, Role::out}, 4000);
  const auto at = [](std::uint64_t items, double us) {
    return KernelCost::Point{items, Interval<Seconds>::exact(microseconds(us))};
  };
  job.cost.zero_copy = {{.in = true,
                         .out = false,
                         .blocks = 0,
                         .alone = {at(500, 4e6), at(2000, 10e6)},
                         .beside = {at(500, 8e6), at(2000, 15e6)},
                         .copies_beside = 1.5}};
  const Schedule schedule = find_strategy("hybrid-mirror").schedule(job, {.chunks = 4}, roomy);
  std::size_t kernels = 0;
  for (const Op& op : schedule.ops)
    if (const auto* kernel = std::get_if<Kernel>(&op.what)) {
      ++kernels;
      ASSERT_TRUE(kernel->measured);
      EXPECT_NEAR(kernel->measured->alone.count(), 6, 1e-9);
      EXPECT_NEAR(kernel->measured->beside_copies.count(), 8 + 7.0 / 3, 1e-9);
      EXPECT_EQ(kernel->measured->copies_beside, 1.5);
    }
  EXPECT_EQ(kernels, 4u);
  // Nothing was measured of its outputs there.
  const Schedule hybrid = find_strategy("hybrid").schedule(job, {.chunks = 4}, roomy);
  for (const Op& op : hybrid.ops) {
    const auto* kernel = std::get_if<Kernel>(&op.what);
    EXPECT_FALSE(kernel != nullptr && kernel->measured);
  }
}

TEST(Implicit, refuses_a_grid_where_the_kernel_has_one_of_its_own) {
  Job job = job_with({Role::in, Role::out});
  job.any_grid = false;
  EXPECT_THROW(find_strategy("implicit").schedule(job, {.max_grid = 3}, roomy), Unsupported);
  EXPECT_NO_THROW(find_strategy("implicit").schedule(job, {}, roomy));
}

}  // namespace
}  // namespace shiplap

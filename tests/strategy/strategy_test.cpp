#include "shiplap/strategy/strategy.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "shiplap/core/error.hpp"
#include "shiplap/schedule/validate.hpp"
#include "shiplap/workload/launches.hpp"
#include "tests/strategy/shapes.hpp"
#include "tests/support/jobs.hpp"
#include "tests/support/message_of.hpp"

namespace shiplap {
namespace {

TEST(Streams, gives_sound_schedules_in_every_shape) {
  for (const auto& roles : pinned_roles)
    for (const Choice& choice : all_shapes()) {
      const auto found = problems(find_strategy("streams").schedule(job_with(roles), choice, roomy));
      EXPECT_TRUE(found.empty()) << to_string(choice) << ", ring " << choice.ring << ": " << found.front();
    }
}

TEST(Streams, gives_sound_schedules_with_the_copies_of_a_chunk_in_one_call_each_way) {
  for (const auto& roles : pinned_roles) {
    const auto to_device = std::ranges::count_if(roles, is_input);
    const auto from_device = std::ranges::count_if(roles, is_output);
    for (Choice choice : all_shapes()) {
      choice.batched = true;
      const Job job = job_with(roles);
      if (to_device < 2 && from_device < 2) {
        EXPECT_THROW(find_strategy("streams").schedule(job, choice, roomy), Unsupported);
        continue;
      }
      const Schedule schedule = find_strategy("streams").schedule(job, choice, roomy);
      const auto found = problems(schedule);
      EXPECT_TRUE(found.empty()) << to_string(choice) << ", ring " << choice.ring << ": " << found.front();
      EXPECT_EQ(
          std::ranges::count_if(schedule.ops, &Op::batched),
          choice.chunks * (std::max<std::ptrdiff_t>(0, to_device - 1) + std::max<std::ptrdiff_t>(0, from_device - 1)));
    }
  }
}

TEST(Streams, are_in_batches_only_where_every_copy_is_of_pinned_memory_and_by_itself) {
  const Choice batched{.chunks = 4, .batched = true};
  Job job = job_with({Role::in, Role::in, Role::out}, 4000);
  EXPECT_NO_THROW(find_strategy("streams").schedule(job, batched, roomy));
  EXPECT_THROW(find_strategy("streams").schedule(job, {.chunks = 4, .graph = true, .batched = true}, roomy),
               UsageError);
  EXPECT_THROW(find_strategy("implicit").schedule(job, batched, roomy), Unsupported) << "it copies nothing";
  job.arrays[0].reach = halo(1, 1);
  EXPECT_THROW(find_strategy("streams").schedule(job, batched, roomy), Unsupported) << "a halo stays on the GPU";
  job = job_with({Role::in, Role::in, Role::out}, 4000);
  for (Array& array : job.arrays) array.memory = MemoryKind::pageable;
  for (const char* name : {"staged", "pageable"})
    EXPECT_THROW(find_strategy(name).schedule(job, batched, roomy), Unsupported) << name;
}

TEST(Streams, has_no_dependency_that_could_be_left_out) {
  std::size_t edges = 0;
  for (const auto& roles : pinned_roles)
    for (const Choice& choice : all_shapes()) {
      const Schedule schedule = find_strategy("streams").schedule(job_with(roles), choice, roomy);
      for (std::size_t i = 0; i < schedule.ops.size(); ++i)
        for (std::size_t d = 0; d < schedule.ops[i].after.size(); ++d) {
          Schedule without = schedule;
          without.ops[i].after.erase(without.ops[i].after.begin() + static_cast<std::ptrdiff_t>(d));
          ++edges;
          EXPECT_FALSE(problems(without, 1).empty())
              << to_string(choice) << ", ring " << choice.ring << ", streams " << choice.streams << ": "
              << describe(schedule, OpId{static_cast<std::uint32_t>(i)}) << " after "
              << describe(schedule, schedule.ops[i].after[d]);
        }
    }
  EXPECT_GT(edges, 1000u);
}

TEST(Streams, moves_every_byte_of_every_array_exactly_once_also_when_chunks_do_not_divide) {
  for (const std::uint32_t chunks : {1u, 7u, 13u, 60u}) {
    const Job job = job_with({Role::in, Role::inout, Role::out});
    const Schedule schedule = find_strategy("streams").schedule(job, {.chunks = chunks}, roomy);
    std::vector<std::vector<int>> in(3, std::vector<int>(480)), out(3, std::vector<int>(480));
    for (const Op& op : schedule.ops)
      if (const auto* copy = std::get_if<Copy>(&op.what)) {
        const bool to_device = direction(schedule, *copy) == CopyDirection::host_to_device;
        const Region& host = to_device ? copy->from : copy->to;
        for (std::uint64_t b = 0; b < host.length.count; ++b)
          ++(to_device ? in : out)[host.buffer.index()][host.offset.count + b];
      }
    for (int b = 0; b < 480; ++b) {
      EXPECT_EQ(in[0][b] + in[1][b], 2);
      EXPECT_EQ(out[1][b] + out[2][b], 2);
      EXPECT_EQ(in[2][b] + out[0][b], 0);
    }
  }
}

TEST(Streams, takes_a_smaller_ring_when_device_memory_is_short) {
  const Job job = in_out_job(64_MiB, 64_MiB, milliseconds(1), 1 << 20);
  const Schedule schedule = find_strategy("streams").schedule(job, {.chunks = 64}, {.device_memory = 10_MiB});
  EXPECT_EQ(memory_at(schedule, Place::gpu()), 10_MiB);
  EXPECT_TRUE(problems(schedule).empty());
}

TEST(Streams, refuses_what_no_ring_can_fit_with_the_numbers) {
  const Job job = in_out_job(64_MiB, 64_MiB, milliseconds(1), 1 << 20);
  try {
    find_strategy("streams").schedule(job, {.chunks = 2}, {.device_memory = 10_MiB});
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("64 MiB"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("10 MiB"), std::string::npos) << e.what();
  }
}

TEST(Streams, refuses_more_chunks_than_items_and_names_the_parameter) {
  try {
    find_strategy("streams").schedule(job_with({Role::in}), {.chunks = 61}, roomy);
    FAIL();
  } catch (const UsageError& e) {
    EXPECT_NE(std::string(e.what()).find("`chunks` 61"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("60"), std::string::npos) << e.what();
  }
}

TEST(Strategies, refuse_pageable_arrays_and_say_what_to_do) {
  Job job = job_with({Role::in, Role::out});
  job.arrays[1].memory = MemoryKind::pageable;
  for (const Strategy& strategy : strategies()) {
    if (strategy.memory != ArrayMemory::pinned) continue;
    try {
      strategy.schedule(job, {}, roomy);
      FAIL() << strategy.name;
    } catch (const Unsupported& e) {
      EXPECT_NE(std::string(e.what()).find("array 1"), std::string::npos) << e.what();
      EXPECT_NE(std::string(e.what()).find("`pinned_vector`"), std::string::npos) << e.what();
    }
  }
}

TEST(Explicit, is_one_stream_without_any_dependency) {
  const Schedule schedule = find_strategy("explicit").schedule(job_with({Role::in, Role::in, Role::out}), {}, roomy);
  EXPECT_EQ(schedule.streams.size(), 1u);
  EXPECT_EQ(schedule.ops.size(), 4u);
  for (const Op& op : schedule.ops) EXPECT_TRUE(op.after.empty());
}

TEST(Layouts, are_read_as_they_are_written_in_help) {
  Choice choice;
  parse_layout("few:6", choice);
  EXPECT_EQ(choice.layout, Layout::few);
  EXPECT_EQ(choice.streams, 6u);
  parse_layout("per-chunk", choice);
  EXPECT_EQ(choice.layout, Layout::per_chunk);
  EXPECT_THROW(parse_layout("four", choice), UsageError);
  EXPECT_THROW(parse_layout("few:0", choice), UsageError);
  EXPECT_THROW(parse_layout("few:4294967298", choice), UsageError) << "not 2 streams";
}

TEST(Streams, wait_for_what_stays_where_a_chunk_brings_nothing) {
  // All data belong to the first chunks.
  for (Choice choice : all_shapes()) {
    Job job = job_with({Role::broadcast, Role::in}, 12);
    job.arrays[1].reach = mapped_by([](ItemRange r) {
      const auto end = [](std::uint64_t item) { return std::min<std::uint64_t>(item * 4, 12); };
      return ElementRange{end(r.first), end(r.first + r.count) - end(r.first)};
    });
    const auto found = problems(find_strategy("streams").schedule(job, choice, roomy));
    EXPECT_TRUE(found.empty()) << to_string(choice) << ", ring " << choice.ring << ": " << found.front();
  }
}

TEST(Streams, are_no_graph_where_the_driver_waits_for_a_copy) {
  Job job = job_with({Role::in, Role::out, Role::broadcast}, 4000);
  EXPECT_TRUE(find_strategy("streams").schedule(job, {.chunks = 4, .graph = true}, roomy).as_graph);
  job.arrays[2].memory = MemoryKind::pageable;
  EXPECT_NO_THROW(find_strategy("streams").schedule(job, {.chunks = 4}, roomy));
  EXPECT_THROW(find_strategy("streams").schedule(job, {.chunks = 4, .graph = true}, roomy), Unsupported);
}

TEST(Streams, are_no_graph_of_a_kernel_that_cannot_be_captured) {
  Job job = job_with({Role::in, Role::out}, 4000);
  job.capturable = false;
  EXPECT_NO_THROW(find_strategy("streams").schedule(job, {.chunks = 4}, roomy));
  EXPECT_THROW(find_strategy("streams").schedule(job, {.chunks = 4, .graph = true}, roomy), Unsupported);
}

TEST(Chunked, takes_kernels_of_dense_items_as_many_times_as_long) {
  // The first half of the items has three quarters of the data.
  Job job = job_with({Role::in, Role::out}, 1000);
  job.arrays[0].reach = mapped_by([](ItemRange r) {
    const auto begin = [](std::uint64_t i) { return i < 500 ? 3 * i / 2 : 750 + (i - 500) / 2; };
    return ElementRange{begin(r.first), begin(r.first + r.count) - begin(r.first)};
  });
  EXPECT_NEAR(density(job, {0, 500}), 1.5, 1e-12);
  EXPECT_NEAR(density(job, {500, 500}), 0.5, 1e-12);
  EXPECT_NEAR(density(job, {0, 1000}), 1, 1e-12);
  const Seconds half = kernel_time(job, 500, 0);
  const Schedule schedule = find_strategy("streams").schedule(job, {.chunks = 2}, roomy);
  std::vector<Seconds> works;
  for (const Op& op : schedule.ops)
    if (const auto* kernel = std::get_if<Kernel>(&op.what)) works.push_back(kernel->work);
  ASSERT_EQ(works.size(), 2u);
  EXPECT_NEAR(works[0] / half, 1.5, 1e-12);
  EXPECT_NEAR(works[1] / half, 0.5, 1e-12);
}

TEST(Density, leaves_a_launch_its_floor_and_counts_only_what_is_reached) {
  // All data are those of the last items, behind a header and before room to spare.
  Job job = job_with({Role::in, Role::out}, 1000);
  job.arrays[0].size = Bytes{8 * 3000};
  job.arrays[0].reach = mapped_by([](ItemRange r) {
    const auto begin = [](std::uint64_t i) { return 7 + (i < 990 ? 0 : (i - 990) * 100); };
    return ElementRange{begin(r.first), begin(r.first + r.count) - begin(r.first)};
  });
  EXPECT_EQ(average_items(job, {0, 500}), 1u);
  EXPECT_EQ(average_items(job, {990, 10}), 1000u);
  EXPECT_EQ(average_items(job, {0, 1000}), 1000u);
  // Beside an ordinary input of as many bytes as are reached, half of that.
  job.arrays.push_back({.name = "rows", .role = Role::in, .size = Bytes{8 * 1000}, .element = Bytes{8}});
  EXPECT_EQ(average_items(job, {0, 500}), 250u);
  EXPECT_EQ(average_items(job, {990, 10}), 505u);
}

TEST(Density, is_one_where_pieces_overlap_and_for_outputs) {
  Job job = job_with({Role::in, Role::out}, 100);
  job.arrays[0].reach = mapped_by([](ItemRange r) {
    const std::uint64_t end = std::min<std::uint64_t>(100, r.first + r.count + 3);
    return ElementRange{r.first, end - r.first};
  });
  EXPECT_EQ(density(job, {0, 10}), 1);
  job.arrays[0].reach = {};
  job.arrays[1].reach = mapped_by([](ItemRange r) {
    return ElementRange{r.first / 2, (r.first + r.count) / 2 - r.first / 2};
  });
  EXPECT_EQ(density(job, {0, 10}), 1);
}

TEST(Ramp, is_read_as_it_is_written_and_refused_when_it_is_none) {
  EXPECT_EQ(parse_ramp("0.25:1:1.05"), (Ramp{0.25, 1, 1.05}));
  EXPECT_TRUE(parse_ramp("none").level());
  for (const char* text : {" 0.25:1:1.05", "0.25:1: 1.05", "0x1p-2:1:1.05", "0.25:1:inf", "0.25:1:nan", "0.25:1:1.05x",
                           "0,25:1:1,05", "0.25:1", "0.25:1:", ""})
    EXPECT_THROW(parse_ramp(text), UsageError) << text;
  for (const char* text : {"0.5:1:1.03", "0.125:0.125:2", "none"}) EXPECT_EQ(to_string(parse_ramp(text)), text);
  for (const char* text : {"", "0.5", "0.5:1", "0.5:1:2x", "0:1:2", "0.5:2:2", "0.5:1:1", "nan:1:2"})
    EXPECT_THROW(parse_ramp(text), UsageError) << text;
}

TEST(EmulatedLayouts, are_sound_with_all_copies_in_one_stream) {
  for (const auto& roles : pinned_roles)
    for (const Layout layout : {Layout::one_engine, Layout::implicit_sync})
      for (const IssueOrder order : {IssueOrder::depth, IssueOrder::breadth})
        for (const std::uint32_t chunks : {1u, 7u, 12u})
          for (const std::uint32_t ring : {0u, 1u, 5u}) {
            const Choice choice{.chunks = chunks, .layout = layout, .order = order, .ring = ring};
            const Schedule schedule = find_strategy("streams").schedule(job_with(roles), choice, roomy);
            const auto found = problems(schedule);
            EXPECT_TRUE(found.empty()) << to_string(choice) << ", ring " << ring << ": " << found.front();
            for (const Op& op : schedule.ops)
              EXPECT_EQ(op.stream == StreamId{0}, std::holds_alternative<Copy>(op.what)) << to_string(choice);
          }
}

TEST(EmulatedLayouts, hold_every_result_until_the_last_kernel_before_it_has_ended) {
  const Choice choice{.chunks = 6, .layout = Layout::implicit_sync, .order = IssueOrder::breadth, .ring = 3};
  const Schedule schedule = find_strategy("streams").schedule(job_with({Role::in, Role::out}), choice, roomy);
  OpId last_kernel;
  OpId waited;  // by an earlier copy in the stream
  for (std::uint32_t i = 0; i < schedule.ops.size(); ++i) {
    const Op& op = schedule.ops[i];
    if (std::holds_alternative<Kernel>(op.what)) last_kernel = OpId{i};
    const auto* copy = std::get_if<Copy>(&op.what);
    if (copy == nullptr || direction(schedule, *copy) != CopyDirection::device_to_host) continue;
    for (const OpId after : op.after) waited = std::max(waited.is_none() ? after : waited, after);
    EXPECT_EQ(waited, last_kernel) << describe(schedule, OpId{i});
  }
}

/// A job of two arrays in the memory that the strategy takes.
Job job_for(const Strategy& strategy) {
  Job job = job_with({Role::in, Role::out});
  for (Array& array : job.arrays)
    array.memory = strategy.memory == ArrayMemory::pageable  ? MemoryKind::pageable
                   : strategy.memory == ArrayMemory::managed ? MemoryKind::managed
                                                             : MemoryKind::pinned;
  return job;
}

TEST(Strategies, divide_the_items_among_the_gpus_that_are_asked_for_or_refuse) {
  for (const Strategy& strategy : strategies()) {
    const Choice choice{.strategy = std::string(strategy.name), .chunks = 2, .threads = 2, .gpus = 2};
    if (strategy.memory == ArrayMemory::managed) {
      EXPECT_THROW(strategy.schedule(job_for(strategy), choice, roomy), Unsupported) << strategy.name;
      continue;
    }
    const Schedule schedule = strategy.schedule(job_for(strategy), choice, roomy);
    EXPECT_TRUE(problems(schedule).empty()) << strategy.name;
    std::uint64_t items[2]{};
    for (const Op& op : schedule.ops)
      if (const auto* kernel = std::get_if<Kernel>(&op.what))
        items[schedule.streams[op.stream.index()].place.index] += kernel->items;
    EXPECT_EQ(items[0], 30u) << strategy.name;
    EXPECT_EQ(items[1], 30u) << strategy.name;
  }
}

TEST(Graphs, are_made_of_the_same_ops_by_every_strategy_that_the_host_takes_no_part_in) {
  for (const Strategy& strategy : strategies()) {
    const Job job = job_for(strategy);
    const Choice choice{.strategy = std::string(strategy.name), .chunks = 3, .threads = 2, .graph = true};
    if (strategy.memory != ArrayMemory::pinned) {
      EXPECT_THROW(strategy.schedule(job, choice, roomy), Unsupported) << strategy.name;
      continue;
    }
    const Schedule schedule = strategy.schedule(job, choice, roomy);
    EXPECT_TRUE(schedule.as_graph) << strategy.name;
    EXPECT_TRUE(problems(schedule).empty()) << strategy.name;
    EXPECT_NE(to_string(choice).find("as a graph"), std::string::npos);
  }
}

TEST(Layouts, that_do_not_exist_have_no_name) {
  const auto none = static_cast<Layout>(99);
  EXPECT_EQ(message_of([&] { to_string(none, 4); }), "a layout that does not exist");
  EXPECT_THROW(name_of(none), Error);
}

}  // namespace
}  // namespace shiplap

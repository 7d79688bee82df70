// Jobs with arrays that are on the GPU already.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/device/virtual/virtual_device.hpp"
#include "shiplap/emit/cuda_program.hpp"
#include "shiplap/pipeline/check_reach.hpp"
#include "shiplap/pipeline/learn.hpp"
#include "shiplap/pipeline/plan.hpp"
#include "shiplap/pipeline/run.hpp"
#include "shiplap/plan/bound.hpp"
#include "shiplap/plan/ideal_overlap.hpp"
#include "shiplap/schedule/validate.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/planted_gpu.hpp"

namespace shiplap {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t stencil_rows = 60;
constexpr std::uint64_t stencil_columns = 5;

/// A weighted sum over neighbouring rows, which counts its chunks. Each of the four arrays is on the host or the GPU.
class Placed {
 public:
  /// Bit a of `on_gpu`: array a is on the GPU.
  Placed(Device& gpu, unsigned on_gpu, MemoryKind on_host) {
    const std::array sizes{stencil_rows * stencil_columns, std::uint64_t{3}, stencil_rows * stencil_columns,
                           std::uint64_t{1}};
    for (std::size_t a = 0; a < sizes.size(); ++a) {
      const bool there = (on_gpu >> a & 1u) != 0;
      memory_.push_back(gpu.allocate(there ? Place::gpu() : Place::host(), there ? MemoryKind::device : on_host,
                                     Bytes{sizes[a] * sizeof(double)}));
    }
    std::iota(all(0).begin(), all(0).end(), 1.0);
    std::ranges::copy(std::array{2.0, 3.0, 5.0}, all(1).begin());
    forget();
  }

  std::span<double> all(std::size_t array) {
    const auto bytes = memory_[array].bytes();
    return {reinterpret_cast<double*>(bytes.data()), bytes.size() / sizeof(double)};
  }
  void forget() {
    std::ranges::fill(all(2), -1.0);
    all(3)[0] = 100;
  }

  Job job() {
    return Job{stencil_rows, "stencil"}
        .in("u", all(0), halo(1, 1))
        .broadcast("factor", all(1))
        .out("out", all(2))
        .carried("seen", all(3))
        .zero_copy_suits()
        .kernel_time(microseconds(100))
        .host_kernel([](Chunk chunk, auto from, auto weights, auto to, auto counted) {
          for (std::uint64_t row = chunk.first; row < chunk.end(); ++row)
            for (std::uint64_t c = 0; c < stencil_columns; ++c) {
              double sum = weights[1] * from[row * stencil_columns + c];
              if (row > 0) sum += weights[0] * from[(row - 1) * stencil_columns + c];
              if (row + 1 < stencil_rows) sum += weights[2] * from[(row + 1) * stencil_columns + c];
              to[row * stencil_columns + c] = sum;
            }
          counted[0] = counted[0] * 3 + static_cast<double>(chunk.count);
        });
  }

  void expect_right(const Schedule& schedule) {
    for (std::uint64_t row = 0; row < stencil_rows; ++row)
      for (std::uint64_t c = 0; c < stencil_columns; ++c) {
        const auto u = [&](std::uint64_t r) { return static_cast<double>(r * stencil_columns + c + 1); };
        double expected = 3 * u(row);
        if (row > 0) expected += 2 * u(row - 1);
        if (row + 1 < stencil_rows) expected += 5 * u(row + 1);
        ASSERT_EQ(all(2)[row * stencil_columns + c], expected) << "row " << row;
      }
    double seen = 100;
    for (const Op& op : schedule.ops)
      if (const auto* kernel = std::get_if<Kernel>(&op.what)) seen = seen * 3 + static_cast<double>(kernel->items);
    ASSERT_EQ(all(3)[0], seen);
  }

 private:
  std::vector<Memory> memory_;
};

Bytes bytes_copied(const Schedule& schedule) {
  Bytes sum;
  for (const Op& op : schedule.ops)
    if (const auto* copy = std::get_if<Copy>(&op.what)) sum += copy->from.length;
  return sum;
}

TEST(ArraysOnGpu, are_accessed_where_they_are_under_every_choice_and_nothing_of_them_is_copied) {
  const auto gpu = planted_gpu();
  std::size_t runs = 0;
  for (const char* strategy : {"explicit", "streams", "implicit", "hybrid", "hybrid-mirror", "pageable", "staged"})
    for (unsigned on_gpu = 1; on_gpu < 16; ++on_gpu)
      for (const std::uint32_t chunks : {1u, 7u, 60u})
        for (const std::uint32_t ring : {0u, 2u}) {
          const Strategy& known = find_strategy(strategy);
          if (!known.chunked && chunks > 1) continue;
          const bool is_pageable = known.memory == ArrayMemory::pageable;
          if (is_pageable && on_gpu == 0b1111) continue;  // nothing is copied
          Placed data(*gpu, on_gpu, is_pageable ? MemoryKind::pageable : MemoryKind::pinned);
          const Choice choice{
              .strategy = strategy, .chunks = chunks, .ring = ring, .threads = known.threaded ? 2u : 0u};
          SCOPED_TRACE(to_string(choice) + ", on the GPU " + std::to_string(on_gpu));
          const Job job = with_memory_kinds(gpu.get(), data.job());
          Prepared prepared = prepare(*gpu, job, choice, {.device_memory = 1_GiB});
          EXPECT_NO_THROW(validate(prepared.schedule()));
          for (int run = 0; run < 2; ++run) {
            data.forget();
            prepared.run();
            data.expect_right(prepared.schedule());
            if (::testing::Test::HasFatalFailure()) return;
          }
          for (const Op& op : prepared.schedule().ops)
            if (const auto* copy = std::get_if<Copy>(&op.what)) {
              for (const Region& region : {copy->from, copy->to})
                EXPECT_FALSE(region.buffer.index() < 4 && (on_gpu >> region.buffer.index() & 1u) != 0);
            }
          ++runs;
        }
  EXPECT_GT(runs, 300u);
}

TEST(ArraysOnGpu, are_found_by_their_address_and_count_for_no_link) {
  const auto gpu = planted_gpu();
  const Node node = node_of(*gpu, planted_profile());
  Placed there(*gpu, 0b1111, MemoryKind::pinned);
  const Plan all = plan(node, there.job());
  EXPECT_EQ(bytes_copied(*all.chosen.schedule), 0_B);
  EXPECT_EQ(bytes_in(all.job) + bytes_out(all.job), 0_B);
  EXPECT_NEAR(all.chosen.predicted.value / microseconds(100), 1, 0.2) << "the kernel and its launch";
  EXPECT_LE(bound(all.job, planted_profile()).time, all.chosen.predicted.value);
  run(*gpu, all, there.job());
  there.expect_right(*all.chosen.schedule);

  Placed input(*gpu, 0b0011, MemoryKind::pinned);
  const Plan half = plan(node, input.job(), {.space = {.strategies = {"streams"}}});
  EXPECT_EQ(bytes_copied(*half.chosen.schedule), Bytes{(stencil_rows * stencil_columns + 2) * sizeof(double)})
      << "the result, and the count in and out";
  EXPECT_GT(ideal_overlap(half.job, planted_profile()).copies, Seconds{0}) << "the result";
  EXPECT_EQ(ideal_overlap(all.job, planted_profile()).copies, Seconds{0});
}

TEST(ArraysOnGpu, let_one_job_take_what_another_has_left_there) {
  const auto gpu = planted_gpu();
  const Node node = node_of(*gpu, planted_profile());
  constexpr std::uint64_t n = 1000;
  std::vector<float> state(n, 1.0f);
  const Memory there = gpu->allocate(Place::gpu(), MemoryKind::device, Bytes{n * sizeof(float)});
  const Memory next = gpu->allocate(Place::gpu(), MemoryKind::device, Bytes{n * sizeof(float)});
  const auto floats = [](const Memory& m) { return std::span(reinterpret_cast<float*>(m.data()), n); };
  const auto copies = [](Chunk chunk, auto from, auto to) {
    for (std::uint64_t i = chunk.first; i < chunk.end(); ++i) to[i] = from[i];
  };
  const auto grows = [](Chunk chunk, auto from, auto to) {
    for (std::uint64_t i = chunk.first; i < chunk.end(); ++i) to[i] = from[i] + 1;
  };
  const auto begin = Job{n}.in("x", state).out("y", floats(there)).kernel_time(microseconds(1)).host_kernel(copies);
  const auto step =
      Job{n}.in("x", floats(there)).out("y", floats(next)).kernel_time(microseconds(1)).host_kernel(grows);
  const auto back =
      Job{n}.in("x", floats(next)).out("y", floats(there)).kernel_time(microseconds(1)).host_kernel(grows);
  const auto end = Job{n}.in("x", floats(there)).out("y", state).kernel_time(microseconds(1)).host_kernel(copies);
  Prepared first = prepare(*gpu, plan(node, begin), begin);
  Prepared one = prepare(*gpu, plan(node, step), step);
  Prepared other = prepare(*gpu, plan(node, back), back);
  Prepared last = prepare(*gpu, plan(node, end), end);
  first.run();
  for (int i = 0; i < 10; ++i) {
    one.run();
    other.run();
  }
  last.run();
  EXPECT_THAT(state, ::testing::Each(21.0f));
  EXPECT_EQ(bytes_copied(one.schedule()) + bytes_copied(other.schedule()), 0_B);
}

TEST(ArraysOnGpu, that_kernels_change_are_as_after_a_single_run_when_a_report_or_a_race_repeats_it) {
  const auto gpu = planted_gpu();
  const Node node = node_of(*gpu, planted_profile());
  Placed data(*gpu, 0b1111, MemoryKind::pinned);
  const Plan raced = plan(node, data.job(), {.race = Seconds{1e-3}});
  ASSERT_NE(raced.race, nullptr);
  EXPECT_EQ(data.all(3)[0], 100) << "as before the race";
  run(*gpu, raced, data.job(), {.repeats = 3, .warm_up = 2});
  data.expect_right(*raced.chosen.schedule);
}

TEST(ArraysOnGpu, have_the_same_alignment_in_measured_launches_as_in_runs) {
  const auto gpu = planted_gpu();
  const Node node = node_of(*gpu, planted_profile());
  constexpr std::uint64_t n = 1003;
  const Memory there = gpu->allocate(Place::gpu(), MemoryKind::device, Bytes{n * sizeof(float)});
  std::vector<float> y(n);
  std::size_t launches = 0;
  const auto job =
      Job{n}
          .in("x", std::span(reinterpret_cast<const float*>(there.data()), n))
          .out("y", y)
          .kernel_time(microseconds(1))
          .host_kernel([&](Chunk, auto from, auto to) {
            ++launches;
            const auto address = [](const auto& view) { return reinterpret_cast<std::uintptr_t>(view.data()) % 256; };
            EXPECT_EQ(address(from), address(to));
          });
  run_kernel_once(node, job, {});
  const Job known = with_memory_kinds(gpu.get(), Job(job));
  prepare(*gpu, known, {.strategy = "staged", .chunks = 7, .threads = 2}, {.device_memory = 1_GiB}).run();
  EXPECT_GE(launches, 8u);
}

TEST(ArraysOnGpu, leave_the_memory_to_rings_that_is_free_now) {
  Profile little = planted_profile();
  little.gpus[0].memory = 64_MiB;
  const auto gpu = open_virtual(little, "virtual:little");
  const Node node = node_of(*gpu, little);
  const Bytes all = node.limits.device_memory;
  const Memory there = gpu->allocate(Place::gpu(), MemoryKind::device, all / 8 * 7);
  std::vector<float> y(16);
  Job job = Job{16}
                .in("x", std::span(reinterpret_cast<const std::byte*>(there.data()), 16))
                .out("y", y)
                .kernel_time(microseconds(1))
                .host_kernel([](Chunk, auto, auto) {});
  EXPECT_LE(plan(node, job).limits.device_memory, all / 2);
  Job stated = job;
  stated.arrays[0].data = nullptr;
  stated.arrays[0].memory = MemoryKind::device;
  stated.arrays[0].size = all / 8 * 7 / 16 * 16;
  stated.arrays[0].element = 1_B;
  EXPECT_LE(plan(node_of(little), stated).limits.device_memory, all / 2);
}

TEST(ArraysOnGpu, are_refused_by_a_plan_for_arrays_on_the_host_and_the_reverse) {
  const auto gpu = planted_gpu();
  const Node node = node_of(*gpu, planted_profile());
  Placed host(*gpu, 0, MemoryKind::pageable);
  Placed there(*gpu, 0b0101, MemoryKind::pageable);
  const Plan for_host = plan(node, host.job());
  const Plan for_gpu = plan(node, there.job());
  EXPECT_THAT(message_of([&] { prepare(*gpu, for_host, there.job()); }), HasSubstr("plan this job"));
  EXPECT_THAT(message_of([&] { prepare(*gpu, for_gpu, host.job()); }), HasSubstr("plan this job"));
  EXPECT_NO_THROW(prepare(*gpu, for_gpu, there.job()));
}

TEST(ArraysOnGpu, alone_are_no_case_for_copies) {
  const auto gpu = planted_gpu();
  Placed there(*gpu, 0b1111, MemoryKind::pinned);
  for (const Candidate& candidate : plan(node_of(*gpu, planted_profile()), there.job()).ranking.candidates)
    EXPECT_EQ(find_strategy(candidate.choice.strategy).memory, ArrayMemory::pinned) << candidate.choice.strategy;
}

TEST(ArraysOnGpu, of_a_prefix_are_that_array) {
  const auto gpu = planted_gpu();
  constexpr std::uint64_t n = 64;
  const Memory there = gpu->allocate(Place::gpu(), MemoryKind::device, Bytes{n * sizeof(float)});
  const std::span<float> x(reinterpret_cast<float*>(there.data()), n);
  std::iota(x.begin(), x.end(), 1.0f);
  std::vector<float> y(n);
  Job job = Job{n}
                .in("x", x)
                .broadcast("first", std::span(x).first(4))
                .out("y", y)
                .kernel_time(microseconds(1))
                .host_kernel([](Chunk chunk, auto from, auto first, auto to) {
                  for (std::uint64_t i = chunk.first; i < chunk.end(); ++i) to[i] = from[i] + first[i % 4];
                });
  job.arrays[1].prefix_of = 0;
  job.arrays[1].data = nullptr;
  const Job known = with_memory_kinds(gpu.get(), job);
  Prepared prepared = prepare(*gpu, known, {.strategy = "pageable", .chunks = 4}, {.device_memory = 1_GiB});
  prepared.run();
  for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(y[i], x[i] + x[i % 4]);
}

TEST(ArraysOnGpu, are_checked_for_accesses_beyond_their_reach) {
  const auto gpu = planted_gpu();
  Placed data(*gpu, 0b1111, MemoryKind::pinned);
  EXPECT_TRUE(check_reach(*gpu, data.job()).empty());
  Job narrow = data.job();
  narrow.arrays[0].reach = own_items;
  narrow.binding.host = data.job().binding.host;
  EXPECT_THAT(message_of([&] { check_reach(*gpu, narrow, 4); }), HasSubstr("u[75] is not among"));
  EXPECT_EQ(data.all(2)[0], -1.0) << "the caller's arrays are as they were";
}

TEST(ArraysOnGpu, are_refused_where_they_cannot_be_used) {
  const auto gpu = planted_gpu();
  const Node node = node_of(*gpu, planted_profile());
  Placed data(*gpu, 0b0001, MemoryKind::pinned);
  Job kept = data.job();
  kept.arrays[0].role = Role::broadcast;
  kept.arrays[0].reach = own_items;
  kept.arrays[0].kept = true;
  EXPECT_THAT(message_of([&] { plan(node, kept); }), HasSubstr("nothing to keep"));
  const Job known = with_memory_kinds(gpu.get(), data.job());
  EXPECT_THAT(message_of([&] {
                find_strategy("streams").schedule(known, {.strategy = "streams", .chunks = 2, .gpus = 2},
                                                  {.device_memory = 1_GiB});
              }),
              HasSubstr("several GPUs"));
  const Job managed = with_memory_kinds(gpu.get(), Placed(*gpu, 0b0001, MemoryKind::managed).job());
  EXPECT_THAT(message_of([&] {
                find_strategy("managed").schedule(managed, {.strategy = "managed", .threads = 1},
                                                  {.device_memory = 1_GiB});
              }),
              HasSubstr("on the GPU already"));
  const Plan planned = plan(node, data.job());
  EXPECT_THAT(message_of([&] {
                Workload workload;
                workload.job = planned.job;
                cuda_program(workload, planned.chosen.choice, *planned.chosen.schedule, {});
              }),
              HasSubstr("stands alone"));
}

}  // namespace
}  // namespace shiplap

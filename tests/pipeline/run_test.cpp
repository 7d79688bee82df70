#include "shiplap/pipeline/run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/device/pinned_vector.hpp"
#include "shiplap/device/virtual/virtual_device.hpp"
#include "shiplap/pipeline/ideal_overlap.hpp"
#include "shiplap/pipeline/probe.hpp"
#include "shiplap/pipeline/workload_data.hpp"
#include "shiplap/strategy/strategy.hpp"
#include "shiplap/workload/built_in/spmv.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

Workload saxpy_workload() {
  Workload w = find_workload("saxpy:n=1Mi", {});
  w.job.cost = derived_cost(w.job, planted_profile());
  return w;
}

TEST(Probe, probes_a_kernel_and_gets_back_the_cost_that_the_virtual_gpu_charges) {
  const auto gpu = open_virtual(planted_profile(), "virtual:planted");
  WorkloadData data(*gpu, saxpy_workload());
  const KernelCost probed = probe_kernel(*gpu, data.job(), limits_of(planted_profile()));
  ASSERT_GE(probed.points.size(), 2u);
  EXPECT_LE(probed.points.size(), 3u);
  for (const auto& point : probed.points)
    EXPECT_NEAR(point.work.value / data.job().cost.launch_time(point.items), 1, 1e-9) << point.items;
}

TEST(Probe, probes_the_cost_of_average_items_where_the_first_have_more_data) {
  const auto gpu = open_virtual(planted_profile(), "virtual:planted");
  const SpmvShape shape{.rows = 20000, .nonzeros = 2000000};
  Workload spmv = find_workload("spmv:rows=20000,nonzeros=2000000", {});
  // The planted kernel takes 1 ns a nonzero, 100 a row on average.
  spmv.job.binding.duration = [&](const Launch& launch) {
    return Seconds{1e-9 * static_cast<double>(first_nonzero(shape, launch.first_item + launch.items) -
                                              first_nonzero(shape, launch.first_item))};
  };
  WorkloadData data(*gpu, std::move(spmv));
  const KernelCost probed = probe_kernel(*gpu, data.job(), limits_of(planted_profile()));
  ASSERT_GT(probed.points.size(), 1u);
  for (const auto& point : probed.points)
    EXPECT_NEAR(point.work.value.count() / (100e-9 * static_cast<double>(point.items)), 1, 0.02) << point.items;
}

TEST(Probe, probes_items_in_the_middle_of_the_job_and_several_in_a_row_where_a_wave_has_no_two) {
  const auto gpu = open_virtual(planted_profile(), "virtual:planted", VirtualBytes::left_out);
  // Levels of 1056 blocks, of which 1056 fit at once. The first level takes nothing at all, others 10 µs each and 5 for
  // the one above the first; with 16 blocks 66 times as long.
  Workload levels = find_workload("pop-state:nx=1024,ny=528,nz=20", {});
  levels.job.binding.duration = [](const Launch& launch) {
    const double few = launch.blocks == 16 ? 66 : 1;
    return launch.first_item == 0 && launch.items < 20
               ? Seconds{0}
               : microseconds(few * (5 + 10 * static_cast<double>(launch.items)));
  };
  WorkloadData data(*gpu, std::move(levels));
  const KernelCost probed = probe_kernel(*gpu, data.job(), limits_of(planted_profile()));
  ASSERT_EQ(probed.limited.size(), 2u);
  EXPECT_EQ(probed.limited[0].items, 1u);
  EXPECT_EQ(probed.limited[1].items, 4u);
  EXPECT_NEAR(in_microseconds(probed.limited[0].work.value), 66 * 15, 1e-6);
  EXPECT_NEAR(in_microseconds(probed.limited[1].work.value), 66 * 45, 1e-6);
  EXPECT_NEAR(in_microseconds(probed.points.front().work.value), 15, 1e-6);
}

/// The plan of one choice, without a ranking.
Plan plan_of(const WorkloadData& data, const Choice& choice) {
  const Limits limits = limits_of(planted_profile());
  Plan plan{{.job = data.job(),
             .ranking = {},
             .chosen = predict(data.job(), planted_profile(), choice, limits),
             .limits = limits}};
  plan.ranking.bound = bound(data.job(), planted_profile());
  return plan;
}

/// Options of a verified report beside ideal overlap.
RunReportOptions verified(WorkloadData& data, unsigned repeats) {
  return {.repeats = repeats,
          .ideal_overlap = true,
          .refill = [&data] { data.refill(); },
          .verify = [&data] { return data.verify(); }};
}

TEST(Run, observes_on_the_virtual_device_what_was_predicted_and_verifies) {
  const auto gpu = open_virtual(planted_profile(), "virtual:planted");
  WorkloadData data(*gpu, saxpy_workload());
  const Plan planned = plan_of(data, {.chunks = 8});
  RunReportOptions options = verified(data, 2);
  options.trace = Trace::best;
  const Report report = run(*gpu, planned, data.job(), options);
  EXPECT_TRUE(report.verified()) << *report.difference;
  EXPECT_EQ(report.samples.size(), 2u);
  EXPECT_EQ(report.ideal_overlap_samples.size(), 2u);
  EXPECT_NEAR(report.observed.value / planned.chosen.predicted.value, 1, 1e-12);
  EXPECT_EQ(report.timeline.spans.size(), report.planned.schedule->ops.size());
  EXPECT_GT(report.efficiency().value(), 0);
  EXPECT_LE(report.efficiency().value(), 1.001);
}

enum class Status { fine };

/// A run of a host kernel that doubles x and returns `status`.
template <class Result>
void expect_runs_with(Result status) {
  const auto gpu = open_virtual(planted_profile(), "virtual:planted");
  std::vector<float> x(1000, 21);
  std::vector<float> y(1000);
  const auto job = Job{1000, "doubled"}
                       .in("x", x)
                       .out("y", y)
                       .kernel_time(microseconds(10))
                       .kernel([=](CUstream_st*, Chunk, auto, auto) { return status; })
                       .host_kernel([=](Chunk chunk, auto in, auto out) {
                         for (std::uint64_t i = chunk.first; i < chunk.end(); ++i) out[i] = 2 * in[i];
                         return status;
                       });
  run(*gpu, plan(node_of(*gpu, planted_profile()), job), job);
  EXPECT_EQ(y, std::vector<float>(1000, 42));
}

TEST(Run, takes_kernels_that_return_a_status_which_nobody_reads) {
  expect_runs_with(0);
  expect_runs_with(-1L);
  expect_runs_with(true);
  expect_runs_with(Status::fine);
  expect_runs_with(0.5);
  expect_runs_with(std::string("done"));
}

TEST(Run, reports_what_differs_when_the_kernel_is_wrong) {
  const auto gpu = open_virtual(planted_profile(), "virtual:planted");
  Workload w = saxpy_workload();
  const auto right = w.job.binding.host;
  w.job.binding.host = [right](const Launch& launch) {
    right(launch);
    if (launch.first_item > 0) reinterpret_cast<float*>(launch.operands[1])[3] += 1;
  };
  WorkloadData data(*gpu, w);
  const Report report = run(*gpu, plan_of(data, {.chunks = 4}), data.job(), verified(data, 1));
  EXPECT_FALSE(report.verified());
  EXPECT_NE(report.difference->find("y["), std::string::npos) << *report.difference;
}

TEST(IdealOverlap, measures_copies_and_kernel_of_a_job_larger_than_the_device_memory_in_pieces) {
  Profile small = planted_profile();
  small.gpus[0].memory = 6_MiB;
  const auto gpu = open_virtual(small, "virtual:small");
  WorkloadData data(*gpu, saxpy_workload());  // 4 MiB each of x and y
  const Limits limits = limits_of(small);
  EXPECT_GT(prepare_kernel(*gpu, data.job(), limits).run({.hold = true}).timeline.makespan.count(), 0);
  EXPECT_GT(prepare_duplex(*gpu, data.job(), limits).run({.hold = true}).timeline.makespan.count(), 0);
}

TEST(Run, brings_every_byte_through_by_every_strategy_in_the_memory_that_it_is_for) {
  const auto gpu = open_virtual(planted_profile(), "virtual:planted");
  for (const Strategy& strategy : strategies())
    for (const std::uint32_t chunks : {1u, 7u}) {
      Workload w = saxpy_workload();
      for (Array& array : w.job.arrays)
        array.memory = strategy.memory == ArrayMemory::pageable  ? MemoryKind::pageable
                       : strategy.memory == ArrayMemory::managed ? MemoryKind::managed
                                                                 : MemoryKind::pinned;
      WorkloadData data(*gpu, w);
      const Choice choice{.strategy = std::string(strategy.name), .chunks = chunks, .threads = 3};
      const Plan planned = plan_of(data, choice);
      const Report report = run(*gpu, planned, data.job(), verified(data, 2));
      EXPECT_TRUE(report.verified()) << to_string(choice) << ": " << *report.difference;
      EXPECT_GT(report.efficiency().value(), 0) << to_string(choice);
      EXPECT_LT(report.efficiency().value(), 1.001) << to_string(choice) << " is measured against what the link can do";
      EXPECT_NEAR(report.observed.value.count(), planned.chosen.predicted.value.count(), 1e-12) << to_string(choice);
    }
}

TEST(Run, runs_a_job_once_without_being_asked_for_more) {
  const auto gpu = open_virtual(planted_profile(), "virtual:planted");
  Workload w = saxpy_workload();
  unsigned launches = 0;
  w.job.binding.host = [&launches, right = w.job.binding.host](const Launch& launch) {
    ++launches;
    right(launch);
  };
  WorkloadData data(*gpu, w);
  const Report report = run(*gpu, plan_of(data, {.strategy = "explicit"}), data.job());
  EXPECT_EQ(launches, 1u);
  EXPECT_EQ(report.samples.size(), 1u);
  EXPECT_FALSE(report.ideal_overlap);
  EXPECT_FALSE(report.difference) << "nothing verified it";
  EXPECT_THROW(run(*gpu, plan_of(data, {}), data.job(), {.repeats = 0}), UsageError);
}

// saxpy writes y = a x + y in place: a second run over its own results would give other ones.
TEST(Run, leaves_arrays_that_are_read_and_written_as_after_a_single_run) {
  const auto gpu = open_virtual(planted_profile(), "virtual:planted");
  WorkloadData data(*gpu, saxpy_workload());
  ASSERT_TRUE(std::ranges::any_of(data.job().arrays, [](const Array& a) { return a.role == Role::inout; }));
  run(*gpu, plan_of(data, {.chunks = 4}), data.job(), {.repeats = 5, .warm_up = 2, .ideal_overlap = true});
  EXPECT_EQ(data.verify(), "");
}

// The cost of the kernel is in the plan only. Ideal overlap of a job whose kernel takes longest is its kernel.
TEST(Run, measures_ideal_overlap_of_the_job_as_it_was_planned) {
  const auto gpu = open_virtual(planted_profile(), "virtual:planted");
  std::vector<float> x(1 << 16, 1.0f);
  const Job job = Job{x.size()}.inout("x", x).host_kernel([](Chunk, auto) {});
  PlanOptions options;
  Plan planned = plan(node_of(*gpu, planted_profile()), job, options);
  ASSERT_FALSE(planned.job.cost.points.empty());
  EXPECT_GT(planned.job.cost.launch_time(x.size()), Seconds{0}) << "derived from the bytes of the arrays";
  Job slow = job;
  slow.cost = {.points = {{x.size(), Interval<Seconds>::exact(milliseconds(50))}}, .origin = "stated"};
  planned = plan(node_of(*gpu, planted_profile()), slow, options);
  const Report report = run(*gpu, planned, job, {.repeats = 2, .ideal_overlap = true});
  EXPECT_GE(report.ideal_overlap.value().value, milliseconds(50));
  EXPECT_LE(report.efficiency().value(), 1.0);
}

// The reach of the job that runs leaves some chunks without elements: its schedule has fewer copies than the planned
// one.
TEST(Run, reports_the_schedule_that_ran_where_a_reach_is_given_by_a_function) {
  const auto gpu = open_virtual(planted_profile(), "virtual:planted");
  const Memory memory = gpu->allocate(Place::host(), MemoryKind::pinned, 16_KiB);
  const std::span<const float> x(reinterpret_cast<const float*>(memory.data()), 1 << 12);
  std::vector<float> sum(1);
  const auto job_of = [&](bool sparse) {
    return Job{x.size()}
        .in("x", x, mapped_by([sparse](ItemRange r) {
              const bool none = sparse && r.first >= 2048;
              return ElementRange{none ? 2048 : r.first, none ? 0 : r.count};
            }))
        .carried("sum", sum)
        .kernel_time(microseconds(5))
        .host_kernel([](Chunk, auto...) {});
  };
  const Job dense = job_of(false);
  const Job sparse = job_of(true);
  const Plan planned =
      plan(node_of(*gpu, planted_profile()), dense, {.space = {.strategies = {"streams"}, .chunks = {8}}});
  const Report same = run(*gpu, planned, dense, {.repeats = 2, .trace = Trace::best});
  EXPECT_EQ(same.timeline.spans.size(), same.planned.schedule->ops.size());
  EXPECT_EQ(same.planned.timeline.spans.size(), same.planned.schedule->ops.size());
  const Report other = run(*gpu, planned, sparse, {.repeats = 2, .trace = Trace::best});
  ASSERT_LT(other.planned.schedule->ops.size(), same.planned.schedule->ops.size());
  EXPECT_EQ(other.timeline.spans.size(), other.planned.schedule->ops.size());
  EXPECT_TRUE(other.planned.timeline.spans.empty());
  EXPECT_NO_THROW(other.to_json());
}

TEST(Run, restores_arrays_that_are_read_and_written_when_a_run_throws) {
  const auto gpu = open_virtual(planted_profile(), "virtual:planted");
  std::vector<float> x(1 << 12, 1.0f);
  unsigned launches = 0;
  const Job job = Job{x.size()}.inout("x", x).kernel_time(microseconds(5)).host_kernel([&](Chunk c, auto to) {
    if (++launches > 3) throw Error("enough");
    for (std::uint64_t i = c.first; i < c.end(); ++i) to[i] += 1;
  });
  const Plan planned = plan(node_of(*gpu, planted_profile()), job, {.space = {.strategies = {"pageable"}}});
  EXPECT_THROW(run(*gpu, planned, job, {.repeats = 5}), Error);
  EXPECT_EQ(x[7], 1.0f);
}

TEST(Run, finds_the_pages_of_managed_arrays_on_the_host_before_every_run) {
  const auto gpu = open_virtual(planted_profile(), "virtual:planted");
  Workload w = saxpy_workload();
  for (Array& array : w.job.arrays) array.memory = MemoryKind::managed;
  WorkloadData data(*gpu, w);
  auto prepared = prepare(*gpu, data.job(), {.strategy = "managed", .threads = 1}, limits_of(planted_profile()));
  const Seconds first = prepared.run().timeline.makespan;
  EXPECT_EQ(prepared.run().timeline.makespan, first);
  // 8 MiB over and 4 MiB back, at the planted rates.
  EXPECT_GT(first, 4_MiB / gigabytes_per_second(4));
}

TEST(Run, says_of_a_wrong_result_that_it_is_wrong_and_throws_with_exit_code_2_when_asked) {
  const auto gpu = open_virtual(planted_profile(), "virtual:planted");
  WorkloadData data(*gpu, saxpy_workload());
  const Plan made = plan_of(data, {.chunks = 4});
  const auto reported = [&](const std::function<std::string()>& verify) {
    return run(*gpu, made, data.job(), {.repeats = 2, .verify = verify});
  };
  const Report wrong = reported([] { return "y[3] is 1 instead of 2"; });
  EXPECT_TRUE(wrong.is_wrong());
  EXPECT_FALSE(wrong.verified());
  EXPECT_EQ(wrong.to_string().find("WRONG RESULT: y[3] is 1 instead of 2. "), 0u) << wrong.to_string();
  EXPECT_EQ(wrong.to_json().at("verified"), false);
  try {
    wrong.require_right();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const CheckFailed& error) {
    EXPECT_EQ(error.code(), ExitCode::check_failed);
  }
  const Report right = reported([] { return ""; });
  EXPECT_NE(right.to_string().find(", verified"), std::string::npos) << right.to_string();
  EXPECT_EQ(right.to_json().at("verified"), true);
  EXPECT_NO_THROW(right.require_right());
  const Report unchecked = reported({});
  EXPECT_FALSE(unchecked.verified() || unchecked.is_wrong());
  EXPECT_EQ(unchecked.to_string().find("verified"), std::string::npos) << unchecked.to_string();
  EXPECT_TRUE(unchecked.to_json().at("verified").is_null());
  EXPECT_NO_THROW(unchecked.require_right());
}

TEST(Run, names_the_job_and_the_chunk_of_what_its_host_kernel_throws) {
  const auto gpu = open_virtual(planted_profile(), "virtual:planted");
  pinned_vector<float> x(*gpu, 1 << 12, 1.0f);
  const auto thrown_by = [&](auto kernel) {
    const Job job = Job{x.size(), "mine"}.inout("x", x).kernel_time(microseconds(5)).host_kernel(kernel);
    const Plan made = plan(node_of(*gpu, planted_profile()), job,
                           {.space = {.strategies = {"streams"}, .chunks = {4}, .ramps = {Ramp{}}}});
    return message_of([&] { run(*gpu, made, job); });
  };
  const auto names = ::testing::AllOf(::testing::HasSubstr("mine"), ::testing::HasSubstr("of chunk 2"));
  EXPECT_THAT(thrown_by([](Chunk c, auto) {
                if (c.first == 2048) throw std::runtime_error("no more");
              }),
              ::testing::AllOf(names, ::testing::HasSubstr("no more")));
  EXPECT_THAT(thrown_by([](Chunk c, auto) {
                if (c.first == 2048) throw 5;
              }),
              names);
  EXPECT_THAT(thrown_by([](Chunk c, auto from) {
                if (c.first == 2048) from[c.end()] = 1;
              }),
              names);
}

}  // namespace
}  // namespace shiplap

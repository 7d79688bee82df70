#include "shiplap/evaluate/evaluate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "shiplap/core/error.hpp"
#include "shiplap/device/bindings.hpp"
#include "shiplap/device/virtual/virtual_device.hpp"
#include "shiplap/evaluate/errors.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "tests/support/forwarding_device.hpp"
#include "tests/support/noisy_device.hpp"
#include "tests/support/planted_gpu.hpp"

namespace shiplap {
namespace {

/// A device whose every run takes `factor` times as long as on the planted one, and which may spoil what it copied.
class OffDevice : public ForwardingDevice {
 public:
  explicit OffDevice(double factor, bool spoils = false)
      : ForwardingDevice(planted_gpu()), factor_(factor), spoils_(spoils) {}

  std::unique_ptr<Execution> prepare(const Schedule& schedule, const Bindings& bindings) override {
    // The first byte of what the last op wrote.
    std::byte* target = nullptr;
    if (spoils_ && !schedule.ops.empty())
      if (const auto* copy = std::get_if<Copy>(&schedule.ops.back().what))
        target = bindings.buffers[copy->to.buffer.index()] + copy->to.offset.count;
    return std::make_unique<ChangedExecution>(inner().prepare(schedule, bindings),
                                              [factor = factor_, target](RunResult& result) {
                                                result.timeline.makespan *= factor;
                                                if (target != nullptr) *target ^= std::byte{1};
                                              });
  }

 private:
  double factor_;
  bool spoils_;
};

Workload small_saxpy() {
  Workload w = find_workload("saxpy:n=64Ki", {});
  w.job.cost = derived_cost(w.job, planted_profile());
  return w;
}

EvaluateOptions few(std::vector<std::string> strategies) {
  return {.grid = {.strategies = std::move(strategies), .chunks = {1, 2, 4}, .max_grids = {8}},
          .rounds = 3,
          .duel_rounds = 3};
}

Node planted_node(MeasurableDevice& device) { return node_of(device, planted_profile()); }

EvaluatedWorkload evaluate_on(MeasurableDevice& device, const EvaluateOptions& options,
                              Workload workload = small_saxpy()) {
  return evaluate(planted_node(device), std::move(workload), options);
}

TEST(Evaluate, finds_the_factor_that_a_device_is_off_by) {
  OffDevice device(1.25);
  const std::vector workloads{evaluate_on(device, few({}))};
  const auto models = errors_by_model(workloads);
  ASSERT_EQ(models.front().name, "simulation");
  // Predicted over observed: 1 / 1.25 - 1.
  EXPECT_NEAR(models.front().all.median_signed, -0.2, 1e-9);
  EXPECT_NEAR(models.front().all.worst, 0.2, 1e-9);
  EXPECT_EQ(models.front().all.points, workloads.front().points.size());
  EXPECT_GE(workloads.front().points.size(), 13u) << "explicit, 3 x 3 streams less 2, implicit, 2 x 3 hybrids, planned";
  for (const EvaluatedPoint& point : workloads.front().points) EXPECT_TRUE(point.verified) << point.difference;
}

TEST(Evaluate, of_a_noisy_device_has_errors_as_large_as_its_noise) {
  const auto device = make_noisy(planted_gpu(), {.seed = 3, .relative = 0.03, .event_step = microseconds(0.001)});
  EvaluateOptions options = few({"streams"});
  options.rounds = 25;
  const std::vector workloads{evaluate_on(*device, options)};
  const ModelErrors simulation = errors_by_model(workloads).front();
  // Medians of 25 with a standard deviation of 3 %: that of the median is 1.25 · 3 % / 5 = 0.75 %.
  EXPECT_GT(simulation.all.worst, 0.002);
  EXPECT_LT(simulation.all.worst, 0.03);
  EXPECT_LT(std::abs(simulation.all.median_signed), 0.0075);
  EXPECT_EQ(simulation.unsteady.points, simulation.all.points)
      << "5th to 95th percentile: 3.3 standard deviations, 10 %";
}

TEST(Evaluate, keeps_a_wrong_result_as_such_and_counts_it_nowhere) {
  OffDevice device(1, true);
  Evaluation evaluation = begin_evaluation(planted_node(device));
  evaluation.workloads.push_back(evaluate_on(device, few({"explicit", "streams"})));
  ASSERT_FALSE(evaluation.workloads.front().points.empty());
  for (const EvaluatedPoint& point : evaluation.workloads.front().points) {
    EXPECT_FALSE(point.verified);
    EXPECT_NE(point.difference.find("y["), std::string::npos) << point.difference;
    EXPECT_EQ(point.samples_ms.size(), 3u) << "results are kept";
  }
  EXPECT_EQ(wrong_results(evaluation).size(), evaluation.workloads.front().points.size());
  EXPECT_TRUE(errors_by_model(evaluation.workloads).empty());
}

TEST(Evaluate, lists_what_a_strategy_refuses_with_the_reason) {
  Workload pageable = small_saxpy();
  for (Array& array : pageable.job.arrays) array.memory = MemoryKind::pageable;
  OffDevice device(1);
  const EvaluatedWorkload result = evaluate_on(device, few({"streams"}), pageable);
  EXPECT_TRUE(result.points.empty());
  ASSERT_FALSE(result.skipped.empty());
  EXPECT_NE(result.skipped.front().reason.find("pageable"), std::string::npos) << result.skipped.front().reason;
  EXPECT_FALSE(result.not_run.empty());
}

TEST(Evaluate, runs_the_choices_that_it_is_given_alone_and_no_duel_when_none_is_wanted) {
  OffDevice device(1);
  const std::vector<Choice> choices{{.chunks = 3}, {.strategy = "explicit"}};
  const EvaluatedWorkload result = evaluate_on(device, {.grid = {.choices = choices}, .rounds = 2, .duel_rounds = 0});
  ASSERT_EQ(result.points.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(result.points[i].choice, choices[i]);
    EXPECT_EQ(result.points[i].samples_ms.size(), 2u);
  }
  EXPECT_FALSE(result.duel);
}

TEST(Evaluate, ends_with_a_device_that_fails_where_that_is_wanted) {
  OffDevice device(1);
  Workload failing = small_saxpy();
  failing.job.binding.host = [](const Launch&) { throw Error("the GPU has fallen off the bus"); };
  EvaluateOptions options = few({"streams"});
  EXPECT_NE(evaluate_on(device, options, failing).not_run.find("the bus"), std::string::npos);
  options.failures_end = true;
  EXPECT_THROW(evaluate_on(device, options, failing), Error);
  Workload pageable = small_saxpy();
  for (Array& array : pageable.job.arrays) array.memory = MemoryKind::pageable;
  EXPECT_NE(evaluate_on(device, options, pageable).not_run, "") << "what is not supported is none";
}

TEST(Evaluate, forms_groups_that_fit_each_with_the_automatic_choice_and_the_bound) {
  OffDevice device(1);
  EvaluateOptions options = few({"streams"});
  options.ready = 1_MiB;  // each choice takes half a MiB on the GPU
  const EvaluatedWorkload result = evaluate_on(device, options);
  ASSERT_GT(result.groups.size(), 1u);
  std::size_t choices = 0;
  for (const EvaluatedGroup& group : result.groups) {
    EXPECT_LE(group.choices, 2u);
    EXPECT_EQ(group.automatic_ms.size(), 3u);
    EXPECT_EQ(group.ideal_overlap_ms.size(), 3u);
    choices += group.choices;
  }
  EXPECT_EQ(choices, result.points.size());
  ASSERT_TRUE(result.duel);
  EXPECT_EQ(result.duel->winner_ms.size(), 3u);
}

TEST(EvaluateTransfers, find_the_factor_and_wrong_bytes_in_each_direction) {
  OffDevice slow(1.25);
  const auto errors = transfer_errors(evaluate_transfers(slow, planted_profile(), {1_MiB}, {1, 4, 16}, {.rounds = 3}));
  ASSERT_EQ(errors.size(), 2u);
  for (const TransferErrors& e : errors) {
    EXPECT_EQ(e.simulation.points, 3u);
    EXPECT_NEAR(e.simulation.median_signed, -0.2, 1e-9);
  }
  OffDevice spoiling(1, true);
  for (const EvaluatedTransfer& t : evaluate_transfers(spoiling, planted_profile(), {64_KiB}, {1, 2}, {.rounds = 1}))
    EXPECT_EQ(t.wrong_bytes, 1u);
}

TEST(EvaluateTransfers, have_loggp_equal_the_device_where_its_idea_of_a_link_holds) {
  // L+o, G and g of Table I whatever the size: T of 1 MiB in 4 copies by hand.
  const Profile paper = paper_profile();
  const auto device = open_virtual(paper, "virtual:paper");
  const auto transfers = evaluate_transfers(*device, paper, {1_MiB}, {4}, {.rounds = 1});
  ASSERT_EQ(transfers.size(), 2u);
  const double h2d_ms = 1e3 * (9.42e-6 + 1048576 * 8.318392e-11 + 3 * 2.503e-6);
  EXPECT_NEAR(in_milliseconds(transfers[0].loggp), h2d_ms, 1e-9);
  EXPECT_NEAR(transfers[0].samples_ms.front(), h2d_ms, 1e-9);
}

/// A device without memory from some size on, and which refuses to prepare schedules of some number of kernels.
class ShortOfMemory : public ForwardingDevice {
 public:
  explicit ShortOfMemory(Bytes refused, std::size_t refused_kernels = 0)
      : ForwardingDevice(planted_gpu()), refused_(refused), refused_kernels_(refused_kernels) {}
  Memory allocate(Place place, MemoryKind kind, Bytes size) override {
    if (size >= refused_) throw Error("no memory is left");
    return ForwardingDevice::allocate(place, kind, size);
  }
  std::unique_ptr<Execution> prepare(const Schedule& schedule, const Bindings& bindings) override {
    const auto kernels =
        std::ranges::count_if(schedule.ops, [](const Op& op) { return std::holds_alternative<Kernel>(op.what); });
    if (refused_kernels_ > 0 && static_cast<std::size_t>(kernels) == refused_kernels_) throw Error("no memory is left");
    return ForwardingDevice::prepare(schedule, bindings);
  }

 private:
  Bytes refused_;
  std::size_t refused_kernels_;
};

TEST(Evaluate, skips_a_choice_that_cannot_be_prepared_and_runs_the_others) {
  ShortOfMemory device(Bytes{~0ull}, 5);
  const std::vector<Choice> choices{{.chunks = 4}, {.chunks = 5}, {.chunks = 6}};
  const EvaluatedWorkload result = evaluate_on(device, {.grid = {.choices = choices}, .rounds = 2, .duel_rounds = 0});
  ASSERT_EQ(result.skipped.size(), 1u);
  EXPECT_EQ(result.skipped.front().choice, choices[1]);
  EXPECT_EQ(result.skipped.front().reason, "no memory is left");
  ASSERT_EQ(result.points.size(), 2u);
  for (const EvaluatedPoint& point : result.points) EXPECT_EQ(point.samples_ms.size(), 2u);
  EXPECT_EQ(result.not_run, "");
}

TEST(Evaluate, runs_nothing_of_a_workload_without_memory_and_says_why) {
  ShortOfMemory device(64_KiB);
  const EvaluatedWorkload result = evaluate_on(device, few({"streams"}));
  EXPECT_EQ(result.not_run, "no memory is left");
  EXPECT_TRUE(result.points.empty());
}

TEST(Evaluate, ends_where_a_strategy_does_not_exist) {
  OffDevice device(1);
  EXPECT_THROW(evaluate_on(device, few({"steams"})), UsageError);
}

}  // namespace
}  // namespace shiplap

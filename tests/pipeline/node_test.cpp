#include "shiplap/pipeline/node.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/device/bindings.hpp"
#include "shiplap/device/probe_kernel.hpp"
#include "shiplap/evaluate/evaluate.hpp"
#include "shiplap/evaluate/regret.hpp"
#include "shiplap/pipeline/adaptive.hpp"
#include "shiplap/pipeline/move.hpp"
#include "shiplap/pipeline/run.hpp"
#include "shiplap/profile/profile.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/planted_gpu.hpp"

namespace shiplap {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// y = 2 x over vectors of its own.
struct TwofoldJob {
  std::vector<float> x = std::vector<float>(4096, 1);
  std::vector<float> y = std::vector<float>(4096, -1);
  Job job() {
    return Job{x.size(), "doubling"}.in("x", x).out("y", y).host_kernel([](Chunk c, auto from, auto to) {
      for (std::uint64_t i = c.first; i < c.end(); ++i) to[i] = 2 * from[i];
    });
  }
};

/// The device is in no variable of the caller any more.
Node made_in_a_function() {
  const auto gpu = planted_gpu();
  return node_of(*gpu, planted_profile());
}

TEST(Node, keeps_the_device_that_it_was_made_of) {
  const Node node = made_in_a_function();
  TwofoldJob doubling;
  const Plan made = plan(node, doubling.job());
  run(*node.device, made, doubling.job());
  EXPECT_EQ(doubling.y, std::vector<float>(4096, 2));
}

TEST(Node, gives_the_device_back_when_nobody_uses_it_any_more) {
  std::weak_ptr<MeasurableDevice> device;
  {
    const Node node = made_in_a_function();
    device = node.device;
    EXPECT_FALSE(device.expired());
  }
  EXPECT_TRUE(device.expired());
}

TEST(Node, of_a_device_that_no_pointer_shares_does_not_own_it) {
  struct Mine : MeasurableDevice {
    DeviceInfo info() const override {
      DeviceInfo info;
      info.id = "mine";
      return info;
    }
    Memory allocate(Place, MemoryKind, Bytes) override { return {}; }
    std::unique_ptr<Execution> prepare(const Schedule&, const Bindings&) override { return nullptr; }
    ProbeKernel probe_kernel(ProbeKind, std::uint64_t, double) override { return {}; }
    void fill(const Memory&, std::uint64_t) override {}
    std::uint64_t mismatches(const Memory&, Bytes, Bytes, std::uint64_t, Bytes) override { return 0; }
  } mine;
  EXPECT_EQ(node_of(mine, planted_profile()).device.get(), &mine);
}

TEST(Prepared, keeps_the_device_that_it_runs_on) {
  TwofoldJob doubling;
  std::optional<Prepared> prepared;
  {
    const Node node = made_in_a_function();
    prepared = prepare(*node.device, plan(node, doubling.job()), doubling.job());
  }
  prepared->run();
  EXPECT_EQ(doubling.y, std::vector<float>(4096, 2));
}

TEST(Adaptive, keeps_the_device_that_it_runs_on) {
  TwofoldJob doubling;
  for (float& x : doubling.x) x = 1;
  Adaptive adaptive(made_in_a_function(), doubling.job());
  const AdaptiveReport report = adaptive.run([](Batch& batch) { return batch.number < 5; });
  EXPECT_EQ(report.batches, 5u);
}

TEST(Node, without_a_device_is_refused_with_the_remedy_by_all_that_runs_something) {
  const Node node = node_of(planted_profile());
  TwofoldJob doubling;
  const auto says = AllOf(HasSubstr("the node has no device"), HasSubstr("node_of("));
  EXPECT_THAT(message_of<UsageError>([&] { Adaptive{node, doubling.job()}; }), says);
  EXPECT_THAT(message_of<UsageError>([&] { run_kernel_once(node, doubling.job()); }), says);
  EXPECT_THAT(message_of<UsageError>([&] { begin_evaluation(node); }), says);
  EXPECT_THAT(message_of<UsageError>([&] { evaluate(node, find_workload("saxpy:n=64")); }), says);
  EXPECT_THAT(message_of<UsageError>([&] { regret_of(node, find_workload("saxpy:n=64")); }), says);
  EXPECT_THAT(message_of<UsageError>([&] { to_json(std::vector<JobRegret>{}, node, 1, ""); }), says);
  const std::vector<std::uint32_t> index{0};
  EXPECT_THAT(message_of<UsageError>([&] {
                move(node, BlockPool<float>{doubling.x, 16_B}, std::span<const std::uint32_t>(index), doubling.y.data(),
                     nullptr);
              }),
              says);
}

TEST(Node, without_a_profile_is_refused_with_the_remedy) {
  TwofoldJob doubling;
  const Node node;
  EXPECT_THAT(message_of<UsageError>([&] { plan(node, doubling.job()); }), HasSubstr("load_or_measure"));
  EXPECT_THAT(message_of<UsageError>([&] { derived_cost(node, doubling.job()); }), HasSubstr("load_or_measure"));
  EXPECT_THAT(message_of<UsageError>([&] {
                Adaptive{Node{.device = planted_gpu()}, doubling.job()};
              }),
              HasSubstr("load_or_measure"));
}

}  // namespace
}  // namespace shiplap

// What adaptive runs refuse, and what becomes of batches in flight when the device fails.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/device/bindings.hpp"
#include "shiplap/pipeline/adaptive.hpp"
#include "shiplap/workload/described_job.hpp"
#include "tests/support/adaptive_bed.hpp"
#include "tests/support/forwarding_device.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/planted_gpu.hpp"

namespace shiplap {
namespace {

using adaptive_bed::summing;

std::string refused_adaptive(const Node& node, const Job& batch, const AdaptiveOptions& options = {}) {
  return message_of([&] { Adaptive(node, batch, options); });
}

TEST(Adaptive, refuses_blocks_of_a_pool) {
  const auto device = planted_gpu();
  std::vector<float> pool(64);
  std::vector<float> out(16);
  const std::vector<std::uint16_t> list{7, 3, 0, 15};
  const Job job = Job{4, "scattered"}
                      .in("blocks", pool, blocks(list, 16_B))
                      .out("out", out)
                      .kernel_time(microseconds(10))
                      .host_kernel([](Chunk, auto, auto) {});
  EXPECT_EQ(refused_adaptive(node_of(*device, planted_profile()), job),
            "scattered: an array is blocks of a pool, and adaptive runs move contiguous arrays: plan and run the job "
            "instead");
}

TEST(Adaptive, refuses_options_that_are_no_numbers_or_below_zero) {
  const auto device = planted_gpu();
  const Node node = node_of(*device, planted_profile());
  for (const double wrong : {-1.0, std::nan("")})
    for (const AdaptationOptions& options :
         {AdaptationOptions{.tolerance = wrong}, AdaptationOptions{.least_gain = wrong},
          AdaptationOptions{.explore = wrong}, AdaptationOptions{.latency_limit = Seconds{wrong}}})
      EXPECT_THROW(Adaptive(node, summing(microseconds(10)), {.adaptation = options}), UsageError);
}

TEST(Adaptive, refuses_a_choice_that_its_batches_cannot_run_as) {
  const auto device = planted_gpu();
  const auto refusal = [&](const Choice& choice) {
    return refused_adaptive(node_of(*device, planted_profile()), summing(microseconds(60)),
                            {.choices = {{.chunks = 4}, choice}});
  };
  for (const Choice& choice : {Choice{.strategy = "staged", .chunks = 4, .threads = 1}, Choice{.chunks = 4, .gpus = 2}})
    EXPECT_EQ(refusal(choice), "batches of summing cannot run as " + to_string(choice) + ": leave that choice out");
}

TEST(Adaptive, observes_the_kernels_of_one_batch_of_one_at_least) {
  const auto device = planted_gpu();
  const Node node = node_of(*device, planted_profile());
  EXPECT_EQ(refused_adaptive(node, summing(microseconds(60)), {.adaptation = {.observe_every = 0}}),
            "`observe_every` 0: give the number of batches of which one has its kernels observed, at least 1");
  EXPECT_NO_THROW(Adaptive(node, summing(microseconds(60)), {.adaptation = {.observe_every = 1}}));
}

/// What fails on a GPU.
struct Failing {
  bool submits = false;
  bool waits = false;
};

class RunsOfFailingGpu : public Execution {
 public:
  RunsOfFailingGpu(std::unique_ptr<Execution> inner, const Failing& fails) : inner_(std::move(inner)), fails_(fails) {}
  const Execution& inner() const { return *inner_; }
  void submit(const RunOptions& options) override {
    if (fails_.submits) throw Error("the GPU takes no work");
    inner_->submit(options);
  }
  RunResult wait() override {
    RunResult result = inner_->wait();
    if (fails_.waits) throw Error("the GPU has failed");
    return result;
  }

 private:
  std::unique_ptr<Execution> inner_;
  const Failing& fails_;
};

class FailingGpu : public ForwardingDevice {
 public:
  explicit FailingGpu(const Failing& fails) : ForwardingDevice(planted_gpu()), fails_(fails) {}
  MemoryKind kind_of(const std::byte*, Bytes) const override { return MemoryKind::pinned; }
  std::unique_ptr<Execution> prepare(const Schedule& schedule, const Bindings& bindings) override {
    return std::make_unique<RunsOfFailingGpu>(ForwardingDevice::prepare(schedule, bindings), fails_);
  }
  std::unique_ptr<Execution> prepare_behind(const Execution& other, const Schedule& schedule,
                                            const Bindings& bindings) override {
    const Execution& before = dynamic_cast<const RunsOfFailingGpu&>(other).inner();
    return std::make_unique<RunsOfFailingGpu>(inner().prepare_behind(before, schedule, bindings), fails_);
  }

 private:
  const Failing& fails_;
};

/// Batches on a GPU that fails when the test says so.
struct FailingBed {
  Failing fails;
  FailingGpu gpu{fails};
  Adaptive adaptive{node_of(gpu, planted_profile()), summing(microseconds(60)), {.in_flight = 3}};
  std::vector<std::uint64_t> done;

  /// Runs ten batches. `before_each` is called before the source fills a batch, `after_each` when one has ended.
  void run(const std::function<void(std::uint64_t)>& before_each,
           const std::function<void(std::uint64_t)>& after_each) {
    done.clear();
    adaptive.run(
        [&](Batch& batch) {
          before_each(batch.number);
          std::ranges::fill(batch.arrays[0], std::byte{1});
          return batch.number < 10;
        },
        [&](const Batch& batch) {
          done.push_back(batch.number);
          after_each(batch.number);
        });
  }
  void expect_nothing_in_flight() const {
    for (std::size_t slot = 0; slot < adaptive.slots(); ++slot) EXPECT_TRUE(adaptive.is_free(slot)) << slot;
  }
};

const auto nothing_of_batches = [](std::uint64_t) {};

TEST(Adaptive, hands_on_that_a_batch_was_not_taken_and_leaves_nothing_in_flight) {
  FailingBed bed;
  EXPECT_EQ(
      message_of([&] { bed.run([&](std::uint64_t batch) { bed.fails.submits = batch == 5; }, nothing_of_batches); }),
      "the GPU takes no work");
  bed.expect_nothing_in_flight();
  EXPECT_EQ(bed.done, (std::vector<std::uint64_t>{0, 1, 2}));
  bed.fails.submits = false;
  bed.run(nothing_of_batches, nothing_of_batches);
  EXPECT_EQ(bed.done.size(), 10u);
}

TEST(Adaptive, hands_on_the_first_error_of_those_in_flight) {
  FailingBed bed;
  const auto wrong = [&](std::uint64_t batch) {
    if (batch < 4) return;
    bed.fails.waits = true;  // the batches behind it fail too
    throw CheckFailed("the result is wrong");
  };
  EXPECT_EQ(message_of<CheckFailed>([&] { bed.run(nothing_of_batches, wrong); }), "the result is wrong");
  bed.expect_nothing_in_flight();
  bed.fails.waits = false;
  bed.run(nothing_of_batches, nothing_of_batches);
  EXPECT_EQ(bed.done.size(), 10u);
}

}  // namespace
}  // namespace shiplap

// Regrets on a virtual device, where a plan chooses the fastest choice.
#include "shiplap/evaluate/regret.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "shiplap/core/error.hpp"
#include "shiplap/device/bindings.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "tests/support/forwarding_device.hpp"
#include "tests/support/planted_gpu.hpp"

namespace shiplap {
namespace {

/// A planted GPU that cannot prepare pipelines of some numbers of chunks, and allocates less than some size.
class PoorGpu : public ForwardingDevice {
 public:
  explicit PoorGpu(std::vector<std::ptrdiff_t> refused_chunks, Bytes refused_size = Bytes{~0ull})
      : ForwardingDevice(planted_gpu()), refused_chunks_(std::move(refused_chunks)), refused_size_(refused_size) {}
  Memory allocate(Place place, MemoryKind kind, Bytes size) override {
    if (size >= refused_size_) throw Error("no memory is left");
    return ForwardingDevice::allocate(place, kind, size);
  }
  std::unique_ptr<Execution> prepare(const Schedule& schedule, const Bindings& bindings) override {
    const std::ptrdiff_t kernels =
        std::ranges::count_if(schedule.ops, [](const Op& op) { return std::holds_alternative<Kernel>(op.what); });
    if (std::ranges::find(refused_chunks_, kernels) != refused_chunks_.end()) throw Error("no memory is left");
    return ForwardingDevice::prepare(schedule, bindings);
  }

 private:
  std::vector<std::ptrdiff_t> refused_chunks_;
  Bytes refused_size_;
};

JobRegret regret_on(MeasurableDevice& device, const GridOptions& grid) {
  return regret_of(node_of(device, planted_profile()), find_workload("saxpy:n=64"),
                   {.grid = grid, .rounds = 1, .final_rounds = 1, .race = milliseconds(1)});
}

TEST(Regret, is_none_on_a_device_that_takes_what_is_predicted_without_the_choices_that_cannot_run) {
  const GridOptions grid{.choices = {{.chunks = 29}, {.chunks = 31}, {.chunks = 37}}};
  PoorGpu rich({});
  PoorGpu poor({29, 37});
  const JobRegret all = regret_on(rich, grid);
  const JobRegret fewer = regret_on(poor, grid);
  EXPECT_EQ(all.not_run, "");
  EXPECT_EQ(fewer.not_run, "");
  EXPECT_EQ(fewer.choices + 2, all.choices);
  EXPECT_EQ(fewer.wrong, "");
  EXPECT_LE(fewer.best.observed, fewer.planned.observed);
  EXPECT_LT(fewer.plan_regret(), 0.05);
}

TEST(Regret, of_a_job_without_memory_is_not_known_and_says_why) {
  PoorGpu device({}, 256_B);
  const JobRegret result = regret_on(device, {});
  EXPECT_EQ(result.not_run, "no memory is left");
  EXPECT_EQ(result.choices, 0u);
}

TEST(Regret, ends_where_a_strategy_does_not_exist) {
  PoorGpu device({});
  EXPECT_THROW(regret_on(device, {.strategies = {"steams"}}), UsageError);
}

}  // namespace
}  // namespace shiplap

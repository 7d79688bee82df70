// Jobs and options that `plan` refuses, and what it says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/pipeline/plan.hpp"
#include "shiplap/pipeline/run.hpp"
#include "shiplap/profile/profile.hpp"
#include "tests/support/forwarding_device.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/planted_gpu.hpp"

namespace shiplap {
namespace {

using ::testing::HasSubstr;

TEST(PlannedJob, refuses_arrays_of_another_shape_and_such_as_are_nowhere) {
  const auto gpu = planted_gpu();
  std::vector<double> x(60);
  std::vector<double> longer(120);
  const auto nothing = [](Chunk, auto) {};
  const Plan made = plan(node_of(*gpu, planted_profile()), Job{60}.inout("x", x).host_kernel(nothing));
  EXPECT_NO_THROW(run(*gpu, made, Job{60}.inout("x", x).host_kernel(nothing)));
  EXPECT_THROW(run(*gpu, made, Job{60}.inout("x", longer).host_kernel(nothing)), UsageError);
  const auto shape_only = Job{60}.shaped<const double>("u", Role::in, 60).shaped<double>("v", Role::out, 60);
  EXPECT_THROW(data_of(shape_only), UsageError);
}

/// What planning says of a job that cannot be planned.
std::string refused_plan(const Node& node, const Job& job, const PlanOptions& options = {}) {
  return message_of<UsageError>([&] { plan(node, job, options); });
}

TEST(PlannedJob, is_refused_when_planned_and_not_when_run) {
  const auto gpu = planted_gpu();
  const Node node = node_of(*gpu, planted_profile());
  std::vector<float> x(100);
  std::vector<float> y(100);
  const auto nothing = [](Chunk, auto...) {};
  EXPECT_THAT(refused_plan(node, Job{0, "mine"}.in("x", x).host_kernel(nothing)), HasSubstr("`Job{items}`"));
  const auto job = Job{100, "mine"}.in("x", x).out("y", y).host_kernel(nothing);
  for (const double wrong : {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    EXPECT_THAT(refused_plan(node, job.kernel_time(Seconds{wrong})), HasSubstr("`.kernel_time`"));
  EXPECT_THAT(message_of<UsageError>([&] {
                (void)Job{100, "mine"}.in("x", x).out("x", y);
              }),
              HasSubstr("two arrays are called x"));
  EXPECT_THAT(refused_plan(node, Job{101, "mine"}.in("x", x).out("y", y).host_kernel(nothing)),
              HasSubstr("array x has 100 elements for 101 items"));
  const auto beyond = mapped_by([](ItemRange r) { return ElementRange{r.first + 1, r.count}; });
  EXPECT_THAT(refused_plan(node, Job{100, "mine"}.in("x", x, beyond).out("y", y).host_kernel(nothing)),
              HasSubstr("the mapping of x gives"));
}

TEST(PlannedJob, names_the_options_that_it_refuses_as_its_caller_does) {
  const auto gpu = planted_gpu();
  const Node node = node_of(*gpu, planted_profile());
  std::vector<float> x(100);
  const auto job = Job{100}.inout("x", x).host_kernel([](Chunk, auto) {});
  EXPECT_THAT(refused_plan(node, job, {.runs = 0}), HasSubstr("`runs` 0"));
  EXPECT_THAT(refused_plan(node, job, {.space = {.gpus = 0}}), HasSubstr("`gpus` 0"));
  EXPECT_THAT(refused_plan(node, job, {.space = {.strategies = {"steams"}}}), HasSubstr("`strategies` steams"));
  EXPECT_THAT(refused_plan(node, job, {.race = milliseconds(-1)}), HasSubstr("`race` -0.001 s"));
}

/// A device that says that it is a GPU. What it is asked to prepare is what the device behind it prepares.
class SaysItIsReal : public ForwardingDevice {
 public:
  using ForwardingDevice::ForwardingDevice;
  DeviceInfo info() const override {
    DeviceInfo info = ForwardingDevice::info();
    info.is_virtual = false;
    info.simulated.reset();
    return info;
  }
};

/// The planted GPU under the name that its user gave.
class Named : public ForwardingDevice {
 public:
  Named(std::string id, bool is_virtual) : ForwardingDevice(planted_gpu()), id_(std::move(id)), virtual_(is_virtual) {}
  DeviceInfo info() const override {
    DeviceInfo info = ForwardingDevice::info();
    info.id = id_;
    info.is_virtual = virtual_;
    if (!virtual_) info.simulated.reset();
    return info;
  }

 private:
  std::string id_;
  bool virtual_;
};

TEST(PlannedJob, for_more_gpus_than_the_device_has_is_refused_with_the_name_of_a_device_that_has_them) {
  const auto said = [](const char* id, bool is_virtual) {
    Named device(id, is_virtual);
    std::vector<float> x(100);
    const auto job = Job{100}.inout("x", x).kernel([](CUstream_st*, Chunk, auto) {}).host_kernel([](Chunk, auto) {});
    return refused_plan(node_of(device, planted_profile()), job, {.space = {.gpus = 4}});
  };
  EXPECT_EQ(said("virtual:my/node.json", true),
            "virtual:my/node.json has 1 GPU, not 4: open more of them, as in virtual:my/node.json:4");
  EXPECT_EQ(said("cuda:1", false), "cuda:1 has 1 GPU, not 4: open more of them, as in cuda:1,0,2,3");
  EXPECT_EQ(said("mine", true), "mine has 1 GPU, not 4: open more of them");
}

TEST(PlannedJob, needs_the_function_that_its_device_calls_and_without_a_device_none) {
  const auto simulated = planted_gpu();
  SaysItIsReal real(planted_gpu());
  std::vector<float> x(100);
  const auto neither = Job{100, "mine"}.inout("x", x);
  const auto for_gpus = neither.kernel([](CUstream_st*, Chunk, auto) {});
  const auto for_the_host = neither.host_kernel([](Chunk, auto) {});
  EXPECT_THAT(refused_plan(node_of(*simulated, planted_profile()), neither), HasSubstr("`.host_kernel`"));
  EXPECT_THAT(refused_plan(node_of(*simulated, planted_profile()), for_gpus), HasSubstr("`.host_kernel`"));
  EXPECT_THAT(refused_plan(node_of(real, planted_profile()), neither), HasSubstr("`.kernel`"));
  EXPECT_THAT(refused_plan(node_of(real, planted_profile()), for_the_host), HasSubstr("`.kernel`"));
  EXPECT_NO_THROW(plan(node_of(planted_profile()), neither));
  EXPECT_NO_THROW(plan(node_of(*simulated, planted_profile()), for_the_host));
}

TEST(PlannedJob, of_which_only_the_shape_is_known_cannot_be_timed_on_a_gpu) {
  SaysItIsReal real(planted_gpu());
  Job job = Job{100, "mine"}.shaped<float>("x", Role::inout, 100);
  job.binding.cuda = [](const Launch&) {};
  job.binding.host = job.binding.cuda;
  EXPECT_THAT(refused_plan(node_of(real, planted_profile()), job), HasSubstr("of array x only the shape is known"));
}

TEST(PlannedJob, refuses_what_makes_no_sense_and_says_what) {
  const auto gpu = planted_gpu();
  const Node node = node_of(*gpu, planted_profile());
  std::vector<float> x(100);
  std::vector<float> y(100);
  const auto nothing = [](Chunk, auto...) {};
  // In place is an inout; a halo would be read after it was written.
  const auto aliased = Job{100}.in("x", x, halo(1, 1)).out("y", x).host_kernel(nothing);
  EXPECT_THROW(run(*gpu, plan(node, aliased), aliased), UsageError);
  EXPECT_THROW(static_cast<void>(Job{100}.in("x", x).host_kernel(nothing).out("y", y)), UsageError);
  const auto job = Job{100}.in("x", x).out("y", y).host_kernel(nothing);
  const auto with_halo = Job{100}.in("x", x, halo(1, 0)).out("y", y).host_kernel(nothing);
  EXPECT_THROW(run(*gpu, plan(node, job), with_halo), UsageError);
}

TEST(PlannedJob, says_what_differs_in_the_job_to_run) {
  const auto gpu = planted_gpu();
  std::vector<float> x(96);
  std::vector<float> y(96);
  const auto nothing = [](Chunk, auto...) {};
  const auto job = Job{96, "mine"}.in("x", x).out("y", y).host_kernel(nothing);
  const Plan made = plan(node_of(*gpu, planted_profile()), job);
  const auto refusal = [&](const Job& other) { return message_of<UsageError>([&] { run(*gpu, made, other); }); };
  EXPECT_THAT(refusal(Job{48}.in("x", x).out("y", y).host_kernel(nothing)), HasSubstr("has 48 items instead of 96"));
  EXPECT_THAT(refusal(Job{96}.out("y", y).host_kernel(nothing)), HasSubstr("has 1 arrays instead of 2"));
  EXPECT_THAT(refusal(Job{96}.in("x", x).inout("y", y).host_kernel(nothing)),
              HasSubstr("has array y where the plan has y, and they differ in their role"));
}

TEST(PlannedJob, has_all_of_its_arrays_in_managed_memory_or_none) {
  Job job = Job{100, "mine"}.shaped<const float>("x", Role::in, 100).shaped<float>("y", Role::out, 100);
  const Node node = node_of(planted_profile());
  EXPECT_NO_THROW(plan(node, job));
  job.arrays[0].memory = MemoryKind::managed;
  EXPECT_THAT(refused_plan(node, job),
              HasSubstr("mine: some arrays are in managed memory and some are not, and no strategy serves both"));
}

TEST(RunKernelOnce, needs_a_device) {
  std::vector<float> x(100);
  bool ran = false;
  const Job job = Job{100, "mine"}.inout("x", x).host_kernel([&](Chunk, auto) { ran = true; });
  EXPECT_THAT(message_of<UsageError>([&] { run_kernel_once(node_of(planted_profile()), job, {}); }),
              HasSubstr("mine: the node has no device"));
  EXPECT_FALSE(ran);
  const auto gpu = planted_gpu();
  run_kernel_once(node_of(*gpu, planted_profile()), job, {});
  EXPECT_TRUE(ran);
}

}  // namespace
}  // namespace shiplap

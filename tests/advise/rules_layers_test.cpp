// Models whose weights are copied layer by layer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "shiplap/advise/advice.hpp"
#include "shiplap/advise/rules.hpp"
#include "shiplap/advise/step_schedule.hpp"
#include "tests/advise/made_recording.hpp"
#include "tests/advise/made_step.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr double link_rate = 55e9;  // of the planted profile, to the GPU
constexpr std::size_t layers_of_model = 8;
constexpr Bytes weight{32 << 20};

/// Every layer copies two weights, each with a call that returns when the bytes have arrived, and computes.
struct OffloadedModel : MadeStep {
  explicit OffloadedModel(Seconds compute = microseconds(200)) {
    for (std::size_t layer = 0; layer < layers_of_model; ++layer) {
      for (int i = 0; i < 2; ++i) {
        in(weight);
        last().blocks = true;
        last().same_content = true;
        last().returning = microseconds(6);
        last().host_before = microseconds(30);
      }
      kernel(compute);
    }
    out(4_KiB);
    wait({{step.ops.size() - 1, 0}});
  }
};

Profile profile_with(Bytes memory) {
  Profile profile = planted_profile();
  profile.gpus.front().memory = memory;
  return profile;
}

// Half of 768 MiB is for weights, and of that two layers of 64 MiB for the ring. What is left of 512 MiB crosses the
// link.
constexpr Bytes gpu_memory{768ull << 20};
constexpr Bytes crossing{(512ull - (384 - 128)) << 20};

Seconds time_with(const ChangedStep& change, const Profile& profile) {
  return simulated_step(change.step, profile).time;
}

TEST(StreamLayers, takes_as_long_as_what_does_not_fit_on_the_link_or_as_the_kernels) {
  const Profile profile = profile_with(gpu_memory);
  for (const double compute_us : {50.0, 200.0, 1000.0, 3000.0}) {
    const OffloadedModel made(microseconds(compute_us));
    const auto change = stream_layers(made.step, profile);
    ASSERT_TRUE(change);
    const double link = static_cast<double>(crossing.count) / link_rate;
    const double expected = std::max(link, static_cast<double>(layers_of_model) * compute_us * 1e-6);
    EXPECT_NEAR(time_with(*change, profile).count(), expected, expected * 0.03 + 60e-6) << compute_us;
    EXPECT_NEAR(static_cast<double>(copied_bytes(change->step, true).count), static_cast<double>(crossing.count), 64);
    EXPECT_MICROSECONDS(kernel_time(change->step), static_cast<double>(layers_of_model) * compute_us);
    EXPECT_FALSE(change->bound);
  }
}

TEST(StreamLayers, copies_to_a_place_only_when_the_layer_that_had_it_has_computed_and_computes_when_it_has_arrived) {
  const OffloadedModel made(microseconds(700));
  const Profile profile = profile_with(gpu_memory);
  const auto change = stream_layers(made.step, profile);
  ASSERT_TRUE(change);
  const SimulatedStep simulated = simulated_step(change->step, profile);
  // In the order of their ends, copies and kernels of all steps.
  std::vector<Span> copies, kernels;
  for (std::size_t i = 0; i < simulated.schedule.ops.size(); ++i) {
    const Op& op = simulated.schedule.ops[i];
    const auto* copy = std::get_if<Copy>(&op.what);
    if (copy != nullptr && copy->from.length > 1_MiB) copies.push_back(simulated.timeline.spans[i]);
    if (std::holds_alternative<Kernel>(op.what)) kernels.push_back(simulated.timeline.spans[i]);
  }
  ASSERT_GE(copies.size(), 2 * layers_of_model);
  std::ranges::sort(copies, {}, &Span::start);
  std::ranges::sort(kernels, {}, &Span::start);
  // Steps after the first compute on what the step before has copied last.
  const std::size_t shift = 1;
  for (std::size_t k = shift; k < kernels.size() && 2 * (k - shift) + 1 < copies.size(); ++k)
    EXPECT_GE(kernels[k].start, copies[2 * (k - shift) + 1].end) << k;
  for (std::size_t k = 0; k + 1 < kernels.size(); ++k) {
    const std::size_t next = 2 * (k + 2 - shift);  // the first copy of the layer after the next
    if (next < copies.size()) {
      EXPECT_GE(copies[next].start, kernels[k].end) << k;
    }
  }
}

TEST(StreamLayers, is_a_bound_where_it_is_unknown_whether_the_bytes_change_and_keeps_all_that_fits) {
  OffloadedModel made;
  for (StepOp& op : made.step.ops) op.same_content = false;
  const auto streamed = stream_layers(made.step, profile_with(gpu_memory));
  ASSERT_TRUE(streamed);
  EXPECT_TRUE(streamed->bound);
  EXPECT_FALSE(streamed->is_likely);
  EXPECT_THAT(streamed->allowed_if, HasSubstr("do not change"));
  EXPECT_NEAR(static_cast<double>(copied_bytes(streamed->step, true).count), static_cast<double>(crossing.count), 64);
  made[2].name = "void at::native::elementwise_kernel";
  EXPECT_TRUE(stream_layers(made.step, profile_with(gpu_memory))->is_likely);
  const auto kept = stream_layers(made.step, profile_with(2_GiB));
  ASSERT_TRUE(kept);
  EXPECT_TRUE(kept->bound);
  EXPECT_EQ(copied_bytes(kept->step, true), Bytes{});
  EXPECT_MICROSECONDS(kernel_time(kept->step), 200 * layers_of_model);
}

TEST(StreamLayers, is_likely_for_many_layers_of_which_none_is_most_of_all_and_whose_arrays_stay_where_they_are) {
  OffloadedModel made;
  for (StepOp& op : made.step.ops) op.same_content = false;
  made[2].name = "void at::native::elementwise_kernel";
  EXPECT_TRUE(stream_layers(made.step, profile_with(2_GiB))->is_likely);
  OffloadedModel at_addresses = made;
  for (StepOp& op : at_addresses.step.ops) op.host_address = 0x1000;
  EXPECT_FALSE(stream_layers(at_addresses.step, profile_with(2_GiB))->is_likely) << "as of batches in new memory";
  for (StepOp& op : at_addresses.step.ops) op.same_address = true;
  EXPECT_TRUE(stream_layers(at_addresses.step, profile_with(2_GiB))->is_likely);
  OffloadedModel one_large = made;
  one_large[0].size = 512_MiB;  // more than a third, as a batch beside small inputs
  EXPECT_FALSE(stream_layers(one_large.step, profile_with(4_GiB))->is_likely);
}

TEST(StreamLayers, leaves_nothing_that_could_be_kept_on_the_gpu_a_second_time) {
  const Profile profile = profile_with(gpu_memory);
  const auto change = stream_layers(OffloadedModel().step, profile);
  ASSERT_TRUE(change);
  EXPECT_FALSE(keep_on_gpu(change->step, profile));
  EXPECT_FALSE(stream_layers(change->step, profile_with(2_GiB)) &&
               !stream_layers(change->step, profile_with(2_GiB))->bound);
}

TEST(StreamLayers, is_no_advice_for_what_a_program_does_once) {
  const auto rule = std::ranges::find(rules(), "stream layers", &Rule::name);
  ASSERT_NE(rule, rules().end());
  EXPECT_TRUE(rule->spans_steps);
}

TEST(StreamLayers, leaves_what_keeps_on_the_gpu_already_says_and_what_is_no_model) {
  const Profile small = profile_with(gpu_memory);
  ASSERT_TRUE(stream_layers(OffloadedModel().step, small));
  EXPECT_FALSE(stream_layers(OffloadedModel().step, profile_with(2_GiB)));  // fits, and is known not to change
  OffloadedModel changed;
  for (StepOp& op : changed.step.ops) {
    op.same_content = false;
    op.changed_content = true;
  }
  EXPECT_FALSE(stream_layers(changed.step, small));
  OffloadedModel two_threads;
  two_threads[4].thread = 1;
  EXPECT_FALSE(stream_layers(two_threads.step, small));
  MadeStep few;  // three arrays of a program
  for (int i = 0; i < 3; ++i) {
    few.in(256_MiB);
    few.last().same_content = true;
    few.kernel(milliseconds(1));
  }
  EXPECT_FALSE(stream_layers(few.step, small));
  MadeStep pipeline;  // chunks of data, whose results come back
  for (std::size_t i = 0; i < layers_of_model; ++i) {
    pipeline.in(64_MiB);
    pipeline.kernel(milliseconds(1));
    pipeline.out(64_MiB);
  }
  EXPECT_FALSE(stream_layers(pipeline.step, small));
}

/// Steps of a program that moves the weights of ten layers to the GPU and away again, as accelerate does: pageable
/// memory, calls that return when the bytes have arrived, and weights that no step changes.
Recording offloading_program(Bytes weights_of_layer, double kernel_us, bool has_content) {
  MadeRecording made;
  made.recording.program = "python3 generate.py";
  made.recording.gpu = find_profile("h100").gpus.front().name;
  double now = 0;
  for (int step = 0; step < 6; ++step) {
    for (std::uint64_t layer = 0; layer < 10; ++layer) {
      // One thread stages pageable memory at about this rate.
      const double copying = static_cast<double>(weights_of_layer.count) / 9e9 * 1e6;
      RecordedCopy& copy = made.copy(made.call("cudaMemcpyAsync", now, now + copying), now + 5, now + copying - 2, 7);
      copy.size = weights_of_layer;
      copy.content = has_content ? 100 + layer : 0;
      now += copying + 20;
      made.launch(now, now + 4, now + 4 + kernel_us, 7, "void at::native::gemm" + std::to_string(layer));
      now += 10;
    }
    const std::uint64_t wait = made.call("cudaStreamSynchronize", now, now + kernel_us + 5);
    made.order(wait, RecordedOrder::Kind::host_wait, 7, 0, 0);
    now += kernel_us + 40;
  }
  made.recording.complete = true;
  return made.recording;
}

TEST(StreamLayers, is_the_first_advice_for_a_program_that_offloads_more_than_fits) {
  Profile profile = find_profile("h100");
  profile.gpus.front().memory = 4_GiB;
  for (const bool has_content : {true, false}) {
    const Advised advised = advise(offloading_program(400_MiB, 900, has_content), profile);
    ASSERT_FALSE(advised.advice.empty()) << advised.refused << advised.limit;
    EXPECT_EQ(advised.advice.front().rule, "stream layers") << has_content;
    EXPECT_EQ(advised.advice.front().bound, !has_content);
    // Half of 4 GiB is for weights, of which two layers are the ring, and the kernels of ten layers take 9 ms.
    const double link = (4000.0 - (2048 - 800)) * 1024 * 1024 / link_rate;
    EXPECT_NEAR(advised.advice.front().step.value.count(), link, link * 0.1);
    EXPECT_TRUE(std::ranges::any_of(advised.advice.front().how, [](const HowTo& how) {
      return how.text.find("shiplap.torch.offload") != std::string::npos;
    }));
  }
}

}  // namespace
}  // namespace shiplap

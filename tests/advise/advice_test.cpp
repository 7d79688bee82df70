// Advice for programs that were recorded on an H100, and when there is none.
#include "shiplap/advise/advice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "shiplap/advise/advice_view.hpp"
#include "shiplap/core/json.hpp"
#include "tests/support/message_of.hpp"

namespace shiplap {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Recording committed_recording(const std::string& name) {
  const std::string path = std::string(SHIPLAP_SOURCE_DIR) + "/tests/advise/recordings/" + name + ".jsonl";
  std::ifstream file(path);
  if (!file) throw Error(path + " is missing");
  return read_recording(file, path);
}
Advised advice_for(const std::string& name, const AdviseOptions& options = {}) {
  return advise(committed_recording(name), find_profile("h100"), options);
}
std::vector<std::string> rules_of(const Advised& advised) {
  std::vector<std::string> names;
  for (const Advice& one : advised.advice) names.push_back(one.rule);
  return names;
}

/// A program, how far its simulation may be from the recording, and the advice that may come first.
struct Expected {
  const char* program;
  double infidelity;
  std::vector<std::string> first;  ///< empty: there is no advice
};
void PrintTo(const Expected& expected, std::ostream* out) { *out << expected.program; }

class RecordedProgram : public ::testing::TestWithParam<Expected> {};

/// The median of the distances between the first works on the GPU of consecutive steps, from the records themselves.
Seconds median_distance(const Recording& recording) {
  const auto steps = find_steps(recording);
  const std::vector<std::size_t> order = submitted_order(recording);
  const auto start = [&](std::size_t position) {
    return std::visit(
        [](const auto& record) {
          if constexpr (requires { record.time; })
            return record.time.start;
          else
            return std::uint64_t{0};
        },
        recording.records[order[position]]);
  };
  std::vector<double> distances;
  for (std::size_t i = 0; i + 1 < steps->bounds.size(); ++i)
    if (steps->bounds[i + 1] - steps->bounds[i] == steps->ops && steps->bounds[i + 1] < order.size())
      distances.push_back(static_cast<double>(start(steps->bounds[i + 1]) - start(steps->bounds[i])));
  std::ranges::sort(distances);
  const std::size_t middle = distances.size() / 2;
  const double median = distances.size() % 2 == 1 ? distances[middle] : (distances[middle - 1] + distances[middle]) / 2;
  return Seconds{median * 1e-9};
}

TEST_P(RecordedProgram, takes_as_long_in_the_simulation_as_in_the_recording) {
  const Recording recording = committed_recording(GetParam().program);
  const Advised advised = advise(recording, find_profile("h100"));
  const Seconds recorded = median_distance(recording);
  EXPECT_NEAR(advised.recorded.time / recorded, 1, GetParam().infidelity);
  EXPECT_NEAR(advised.fidelity, advised.recorded.time / recorded - 1, 0.01);
}

TEST_P(RecordedProgram, gets_the_right_advice_first) {
  const Advised advised = advice_for(GetParam().program);
  EXPECT_EQ(advised.refused, "");
  if (GetParam().first.empty()) {
    EXPECT_EQ(rules_of(advised), std::vector<std::string>{});
    EXPECT_FALSE(advised.advised);
  } else {
    ASSERT_FALSE(advised.advice.empty());
    EXPECT_NE(std::ranges::find(GetParam().first, advised.advice.front().rule), GetParam().first.end())
        << advised.advice.front().rule;
    EXPECT_TRUE(advised.advised);
  }
}

TEST_P(RecordedProgram, gets_advice_that_saves_more_with_each_rule) {
  const Advised advised = advice_for(GetParam().program);
  Seconds before = advised.step.time.value;
  bool bounds = false;
  std::vector<std::string> names;
  for (const Advice& one : advised.advice) {
    EXPECT_LT(one.with_before.value, before - advised.step.time.value * 0.015) << one.rule;
    EXPECT_LE(one.with_before.low, one.with_before.value * 0.951) << one.rule;  // at least 5 % to either side
    EXPECT_GE(one.with_before.high, one.with_before.value * 1.049) << one.rule;
    EXPECT_TRUE(one.bound || !bounds) << one.rule << " is no bound and comes after one";
    EXPECT_EQ(std::ranges::count(names, one.rule), 0) << one.rule;
    before = one.with_before.value;
    bounds = bounds || one.bound;
    names.push_back(one.rule);
  }
  if (advised.advised) {
    EXPECT_NEAR(advised.advised->time / advised.recorded.time, before / advised.step.time.value, 1e-6);
  }
}

TEST(Advise, says_which_change_needs_those_before_it) {
  const Advised advised = advice_for("saxpy");
  ASSERT_EQ(rules_of(advised), (std::vector<std::string>{"pin", "overlap steps"}));
  EXPECT_FALSE(advised.advice[0].needs_before);
  EXPECT_TRUE(advised.advice[1].needs_before) << "copies of pageable memory do not overlap";
  const Profile h100 = find_profile("h100");
  EXPECT_THROW(advise(committed_recording("saxpy"), h100, {.only = {"overlap steps"}}), UsageError);
}

INSTANTIATE_TEST_SUITE_P(Recorded, RecordedProgram,
                         ::testing::Values(Expected{"cupy_arrays", 0.05, {"pin"}}, Expected{"saxpy", 0.05, {"pin"}},
                                           Expected{"serial", 0.05, {"overlap steps", "chunks on streams"}},
                                           Expected{"stencil", 0.05, {"drop waits"}},
                                           Expected{"small_copies", 0.4, {"batch copies"}},
                                           Expected{"torch_inference", 0.05, {"pin"}},
                                           Expected{"torch_weights", 0.05, {"keep on the GPU"}},
                                           Expected{"torch_loader", 0.05, {"pin"}}, Expected{"pipelined", 0.05, {}},
                                           Expected{"cupy_resident", 0.05, {}}),
                         [](const auto& one) { return std::string(one.param.program); });

TEST(Advise, takes_the_rules_that_it_is_given_in_their_order) {
  const std::vector<std::string> only{"chunks on streams"};
  EXPECT_EQ(rules_of(advice_for("serial", {.only = only})), only);
  const std::vector<std::string> two{"pin", "overlap steps"};
  const Advised advised = advice_for("saxpy", {.only = two});
  EXPECT_EQ(rules_of(advised), two);
  ASSERT_TRUE(advised.advised);
  EXPECT_LT(advised.advised->time, advised.recorded.time);
}

TEST(Advise, refuses_rules_that_do_not_exist_and_those_that_do_not_apply) {
  const std::string unknown = message_of<UsageError>([] { advice_for("serial", {.only = {"write faster code"}}); });
  EXPECT_NE(unknown.find("write faster code"), std::string::npos) << unknown;
  for (const Rule& rule : rules()) EXPECT_NE(unknown.find(rule.name), std::string::npos) << unknown;
  const std::string applies_not = message_of<UsageError>([] { advice_for("serial", {.only = {"pin"}}); });
  EXPECT_NE(applies_not.find("pin does not apply"), std::string::npos) << applies_not;
}

TEST(Advise, leaves_changes_that_save_less_than_it_is_told) {
  EXPECT_TRUE(advice_for("stencil", {.least_gain = 0.99}).advice.empty());
}

/// A program that sends 64 MiB from pageable memory and launches a kernel, once.
Recording program_that_runs_once() {
  constexpr std::uint64_t us = 1000;
  RecordedCopy copy{.call = 1, .stream = 7, .time = {12 * us, 8002 * us}, .size = Bytes{64 << 20}};
  return {.program = "./once",
          .gpu = "NVIDIA H100 80GB HBM3",
          .records = {RecordedCall{1, 0, {10 * us, 8010 * us}, "cudaMemcpyAsync"}, copy,
                      RecordedCall{2, 0, {8012 * us, 8017 * us}, "cudaLaunchKernel"},
                      RecordedKernel{2, 7, {8020 * us, 8920 * us}, "gemm", 128, 256}}};
}

TEST(Advise, takes_a_program_in_which_nothing_repeats_for_its_own_step_and_counts_what_changes_cost_once) {
  const Advised advised = advise(program_that_runs_once(), find_profile("h100"));
  EXPECT_EQ(advised.refused, "");
  EXPECT_TRUE(advised.step.once);
  EXPECT_NEAR(advised.step.time.value.count(), 8910e-6, 1e-9);
  EXPECT_NEAR(advised.fidelity, 0, 0.01);
  ASSERT_FALSE(advised.advice.empty());
  const Advice& first = advised.advice.front();
  EXPECT_EQ(first.rule, "pin");
  EXPECT_GT(first.once, milliseconds(1));
  EXPECT_GT(first.with_before.value, first.once + microseconds(900)) << "the kernel takes 900 us";
  const std::vector<std::string> left_out{"keep on the GPU", "stream layers", "allocate once", "overlap steps"};
  EXPECT_EQ(advised.left_out, left_out);
  for (const std::string& rule : left_out) {
    EXPECT_EQ(std::ranges::count(rules_of(advised), rule), 0) << rule;
    EXPECT_THROW(advise(program_that_runs_once(), find_profile("h100"), {.only = {rule}}), UsageError) << rule;
  }
}

TEST(Advise, counts_what_the_first_copy_prepares_as_no_part_of_the_step) {
  constexpr std::uint64_t us = 1000;
  for (const MemoryKind memory : {MemoryKind::pageable, MemoryKind::pinned}) {
    Recording recording = program_that_runs_once();
    for (Record& record : recording.records) {  // 2.2 ms later
      if (auto* call = std::get_if<RecordedCall>(&record))
        call->time = {call->time.start + 2200 * us, call->time.end + 2200 * us};
      if (auto* copy = std::get_if<RecordedCopy>(&record))
        copy->time = {copy->time.start + 2200 * us, copy->time.end + 2200 * us};
      if (auto* kernel = std::get_if<RecordedKernel>(&record))
        kernel->time = {kernel->time.start + 2200 * us, kernel->time.end + 2200 * us};
    }
    recording.records.emplace_back(RecordedCall{3, 0, {1 * us, 2201 * us}, "cudaMemcpy"});
    recording.records.emplace_back(
        RecordedCopy{.call = 3, .stream = 7, .time = {10 * us, 11 * us}, .size = Bytes{4096}, .from = memory});
    const Advised advised = advise(recording, find_profile("h100"));
    EXPECT_EQ(advised.refused, "");
    EXPECT_NEAR(advised.initialisation.count(), 2190e-6, 1e-9);
    EXPECT_NEAR(advised.step.time.value.count(), (11'117 - 2190) * 1e-6, 5e-6);
    EXPECT_NEAR(advised.fidelity, 0, 0.01) << static_cast<int>(memory);
  }
}

TEST(Advise, gives_none_for_a_program_whose_calls_fail_from_one_on_and_says_why) {
  Recording recording = program_that_runs_once();
  const std::uint64_t end = 9'000'000;
  recording.records.emplace_back(RecordedCall{3, 0, {end, end + 171'000'000}, "cudaMemcpy", 700});
  recording.records.emplace_back(RecordedCall{4, 0, {end + 171'100'000, end + 171'102'000}, "cudaMemcpy", 700});
  const Advised advised = advise(recording, find_profile("h100"));
  EXPECT_TRUE(advised.advice.empty());
  EXPECT_EQ(advised.refused.find(
                "cudaMemcpy returns error 700 (illegal address) after 180.0 ms, and so do 1 of 1 calls after it."),
            0u)
      << advised.refused;
}

TEST(Advise, says_which_calls_failed_where_others_did_their_work) {
  Recording recording = program_that_runs_once();
  std::get<RecordedCall>(recording.records.front()).error = 0;
  recording.records.emplace_back(RecordedCall{3, 0, {5000, 7000}, "cudaLaunchKernel", 9});
  const Advised advised = advise(recording, find_profile("h100"));
  EXPECT_FALSE(advised.advice.empty());
  EXPECT_EQ(advised.failed.find("cudaLaunchKernel returns error 9 (invalid configuration) after 7.000 µs."), 0u)
      << advised.failed;
}

TEST(Advise, counts_what_all_changes_together_cost_once_in_a_program_that_runs_once) {
  const Advised advised =
      advise(program_that_runs_once(), find_profile("h100"), {.only = {"pin", "chunks on streams"}});
  ASSERT_EQ(advised.advice.size(), 2u);
  EXPECT_NEAR(advised.advice[1].with_before.value.count(),
              (advised.advised->time / (1 + advised.fidelity) + advised.advice[0].once).count(), 50e-6);
}

TEST(Advise, widens_its_intervals_by_the_spread_of_steps_of_different_sizes) {
  const auto width_for = [](unsigned largest) {
    Recording recording{.program = "./ragged", .gpu = "", .records = {}};
    std::uint64_t now = 1000, call = 0;
    const auto submit = [&](auto work, const char* function, std::uint64_t time) {
      recording.records.emplace_back(RecordedCall{++call, 0, {now, now + time + 10'000}, function});
      work.call = call;
      work.stream = 7;
      work.time = {now + 5000, now + 5000 + time};
      recording.records.emplace_back(work);
      now += time + 12'000;
    };
    for (unsigned s = 0; s < 40; ++s) {
      const std::uint64_t size = std::uint64_t{8 + s * 7 % largest} << 20;
      submit(RecordedCopy{.call = 0, .stream = 0, .time = {}, .size = Bytes{size}}, "cudaMemcpy", size / 8);
      submit(RecordedKernel{0, 0, {}, "work", size / 4096, 256}, "cudaLaunchKernel", size / 32);
      submit(RecordedCopy{.call = 0,
                          .stream = 0,
                          .time = {},
                          .size = Bytes{size},
                          .from = MemoryKind::device,
                          .to = MemoryKind::pageable},
             "cudaMemcpy", size / 8);
    }
    const Advised advised = advise(recording, find_profile("h100"));
    EXPECT_EQ(advised.refused, "") << largest;
    if (advised.advice.empty()) return 0.0;
    EXPECT_EQ(advised.advice.front().rule, "pin") << largest;
    const Interval<Seconds>& time = advised.advice.front().with_before;
    return (time.high - time.low) / time.value;
  };
  const double equal = width_for(1), different = width_for(9);
  EXPECT_NEAR(equal, 0.3, 0.02);
  EXPECT_GT(different, equal * 1.2);
}

/// A thousand steps of two kernels that get nothing from the host, in a program that copies for most of the time before
/// them.
Recording program_with_a_long_copy_before_its_steps() {
  Recording recording{.program = "./solver", .gpu = "NVIDIA H100 80GB HBM3", .records = {}};
  std::uint64_t now = 1'000'000, call = 0;
  const auto submit = [&](auto work, const char* function, std::uint64_t called, std::uint64_t time) {
    recording.records.emplace_back(RecordedCall{++call, 0, {now, now + called}, function});
    work.call = call;
    work.stream = 7;
    work.time = {now + 2000, now + 2000 + time};
    recording.records.emplace_back(work);
    now += std::max(called, time) + 3000;
  };
  submit(RecordedCopy{.call = 0, .stream = 0, .time = {}, .size = Bytes{512 << 20}}, "cudaMemcpyAsync", 60'000'000,
         59'990'000);
  for (unsigned s = 0; s < 1000; ++s) {
    submit(RecordedKernel{0, 0, {}, "one", 4000, 256}, "cudaLaunchKernel", 3000, 10'000);
    submit(RecordedKernel{0, 0, {}, "other", 4000, 256}, "cudaLaunchKernel", 3000, 10'000);
  }
  return recording;
}

TEST(Advise, is_for_the_whole_program_where_its_steps_hold_less_than_half_of_the_work) {
  const Advised advised = advise(program_with_a_long_copy_before_its_steps(), find_profile("h100"));
  EXPECT_EQ(advised.refused, "");
  EXPECT_TRUE(advised.step.once);
  ASSERT_FALSE(advised.advice.empty());
  EXPECT_EQ(advised.advice.front().rule, "pin");
  const Advised too_long =
      advise(program_with_a_long_copy_before_its_steps(), find_profile("h100"), {.most_ops_once = 1000});
  EXPECT_FALSE(too_long.step.once);
  EXPECT_LT(too_long.coverage, 0.5);
}

/// A step that sends an array from pinned memory, computes for a short time, and receives the array at the same
/// address.
Recording program_that_sends_what_it_received() {
  Recording recording{.program = "./stencil", .gpu = "NVIDIA H100 80GB HBM3", .records = {}};
  std::uint64_t now = 1'000'000, call = 0, gpu = 0;
  const auto submit = [&](auto work, const char* function, std::uint64_t time) {
    recording.records.emplace_back(RecordedCall{++call, 0, {now, now + 2000}, function});
    work.call = call;
    work.stream = 7;
    gpu = std::max(gpu, now + 2000) + time;
    work.time = {gpu - time, gpu};
    recording.records.emplace_back(work);
    now += 3000;
  };
  const auto copy = [&](bool to_device) {
    RecordedCopy one{.call = 0, .stream = 0, .time = {}, .size = Bytes{64 << 20}};
    one.from = to_device ? MemoryKind::pinned : MemoryKind::device;
    one.to = to_device ? MemoryKind::device : MemoryKind::pinned;
    (to_device ? one.from_address : one.to_address) = 4096;
    submit(one, "cudaMemcpyAsync", (64 << 20) / 55);
  };
  for (unsigned s = 0; s < 20; ++s) {
    copy(true);
    submit(RecordedKernel{0, 0, {}, "stencil", 4000, 256}, "cudaLaunchKernel", 10'000);
    copy(false);
    recording.records.emplace_back(RecordedCall{++call, 0, {now, gpu + 1000}, "cudaStreamSynchronize"});
    recording.records.emplace_back(RecordedOrder{call, RecordedOrder::Kind::host_wait, 7});
    now = gpu + 2000;
  }
  return recording;
}

TEST(Advise, names_a_change_of_unknown_gain_first_where_it_may_save_far_more_than_any_other) {
  const Advised advised = advise(program_that_sends_what_it_received(), find_profile("h100"));
  ASSERT_FALSE(advised.advice.empty()) << advised.refused << advised.limit;
  EXPECT_EQ(advised.advice.front().rule, "keep results on the GPU");
  for (const Advice& one : advised.advice) EXPECT_TRUE(one.bound) << one.rule << " stands on a bound";
}

TEST(Advise, takes_a_change_that_gains_only_together_with_one_that_it_enables) {
  // Pinning costs as much as it saves in one run, and chunks, which need it, gain.
  const auto advised_for = [](Seconds pin) {
    Profile profile = find_profile("h100");
    const Bytes size = 64_MiB;
    profile.host->calls["pin"] = {{size, pin}};
    Recording recording{.program = "./once", .gpu = profile.gpus.front().name, .records = {}};
    constexpr std::uint64_t us = 1000;
    RecordedCopy copy{.call = 1, .stream = 7, .time = {12 * us, 5002 * us}, .size = size};
    recording.records = {RecordedCall{1, 0, {10 * us, 5010 * us}, "cudaMemcpyAsync"}, copy,
                         RecordedCall{2, 0, {5012 * us, 5017 * us}, "cudaLaunchKernel"},
                         RecordedKernel{2, 7, {5020 * us, 7020 * us}, "work", 4096, 256}};
    return rules_of(advise(recording, profile));
  };
  const Seconds saved = milliseconds(5) - 64_MiB / gigabytes_per_second(55);
  EXPECT_THAT(advised_for(saved * 0.99), ElementsAre("pin", "chunks on streams"));
  EXPECT_THAT(advised_for(saved * 3.0), IsEmpty());
}

/// The same from pinned memory, with these times of the launch and of the kernel in microseconds.
Recording pinned_program_that_runs_once(Nanoseconds launch, Nanoseconds kernel) {
  constexpr std::uint64_t us = 1000;
  Recording recording = program_that_runs_once();
  recording.records[0] = RecordedCall{1, 0, {10 * us, 15 * us}, "cudaMemcpyAsync"};
  std::get<RecordedCopy>(recording.records[1]).from = MemoryKind::pinned;
  std::get<RecordedCopy>(recording.records[1]).time = {12 * us, 1232 * us};
  recording.records[2] = RecordedCall{2, 0, {launch.start * us, launch.end * us}, "cudaLaunchKernel"};
  std::get<RecordedKernel>(recording.records[3]).time = {kernel.start * us, kernel.end * us};
  return recording;
}

TEST(Advise, names_a_first_launch_that_takes_most_of_the_program) {
  const Advised advised = advise(pinned_program_that_runs_once({20, 2020}, {2021, 2050}), find_profile("h100"));
  EXPECT_THAT(advised.refused + advised.limit, HasSubstr("the launch of gemm alone takes")) << rules_of(advised).size();
}

TEST(Advise, says_that_fewer_bytes_alone_would_help_where_copies_to_the_gpu_fill_the_time) {
  const Advised advised = advise(pinned_program_that_runs_once({16, 20}, {1233, 1234}), find_profile("h100"));
  EXPECT_THAT(rules_of(advised), IsEmpty()) << advised.refused;
  EXPECT_THAT(advised.limit, HasSubstr("keep on the GPU what does not change"));
}

TEST(Advise, says_what_would_gain_in_further_runs_where_it_costs_more_than_one_run_gains) {
  Profile profile = find_profile("h100");
  profile.host->calls["pin"] = {{64_MiB, milliseconds(50)}};
  const Advised advised = advise(program_that_runs_once(), profile);
  EXPECT_TRUE(advised.advice.empty());
  EXPECT_THAT(advised.limit, HasSubstr("To pin would save"));
  EXPECT_THAT(advised.limit, HasSubstr("costs 50.00 ms once"));
}

TEST(Advise, knows_programs_of_directives_by_their_kernels) {
  Recording recording = program_that_runs_once();
  for (const char* name : {"nvkernel_main_F1L46_2", "main_46_gpu", "__omp_offloading_fd00_main_l8"}) {
    std::get<RecordedKernel>(recording.records.back()).name = name;
    EXPECT_THAT(advise(recording, find_profile("h100")).languages, ElementsAre("OpenMP and OpenACC")) << name;
  }
}

TEST(Advise, says_which_kernel_does_not_fill_the_gpu_and_how_much_of_the_host_is_in_calls) {
  Recording recording{.program = "./add", .gpu = "NVIDIA H100 80GB HBM3", .records = {}};
  const auto with_kernels = [&](std::uint64_t blocks, std::uint64_t time, std::uint64_t pause) {
    recording.records.clear();
    for (std::uint64_t s = 0; s < 20; ++s) {
      const std::uint64_t now = 1'000'000 + s * (time + pause);
      recording.records.emplace_back(RecordedCall{s, 0, {now, now + 5000}, "cudaLaunchKernel"});
      recording.records.emplace_back(
          RecordedKernel{s, 7, {now + 6000, now + 6000 + time}, "void add<float>(int, float*)", blocks, 32});
    }
    return advise(recording, find_profile("h100")).limit;
  };
  EXPECT_THAT(with_kernels(1, 900'000, 2000),
              HasSubstr("The longest kernel, add, has 1 block of 32 threads for 132 SMs"));
  EXPECT_THAT(with_kernels(132, 900'000, 2000), Not(HasSubstr(" block")));
  EXPECT_THAT(with_kernels(132, 1000, 4100), HasSubstr("% of it in calls of CUDA: fewer"));
  EXPECT_THAT(with_kernels(132, 1000, 50'000), HasSubstr("the program's own code"));
}

TEST(Advise, is_refused_for_a_program_in_which_nothing_repeats_that_is_too_long_for_one_step) {
  const auto refused = [](std::size_t most) {
    return advise(program_that_runs_once(), find_profile("h100"), {.most_ops_once = most}).refused;
  };
  EXPECT_EQ(refused(2), "");
  EXPECT_NE(refused(1).find("range"), std::string::npos) << refused(1);
}

TEST(Advise, is_refused_where_the_named_range_has_no_work) {
  const Advised named = advise(committed_recording("serial"), find_profile("h100"), {.range = "epoch"});
  EXPECT_TRUE(named.advice.empty());
  EXPECT_NE(named.refused.find("\"epoch\""), std::string::npos) << named.refused;
}

TEST(Advise, is_refused_with_a_profile_that_does_not_reproduce_the_recording) {
  Profile slow = find_profile("h100");
  for (LinkModel& link : slow.links) {
    link.h2d.per_byte.value.seconds *= 10;
    link.d2h.per_byte.value.seconds *= 10;
  }
  const Advised advised = advise(committed_recording("serial"), slow);  // its copies are pinned
  EXPECT_TRUE(advised.advice.empty());
  EXPECT_FALSE(advised.advised);
  EXPECT_GT(advised.fidelity, 0.2);
  EXPECT_NE(advised.refused.find("simulation"), std::string::npos) << advised.refused;
  EXPECT_FALSE(advise(committed_recording("serial"), slow, {.largest_infidelity = 20}).advice.empty());
}

TEST(Advise, is_refused_where_the_simulation_is_too_short_unless_recording_has_slowed_the_program) {
  const Advised slowed = advice_for("small_copies");
  EXPECT_TRUE(slowed.slowed_by_recording);
  EXPECT_LT(slowed.fidelity, -0.2);
  EXPECT_FALSE(slowed.advice.empty());
  const Advised refused = advice_for("small_copies", {.ops_per_second = 1e9});
  EXPECT_FALSE(refused.slowed_by_recording);
  EXPECT_TRUE(refused.advice.empty());
  EXPECT_NE(refused.refused, "");
  EXPECT_NE(advice_for("small_copies", {.largest_slowdown = 0.1}).refused, "");
}

TEST(Advise, throws_for_a_recording_without_work_of_a_gpu) {
  const std::string message = message_of([] { advise(Recording{}, find_profile("h100")); });
  EXPECT_NE(message.find("did not use a GPU"), std::string::npos) << message;
  const Recording calls{.program = "", .gpu = "", .records = {RecordedCall{1, 0, {1, 2}, "cudaMalloc"}}};
  EXPECT_THROW(advise(calls, find_profile("h100")), Error);
}

TEST(Advise, knows_the_languages_by_the_kernels_and_else_by_the_command_line) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(advice_for("torch_loader").languages, Names{"PyTorch"});
  EXPECT_EQ(advice_for("cupy_arrays").languages, Names{"CuPy"});
  EXPECT_EQ(advice_for("saxpy").languages, Names{"CUDA C++"});
  Recording recording{.program = "python train.py", .gpu = "", .records = {RecordedKernel{.time = {}, .name = "k"}}};
  EXPECT_EQ(advise(recording, find_profile("h100")).languages, (Names{"PyTorch", "CuPy", "JAX"}));
  recording.records.emplace_back(RecordedKernel{.time = {}, .name = "loop_multiply_fusion"});
  EXPECT_EQ(advise(recording, find_profile("h100")).languages, Names{"JAX"});
}

TEST(AdviceJson, has_schema_version_and_each_advice_with_its_times) {
  const Advised advised = advice_for("torch_loader");
  const Json json = to_json(advice_view(advised));
  EXPECT_EQ(json.at("schema"), "shiplap/advice");
  EXPECT_EQ(json.at("version"), 2);
  EXPECT_EQ(json.at("program"), advised.program);
  EXPECT_EQ(json.at("profile"), "h100");
  EXPECT_EQ(json.at("refused"), "");
  EXPECT_EQ(json.at("ops").get<std::size_t>(), advised.step.ops.size());
  EXPECT_NEAR(json.at("step").at("value").get<double>(), in_milliseconds(advised.step.time.value), 1e-9);
  EXPECT_EQ(json.at("step").at("unit"), "ms");
  ASSERT_EQ(json.at("advice").size(), advised.advice.size());
  ASSERT_FALSE(advised.advice.empty());
  for (std::size_t i = 0; i < advised.advice.size(); ++i) {
    const Json& one = json.at("advice").at(i);
    const Advice& advice = advised.advice[i];
    EXPECT_EQ(one.at("rule"), advice.rule);
    EXPECT_EQ(one.at("what"), advice.what);
    EXPECT_EQ(one.at("allowed_if"), advice.allowed_if);
    EXPECT_EQ(one.at("bound"), advice.bound);
    EXPECT_EQ(one.at("how").size(), advice.how.size());
    EXPECT_EQ(one.at("how").at(0).at("language"), std::string(advice.how[0].language));
    EXPECT_NEAR(one.at("with_before").at("low").get<double>(), in_milliseconds(advice.with_before.low), 1e-9);
    EXPECT_NEAR(one.at("step").at("value").get<double>(), in_milliseconds(advice.step.value), 1e-9);
    EXPECT_NEAR(one.at("once").at("value").get<double>(), in_milliseconds(advice.once), 1e-9);
  }
}

/// The largest memory that the ops of a recorded step need on the GPU.
Bytes needed_by(const Advised& advised) { return memory_at(advised.recorded.schedule, Place::gpu()); }

TEST(Advise, leaves_a_change_out_that_the_gpu_has_no_memory_for) {
  const Advised roomy = advice_for("small_copies");
  ASSERT_FALSE(roomy.advice.empty());
  EXPECT_EQ(roomy.advice.front().rule, "batch copies");
  Profile small = find_profile("h100");
  small.gpus.front().memory = needed_by(roomy);
  const Advised tight = advise(committed_recording("small_copies"), small);
  EXPECT_EQ(tight.refused, "");
  EXPECT_EQ(std::ranges::count(rules_of(tight), "batch copies"), 0) << "one copy of all bytes needs more";
  const std::string message =
      message_of([&] { advise(committed_recording("small_copies"), small, {.only = {"batch copies"}}); });
  EXPECT_NE(message.find("the schedule needs"), std::string::npos) << "who asks for it is told why not: " << message;
}

}  // namespace
}  // namespace shiplap

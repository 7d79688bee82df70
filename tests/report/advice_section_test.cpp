#include "shiplap/report/advice_report.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include "shiplap/core/error.hpp"
#include "tests/advise/made_step.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

constexpr TextStyle without_colour{.colour = false, .width = 100};

/// The text in one line, because a paragraph may be broken anywhere.
std::string unbroken(const std::string& text) {
  std::istringstream words(text);
  std::string all;
  for (std::string word; words >> word;) all += (all.empty() ? "" : " ") + word;
  return all;
}
void expect_says(const Advised& advised, const std::string& part) {
  const std::string text = unbroken(advice_report(advised, without_colour, document::Detail::all));
  EXPECT_NE(text.find(part), std::string::npos) << part << "\nin: " << text;
}
void expect_does_not_say(const Advised& advised, const std::string& part) {
  const std::string text = unbroken(advice_report(advised, without_colour, document::Detail::all));
  EXPECT_EQ(text.find(part), std::string::npos) << part << "\nin: " << text;
}

/// A program without advice. Its step takes 10 ms: 64 MiB in, of which 16 MiB are pageable, two kernels, 2 MiB out and
/// a wait.
Advised fine_program() {
  MadeStep made;
  made.in(48_MiB);
  made.in(16_MiB, MemoryKind::pageable);
  made.kernel(milliseconds(1));
  made.kernel(milliseconds(2));
  made.out(2_MiB);
  made.wait({{4, 0}});
  made.step.time = {milliseconds(10), milliseconds(9), milliseconds(12)};
  made.step.repeats = 40;
  Advised advised{};
  advised.program = "./my_program --fast";
  advised.gpu = "planted GPU";
  advised.profile = "planted";
  advised.languages = {"CuPy"};
  advised.step = made.step;
  advised.coverage = 0.875;
  advised.fidelity = -0.031;
  advised.recorded = simulated_step(made.step, planted_profile());
  advised.recorded.time = milliseconds(9.69);
  advised.limit = "Kernels are busy for 30 % of the time.";
  return advised;
}

/// The same program with two pieces of advice, of which the second one is a bound.
Advised slow_program() {
  Advised advised = fine_program();
  const auto add = [&](const char* rule, Seconds alone, Seconds with_before) {
    Advice advice{};
    advice.rule = rule;
    advice.what = std::string("What to do to ") + rule;
    advice.allowed_if = std::string("One may ") + rule + ".";
    advice.how = std::ranges::find(rules(), rule, &Rule::name)->how;
    advice.step = Interval<Seconds>::exact(alone);
    advice.with_before = {with_before, with_before * 0.9, with_before * 1.1};
    advised.advice.push_back(advice);
  };
  add("pin", milliseconds(6), milliseconds(6));
  advised.advice[0].once = milliseconds(17);
  add("write into pinned memory", milliseconds(9), milliseconds(4));
  advised.advice[1].bound = true;
  advised.advised = simulated_step(advised.step, planted_profile());
  return advised;
}

TEST(AdviceReport, names_the_program_the_gpu_and_what_a_step_does) {
  const Advised advised = fine_program();
  for (const char* part : {"my_program --fast:", "profile planted", "A step takes 10.00 ms", "9.000 ms to 12.00 ms",
                           "40 steps", "87.5 %", "64 MiB (16 MiB pageable) to the GPU", "2 kernels",
                           "2 MiB to the host", "1 wait of the host", "9.690 ms a step (−3.1 %)"})
    expect_says(advised, part);
}

TEST(AdviceReport, says_that_nothing_is_to_gain_and_what_the_step_is_bound_by) {
  expect_says(fine_program(), "nothing to gain here. Kernels are busy for 30 % of the time.");
  expect_does_not_say(slow_program(), "Nothing to gain");
}

TEST(AdviceReport, says_why_there_is_no_advice_also_without_a_step) {
  Advised refused{};
  refused.program = "once";
  refused.refused = "Nothing repeats.";
  expect_says(refused, "no advice. Nothing repeats.");
  expect_says(refused, "once:");
  expect_does_not_say(refused, "A step takes");
  Advised with_step = fine_program();
  with_step.refused = "The simulation is wrong.";
  expect_says(with_step, "A step takes 10.00 ms");
  expect_says(with_step, "no advice. The simulation is wrong.");
  expect_does_not_say(with_step, "Nothing to gain");
}

TEST(AdviceReport, says_that_recording_has_slowed_a_dense_program) {
  Advised advised = fine_program();
  expect_does_not_say(advised, "Recording slows");
  advised.slowed_by_recording = true;
  expect_says(advised, "Recording slows");
}

TEST(AdviceReport, has_a_line_for_each_advice_and_marks_bounds_with_at_least) {
  const std::string text = advice_report(slow_program(), without_colour);
  const auto line_with = [&](const std::string& part) {
    const std::size_t at = text.find(part);
    EXPECT_NE(at, std::string::npos) << text;
    const std::size_t begin = text.rfind('\n', at) + 1;
    return text.substr(begin, text.find('\n', at) - begin);
  };
  const std::string pin = line_with(" pin ");
  EXPECT_EQ(pin.find("≥"), std::string::npos) << pin;
  EXPECT_NE(pin.find("40.0 %"), std::string::npos) << pin;  // 4 of 10 ms
  EXPECT_NE(pin.find("17.00 ms"), std::string::npos) << pin;
  const std::string write = line_with(" write into pinned memory ");
  EXPECT_NE(write.find("≥ 9.000 ms"), std::string::npos) << write;
  EXPECT_NE(write.find("≥ 4.000"), std::string::npos) << write;
  EXPECT_NE(write.find("60.0 %"), std::string::npos) << write;
  // 6 ms less in each of 40 steps.
  expect_says(slow_program(), "4.000 ms instead of 10.00 ms a step, 240.0 ms less for the 40 steps");
}

TEST(AdviceReport, says_how_only_in_the_languages_of_the_program) {
  Advised advised = slow_program();
  expect_says(advised, "1. What to do to pin.");
  expect_says(advised, "Only if: One may pin.");
  expect_says(advised, "CuPy: cupyx.empty_pinned");
  for (const char* other : {"CUDA C++:", "PyTorch:", "JAX:"}) expect_does_not_say(advised, other);
  advised.languages = {"PyTorch", "CUDA C++"};
  expect_says(advised, "CUDA C++: Allocate with cudaMallocHost");
  expect_says(advised, "PyTorch: ");
  expect_does_not_say(advised, "CuPy: ");
  EXPECT_EQ(unbroken(advice_report(advised, without_colour, document::Detail::all)).find("is a bound"),
            unbroken(advice_report(advised, without_colour, document::Detail::all))
                .rfind("is a bound"));  // of the second advice alone
}

TEST(AdviceReport, names_files_without_their_folders) {
  Advised advised = fine_program();
  advised.program = "/usr/bin/python3 ../jobs/train.py --rate 0.1";
  expect_says(advised, "python3 train.py --rate 0.1:");
}

TEST(AdviceReport, shortens_a_long_command_line) {
  Advised advised = fine_program();
  advised.program = std::string(60, 'a') + std::string(60, 'b');
  expect_says(advised, std::string(60, 'a') + "bbb");
  expect_does_not_say(advised, std::string(20, 'b'));
}

std::size_t times_named(const std::string& picture, const std::string& name) {
  std::size_t times = 0;
  for (std::size_t at = picture.find(">" + name); at != std::string::npos; at = picture.find(">" + name, at + 1))
    ++times;
  return times;
}

TEST(AdvicePictures, show_the_recorded_step_and_the_advised_one_where_there_is_advice) {
  EXPECT_EQ(times_named(advice_svg(fine_program()), "recorded"), 1u);
  EXPECT_EQ(times_named(advice_svg(fine_program()), "advised"), 0u);
  EXPECT_EQ(times_named(advice_svg(slow_program()), "recorded"), 1u);
  EXPECT_EQ(times_named(advice_svg(slow_program()), "advised"), 1u);
  EXPECT_NE(advice_svg(slow_program()).find("my_program --fast"), std::string::npos);
}

std::set<std::string> processes_named_in(const Json& trace) {
  std::set<std::string> names;
  for (const Json& event : trace.at("traceEvents"))
    if (event.at("ph") == "M" && event.at("name") == "process_name") names.insert(event.at("args").at("name"));
  return names;
}

TEST(AdviceTrace, has_a_process_for_the_recorded_step_and_one_for_the_advised_one) {
  EXPECT_EQ(processes_named_in(advice_trace(fine_program())).size(), 1u);
  EXPECT_EQ(processes_named_in(advice_trace(slow_program())).size(), 2u);
  const Json trace = advice_trace(slow_program());
  std::set<std::pair<int, int>> shown;  // process and op
  for (const Json& event : trace.at("traceEvents"))
    if (event.at("ph") == "X") shown.emplace(event.at("pid").get<int>(), event.at("args").at("op").get<int>());
  EXPECT_EQ(shown.size(), 2 * fine_program().recorded.schedule.ops.size());
}

TEST(AdvicePictures, are_not_drawn_without_a_step) {
  Advised refused{};
  refused.refused = "Nothing repeats.";
  for (const std::string& message :
       {message_of([&] { advice_svg(refused); }), message_of([&] { advice_trace(refused); })})
    EXPECT_NE(message.find("Nothing repeats."), std::string::npos) << message;
}

}  // namespace
}  // namespace shiplap

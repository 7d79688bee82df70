#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "shiplap/core/record.hpp"
#include "shiplap/document/text.hpp"
#include "shiplap/report/sections.hpp"
#include "tests/report/made_advice.hpp"

namespace shiplap {
namespace {

constexpr TextStyle without_colour{.colour = false, .width = 100};

std::string text_of(const Advised& advised, document::Detail detail) {
  return document::text(document::advice_section(advice_view(advised)), without_colour, detail);
}

/// The text in one line, because a paragraph may be broken anywhere.
std::string unbroken(const std::string& text) {
  std::istringstream words(text);
  std::string all;
  for (std::string word; words >> word;) all += (all.empty() ? "" : " ") + word;
  return all;
}
void expect_says(const Advised& advised, const std::string& part) {
  const std::string text = unbroken(text_of(advised, document::Detail::all));
  EXPECT_NE(text.find(part), std::string::npos) << part << "\nin: " << text;
}
void expect_does_not_say(const Advised& advised, const std::string& part) {
  const std::string text = unbroken(text_of(advised, document::Detail::all));
  EXPECT_EQ(text.find(part), std::string::npos) << part << "\nin: " << text;
}

TEST(AdviceSection, names_the_program_the_gpu_and_what_a_step_does) {
  const Advised advised = fine_program();
  for (const char* part : {"my_program --fast:", "profile planted", "A step takes 10.00 ms", "9.000 ms to 12.00 ms",
                           "40 steps", "87.5 %", "64 MiB (16 MiB pageable) to the GPU", "2 kernels",
                           "2 MiB to the host", "1 wait of the host", "9.690 ms a step (−3.1 %)"})
    expect_says(advised, part);
}

TEST(AdviceSection, says_that_nothing_is_to_gain_and_what_the_step_is_bound_by) {
  expect_says(fine_program(), "nothing to gain here. Kernels are busy for 30 % of the time.");
  expect_does_not_say(slow_program(), "Nothing to gain");
}

TEST(AdviceSection, says_why_there_is_no_advice_also_without_a_step) {
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

TEST(AdviceSection, says_which_advice_a_step_that_was_recorded_once_cannot_have) {
  Advised once = slow_program();
  once.left_out = {"keep on the GPU", "allocate once", "overlap steps"};
  expect_says(once, "recorded once and takes 10.00 ms");
  expect_says(once, "keep on the GPU, allocate once and overlap steps");
  expect_does_not_say(once, "a step (");
  expect_does_not_say(slow_program(), "recorded once");
}

TEST(AdviceSection, shows_the_levels_of_nested_steps_and_the_chosen_one) {
  Advised nested = fine_program();
  nested.levels = {{200, 91, true}};
  expect_does_not_say(nested, "nest");
  nested.levels = {{5, 3643, false}, {200, 91, true}};
  expect_says(nested, "5 of 3643 ops and 200 of 91 ops (chosen)");
}

TEST(AdviceSection, tells_initialisation_from_work_where_it_takes_a_millisecond) {
  Advised advised = fine_program();
  advised.initialisation = microseconds(900);
  expect_does_not_say(advised, "nitialisation");
  advised.initialisation = milliseconds(312);
  expect_says(advised, "Initialisation took 312.0 ms");
}

TEST(AdviceSection, says_that_recording_has_slowed_a_dense_program) {
  Advised advised = fine_program();
  expect_does_not_say(advised, "Recording slows");
  advised.slowed_by_recording = true;
  expect_says(advised, "Recording slows");
}

TEST(AdviceSection, has_a_line_for_each_advice_and_marks_bounds_with_at_least) {
  const std::string text = text_of(slow_program(), document::Detail::figures);
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
  expect_says(slow_program(), "at least 4.000 ms instead of 10.00 ms a step, at most 240.0 ms less for the 40 steps");
}

TEST(AdviceSection, predicts_in_its_first_sentence_no_time_that_is_a_limit) {
  const auto first_sentence = [](const Advised& advised) {
    return document::advice_section(advice_view(advised)).headlines.front().sentence;
  };
  Advised advised = slow_program();
  const std::string both = first_sentence(advised);
  EXPECT_LT(both.find("6.000 ms a step (−40.0 %) by pin, predicted"), both.find("4.000 ms by write into")) << both;
  advised.advice.pop_back();
  const std::string predicted = first_sentence(advised);
  EXPECT_EQ(predicted.find("limit"), std::string::npos) << predicted;
  advised.advice.front().bound = true;
  const std::string limit = first_sentence(advised);
  EXPECT_NE(limit.find("limit"), std::string::npos) << limit;
  EXPECT_EQ(limit.find("predicted"), std::string::npos) << limit;
}

TEST(AdviceSection, has_no_time_alone_for_a_change_that_needs_those_above) {
  Advised advised = slow_program();
  advised.advice[1].needs_before = true;
  expect_does_not_say(advised, "≥ 9.000 ms");
  expect_says(advised, "does not apply without those above");
}

TEST(AdviceSection, says_how_only_in_the_languages_of_the_program) {
  Advised advised = slow_program();
  expect_says(advised, "1. What to do to pin.");
  expect_says(advised, "Only if: One may pin.");
  expect_says(advised, "CuPy: cupyx.empty_pinned");
  for (const char* other : {"CUDA C++:", "PyTorch:", "JAX:"}) expect_does_not_say(advised, other);
  advised.languages = {"PyTorch", "CUDA C++"};
  expect_says(advised, "CUDA C++: Allocate with cudaMallocHost");
  expect_says(advised, "PyTorch: ");
  expect_does_not_say(advised, "CuPy: ");
}

TEST(AdviceSection, names_files_without_their_folders) {
  Advised advised = fine_program();
  advised.program = "/usr/bin/python3 ../jobs/train.py --rate 0.1";
  expect_says(advised, "python3 train.py --rate 0.1:");
}

TEST(AdviceSection, shortens_a_long_command_line) {
  Advised advised = fine_program();
  advised.program = std::string(60, 'a') + std::string(60, 'b');
  expect_says(advised, std::string(60, 'a') + "bbb");
  expect_does_not_say(advised, std::string(20, 'b'));
}

TEST(AdviceSection, is_the_same_for_the_advice_and_for_the_file_of_it) {
  Advised refused{};
  refused.refused = "Nothing repeats.";
  for (const Advised& advised : {fine_program(), slow_program(), refused}) {
    const AdviceView view = advice_view(advised);
    const Json file = to_json(view);
    const auto read = Form<AdviceView>::read(JsonReader(file, "advice.json"));
    using document::Detail;
    EXPECT_EQ(document::text(document::advice_section(read), {}, Detail::all),
              document::text(document::advice_section(view), {}, Detail::all));
  }
}

TEST(AdviceSection, refuses_a_file_with_gains_of_a_step_without_time) {
  Json file = to_json(advice_view(slow_program()));
  file["step"]["value"] = 0;
  EXPECT_THROW(Form<AdviceView>::read(JsonReader(file, "advice.json")), Error);
}

}  // namespace
}  // namespace shiplap

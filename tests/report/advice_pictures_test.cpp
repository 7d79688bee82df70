#include "shiplap/report/advice_pictures.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>

#include "tests/report/made_advice.hpp"
#include "tests/support/message_of.hpp"

namespace shiplap {
namespace {

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

#include "shiplap/fleet/rank_message.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "shiplap/core/error.hpp"
#include "shiplap/core/json.hpp"
#include "tests/support/message_of.hpp"

namespace shiplap {
namespace {

TEST(RankMessage, of_each_kind_is_read_back) {
  const auto hello =
      std::get<Hello>(report_from_text(to_text(Hello{.node = "a\"", .program = "0.1.0"}), "rank 1").what);
  EXPECT_EQ(hello.node, "a\"");
  const std::string broken = to_text(Hello{.node = "\xff", .program = "1"});
  EXPECT_EQ(std::get<Hello>(report_from_text(broken, "rank 1").what).node, "\uFFFD");
  EXPECT_EQ(hello.program, "0.1.0");
  const DeviceList seen{.devices = {{"cuda:0", "0000:18:00.0"}, {"virtual:h200", ""}}, .failure = "why"};
  const auto list = std::get<DeviceList>(report_from_text(to_text(seen), "rank 1").what);
  EXPECT_EQ(list.devices, seen.devices);
  EXPECT_EQ(list.failure, "why");
  const auto failed =
      std::get<Answer>(report_from_text(failure_text(Task::copy_at_once, "cuda:1", "bad \xff byte"), "rank 1").what);
  EXPECT_EQ(failed.task, Task::copy_at_once);
  EXPECT_EQ(failed.device, "cuda:1");
  EXPECT_EQ(failed.failure, "bad \uFFFD byte");
  const Order order = order_from_text(to_text(Order{.end = false,
                                                    .all_answered = false,
                                                    .task = Task::copy_at_once,
                                                    .devices = {"cuda:0", "cuda:1"},
                                                    .begin = Seconds{1.7e9 + 0.25}}),
                                      "rank 0");
  EXPECT_FALSE(order.end);
  EXPECT_FALSE(order.all_answered);
  EXPECT_EQ(order.task, Task::copy_at_once);
  EXPECT_EQ(order.devices, (std::vector<std::string>{"cuda:0", "cuda:1"}));
  EXPECT_EQ(order.begin, Seconds{1.7e9 + 0.25}) << "to less than a microsecond";
}

TEST(RankMessage, that_is_torn_or_of_another_kind_names_its_source) {
  const std::string hello = to_text(Hello{.node = "n", .program = "1"});
  EXPECT_NE(message_of([&] { report_from_text(hello.substr(0, 20), "rank 7"); }).find("rank 7"), std::string::npos);
  EXPECT_NE(message_of([&] { order_from_text(hello, "rank 7"); }).find("rank 7"), std::string::npos);
  EXPECT_NE(message_of([&] { report_from_text(to_text(Order{}), "rank 7"); }).find("hello, devices or answer"),
            std::string::npos);
}

TEST(RankMessage, about_a_task_that_does_not_exist_says_which_there_are) {
  Json order = parse_json(to_text(Order{}), "order");
  order["task"] = "rest";
  EXPECT_NE(message_of([&] { order_from_text(order.dump(), "rank 0"); }).find("one of check, copy_at_once"),
            std::string::npos);
  Json answer = parse_json(failure_text(Task::check, "cuda:0", "why"), "answer");
  answer["task"] = "rest";
  EXPECT_NE(message_of([&] { report_from_text(answer.dump(), "rank 1"); }).find("one of check, copy_at_once"),
            std::string::npos);
}

}  // namespace
}  // namespace shiplap

#include "shiplap/core/thread.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/message_of.hpp"
#include "tests/support/no_threads.hpp"

namespace shiplap {
namespace {

TEST(StartThread, says_what_to_do_when_the_system_refuses_and_starts_one_later) {
  bool has_run = false;
  const auto start = [&] { start_thread([&] { has_run = true; }).join(); };
  {
    const NoThreads refused;
    const std::string message = message_of(start);
    EXPECT_NE(message.find("no thread can be started: "), std::string::npos) << message;
    EXPECT_NE(message.find("ulimit -u"), std::string::npos) << message;
    EXPECT_FALSE(has_run);
  }
  start();
  EXPECT_TRUE(has_run);
}

}  // namespace
}  // namespace shiplap

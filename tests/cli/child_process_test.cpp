#include "cli/child_process.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <functional>
#include <string>

#include "shiplap/core/error.hpp"
#include "tests/support/message_of.hpp"

namespace shiplap::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// Runs the work in a child with this time, as a command does.
void run_in_child(Seconds limit, const std::function<void(ChildProgress&)>& work) {
  ChildProgress progress;
  continue_in_child(progress, Deadline(steady_time() + limit));
  work(progress);
  std::fflush(nullptr);
  _exit(0);
}

TEST(ContinueInChild, passes_on_the_exit_code) {
  for (const int code : {0, 2, 64}) {
    try {
      run_in_child(Seconds{30}, [&](ChildProgress&) { _exit(code); });
      ADD_FAILURE();
    } catch (const CLI::RuntimeError& end) {
      EXPECT_EQ(end.get_exit_code(), code);
    }
  }
}

TEST(ContinueInChild, passes_on_all_output) {
  const std::string much(1 << 20, 'x');
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  try {
    run_in_child(Seconds{30}, [&](ChildProgress&) {
      std::fputs(much.c_str(), stdout);
      std::fputs("a note", stderr);
    });
  } catch (const CLI::RuntimeError&) {
  }
  EXPECT_EQ(testing::internal::GetCapturedStdout(), much);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "a note");
}

TEST(ContinueInChild, says_where_a_child_was_that_a_signal_ended) {
  EXPECT_THAT(message_of([] {
                run_in_child(Seconds{30}, [](ChildProgress& progress) {
                  progress.now("opening cuda:0");
                  ::raise(SIGKILL);
                });
              }),
              AllOf(HasSubstr("signal 9"), HasSubstr("while opening cuda:0")));
}

TEST(ContinueInChild, ends_in_time_when_the_child_hangs_and_drops_its_results) {
  testing::internal::CaptureStdout();
  const Seconds start = steady_time();
  EXPECT_THAT(message_of([] {
                run_in_child(milliseconds(200), [](ChildProgress& progress) {
                  std::fputs("half a result", stdout);
                  std::fflush(stdout);
                  progress.now("measuring copy.pinned.h2d " + std::string(300, '.'));
                  pause();
                });
              }),
              AllOf(HasSubstr("within the budget"), HasSubstr("while measuring copy.pinned.h2d ...")));
  EXPECT_LT((steady_time() - start).count(), 2);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

}  // namespace
}  // namespace shiplap::cli

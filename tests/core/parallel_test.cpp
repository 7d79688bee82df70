#include "shiplap/core/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "shiplap/core/host_limits.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/no_threads.hpp"

namespace shiplap {
namespace {

TEST(ParallelFor, throws_what_a_call_has_thrown_when_all_calls_have_ended) {
  std::vector<std::atomic<int>> seen(1000);
  const std::string message = message_of([&] {
    parallel_for(seen.size(), 10, [&](std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t i = begin; i < end; ++i) ++seen[i];
      if (begin == 0) throw Error("planted failure");
    });
  });
  EXPECT_EQ(message, "planted failure");
  for (const std::atomic<int>& times : seen) EXPECT_EQ(times, 1);
}

TEST(ParallelFor, calls_nothing_where_no_thread_can_be_started) {
  if (usable_cpus() < 2) GTEST_SKIP() << "on one processor the calling thread does everything";
  std::atomic<int> calls{0};
  const NoThreads refused;
  const std::string message = message_of([&] { parallel_for(1000, 10, [&](auto, auto) { ++calls; }); });
  EXPECT_NE(message.find("no thread can be started"), std::string::npos) << message;
  EXPECT_EQ(calls, 0);
}

}  // namespace
}  // namespace shiplap

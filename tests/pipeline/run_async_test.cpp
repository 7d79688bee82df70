#include "shiplap/pipeline/run_async.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <stop_token>
#include <thread>

#include "shiplap/core/error.hpp"
#include "shiplap/device/virtual/virtual_device.hpp"
#include "shiplap/pipeline/plan.hpp"
#include "shiplap/pipeline/run.hpp"
#include "tests/support/jobs.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/planted_gpu.hpp"

namespace shiplap {
namespace {

const Choice in_eight{.strategy = "staged", .chunks = 8, .threads = 1};

struct Doubling {
  static constexpr std::uint64_t n = 4000;
  std::vector<int> x = std::vector<int>(n);
  std::vector<int> y = std::vector<int>(n, -1);

  explicit Doubling(int first) { std::iota(x.begin(), x.end(), first); }
  Job job(std::function<void(Chunk)> also = [](Chunk) {}) {
    Job result = Job{n, "doubling"}
                     .in("x", x)
                     .out("y", y)
                     .kernel_time(microseconds(10))
                     .host_kernel([also](Chunk chunk, auto from, auto to) {
                       also(chunk);
                       for (std::uint64_t i = chunk.first; i < chunk.end(); ++i) to[i] = 2 * from[i];
                     });
    for (Array& array : result.arrays) array.memory = MemoryKind::pageable;
    return result;
  }
  bool is_right(std::uint64_t i) const { return y[i] == 2 * x[i]; }
};

TEST(RunAsync, brings_the_result_by_the_time_it_is_waited_for) {
  const auto gpu = planted_gpu();
  Doubling doubling(1);
  Prepared prepared = prepare(*gpu, doubling.job(), in_eight, roomy);
  Running running = run_async(*gpu, prepared);
  EXPECT_GT(running.wait().timeline.makespan, Seconds{0});
  for (std::uint64_t i = 0; i < Doubling::n; ++i) ASSERT_TRUE(doubling.is_right(i));
}

TEST(RunAsync, stops_between_chunks_and_leaves_every_piece_complete_or_as_it_was) {
  const auto gpu = planted_gpu();
  Doubling doubling(1);
  std::atomic<bool> begun = false;
  std::atomic<bool> go_on = false;
  const Job job = doubling.job([&](Chunk chunk) {
    if (chunk.first < Doubling::n / 2) return;
    begun = true;
    begun.notify_all();
    go_on.wait(false);
  });
  Prepared prepared = prepare(*gpu, job, in_eight, roomy);
  Running running = run_async(*gpu, prepared);
  begun.wait(false);
  EXPECT_FALSE(running.has_ended());
  running.cancel();
  go_on = true;
  go_on.notify_all();
  EXPECT_THROW(running.wait(), Cancelled);
  std::uint64_t complete = 0;
  for (std::uint64_t piece = 0; piece < 8; ++piece) {
    const bool first = doubling.is_right(piece * Doubling::n / 8);
    complete += first;
    for (std::uint64_t i = piece * Doubling::n / 8; i < (piece + 1) * Doubling::n / 8; ++i)
      ASSERT_EQ(doubling.is_right(i), first) << i;
  }
  EXPECT_LT(complete, 8u);
  EXPECT_NO_THROW(prepared.run());
  for (std::uint64_t i = 0; i < Doubling::n; ++i) ASSERT_TRUE(doubling.is_right(i));
}

TEST(RunAsync, hands_on_what_the_kernel_throws) {
  const auto gpu = planted_gpu();
  Doubling doubling(1);
  const Job job = doubling.job([](Chunk chunk) {
    if (chunk.first > 0) throw Error("no more");
  });
  Prepared prepared = prepare(*gpu, job, in_eight, roomy);
  EXPECT_THROW(run_async(*gpu, prepared).wait(), Error);
}

TEST(RunAsync, heeds_the_callers_own_wish_to_stop_and_has_ended_afterwards) {
  const auto gpu = planted_gpu();
  Doubling doubling(1);
  Prepared prepared = prepare(*gpu, doubling.job(), in_eight, roomy);
  std::stop_source stop;
  stop.request_stop();
  Running running = run_async(*gpu, prepared, nullptr, {.stop = [&] { return stop.stop_requested(); }});
  EXPECT_THROW(running.wait(), Cancelled);
  EXPECT_TRUE(running.has_ended());
}

TEST(RunAsync, refuses_a_stream_where_there_are_none) {
  const auto gpu = planted_gpu();
  Doubling doubling(1);
  Prepared prepared = prepare(*gpu, doubling.job(), in_eight, roomy);
  int not_a_stream = 0;
  EXPECT_THROW(run_async(*gpu, prepared, &not_a_stream), Unsupported);
}

TEST(RunAsync, runs_several_jobs_at_once_on_one_device) {
  const auto gpu = planted_gpu();
  std::vector<Doubling> jobs;
  for (int j = 0; j < 4; ++j) jobs.emplace_back(1000 * j);
  std::vector<Prepared> prepared;
  for (Doubling& doubling : jobs) prepared.push_back(prepare(*gpu, doubling.job(), in_eight, roomy));
  for (int round = 0; round < 3; ++round) {
    std::vector<Running> running;
    for (Prepared& one : prepared) running.push_back(run_async(*gpu, one));
    for (Running& one : running) one.wait();
  }
  for (const Doubling& doubling : jobs)
    for (std::uint64_t i = 0; i < Doubling::n; ++i) ASSERT_TRUE(doubling.is_right(i));
}

TEST(RunAsync, within_a_stream_of_the_caller_is_not_traced) {
  const auto gpu = planted_gpu();
  Doubling doubling(1);
  Prepared prepared = prepare(*gpu, doubling.job(), in_eight, roomy);
  int stream = 0;
  EXPECT_EQ(message_of<UsageError>([&] { run_async(*gpu, prepared, &stream, {.trace = Trace::kernels}); }),
            "a run within a stream of the caller cannot be traced: trace a run without a stream");
  EXPECT_FALSE(run_async(*gpu, prepared, nullptr, {.trace = Trace::kernels}).wait().timeline.spans.empty());
}

}  // namespace
}  // namespace shiplap

// Many jobs on one device at a time, and runs that are stopped at every chunk.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/pipeline/plan.hpp"
#include "shiplap/pipeline/run.hpp"
#include "tests/support/cancel.hpp"
#include "tests/support/jobs.hpp"
#include "tests/support/planted_gpu.hpp"

namespace shiplap {
namespace {

constexpr int many = 64;

std::ptrdiff_t threads_of_process() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), std::filesystem::directory_iterator());
}

TEST(ManyJobs, of_64_threads_on_one_device_are_all_right_and_leave_no_thread) {
  const auto gpu = planted_gpu();
  std::jthread([] {}).join();  // a sanitizer begins a thread of its own with the first
  const std::ptrdiff_t before = threads_of_process();
  std::vector<std::string> wrong(many);
  const auto work = [&](int t) {
    testing::WholeJob job(*gpu, "saxpy:n=" + std::to_string(1000 + 13 * t), MemoryKind::pageable);
    const Choice choice = t % 2 == 0 ? Choice{.strategy = "staged", .chunks = 5, .threads = 2}
                                     : Choice{.strategy = "pageable", .chunks = 1};
    for (int round = 0; round < 5; ++round) {
      Prepared prepared = prepare(*gpu, job.workload.job, choice, roomy);
      for (int run = 0; run < 3; ++run) {
        job.fill();
        prepared.run();
        if (const std::string found = job.wrong(); !found.empty()) throw CheckFailed(found);
      }
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < many; ++t)
      threads.emplace_back([&wrong, &work, t] {
        try {
          work(t);
        } catch (const std::exception& error) {
          wrong[t] = error.what();
        }
      });
  }
  EXPECT_THAT(wrong, ::testing::Each(""));
  EXPECT_EQ(threads_of_process(), before);
}

TEST(StoppedRuns, leave_whole_chunks_whichever_chunk_they_are_stopped_at) {
  const auto gpu = planted_gpu();
  for (const Choice& choice :
       {Choice{.strategy = "streams", .chunks = 12}, Choice{.strategy = "streams", .chunks = 12, .ring = 3}})
    EXPECT_EQ(testing::stop_at_every_chunk(*gpu, "saxpy:n=1200", MemoryKind::pinned, choice, roomy), 12);
  const Choice staged{.strategy = "staged", .chunks = 12, .threads = 2};
  EXPECT_GE(testing::stop_at_every_chunk(*gpu, "saxpy:n=1200", MemoryKind::pageable, staged, roomy), 12);
  const Choice graph{.strategy = "streams", .chunks = 12, .graph = true};
  EXPECT_EQ(testing::stop_at_every_chunk(*gpu, "saxpy:n=1200", MemoryKind::pinned, graph, roomy), 1);
}

TEST(StoppedRuns, call_the_kernel_no_more_once_it_has_thrown_or_the_run_is_stopped) {
  const auto gpu = planted_gpu();
  for (const bool throws : {true, false}) {
    testing::WholeJob job(*gpu, "saxpy:n=3200", MemoryKind::pageable);
    int calls = 0;
    job.workload.job.binding.host = [&](const Launch&) {
      if (++calls == 3 && throws) throw std::runtime_error("no such item");
    };
    Prepared prepared = prepare(*gpu, job.workload.job, {.strategy = "staged", .chunks = 32, .threads = 4}, roomy);
    bool asked = false;  // a stop that says so once only, as a signal does
    EXPECT_THROW(prepared.run({.stop = [&] { return !throws && calls >= 3 && !std::exchange(asked, true); }}),
                 std::exception);
    EXPECT_LE(calls, throws ? 3 : 8);
  }
}

}  // namespace
}  // namespace shiplap

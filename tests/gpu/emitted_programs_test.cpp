// Programs that shiplap writes, compiled when the tests were built, on a real GPU: their results are right, and they
// are as fast as shiplap's own run of the same schedule.
#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "shiplap/core/statistics.hpp"
#include "shiplap/pipeline/prepared.hpp"
#include "shiplap/pipeline/workload_data.hpp"
#include "tests/device/cuda/gpu_fixture.hpp"
#include "tests/emit/examples.hpp"

namespace shiplap {
namespace {

using testing::Example;

constexpr int repetitions = 21;
constexpr int rounds = 5;

struct Outcome {
  int code = -1;
  std::string out;
  double median_ms = 0;
};

/// Beside this program, wherever the build has been carried to.
Outcome run_program(const std::string& name) {
  const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "emit" / "programs";
  const std::string command = fmt::format("'{}' {} 2>&1", (folder / ("shiplap_emitted_" + name)).string(), repetitions);
  Outcome outcome;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return outcome;
  std::array<char, 256> piece{};
  while (fgets(piece.data(), piece.size(), pipe) != nullptr) outcome.out += piece.data();
  const int status = pclose(pipe);
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (std::sscanf(outcome.out.c_str(), "median %lf", &outcome.median_ms) != 1) outcome.median_ms = 0;
  return outcome;
}

double median_of_runs(Prepared& prepared) {
  std::vector<double> times;
  for (int i = -3; i < repetitions; ++i) {  // the first three warm up
    const double time = in_milliseconds(prepared.run().timeline.makespan);
    if (i >= 0) times.push_back(time);
  }
  return median(times);
}

using EmittedProgramsOnGpu = testing::OnGpu;

TEST_F(EmittedProgramsOnGpu, bring_every_byte_through) {
  for (const Example& example : testing::small_examples()) {
    const Outcome outcome = run_program(example.name);
    EXPECT_EQ(outcome.code, 0) << example.name << ": " << outcome.out;
    EXPECT_GT(outcome.median_ms, 0) << example.name << ": " << outcome.out;
  }
}

// Medians in turn; other guests of the host disturb either, threads that copy most of all.
TEST_F(EmittedProgramsOnGpu, are_as_fast_as_shiplaps_own_runs) {
  for (const Example& example : testing::large_examples()) {
    WorkloadData data(*device, example.workload);
    auto prepared = prepare(*device, data.job(), example.choice, example.limits);
    std::vector<double> own;
    std::vector<double> emitted;
    for (int round = 0; round < rounds; ++round) {
      own.push_back(median_of_runs(prepared));
      const Outcome outcome = run_program(example.name);
      ASSERT_EQ(outcome.code, 0) << example.name << ": " << outcome.out;
      emitted.push_back(outcome.median_ms);
    }
    const double ratio = median(emitted) / median(own);
    const double error = std::hypot(median_standard_error(emitted), median_standard_error(own)) / median(own);
    fmt::print("{}: program {:.4f} ms, shiplap {:.4f} ms, ratio {:.4f}, two standard errors {:.4f}\n", example.name,
               median(emitted), median(own), ratio, 2 * error);
    EXPECT_LE(ratio, 1 + std::max(0.01, 2 * error)) << example.name;
  }
}

}  // namespace
}  // namespace shiplap

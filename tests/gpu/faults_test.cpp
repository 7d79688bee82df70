// A fault that only a real GPU has: a kernel that traps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "shiplap/core/error.hpp"
#include "shiplap/device/probe_kernel.hpp"
#include "tests/device/cuda/fault_memory.hpp"
#include "tests/device/cuda/gpu_fixture.hpp"
#include "tests/gpu/own_process.hpp"
#include "tests/gpu/trap_kernel.hpp"
#include "tests/support/message_of.hpp"

namespace shiplap {
namespace {

using ::testing::AllOf;
using testing::Ended;
using testing::FaultMemory;
using ::testing::HasSubstr;
using testing::OwnProcess;
using FaultsOnGpu = testing::OnGpu;

constexpr const char* mode_variable = "SHIPLAP_TEST_TRAP";

/// Copies in and out with a kernel in between that leaves the bytes as they are, but for chunk 1, where `fault` comes.
struct Faulty {
  Faulty(MeasurableDevice& device, const Api& api, Schedule of, KernelFunction fault)
      : schedule(std::move(of)), memory(device, api, schedule, false) {
    const KernelFunction empty = device.probe_kernel(ProbeKind::empty, 1, 0).binding.cuda;
    memory.bindings.kernels[0].cuda = [empty, fault = std::move(fault)](const Launch& l) {
      (l.first_item == 1 ? fault : empty)(l);
    };
  }
  Schedule schedule;
  FaultMemory memory;
};

Schedule graph() {
  Schedule s = testing::three_streams_inverting();
  s.as_graph = true;
  return s;
}

// --- A kernel that traps ---

/// What the process of the test below does: it must come to its end by itself, with the exit code of the error.
ExitCode run_a_trap(const std::string& mode) {
  const auto device = open_cuda(0);
  Faulty faulty(*device, real_api(), mode == "graph" ? graph() : testing::three_streams_inverting(),
                [](const Launch& l) { testing::launch_trap(l.stream); });
  ExitCode code = ExitCode::success;
  std::unique_ptr<Execution> execution;
  const RunOptions options{.hold = mode == "held", .trace = mode == "traced" ? Trace::events : Trace::none};
  for (const char* run : {"first", "second"}) {
    try {
      if (execution == nullptr) execution = device->prepare(faulty.schedule, faulty.memory.bindings);
      execution->run(options);
    } catch (const Error& error) {
      std::printf("%s run: %s\n", run, error.what());
      code = error.code();
    }
  }
  return code;
}

// Only the test below runs it.
TEST(TrappingKernel, DISABLED_in_a_process_of_its_own) {
  const char* mode = std::getenv(mode_variable);
  ASSERT_NE(mode, nullptr);
  const ExitCode code = run_a_trap(mode);
  std::fflush(stdout);
  std::exit(static_cast<int>(code));
}

Ended run_in_a_process(const std::string& mode, bool blocking) {
  return OwnProcess(
             "TrappingKernel.DISABLED_in_a_process_of_its_own",
             {std::string(mode_variable) + "=" + mode, std::string("CUDA_LAUNCH_BLOCKING=") + (blocking ? "1" : "0")})
      .wait();
}

void expect_error(const Ended& ended) {
  EXPECT_TRUE(ended.by_itself) << "it hangs";
  EXPECT_TRUE(WIFEXITED(ended.status)) << "ended by signal " << WTERMSIG(ended.status);
  EXPECT_EQ(WEXITSTATUS(ended.status), static_cast<int>(ExitCode::failure));
  EXPECT_THAT(ended.output, AllOf(HasSubstr("first run: "), HasSubstr("second run: "), HasSubstr(" failed ("),
                                  HasSubstr("its process cannot use the GPU any more")));
}

TEST_F(FaultsOnGpu, let_a_kernel_that_traps_end_the_run_with_a_message_that_names_ops) {
  for (const char* mode : {"plain", "held", "traced", "graph"}) {
    SCOPED_TRACE(mode);
    const Ended ended = run_in_a_process(mode, false);
    expect_error(ended);
    // That of the call which came upon it, or of the kernels one of which it was.
    EXPECT_THAT(ended.output, HasSubstr("(op ")) << ended.output;
  }
}

TEST_F(FaultsOnGpu, have_the_kernel_that_traps_named_where_launches_wait) {
  const Ended ended = run_in_a_process("plain", true);
  expect_error(ended);
  EXPECT_THAT(ended.output, HasSubstr("kernel invert of chunk 1 (op 4)")) << ended.output;
}

}  // namespace
}  // namespace shiplap

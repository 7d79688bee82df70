// The recorder in programs that end, fork or break in many ways: they do what they do without it, and what they did is
// in the recording.
#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "shiplap/advise/failed_calls.hpp"
#include "shiplap/advise/recording.hpp"
#include "shiplap/advise/steps.hpp"
#include "tests/support/temporary_folder.hpp"

namespace shiplap {
namespace {

namespace fs = std::filesystem;
using ::testing::SizeIs;

constexpr std::size_t steps = 10;  // of the program

struct RecordedRun {
  int code = -1;
  std::string out;
  std::vector<Recording> recordings;
  std::vector<std::string> refused;  ///< reasons why processes were not recorded
};

class RecordedPrograms : public ::testing::Test {
 protected:
  void SetUp() override {
    const fs::path own = fs::read_symlink("/proc/self/exe").parent_path();
    program_ = own / "shiplap_odd_program";
    recorder_ = own / "libshiplap_recorder.so";
    if (!fs::exists(recorder_)) recorder_ = own.parent_path() / "libshiplap_recorder.so";
    ASSERT_TRUE(fs::exists(program_) && fs::exists(recorder_));
  }

  RecordedRun run(const std::string& way, bool recorded) const {
    std::string command = recorded ? fmt::format(
                                         "CUDA_INJECTION64_PATH='{0}' NVTX_INJECTION64_PATH='{0}' "
                                         "SHIPLAP_RECORDING='{1}/recording' ",
                                         recorder_.string(), folder_.path().string())
                                   : "";
    command += fmt::format("'{}' {} 2>&1", program_.string(), way);
    RecordedRun ended;
    FILE* pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) return ended;
    std::array<char, 256> piece{};
    while (fgets(piece.data(), piece.size(), pipe) != nullptr) ended.out += piece.data();
    const int status = pclose(pipe);
    ended.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    for (const auto& entry : fs::directory_iterator(folder_.path())) {
      std::ifstream file(entry.path());
      if (entry.path().extension() == ".refused")
        std::getline(file, ended.refused.emplace_back());
      else
        ended.recordings.push_back(read_recording(file, entry.path().string()));
    }
    return ended;
  }
  /// Runs the program with and without the recorder.
  RecordedRun expect_same(const std::string& way) const {
    const RecordedRun alone = run(way, false);
    const RecordedRun recorded = run(way, true);
    EXPECT_EQ(recorded.code, alone.code) << recorded.out;
    EXPECT_EQ(recorded.out, alone.out);
    EXPECT_EQ(recorded.refused.empty(), way != "profiles_itself");
    return recorded;
  }

 private:
  TemporaryFolder folder_;
  fs::path program_;
  fs::path recorder_;
};

template <class Kind>
std::size_t number_of(const Recording& recording) {
  std::size_t number = 0;
  for (const Record& record : recording.records) number += std::holds_alternative<Kind>(record) ? 1 : 0;
  return number;
}

TEST_F(RecordedPrograms, have_every_copy_kernel_wait_and_range_in_their_recording) {
  const RecordedRun ended = expect_same("");
  ASSERT_THAT(ended.recordings, SizeIs(1));
  const Recording& recording = ended.recordings.front();
  EXPECT_TRUE(recording.complete);
  EXPECT_EQ(number_of<RecordedCopy>(recording), 2 * steps);
  EXPECT_EQ(number_of<RecordedKernel>(recording), steps);
  EXPECT_EQ(number_of<RecordedOrder>(recording), steps);
  EXPECT_EQ(number_of<RecordedRange>(recording), steps);
  for (const Record& record : recording.records) {
    if (const auto* copy = std::get_if<RecordedCopy>(&record)) {
      const bool to_device = copy->to == MemoryKind::device;
      EXPECT_EQ(copy->size, Bytes{4 << 20});
      EXPECT_EQ(to_device ? copy->from : copy->to, MemoryKind::pageable);
      EXPECT_NE(copy->from_address, 0u);
      EXPECT_NE(copy->to_address, 0u);
      EXPECT_EQ(copy->content != 0, to_device);
    }
    if (const auto* kernel = std::get_if<RecordedKernel>(&record)) {
      EXPECT_NE(kernel->name.find("add_one(float*)"), std::string::npos) << kernel->name;
      EXPECT_EQ(kernel->blocks, 4096u);
      EXPECT_EQ(kernel->threads, 256u);
    }
  }
  const auto found = find_steps(recording);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->ops, 3u);
  EXPECT_TRUE(find_steps(recording, "a step").has_value());
}

TEST_F(RecordedPrograms, keep_their_exit_code) { EXPECT_EQ(expect_same("fails").code, 3); }

TEST_F(RecordedPrograms, leave_no_recording_when_they_use_no_gpu) {
  const RecordedRun ended = expect_same("without_cuda");
  EXPECT_EQ(ended.code, 5);
  EXPECT_THAT(ended.recordings, SizeIs(0));
}

TEST_F(RecordedPrograms, are_in_the_recording_up_to_a_crash) {
  for (const char* way : {"crashes", "leaves_at_once"}) {
    SCOPED_TRACE(way);
    const RecordedRun ended = run(way, true);
    EXPECT_EQ(ended.code, std::string(way) == "crashes" ? 128 + SIGSEGV : 4);
    ASSERT_FALSE(ended.recordings.empty());
    EXPECT_FALSE(ended.recordings.back().complete);
  }
}

TEST_F(RecordedPrograms, have_a_recording_for_each_process_that_uses_the_gpu) {
  EXPECT_THAT(expect_same("forks_first").recordings, SizeIs(2));
}

TEST_F(RecordedPrograms, are_not_disturbed_by_a_fork_after_they_have_used_the_gpu) {
  const RecordedRun ended = expect_same("forks_later");
  ASSERT_THAT(ended.recordings, SizeIs(1));
  EXPECT_TRUE(ended.recordings.front().complete);
  EXPECT_EQ(number_of<RecordedKernel>(ended.recordings.front()), steps);
}

TEST_F(RecordedPrograms, report_a_trap_as_they_do_without_a_recorder) {
  const RecordedRun ended = expect_same("traps");
  EXPECT_EQ(ended.code, 1);
  ASSERT_THAT(ended.recordings, SizeIs(1));
  const std::optional<FailedCalls> failed = failed_calls(ended.recordings.front());
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->error, static_cast<std::uint32_t>(cudaErrorLaunchFailure));
  EXPECT_EQ(failed->failed, failed->after);
}

TEST_F(RecordedPrograms, may_launch_graphs) {
  const RecordedRun ended = expect_same("launches_graphs");
  ASSERT_THAT(ended.recordings, SizeIs(1));
  EXPECT_GE(number_of<RecordedKernel>(ended.recordings.front()), steps);
}

TEST_F(RecordedPrograms, wait_for_streams_of_a_gpu_that_is_not_current) {
  const RecordedRun ended = run("waits_from_the_other_gpu", true);
  if (ended.code == 77) GTEST_SKIP() << "this needs two GPUs";
  ASSERT_THAT(ended.recordings, SizeIs(1));
  std::set<std::uint32_t> streams;  // of the kernels on the first GPU
  std::size_t waits = 0;
  for (const Record& record : ended.recordings.front().records)
    if (const auto* kernel = std::get_if<RecordedKernel>(&record); kernel != nullptr && kernel->gpu == 0)
      streams.insert(kernel->stream);
  ASSERT_THAT(streams, SizeIs(1));
  for (const Record& record : ended.recordings.front().records)
    if (const auto* order = std::get_if<RecordedOrder>(&record)) {
      if (order->kind != RecordedOrder::Kind::host_wait) continue;
      ++waits;
      EXPECT_EQ(order->gpu, 0u);
      EXPECT_EQ(order->stream, *streams.begin());
    }
  EXPECT_EQ(waits, steps);
}

TEST_F(RecordedPrograms, that_profile_themselves_are_not_recorded_and_it_is_said_why) {
  const RecordedRun ended = expect_same("profiles_itself");
  EXPECT_EQ(ended.code, 0);
  EXPECT_THAT(ended.recordings, SizeIs(0));
  ASSERT_THAT(ended.refused, SizeIs(1));
  EXPECT_NE(ended.refused.front().find("SUBSCRIBER"), std::string::npos) << ended.refused.front();
}

TEST_F(RecordedPrograms, may_use_the_gpu_in_several_threads) {
  const RecordedRun ended = expect_same("uses_threads");
  ASSERT_THAT(ended.recordings, SizeIs(1));
  EXPECT_EQ(number_of<RecordedCopy>(ended.recordings.front()), 4 * 2 * steps);
}

}  // namespace
}  // namespace shiplap

// shiplap advise, ended in the middle. A file stands for the recorder, and the recorded program copies a recording.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "shiplap/core/deadline.hpp"
#include "shiplap/core/text_file.hpp"
#include "tests/killed/killed_program.hpp"
#include "tests/support/temporary_folder.hpp"

namespace shiplap {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class EndedAdvise : public ::testing::Test {
 protected:
  void SetUp() override {
    before = fs::temp_directory_path();
    fs::create_directory(folder / "bin");
    fs::create_directory(folder / "tmp");
    std::error_code other_file_system;
    fs::create_hard_link(SHIPLAP_PROGRAM, folder / "bin" / "shiplap", other_file_system);
    if (other_file_system) fs::copy_file(SHIPLAP_PROGRAM, folder / "bin" / "shiplap");
    std::ofstream(folder / "bin" / "libshiplap_recorder.so") << "the program below does what it would do";
    setenv("TMPDIR", (folder / "tmp").c_str(), 1);
  }
  void TearDown() override { setenv("TMPDIR", before.c_str(), 1); }

  /// Advice for a program that does `then` when it has been recorded.
  ProgramRun run(const std::string& then) const {
    const std::string program = "cp '" SHIPLAP_SOURCE_DIR "/tests/advise/recordings/serial.jsonl' " +
                                std::string("\"$SHIPLAP_RECORDING.1.jsonl\"; touch recorded; ") + then;
    return {.words = {(folder / "bin" / "shiplap").string(), "advise", "--profile", "h100", "--record", "kept.jsonl",
                      "--", "sh", "-c", program},
            .folder = folder,
            .cache = folder / "cache",
            .messages = folder / "messages"};
  }
  /// Starts it and returns when the program has been recorded.
  int start(const std::string& then) const {
    const int process = start_program(run(then));
    const Deadline deadline(steady_time() + Seconds{60});
    while (!fs::exists(folder / "recorded") && !deadline.passed()) sleep_for(milliseconds(2));
    return process;
  }
  std::size_t left() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder / "tmp"), fs::directory_iterator()));
  }
  TemporaryFolder temporary;
  fs::path folder = temporary.path();
  fs::path before;
};

TEST_F(EndedAdvise, keeps_the_recording_and_leaves_nothing_else) {
  const ProgramEnd end = run_program_to_its_end(run("exit 7"));
  EXPECT_EQ(end.code, 7) << read_text_file((folder / "messages").string());
  EXPECT_EQ(read_text_file((folder / "kept.jsonl").string()),
            read_text_file(SHIPLAP_SOURCE_DIR "/tests/advise/recordings/serial.jsonl"));
  EXPECT_EQ(left(), 0u);
}

TEST_F(EndedAdvise, passes_a_signal_on_to_the_program_and_leaves_nothing) {
  for (const int signal : {SIGTERM, SIGHUP}) {
    fs::remove(folder / "recorded");
    fs::remove(folder / "kept.jsonl");
    const int process = start("exec sleep 60");
    ASSERT_EQ(left(), 1u);
    kill(process, signal);
    EXPECT_EQ(wait_for_program(process).code, 128 + signal) << "the exit code is that of the program";
    EXPECT_TRUE(fs::exists(folder / "kept.jsonl")) << "what was recorded until then is kept";
    EXPECT_EQ(left(), 0u);
  }
}

TEST_F(EndedAdvise, leaves_keys_of_the_terminal_to_the_program) {
  const int process = start("trap 'exit 5' INT; sleep 0.3; exit 6");
  kill(process, SIGINT);  // a terminal would send it to both
  EXPECT_EQ(wait_for_program(process).code, 6);
  EXPECT_EQ(left(), 0u);
}

TEST_F(EndedAdvise, that_was_killed_is_cleaned_up_after_by_the_next_one_and_no_other_is) {
  const int killed = start("exec sleep 3");
  kill(killed, SIGKILL);
  EXPECT_TRUE(wait_for_program(killed).was_killed);
  ASSERT_EQ(left(), 1u);
  fs::remove(folder / "recorded");
  const int living = start("sleep 1; exec true");
  EXPECT_EQ(left(), 1u) << "its own folder";
  fs::remove(folder / "recorded");
  EXPECT_EQ(run_program_to_its_end(run("true")).code, 0);
  EXPECT_EQ(left(), 1u) << "the folder of the one that still runs";
  EXPECT_EQ(wait_for_program(living).code, 0) << read_text_file((folder / "messages").string());
  EXPECT_EQ(left(), 0u);
}

}  // namespace
}  // namespace shiplap

// shiplap fleet check, ended in the middle: what it leaves in the folder that all nodes share.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include "shiplap/core/deadline.hpp"
#include "shiplap/core/text_file.hpp"
#include "tests/killed/killed_program.hpp"
#include "tests/support/temporary_folder.hpp"

namespace shiplap {
namespace {

namespace fs = std::filesystem;

class EndedFleetCheck : public ::testing::Test {
 protected:
  void SetUp() override {
    shared = root / "shared";
    fs::create_directory(shared);
  }

  ProgramRun rank_0_of(const char* ranks) const {
    return {.words = {SHIPLAP_PROGRAM, "fleet", "check", "--device", "virtual:h200", "--folder", shared.string(),
                      "--rank", "0", "--ranks", ranks, "--run", "one"},
            .folder = root,
            .cache = root / "cache",
            .messages = root / "messages"};
  }
  TemporaryFolder temporary;
  fs::path root = temporary.path();
  fs::path shared;
};

TEST_F(EndedFleetCheck, takes_its_messages_away_on_every_signal_that_ends_it_in_order) {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    const int process = start_program(rank_0_of("2"));  // the other rank never begins
    const Deadline deadline(steady_time() + Seconds{60});
    while (fs::is_empty(shared) && !deadline.passed()) sleep_for(milliseconds(2));
    sleep_for(milliseconds(300));  // until it waits for the other rank
    kill(process, signal);
    EXPECT_LT(wait_for_program(process).code, 128) << read_text_file((root / "messages").string());
    EXPECT_TRUE(fs::is_empty(shared)) << "after signal " << signal;
  }
}

TEST_F(EndedFleetCheck, that_was_killed_is_cleaned_up_after_a_week_later) {
  const fs::path old = shared / "shiplap-run-old";
  const fs::path young = shared / "shiplap-run-young";
  const fs::path other = shared / "results";
  for (const fs::path& run : {old, young, other}) {
    fs::create_directories(run / "to-0");
    std::ofstream(run / "to-0" / "1-000000000000") << "{}";
  }
  const auto now = fs::file_time_type::clock::now();
  for (const fs::path& run : {old, other}) fs::last_write_time(run, now - std::chrono::hours(8 * 24));
  EXPECT_EQ(run_program_to_its_end(rank_0_of("1")).code, 0) << read_text_file((root / "messages").string());
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(young));
  EXPECT_TRUE(fs::exists(other));
}

}  // namespace
}  // namespace shiplap

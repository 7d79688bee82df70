// A file system without locks, as Lustre without its mount option `flock`: this program's `flock` stands for it.
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include "shiplap/core/file_lock.hpp"
#include "shiplap/core/text_file.hpp"
#include "shiplap/fleet/history.hpp"
#include "tests/support/temporary_folder.hpp"

namespace {
int error_of_locks = 0;
}

extern "C" int flock(int descriptor, int operation) noexcept {
  if (error_of_locks == 0) return static_cast<int>(syscall(SYS_flock, descriptor, operation));
  errno = error_of_locks;
  return -1;
}

namespace shiplap {
namespace {

namespace fs = std::filesystem;

class WithoutLocks : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override { error_of_locks = GetParam(); }
  void TearDown() override { error_of_locks = 0; }
  TemporaryFolder temporary;
  fs::path folder = temporary.path();
};
INSTANTIATE_TEST_SUITE_P(Errors, WithoutLocks, ::testing::Values(ENOSYS, EOPNOTSUPP, ENOLCK));

TEST_P(WithoutLocks, a_lock_says_that_it_is_missing) {
  const FileLock lock((folder / "file").string());
  EXPECT_NE(lock.missing().find("no locks"), std::string::npos) << lock.missing();
}

TEST_P(WithoutLocks, a_history_is_written_all_the_same_and_says_so) {
  const std::string file = (folder / "history.json").string();
  EXPECT_NE(add_to_history(file, {}).find("may lose"), std::string::npos);
  EXPECT_TRUE(fs::exists(file));
}

TEST_P(WithoutLocks, temporary_files_are_abandoned_after_a_day_and_not_before) {
  const fs::path young = folder / ".shiplap-1-1.tmp";
  const fs::path old = folder / ".shiplap-1-2.tmp";
  for (const fs::path& file : {young, old}) std::ofstream(file) << "half";
  fs::last_write_time(young, fs::file_time_type::clock::now() - std::chrono::hours(23));
  fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(25));
  write_file_atomically((folder / "file").string(), "whole");
  EXPECT_TRUE(fs::exists(young));
  EXPECT_FALSE(fs::exists(old));
}

}  // namespace
}  // namespace shiplap

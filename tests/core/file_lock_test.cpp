#include "shiplap/core/file_lock.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <memory>

#include "shiplap/core/deadline.hpp"
#include "shiplap/core/error.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/temporary_folder.hpp"

namespace shiplap {
namespace {

namespace fs = std::filesystem;

class FileLockTest : public ::testing::Test {
 protected:
  /// A process that takes the lock and ends when it has it.
  pid_t locker() const {
    const pid_t child = fork();
    if (child == 0) {
      const FileLock lock((folder / "file").string());
      _exit(0);
    }
    return child;
  }
  static bool has_ended(pid_t child) {
    int status = 0;
    return waitpid(child, &status, WNOHANG) == child;
  }
  TemporaryFolder temporary;
  fs::path folder = temporary.path();
};

TEST_F(FileLockTest, makes_another_process_wait_until_it_is_released) {
  auto lock = std::make_unique<FileLock>((folder / "file").string());
  const pid_t other = locker();
  sleep_for(milliseconds(200));
  EXPECT_FALSE(has_ended(other));
  lock.reset();
  int status = 1;
  EXPECT_EQ(waitpid(other, &status, 0), other);
  EXPECT_EQ(status, 0);
}

TEST_F(FileLockTest, is_gone_with_a_process_that_is_killed) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const pid_t holder = fork();
  if (holder == 0) {
    const FileLock lock((folder / "file").string());
    if (write(ends[1], "x", 1) != 1) _exit(1);
    sleep_for(Seconds{60});
    _exit(0);
  }
  char locked = 0;
  ASSERT_EQ(read(ends[0], &locked, 1), 1) << "the other process has the lock";
  close(ends[0]);
  close(ends[1]);
  kill(holder, SIGKILL);
  waitpid(holder, nullptr, 0);
  const FileLock lock((folder / "file").string());
}

TEST_F(FileLockTest, does_not_wait_for_ever_for_a_process_that_hangs) {
  const std::string file = (folder / "file").string();
  const FileLock held(file);
  const pid_t other = fork();
  if (other == 0) {
    const std::string message = message_of([&] { FileLock(file, milliseconds(100)); });
    const bool says_it = message.find("another process has held") != std::string::npos &&
                         message.find(".file.lock") != std::string::npos;
    _exit(says_it ? 0 : 1);
  }
  int status = 1;
  EXPECT_EQ(waitpid(other, &status, 0), other);
  EXPECT_EQ(status, 0);
}

// Users of a group share a folder, and the one who came first made the file of the lock.
TEST_F(FileLockTest, is_of_all_users_who_may_read_its_file) {
  if (getuid() != 0) GTEST_SKIP() << "only root can become another user";
  fs::permissions(folder, fs::perms::all);
  const std::string file = (folder / "file").string();
  { const FileLock made_by_root(file); }
  fs::permissions(folder / ".file.lock", fs::perms{0644});
  constexpr int unreachable = 3;
  const pid_t other = fork();
  if (other == 0) {
    constexpr uid_t nobody = 65534;
    if (setuid(nobody) != 0 || access(folder.c_str(), W_OK) != 0) _exit(unreachable);
    try {
      const FileLock lock(file);
      _exit(lock.missing().empty() ? 0 : 2);
    } catch (const Error&) {
      _exit(1);
    }
  }
  int status = 1;
  EXPECT_EQ(waitpid(other, &status, 0), other);
  if (WEXITSTATUS(status) == unreachable) GTEST_SKIP() << "other users cannot reach " << folder;
  EXPECT_EQ(status, 0);
}

TEST_F(FileLockTest, without_a_folder_names_the_file) {
  EXPECT_NE(message_of([&] { FileLock((folder / "none" / "file").string()); }).find("none/file"), std::string::npos);
}

TEST_F(FileLockTest, makes_no_file_behind_a_link_that_was_planted) {
  fs::create_symlink(folder / "elsewhere", folder / ".file.lock");
  EXPECT_NE(message_of([&] { const FileLock lock((folder / "file").string()); }), "");
  EXPECT_FALSE(fs::exists(folder / "elsewhere"));
}

// In one process too: each lock has opened the file for itself.
TEST_F(FileLockTest, that_is_held_too_long_names_the_file_and_how_to_find_who_has_it) {
  const std::string file = (folder / "file").string();
  auto held = std::make_unique<FileLock>(file);
  const std::string message = message_of([&] { FileLock(file, milliseconds(20)); });
  EXPECT_NE(message.find("cannot lock " + file), std::string::npos) << message;
  EXPECT_NE(message.find("fuser " + (folder / ".file.lock").string()), std::string::npos) << message;
  held.reset();
  EXPECT_NO_THROW(FileLock(file, milliseconds(20))) << "the attempt has left no lock behind";
}

}  // namespace
}  // namespace shiplap

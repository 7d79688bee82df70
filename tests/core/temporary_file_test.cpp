#include "shiplap/core/temporary_file.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "shiplap/core/deadline.hpp"
#include "shiplap/core/text_file.hpp"
#include "tests/support/temporary_folder.hpp"

namespace shiplap {
namespace {

namespace fs = std::filesystem;

class TemporaryFileTest : public ::testing::Test {
 protected:
  std::vector<std::string> entries() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
    return names;
  }
  /// A process that has made a temporary file and waits to be killed.
  pid_t maker() const {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) return -1;
    const pid_t child = fork();
    if (child == 0) {
      const TemporaryFile file(folder);
      if (file.write("half") != 0 || ::write(ends[1], "x", 1) != 1) _exit(1);
      sleep_for(Seconds{60});
      _exit(0);
    }
    char made = 0;
    EXPECT_EQ(read(ends[0], &made, 1), 1);
    close(ends[0]);
    close(ends[1]);
    return child;
  }
  static void end(pid_t process) {
    kill(process, SIGKILL);
    waitpid(process, nullptr, 0);
  }
  TemporaryFolder temporary;
  fs::path folder = temporary.path();
};

TEST_F(TemporaryFileTest, is_gone_with_its_object_unless_it_has_replaced_another) {
  { const TemporaryFile unused(folder); }
  EXPECT_TRUE(entries().empty());
  {
    TemporaryFile file(folder);
    EXPECT_EQ(file.write("first"), 0);
    EXPECT_EQ(file.replace(folder / "a"), 0);
    EXPECT_EQ(file.write(", second"), 0) << "a log goes on under its new name";
  }
  EXPECT_EQ(entries(), std::vector<std::string>{"a"});
  EXPECT_EQ(read_text_file(folder / "a"), "first, second");
}

TEST_F(TemporaryFileTest, of_a_killed_process_is_removed_by_the_next_one) {
  end(maker());
  ASSERT_EQ(entries().size(), 1u);
  write_file_atomically(folder / "a", "new");
  EXPECT_EQ(entries(), std::vector<std::string>{"a"});
}

TEST_F(TemporaryFileTest, of_a_living_process_is_left_alone) {
  const pid_t other = maker();
  write_file_atomically(folder / "a", "new");
  EXPECT_EQ(entries().size(), 2u);
  end(other);
}

TEST_F(TemporaryFileTest, removes_files_with_names_like_its_own_and_nothing_else) {
  write_file_atomically(folder / ".shiplap-1-1.tmp.json", "{}");
  fs::create_directory(folder / ".shiplap-1-2.tmp");
  ASSERT_EQ(mkfifo((folder / ".shiplap-1-3.tmp").c_str(), 0600), 0);
  write_file_atomically(folder / "a", "kept");
  fs::create_symlink("a", folder / ".shiplap-1-4.tmp");
  const pid_t child = fork();  // the folder is new to another process only
  if (child == 0) {
    const fs::path same_folder = folder / ".";
    write_file_atomically(same_folder / "b", "new");
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  EXPECT_EQ(entries().size(), 6u);
  EXPECT_EQ(read_text_file(folder / "a"), "kept");
}

// Processes that begin to write and at once clean up after the others, so that every one meets new files of others.
TEST_F(TemporaryFileTest, many_processes_never_take_a_new_file_for_an_abandoned_one) {
  constexpr int processes = 8;
  constexpr int files = 50;
  std::vector<pid_t> children;
  for (int p = 0; p < processes; ++p) {
    children.push_back(fork());
    if (children.back() != 0) continue;
    for (int i = 0; i < files; ++i) {
      // Each name of the folder is new to the process, so that it looks for abandoned files each time.
      std::string same_folder = folder.string();
      for (int slash = 0; slash <= i; ++slash) same_folder += "/.";
      TemporaryFile file(same_folder);
      if (file.write("x") != 0 || file.replace(folder / std::to_string(p)) != 0) _exit(1);
    }
    _exit(0);
  }
  for (const pid_t child : children) {
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(entries().size(), static_cast<std::size_t>(processes));
}

}  // namespace
}  // namespace shiplap

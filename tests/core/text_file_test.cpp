#include "shiplap/core/text_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <thread>

#include "tests/support/message_of.hpp"
#include "tests/support/temporary_folder.hpp"

namespace shiplap {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

// A folder that goes away with the test.
class TextFile : public ::testing::Test {
 protected:
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  TemporaryFolder temporary_;
  fs::path folder_ = temporary_.path();
};

TEST_F(TextFile, what_is_written_is_read_back) {
  const fs::path path = folder_ / "a.json";
  write_file_atomically(path, R"({"x": 1})");
  EXPECT_EQ(read_text_file(path), R"({"x": 1})");
  const std::string large(3 << 20, 'y');
  write_file_atomically(path, large);
  EXPECT_EQ(read_text_file(path), large);
  EXPECT_EQ(entries(), 1u);
}

TEST_F(TextFile, a_name_without_a_folder_is_written_where_the_program_runs) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_);
  write_file_atomically("bare.json", "1");
  fs::current_path(before);
  EXPECT_EQ(read_text_file(folder_ / "bare.json"), "1");
}

TEST_F(TextFile, replacing_keeps_permissions_and_links) {
  const fs::path path = folder_ / "a.json";
  write_file_atomically(path, "old");
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("a.json", folder_ / "link.json");
  write_file_atomically(folder_ / "link.json", "new");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link.json"));
  EXPECT_EQ(read_text_file(path), "new");
  EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(TextFile, failures_name_the_path_and_the_reason) {
  const std::string missing = (folder_ / "no" / "a.json").string();
  EXPECT_EQ(message_of([&] { write_file_atomically(missing, "x"); }),
            "cannot write " + missing + ": No such file or directory; create the folder first");
  EXPECT_EQ(message_of([&] { write_file_atomically(folder_, "x"); }),
            "cannot write " + folder_.string() + ": Is a directory");
  EXPECT_EQ(message_of([&] { read_text_file(missing); }), "cannot read " + missing + ": No such file or directory");
  EXPECT_EQ(message_of([&] { read_text_file(folder_); }), "cannot read " + folder_.string() + ": Is a directory");
  EXPECT_EQ(entries(), 0u);
}

TEST_F(TextFile, a_pipe_is_not_replaced_by_a_file) {
  const fs::path path = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_NE(message_of([&] { write_file_atomically(path, "x"); }).find("not a regular file"), std::string::npos);
  EXPECT_TRUE(fs::is_fifo(path));
}

TEST_F(TextFile, a_write_that_fails_half_way_leaves_the_old_content_and_no_other_file) {
  const fs::path path = folder_ / "a.json";
  write_file_atomically(path, "old");
  // A limit on file size stands for a full disk; in a child, because it cannot be raised again by everyone.
  const auto child = [&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const std::string message = message_of([&] { write_file_atomically(path, std::string(1 << 20, 'x')); });
    std::_Exit(message == "cannot write " + path.string() + ": File too large" ? 0 : 1);
  };
  EXPECT_EXIT(child(), ::testing::ExitedWithCode(0), "");
  EXPECT_EQ(read_text_file(path), "old");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(TextFile, readers_see_the_old_content_or_the_new_and_never_a_part) {
  const fs::path path = folder_ / "a.json";
  const std::string a(200'000, 'a');
  const std::string b(100'000, 'b');
  write_file_atomically(path, a);
  std::atomic<bool> done{false};
  std::thread writer([&] {
    for (int i = 0; i < 50; ++i) write_file_atomically(path, i % 2 == 0 ? b : a);
    done = true;
  });
  std::size_t torn = 0;
  while (!done) {
    const std::string seen = read_text_file(path);
    torn += seen != a && seen != b;
  }
  writer.join();
  EXPECT_EQ(torn, 0u);
}

TEST_F(TextFile, a_link_to_a_file_that_is_missing_is_written_through) {
  fs::create_symlink("target.json", folder_ / "link.json");
  write_file_atomically(folder_ / "link.json", "new");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link.json"));
  EXPECT_EQ(read_text_file(folder_ / "target.json"), "new");
}

TEST_F(TextFile, what_the_user_did_not_name_is_read_from_a_regular_file_alone) {
  std::ofstream(folder_ / "file") << "text";
  fs::create_symlink("file", folder_ / "link");
  EXPECT_EQ(read_regular_file(folder_ / "file"), "text");
  EXPECT_EQ(read_regular_file(folder_ / "link"), "text");
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  const fs::path before = fs::current_path();
  fs::current_path(folder_);
  std::strcpy(address.sun_path, "socket");
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  fs::current_path(before);
  for (const std::string& other :
       {(folder_ / "pipe").string(), (folder_ / "socket").string(), std::string("/dev/zero")})
    EXPECT_EQ(message_of([&] { read_regular_file(other); }),
              "cannot read " + other +
                  ": it is a pipe, a socket or a device, and only a regular file is read here; remove it");
  ::close(socket);
  EXPECT_EQ(message_of([&] { read_regular_file(folder_); }), "cannot read " + folder_.string() + ": Is a directory");
}

TEST_F(TextFile, a_pipe_that_the_user_names_is_read) {
  const fs::path path = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(path) << "through"; });
  EXPECT_EQ(read_text_file(path), "through");
  writer.join();
}

TEST_F(TextFile, a_document_that_no_reader_takes_is_refused_and_the_old_one_stays) {
  const fs::path path = folder_ / "a.json";
  write_document(path, "old");
  const std::string too_long(limits::document_bytes + 1, ' ');
  EXPECT_THAT(message_of([&] { write_document(path, too_long); }),
              AllOf(HasSubstr("cannot write " + path.string()), HasSubstr("64 MiB of such a file is read")));
  EXPECT_EQ(read_text_file(path), "old");
  write_document(path, std::string_view(too_long).substr(1));
  EXPECT_EQ(read_text_file(path).size(), limits::document_bytes);
}

TEST_F(TextFile, folders_that_are_missing_are_made_and_those_that_are_there_stay) {
  make_folders(folder_ / "a" / "b");
  make_folders(folder_ / "a" / "b");
  EXPECT_TRUE(fs::is_directory(folder_ / "a" / "b"));
}

TEST_F(TextFile, a_folder_that_cannot_be_made_is_named_with_the_reason) {
  std::ofstream(folder_ / "file") << "a file";
  EXPECT_EQ(message_of([&] { make_folders(folder_ / "file" / "b"); }),
            "cannot make the folder " + (folder_ / "file" / "b").string() + ": Not a directory");
}

/// A folder in which everybody may write, as /tmp, with a link that another user has planted.
class SharedFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "only root can make files of another user";
    ASSERT_EQ(chmod(folder.c_str(), 01777), 0);
    std::ofstream(folder / "precious") << "precious";
    fs::create_symlink("precious", folder / "link");
  }
  void link_belongs_to(uid_t user) const { ASSERT_EQ(lchown((folder / "link").c_str(), user, user), 0); }
  TemporaryFolder temporary;
  fs::path folder = temporary.path();
  static constexpr uid_t another_user = 65534;
};

TEST_F(SharedFolder, a_link_of_another_user_is_not_written_through) {
  link_belongs_to(another_user);
  EXPECT_THAT(message_of([&] { write_file_atomically(folder / "link", "new"); }),
              HasSubstr("symbolic link of another user"));
  EXPECT_EQ(read_text_file(folder / "precious"), "precious");
}

TEST_F(SharedFolder, an_own_link_is_followed_and_stays) {
  link_belongs_to(geteuid());
  write_file_atomically(folder / "link", "new");
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_EQ(read_text_file(folder / "precious"), "new");
}

TEST_F(SharedFolder, a_link_in_a_folder_of_ones_own_is_followed) {
  ASSERT_EQ(chmod(folder.c_str(), 0755), 0);
  link_belongs_to(another_user);
  write_file_atomically(folder / "link", "new");
  EXPECT_EQ(read_text_file(folder / "precious"), "new");
}

}  // namespace
}  // namespace shiplap

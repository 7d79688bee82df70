#include "shiplap/core/file_system.hpp"

#include <gmock/gmock.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "tests/support/message_of.hpp"
#include "tests/support/temporary_folder.hpp"

namespace shiplap {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class FileSystem : public ::testing::Test {
 protected:
  fs::path made(const std::string& name) const {
    std::ofstream(folder / name) << name;
    return folder / name;
  }
  TemporaryFolder temporary;
  fs::path folder = temporary.path();
};

TEST_F(FileSystem, tells_what_is_there_and_lists_folders_in_order) {
  made("b");
  made("a");
  EXPECT_TRUE(is_there(folder / "a"));
  EXPECT_FALSE(is_there(folder / "c"));
  EXPECT_FALSE(is_there(folder / "a" / "c")) << "a part of the path is a file";
  EXPECT_TRUE(is_folder(folder));
  EXPECT_FALSE(is_folder(folder / "a"));
  EXPECT_THAT(entries_of(folder), ElementsAre(folder / "a", folder / "b"));
}

TEST_F(FileSystem, a_bad_path_is_an_error_that_names_it) {
  fs::create_symlink("loop", folder / "loop");
  const fs::path too_long = folder / std::string(300, 'x');
  for (const fs::path& bad : {folder / "loop", too_long}) {
    EXPECT_THAT(message_of([&] { is_there(bad); }), AllOf(HasSubstr("cannot read "), HasSubstr(bad.string())));
    EXPECT_THAT(message_of([&] { is_folder(bad); }), HasSubstr(bad.string()));
    EXPECT_THAT(message_of([&] { entries_of(bad); }), HasSubstr(bad.string()));
  }
  EXPECT_THAT(message_of([&] { file_behind_links(folder / "loop"); }), HasSubstr("loop"));
  EXPECT_THAT(message_of([&] { entries_of(folder / "missing"); }), HasSubstr("No such file"));
}

TEST_F(FileSystem, links_are_followed_to_files_that_are_there_or_not) {
  made("file");
  fs::create_directory(folder / "sub");
  fs::create_symlink("../file", folder / "sub" / "one");
  fs::create_symlink("sub/one", folder / "two");
  fs::create_symlink(folder / "missing", folder / "dangling");
  EXPECT_TRUE(fs::equivalent(file_behind_links(folder / "two"), folder / "file"));
  EXPECT_FALSE(fs::is_symlink(file_behind_links(folder / "two")));
  EXPECT_EQ(file_behind_links(folder / "dangling"), folder / "missing");
  EXPECT_EQ(file_behind_links(folder / "file"), folder / "file");
}

TEST_F(FileSystem, one_file_has_many_names) {
  const fs::path file = made("file");
  made("other");
  fs::create_directory(folder / "sub");
  fs::create_symlink("file", folder / "link");
  fs::create_hard_link(file, folder / "hard");
  fs::create_directory_symlink(folder, folder / "sub" / "up");
  for (const fs::path& same : {folder / "." / "file", folder / "sub" / ".." / "file", folder / "link", folder / "hard",
                               folder / "sub" / "up" / "file"})
    EXPECT_TRUE(are_one_file(file, same)) << same;
  EXPECT_FALSE(are_one_file(file, folder / "other"));
  EXPECT_FALSE(are_one_file(file, folder / "new"));
}

TEST_F(FileSystem, a_file_that_is_not_there_yet_is_known_by_its_folder_and_name) {
  fs::create_directory(folder / "sub");
  fs::create_directory_symlink(folder, folder / "sub" / "up");
  fs::create_symlink("new", folder / "dangling");
  const fs::path file = folder / "new";
  for (const fs::path& same :
       {folder / "." / "new", folder / "sub" / ".." / "new", folder / "sub" / "up" / "new", folder / "dangling"})
    EXPECT_TRUE(are_one_file(file, same)) << same;
  const fs::path before = fs::current_path();
  fs::current_path(folder);
  EXPECT_TRUE(are_one_file("new", file));
  EXPECT_TRUE(are_one_file("./new", "new"));
  fs::current_path(before);
  EXPECT_FALSE(are_one_file(file, folder / "sub" / "new"));
  EXPECT_FALSE(are_one_file(file, folder / "NEW")) << "this file system tells cases apart";
  EXPECT_FALSE(are_one_file(folder / "no" / "new", folder / "no" / "new")) << "nothing can be written there";
}

TEST_F(FileSystem, names_that_differ_in_case_are_one_where_the_file_system_says_so) {
  const std::string image = (folder / "image").string();
  const fs::path mounted = folder / "mounted";
  fs::create_directory(mounted);
  const std::string mount = "truncate -s 1M '" + image + "' && mkfs.vfat '" + image +
                            "' >/dev/null 2>&1 && mount -o loop '" + image + "' '" + mounted.string() + "' 2>/dev/null";
  if (std::system(mount.c_str()) != 0) GTEST_SKIP() << "no file system without cases can be mounted here";
  EXPECT_TRUE(are_one_file(mounted / "New.json", mounted / "new.JSON"));
  EXPECT_FALSE(are_one_file(mounted / "new.json", mounted / "other.json"));
  EXPECT_TRUE(fs::is_empty(mounted));
  ::umount(mounted.c_str());
}

}  // namespace
}  // namespace shiplap

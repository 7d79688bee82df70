#include "shiplap/core/kernel_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/temporary_folder.hpp"

namespace shiplap {
namespace {

TEST(KernelFile, is_read_whole_although_it_says_no_size) {
  const std::string name = "/proc/self/cmdline";
  EXPECT_EQ(std::filesystem::file_size(name), 0u);
  EXPECT_TRUE(text_of_kernel_file(name).ends_with('\0'));
}

TEST(KernelFile, is_read_whole_when_it_is_longer_than_what_is_read_at_a_time) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "numbers";
  std::string text;
  for (int i = 0; i < 3000; ++i) text += std::to_string(i) + '\n';
  std::ofstream(file) << text;
  EXPECT_EQ(text_of_kernel_file(file), text);
}

TEST(KernelFile, that_cannot_be_read_is_empty) {
  EXPECT_EQ(text_of_kernel_file("/proc/self/no_such_file"), "");
  // It opens, and every read fails.
  EXPECT_EQ(text_of_kernel_file(std::filesystem::temp_directory_path()), "");
}

}  // namespace
}  // namespace shiplap

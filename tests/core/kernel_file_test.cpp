#include "shiplap/core/kernel_file.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

namespace shiplap {
namespace {

TEST(KernelFile, is_read_whole_although_it_says_no_size) {
  const std::string name = "/proc/self/maps";
  text_of_kernel_file(name);  // maps what reading needs
  std::size_t lines = 0;
  std::ifstream in(name);
  for (std::string line; std::getline(in, line);) ++lines;
  EXPECT_EQ(std::filesystem::file_size(name), 0u);
  const std::string text = text_of_kernel_file(name);
  EXPECT_GT(text.size(), 4096u) << "more than is read at a time";
  EXPECT_NEAR(static_cast<double>(std::ranges::count(text, '\n')), static_cast<double>(lines), 3);
  EXPECT_TRUE(text.ends_with('\n'));
}

TEST(KernelFile, that_cannot_be_read_is_empty) {
  EXPECT_EQ(text_of_kernel_file("/proc/self/no_such_file"), "");
  // It opens, and every read fails.
  EXPECT_EQ(text_of_kernel_file(std::filesystem::temp_directory_path()), "");
}

}  // namespace
}  // namespace shiplap

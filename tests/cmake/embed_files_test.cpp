// Compares the texts that CMake has embedded with the files they were made from.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "shiplap/profile/built_in.hpp"

namespace shiplap {
namespace {

std::string content(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(EmbedProfiles, keeps_every_byte_of_every_file) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(SHIPLAP_SOURCE_DIR "/tests/cmake/profiles"))
    files[entry.path().stem().string()] = content(entry.path());
  ASSERT_EQ(files.size(), 2u);

  std::map<std::string, std::string> embedded;
  for (const BuiltInProfile& profile : built_in_profile_texts())
    embedded[std::string(profile.name)] = std::string(profile.json);
  EXPECT_EQ(embedded, files);
}

}  // namespace
}  // namespace shiplap

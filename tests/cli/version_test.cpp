// What --version prints, beside the schemas in docs/schema and the sources.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>

#include "shiplap/core/formats.hpp"
#include "tests/cli/program.hpp"

namespace shiplap {
namespace {

const fs::path source_root = SHIPLAP_SOURCE_DIR;

/// The formats in the text of --version, by name.
std::map<std::string, std::uint64_t> formats_in(std::string text) {
  text = text.substr(text.find("\nformats ") + 9);
  std::map<std::string, std::uint64_t> formats;
  const std::regex format("([a-z-]+) ([0-9]+)");
  for (auto at = std::sregex_iterator(text.begin(), text.end(), format); at != std::sregex_iterator(); ++at)
    formats[(*at)[1]] = std::stoull((*at)[2]);
  return formats;
}

TEST_F(Cli, version_tells_version_commit_and_parts_of_the_build) {
  const std::string text = shiplap("--version").out;
  const std::regex expected(
      "shiplap [0-9]+\\.[0-9]+\\.[0-9]+\n"
      "commit   (unknown|[0-9a-f]{12,40}(-dirty)?)\n"
      "CUDA     (toolkit [0-9.]+, .+|none: .+)\n"
      "reports  (D3.*|none: .+)\n"
      "nsys     (SQLite.*|none: .+)\n"
      "MPI      (standard [0-9.]+|none: .+)\n"
      "formats  [^]+");
  EXPECT_TRUE(std::regex_match(text, expected)) << text;
}

TEST_F(Cli, version_lists_every_format_with_the_version_of_its_schema) {
  const auto formats = formats_in(shiplap("--version").out);
  EXPECT_EQ(formats.size(), file_formats.size());
  for (const auto& entry : fs::directory_iterator(source_root / "docs/schema")) {
    const Json schema = Json::parse(read(entry.path()));
    const std::string name = schema["properties"]["schema"]["const"].get<std::string>().substr(8);
    ASSERT_TRUE(formats.contains(name)) << name;
    EXPECT_EQ(formats.at(name), schema["properties"]["version"]["const"]) << name;
  }
}

TEST_F(Cli, no_source_has_a_format_of_its_own) {
  EXPECT_TRUE(std::ranges::is_sorted(file_formats, std::ranges::less_equal{}, &FileFormat::schema));
  const std::regex own(R"re(("schema"[,\]].*|= )"shiplap/[a-z-]+")re");
  for (const char* room : {"shiplap", "cli", "experiments", "recorder"})
    for (const auto& entry : fs::recursive_directory_iterator(source_root / room)) {
      const fs::path& file = entry.path();
      if ((file.extension() != ".cpp" && file.extension() != ".hpp") || file.filename() == "formats.hpp") continue;
      EXPECT_FALSE(std::regex_search(read(file), own)) << file << " states a format; formats.hpp has them all";
    }
}

}  // namespace
}  // namespace shiplap

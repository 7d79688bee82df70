#include "tests/architecture/error_codes.hpp"

#include <gmock/gmock.h>

namespace shiplap {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> violations_in(const std::string& text) {
  const std::vector<SourceFile> files{{"cli/a.cpp", text}};
  return error_code_violations(files);
}

TEST(ErrorCodes, are_taken_by_every_call_of_the_file_system) {
  const auto files = source_files({"shiplap", "cli", "experiments"}, {".hpp", ".cpp", ".cu"});
  ASSERT_GT(files.size(), 50u) << "the source tree was not found";
  for (const std::string& violation : error_code_violations(files)) ADD_FAILURE() << violation;
}

TEST(ErrorCodes, are_missed_where_a_call_throws) {
  EXPECT_THAT(violations_in("\nif (fs::exists(path)) return;\n"), ElementsAre(HasSubstr("cli/a.cpp:2: exists throws")));
  EXPECT_THAT(violations_in("std::filesystem::rename(from, to);").size(), 1u);
  EXPECT_THAT(violations_in("for (const auto& entry : fs::directory_iterator(folder, error)) use(entry);").size(), 2u);
  EXPECT_THAT(violations_in("fs::directory_iterator a; if (entry.is_regular_file()) use(entry);").size(), 1u);
  EXPECT_THAT(violations_in("fs::path a = weak(fs::weakly_canonical(path).parent_path());").size(), 1u);
}

TEST(ErrorCodes, are_found_where_a_call_takes_one) {
  EXPECT_THAT(
      violations_in("std::error_code error;\n"
                    "if (fs::exists(folder / name(1), error)) return;\n"
                    "for (fs::directory_iterator entry(folder, error), end; entry != end; entry.increment(error))\n"
                    "  if (entry->is_symlink(error)) return;\n"
                    "fs::path path = \"a\";\n"
                    "return fs::is_directory(status_of(path));\n"),
      IsEmpty());
}

}  // namespace
}  // namespace shiplap

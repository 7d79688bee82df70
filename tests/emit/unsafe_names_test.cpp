// Names that come from files of others, in programs that are compiled.
#include <gmock/gmock.h>

#include "shiplap/emit/cuda_program.hpp"
#include "shiplap/emit/names.hpp"
#include "tests/emit/examples.hpp"

namespace shiplap {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string program_with(const std::string& text) {
  testing::Example example = testing::example("roles");
  example.workload.job.name = text;
  return cuda_program(
      example.workload, example.choice, example.schedule(),
      {.command = text, .profile = text, .predicted = Interval<Seconds>::exact(milliseconds(1)), .file = text});
}

TEST(UnsafeNames, stay_in_their_comments) {
  for (const char* end : {"\n", "\r", "\r\n", "\u2028"})
    EXPECT_THAT(program_with(std::string("a") + end + "#include \"/etc/passwd\""), Not(HasSubstr("\n#include \"/etc")));
}

TEST(UnsafeNames, take_no_further_line_into_a_comment) {
  EXPECT_THAT(program_with("a\\"), Not(HasSubstr("\\\n")));
  EXPECT_THAT(program_with("a\\  "), Not(HasSubstr("a\\")));
}

TEST(UnsafeNames, become_identifiers_of_ascii_whatever_the_locale) {
  EXPECT_EQ(identifier("a-b \"c\"\n\xe9"), "a_b__c___");
}

TEST(UnsafeNames, that_begin_with_a_digit_are_no_variables) {
  testing::Example example = testing::example("roles");
  example.workload.job.arrays[1].name = "2nd";
  const Schedule schedule = example.schedule();
  const Names names(example.workload.job, schedule, structure(schedule));
  EXPECT_THAT(names.slot, Contains("array_2nd_in"));
  EXPECT_THAT(names.slot, Not(Contains(StartsWith("2"))));
}

}  // namespace
}  // namespace shiplap

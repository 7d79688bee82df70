#include "tests/architecture/include_rule.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace shiplap {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<SourceFile> source_tree() {
  return source_files({"shiplap", "cli", "experiments", "examples", "bench", "tests"}, {".hpp", ".cpp", ".cu", ".cuh"});
}

std::vector<std::string> violations(const std::string& path, const std::string& line) {
  const std::vector<SourceFile> files{{path, line + "\n"}};
  return include_rule_violations(files);
}

TEST(IncludeRule, holds_for_every_file_of_the_project) {
  const auto files = source_tree();
  ASSERT_GT(files.size(), 50u) << "the source tree was not found";
  for (const std::string& violation : include_rule_violations(files)) ADD_FAILURE() << violation;
}

TEST(ThreadRule, holds_for_every_file_of_the_project) {
  std::istringstream names(SHIPLAP_THREADED);
  const std::vector<std::string> threaded(std::istream_iterator<std::string>(names), {});
  ASSERT_FALSE(threaded.empty());
  for (const std::string& violation : thread_rule_violations(source_tree(), threaded)) ADD_FAILURE() << violation;
}

TEST(ThreadRule, refuses_threads_outside_what_is_named_and_names_without_threads) {
  const std::vector<SourceFile> files{{"shiplap/core/parallel.cpp", "#include <thread>\n"},
                                      {"shiplap/device/cuda/gate.hpp", "#include <atomic>\n"},
                                      {"tests/core/parallel_test.cpp", "#include <thread>\n"},
                                      {"shiplap/sim/simulate.cpp", "#include <mutex>\n"},
                                      {"shiplap/plan/map.hpp", "#include <thread>\n"},
                                      {"shiplap/plan/map_of_all.cpp", "#include <thread>\n"},
                                      {"shiplap/plan/maps.cpp", "#include <thread>\n"},
                                      {"cli/run.cpp", "#include \"shiplap/core/parallel.hpp\"\n"},
                                      {"experiments/a/b.cpp", "#include <thread>\n"},
                                      {"experiments/c/d.cpp", "#include <thread>\n"}};
  const std::vector<std::string> threaded{"core", "device", "plan/map", "plan/search", "experiments/a"};
  EXPECT_THAT(thread_rule_violations(files, threaded),
              ElementsAre(HasSubstr("shiplap/sim/simulate.cpp: includes mutex"),
                          HasSubstr("shiplap/plan/maps.cpp: includes thread"),
                          HasSubstr("cli/run.cpp: includes shiplap/core/parallel.hpp"),
                          HasSubstr("experiments/c/d.cpp: includes thread"), HasSubstr("'device' is threaded"),
                          HasSubstr("'plan/search' is threaded")));
}

TEST(IncludeRule, reads_includes_but_not_those_in_comments_and_raw_strings) {
  const auto found = includes(
      "#include <vector>\n"
      "  # include \"shiplap/core/id.hpp\"  // why\n"
      "// #include <a>\n"
      "/* first\n#include <b>\n*/\n"
      "const char* program = R\"x(\n#include <c>\n)x\";\n"
      "const char* quoted = \"\\\"// R\\\"(\"; char q = '\"';\n"
      "#include <d>");
  std::vector<std::string> names;
  for (const Include& include : found) names.push_back(include.name);
  EXPECT_THAT(names, ElementsAre("vector", "shiplap/core/id.hpp", "d"));
  EXPECT_TRUE(found[0].angled);
  EXPECT_FALSE(found[1].angled);
}

TEST(IncludeRule, refuses_a_room_that_the_table_does_not_allow) {
  EXPECT_THAT(violations("shiplap/sim/simulate.cpp", "#include \"shiplap/model/loggp.hpp\""),
              ElementsAre("shiplap/sim/simulate.cpp: includes shiplap/model/loggp.hpp: "
                          "room 'sim' may not include room 'model'"));
  EXPECT_THAT(violations("shiplap/schedule/schedule.cpp", "#include <shiplap/profile/profile.hpp>").size(), 1u);
  EXPECT_THAT(violations("shiplap/core/json.cpp", "#include \"shiplap/profile/profile.hpp\"").size(), 1u);
  EXPECT_THAT(violations("shiplap/pipeline/run.cpp", "#include \"shiplap/document/table.hpp\"").size(), 1u);
  EXPECT_THAT(violations("shiplap/plan/plan.cpp", "#include \"shiplap/device/device.hpp\"").size(), 1u);
}

TEST(IncludeRule, allows_what_the_table_allows) {
  EXPECT_THAT(violations("shiplap/sim/simulate.cpp", "#include \"shiplap/profile/profile.hpp\""), IsEmpty());
  EXPECT_THAT(violations("shiplap/sim/simulate.cpp", "#include \"shiplap/sim/sim_parameters.hpp\""), IsEmpty());
  EXPECT_THAT(violations("shiplap/model/loggp.cpp", "#include \"shiplap/core/units.hpp\""), IsEmpty());
  EXPECT_THAT(violations("shiplap/device/virtual/virtual_device.cpp", "#include \"shiplap/sim/simulate.hpp\""),
              IsEmpty());
  EXPECT_THAT(violations("cli/run.cpp", "#include \"shiplap/pipeline/run.hpp\""), IsEmpty());
}

TEST(IncludeRule, allows_single_headers_of_a_room_that_is_closed_otherwise) {
  EXPECT_THAT(violations("shiplap/workload/job.cpp", "#include \"shiplap/device/kernel_binding.hpp\""), IsEmpty());
  EXPECT_THAT(violations("shiplap/workload/job.cpp", "#include \"shiplap/device/device.hpp\"").size(), 1u);
}

TEST(IncludeRule, lets_only_the_opener_name_a_particular_device) {
  for (const char* header : {"shiplap/device/cuda/cuda_device.hpp", "shiplap/device/virtual/virtual_device.hpp"}) {
    const std::string line = std::string("#include \"") + header + "\"";
    EXPECT_THAT(violations("shiplap/device/open.cpp", line), IsEmpty());
    for (const char* path : {"shiplap/device/open.hpp", "shiplap/device/device.cpp", "shiplap/measure/measure.cpp",
                             "shiplap/workload/saxpy.cu", "cli/run.cpp", "bench/grid.cpp"})
      EXPECT_THAT(violations(path, line), ::testing::Contains(HasSubstr("only shiplap/device/open.cpp"))) << path;
  }
  EXPECT_THAT(
      violations("shiplap/device/cuda/api.cpp", "#include \"shiplap/device/virtual/virtual_device.hpp\"").size(), 1u);
}

TEST(IncludeRule, keeps_cuda_headers_in_their_rooms) {
  for (const char* header : {"cuda_runtime.h", "cuda_runtime_api.h", "cuda.h", "cub/cub.cuh", "cooperative_groups.h",
                             "cupti.h", "driver_types.h"}) {
    const std::string line = std::string("#include <") + header + ">";
    EXPECT_THAT(violations("shiplap/pipeline/run.cpp", line).size(), 1u) << header;
    EXPECT_THAT(violations("shiplap/workload/saxpy.cpp", line).size(), 1u) << header;
    EXPECT_THAT(violations("cli/main.cpp", line).size(), 1u) << header;
    EXPECT_THAT(violations("shiplap/device/cuda/api.cpp", line), IsEmpty()) << header;
    EXPECT_THAT(violations("shiplap/workload/saxpy.cu", line), IsEmpty()) << header;
  }
  EXPECT_THAT(violations("shiplap/plan/plan.cu", "").size(), 1u);
}

TEST(IncludeRule, keeps_the_command_line_and_relative_names_out_of_the_library) {
  EXPECT_THAT(violations("shiplap/report/table.cpp", "#include \"cli/common.hpp\""),
              ElementsAre(HasSubstr("does not know the command line")));
  EXPECT_THAT(violations("shiplap/report/table.cpp", "#include \"rows.hpp\""),
              ElementsAre(HasSubstr("named from the project's root")));
}

TEST(IncludeRule, keeps_the_experiments_apart_from_the_library_and_the_command_line) {
  EXPECT_THAT(violations("shiplap/evaluate/regret.cpp", "#include \"experiments/experiment.hpp\""),
              ElementsAre(HasSubstr("the library does not know the experiments")));
  EXPECT_THAT(violations("cli/reproduce.cpp", "#include \"experiments/reproduction.hpp\""),
              ElementsAre(HasSubstr("does not know the experiments, which are optional")));
  EXPECT_THAT(violations("experiments/page.cpp", "#include \"cli/common.hpp\""),
              ElementsAre(HasSubstr("only their program knows the command line")));
  EXPECT_THAT(violations("experiments/page.cpp", "#include \"experiments/program/reproduce.hpp\""),
              ElementsAre(HasSubstr("do not know the program")));
  EXPECT_THAT(violations("experiments/program/reproduce.cpp", "#include \"cli/common.hpp\""), IsEmpty());
  EXPECT_THAT(violations("experiments/program/reproduce.cpp", "#include \"experiments/page.hpp\""), IsEmpty());
  EXPECT_THAT(violations("experiments/harris2012/saxpy.cpp", "#include \"experiments/in_turn.hpp\""), IsEmpty());
}

TEST(IncludeRule, wants_a_new_room_to_be_entered_in_the_table) {
  EXPECT_THAT(violations("shiplap/novel/thing.cpp", "#include \"shiplap/schedule/schedule.hpp\""),
              ElementsAre(HasSubstr("not in the include rule")));
}

TEST(IncludeRule, wants_headers_to_begin_with_a_sentence_and_to_be_included_once) {
  EXPECT_THAT(violations("shiplap/core/a.hpp", "// What it is for.\n#pragma once"), IsEmpty());
  EXPECT_THAT(violations("shiplap/core/a.hpp", "// What it is\n// for.\n#pragma once\n"), IsEmpty());
  EXPECT_THAT(violations("shiplap/core/a.hpp", "#pragma once\n// Too late."), ElementsAre(HasSubstr("does not begin")));
  EXPECT_THAT(violations("tests/support/a.hpp", "// What it is for."), ElementsAre(HasSubstr("#pragma once")));
  EXPECT_THAT(violations("cli/a.hpp", "// What it is for.\n// #pragma once"), ElementsAre(HasSubstr("#pragma once")));
}

}  // namespace
}  // namespace shiplap

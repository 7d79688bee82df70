// Several processes with one cache, one history and one output.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "shiplap/core/json.hpp"
#include "shiplap/core/text_file.hpp"
#include "tests/killed/killed_program.hpp"
#include "tests/killed/scenario.hpp"
#include "tests/support/temporary_folder.hpp"

namespace shiplap {
namespace {

namespace fs = std::filesystem;

class Together : public ::testing::TestWithParam<std::size_t> {
 protected:
  void SetUp() override {
    folder = root / "folder";
    fs::create_directory(folder);
  }

  /// Starts as many processes as the parameter says at once and waits for all. `words` gives the command of each.
  template <class Words>
  void run_all(const Words& words) const {
    std::vector<int> processes;
    for (std::size_t i = 0; i < GetParam(); ++i) {
      ProgramRun run{.words = {SHIPLAP_PROGRAM},
                     .folder = folder,
                     .cache = root / "cache",
                     .messages = root / fmt::format("messages-{}", i)};
      for (std::string& word : words(i)) run.words.push_back(std::move(word));
      processes.push_back(start_program(run));
    }
    for (std::size_t i = 0; i < processes.size(); ++i)
      EXPECT_EQ(wait_for_program(processes[i]).code, 0)
          << read_text_file((root / fmt::format("messages-{}", i)).string());
    EXPECT_EQ(temporary_files(root).size(), 0u);
  }
  using Words = std::vector<std::string>;
  TemporaryFolder temporary;
  fs::path root = temporary.path();
  fs::path folder;
};
INSTANTIATE_TEST_SUITE_P(Processes, Together, ::testing::Values(2u, 8u));

TEST_P(Together, races_of_all_processes_are_in_the_cache) {
  run_all([](std::size_t i) {
    return Words{"tune", fmt::format("saxpy:n={}", 1024u << i), "--device", "virtual:h200", "--race", "1ms"};
  });
  std::set<std::string> sizes;
  for (const auto& file : fs::directory_iterator(root / "cache" / "shiplap" / "races"))
    if (file.path().extension() == ".json") {
      const Json kept = read_json_file(file.path().string());
      for (const Json& entry : kept.at("races")) sizes.insert(entry.at("size"));
    }
  EXPECT_EQ(sizes.size(), GetParam());
}

TEST_P(Together, checks_of_all_processes_are_in_the_history) {
  run_all([](std::size_t i) {
    return Words{"fleet", "check", "--device", "virtual:h200", "--node", fmt::format("n{}", i), "--history", "h.json"};
  });
  EXPECT_EQ(read_json_file((folder / "h.json").string()).at("gpus").size(), GetParam());
}

TEST_P(Together, steps_of_all_processes_are_in_the_reproduction) {
  const std::vector<std::string> steps{"table1", "nodes", "copies", "zero_copy"};
  run_all([&](std::size_t i) {
    return Words{"reproduce", "commscope2019",        "--quick", "--device", "virtual:h200", "-o", "papers",
                 "--only",    steps[i % steps.size()]};
  });
  const Json done = read_json_file((folder / "papers" / "commscope2019.json").string()).at("steps");
  for (std::size_t i = 0; i < std::min(GetParam(), steps.size()); ++i) EXPECT_TRUE(done.contains(steps[i])) << steps[i];
}

TEST_P(Together, one_output_is_whole_whoever_wrote_it_last) {
  run_all([](std::size_t i) {
    return Words{"evaluate",     fmt::format("saxpy:n={}", 1024u << i),
                 "--device",     "virtual:h200",
                 "--strategies", "streams",
                 "--layouts",    "three",
                 "--chunks",     "1,2",
                 "-o",           "e.json",
                 "--csv",        "e.csv"};
  });
  EXPECT_EQ(torn_files(folder), "");
  EXPECT_EQ(read_json_file((folder / "e.json").string()).at("workloads").size(), 1u);
  std::set<std::string> workloads;
  std::istringstream csv(read_text_file((folder / "e.csv").string()));
  for (std::string line; std::getline(csv, line);) workloads.insert(line.substr(0, line.find(',')));
  EXPECT_EQ(workloads.size(), 2u) << "the head of the column and one workload";
}

}  // namespace
}  // namespace shiplap

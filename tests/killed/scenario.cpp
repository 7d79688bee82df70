#include "tests/killed/scenario.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <string>

#include "shiplap/core/deadline.hpp"
#include "shiplap/core/json.hpp"
#include "shiplap/core/text_file.hpp"
#include "tests/killed/killed_program.hpp"
#include "tests/support/temporary_folder.hpp"

namespace shiplap {
namespace {

namespace fs = std::filesystem;

/// A folder with the files of one command and its cache.
class Place {
 public:
  fs::path folder() const { return root_ / "folder"; }
  void empty(const Scenario& scenario) const {
    fs::remove_all(folder());
    fs::remove_all(root_ / "cache");
    fs::create_directories(folder());
    if (scenario.prepare) scenario.prepare(folder());
  }
  ProgramRun run_of(const std::vector<std::string>& words) const {
    ProgramRun run{.words = {SHIPLAP_PROGRAM}, .folder = folder(), .cache = root_ / "cache", .messages = root_ / "err"};
    run.words.insert(run.words.end(), words.begin(), words.end());
    return run;
  }
  std::string messages() const { return read_text_file((root_ / "err").string()); }
  std::string torn() const { return torn_files(folder()) + torn_files(root_ / "cache"); }
  /// Files that stay once they are there.
  std::set<fs::path> files() const {
    std::set<fs::path> all;
    for (const auto& entry : fs::recursive_directory_iterator(root_))
      if (entry.is_regular_file() && entry.path().extension() != ".partial" && entry.path().extension() != ".tmp")
        all.insert(entry.path());
    return all;
  }
  std::size_t most_temporary_files() const {
    std::map<fs::path, std::size_t> in_folder;
    std::size_t most = 0;
    for (const fs::path& file : temporary_files(root_)) most = std::max(most, ++in_folder[file.parent_path()]);
    return most;
  }

 private:
  TemporaryFolder temporary_;
  fs::path root_ = temporary_.path();
};

std::size_t asked_moments(std::size_t otherwise) {
  const char* asked = std::getenv("SHIPLAP_MOMENTS");
  return asked == nullptr ? otherwise : std::stoul(asked);
}

/// An uninterrupted run: its result, how long it takes, and how often it changes files.
struct Undisturbed {
  Json result;
  Seconds time{0};
  std::size_t calls = 0;
};

Undisturbed undisturbed_run(const Scenario& scenario, const Place& place) {
  Undisturbed run;
  place.empty(scenario);
  const Seconds begin = steady_time();
  const ProgramEnd end = run_program_to_its_end(place.run_of(scenario.command));
  run.time = steady_time() - begin;
  EXPECT_EQ(end.code, 0) << place.messages();
  run.result = scenario.result(place.folder());
  place.empty(scenario);
  run.calls = kill_program_at_call(place.run_of(scenario.command), std::numeric_limits<std::size_t>::max()).calls;
  EXPECT_GT(run.calls, 0u);
  return run;
}

void expect_the_same_end(const Scenario& scenario, const Place& place, const ProgramEnd& end,
                         const Undisturbed& undisturbed) {
  EXPECT_EQ(end.code, 0) << place.messages();
  EXPECT_EQ(scenario.result(place.folder()), undisturbed.result);
  EXPECT_EQ(place.most_temporary_files(), 0u);
}

bool is_torn_log(const std::string& text) {
  // The last line may be cut off, because a log is written line by line.
  for (std::size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
    if (Json::parse(text.begin() + static_cast<std::ptrdiff_t>(begin), text.begin() + static_cast<std::ptrdiff_t>(end),
                    nullptr, false)
            .is_discarded())
      return true;
  return text.find('\n') == std::string::npos;
}

bool is_torn(const fs::path& file) {
  const std::string text = read_text_file(file.string());
  const std::string kind = file.extension().string();
  if (kind == ".jsonl") return is_torn_log(text);
  if (kind == ".json" || kind == ".partial") return Json::parse(text, nullptr, false).is_discarded();
  return text.empty() || (text.back() != '\n' && !text.ends_with("</svg>") && !text.ends_with("</html>"));
}

bool is_whole_by_design(const fs::path& file) {
  const std::string name = file.filename().string();
  return name.starts_with(".shiplap-") || name.ends_with(".lock");
}

}  // namespace

std::string torn_files(const fs::path& folder) {
  std::string torn;
  if (!fs::exists(folder)) return torn;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file() && !is_whole_by_design(entry.path()) && is_torn(entry.path()))
      torn += fmt::format("{}: {}\n", entry.path().string(), read_text_file(entry.path().string()).substr(0, 200));
  return torn;
}

std::vector<fs::path> temporary_files(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(".shiplap-")) files.push_back(entry.path());
  }
  return files;
}

void expect_to_survive_kills(const Scenario& scenario, std::size_t moments) {
  const Place place;
  const Undisturbed undisturbed = undisturbed_run(scenario, place);
  const std::vector<std::string>& resume = scenario.resume.empty() ? scenario.command : scenario.resume;
  std::mt19937 random(1);
  std::size_t killed = 0;
  std::size_t ended = 0;
  bool goes_on = false;
  const Seconds begin = steady_time();
  const std::size_t all = asked_moments(moments);
  place.empty(scenario);
  while (killed < all && !::testing::Test::HasFailure()) {
    const ProgramRun run = place.run_of(goes_on ? resume : scenario.command);
    const std::set<fs::path> before = place.files();
    const ProgramEnd end =
        killed % 2 == 0
            ? kill_program_after(run, undisturbed.time * std::uniform_real_distribution<double>()(random))
            : kill_program_at_call(run, std::uniform_int_distribution<std::size_t>(0, undisturbed.calls - 1)(random));
    EXPECT_EQ(place.torn(), "");
    EXPECT_TRUE(std::ranges::includes(place.files(), before)) << "a file is gone";
    EXPECT_LE(place.most_temporary_files(), 1u);
    goes_on = end.was_killed;
    killed += end.was_killed ? 1 : 0;
    if (end.was_killed) continue;
    ++ended;
    expect_the_same_end(scenario, place, end, undisturbed);
    place.empty(scenario);
  }
  expect_the_same_end(scenario, place, run_program_to_its_end(place.run_of(goes_on ? resume : scenario.command)),
                      undisturbed);
  fmt::print("{} kills, {} of {} runs ended in spite of them, {} calls that change files, {:.1f} s\n", killed,
             ended + 1, ended + 1, undisturbed.calls, (steady_time() - begin).count());
}

}  // namespace shiplap

// What a user does with the program or the library while one call fails.
#pragma once

#include <filesystem>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace shiplap::faults {

/// A failure that is reported and does not stop the program, so that its results are others.
struct Tolerated {
  std::string_view says;    ///< a part of what stdout or stderr says then
  std::string_view reason;  ///< why it does not stop
};

struct Scenario {
  std::string name;
  std::string program;             ///< path of the executable
  std::vector<std::string> words;  ///< its arguments
  /// Writes the files that exist before the run into this folder, in which the program runs.
  std::function<void(const std::filesystem::path&)> prepare = [](const std::filesystem::path&) {};
  bool begins = false;             ///< the program says when faults begin
  std::string varies = "$^";       ///< a regular expression: parts of the output that differ from run to run
  std::size_t most_of_files = 14;  ///< how often calls on files fail when not all is asked for
  std::size_t most_of_memory = 8;  ///< how often memory fails then
  std::string grows{};             ///< a file that is written line by line, so that a part of it may stay
  std::string goes_on{};           ///< a file that stays after a failure, for --resume
  std::vector<Tolerated> tolerated{};
};

/// The scenarios of the program and of the library.
const std::vector<Scenario>& scenarios();

/// For messages of tests.
inline void PrintTo(const Scenario& scenario, std::ostream* to) { *to << scenario.name; }

}  // namespace shiplap::faults

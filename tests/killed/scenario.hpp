// A command that writes files, what must hold for them whenever it is killed, and how it goes on.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "shiplap/core/json_forward.hpp"

namespace shiplap {

/// Words are those behind the name of the program. Commands run in a folder of their own, with a cache of their own.
struct Scenario {
  std::vector<std::string> command;
  /// The command that goes on after a kill; empty: the same one.
  std::vector<std::string> resume{};
  /// Writes what is in the folder before.
  std::function<void(const std::filesystem::path& folder)> prepare{};
  /// What the finished command has found, for a comparison with an uninterrupted one.
  std::function<Json(const std::filesystem::path& folder)> result{};
};

/// Kills the command at as many moments as SHIPLAP_MOMENTS says (`moments` without it), half of them at random times of
/// its run and half at its calls that change files, and goes on after each kill until it has ended. After every kill
/// each file in the folder and the cache must be whole, none may have gone, and at most one temporary file may be left
/// in a folder. The end must give the same result as a run that nobody interrupts.
void expect_to_survive_kills(const Scenario&, std::size_t moments);

/// The files below a folder that a reader cannot use, one a line: JSON that is cut off, tables without the end of a
/// line.
std::string torn_files(const std::filesystem::path& folder);
/// The temporary files of shiplap below a folder.
std::vector<std::filesystem::path> temporary_files(const std::filesystem::path& folder);

}  // namespace shiplap

// A page made from files of shiplap: profiles, checks, comparisons, plans, runs, evaluations, logs, movers, advice and
// reproductions.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "shiplap/plan/strategy_map.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/report/page/page.hpp"

namespace shiplap::page {

/// A file by its name, with its text.
struct ReportFile {
  std::string name;
  std::string text;
};

/// What a report is made with.
struct PageOptions {
  std::string title{};  ///< "": a title that names the GPUs
  /// The jobs of the map of strategies; its fraction and memory are those of the first plan or run. nullopt: no map.
  std::optional<MapQuestion> map = default_map_question();
  /// Finds a profile by name that is not among the files, for the map of a plan or run; may return nullopt. The map is
  /// drawn only if the hash of its parameters is that of the plan.
  std::function<std::optional<Profile>(const std::string& name)> find_profile{};
};

/// Makes the page. Throws Error that names file and key for a file that is none of the above, and UsageError without
/// files.
Page report(std::span<const ReportFile>, const PageOptions& = {});

}  // namespace shiplap::page

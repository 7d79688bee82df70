// Sections of a page, each made from one kind of file.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "shiplap/core/json.hpp"
#include "shiplap/evaluate/evaluation.hpp"
#include "shiplap/measure/compare.hpp"
#include "shiplap/measure/node_result.hpp"
#include "shiplap/pipeline/run_view.hpp"
#include "shiplap/plan/adaptation_log.hpp"
#include "shiplap/plan/strategy_map.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/report/movers_report.hpp"
#include "shiplap/report/page/figure.hpp"

namespace shiplap::page {

/// A section with its sentences for the summary on top of the page.
struct Part {
  Section section;
  std::vector<std::string> summary{};
};

/// Rates over sizes, latencies, zero-copy, the verdict on each figure, all figures, and the conditions of a node.
Part profile_part(const Profile&, const std::string& source);
/// The figures of several nodes side by side, each beside the median of all.
Part nodes_part(std::span<const Profile>);
/// The best strategy over size and kernel time. `marks` are jobs, in bytes and seconds.
Part map_part(const StrategyMap&, const std::vector<Mark>& marks);
/// Predicted beside observed times, error distributions and worst points of an evaluation.
Part evaluation_part(const Evaluation&, const std::string& source);
/// The times of batches, the choices and the decisions of an adaptive run.
Part adaptation_part(const Replay&, const std::string& source);

/// The verdicts of a check.
Part check_part(const NodeResult&, const std::string& source);
/// Predicted and observed times and timelines of a run.
Part run_part(const RunView&, const std::string& source);
/// The rates of movers of blocks.
Part movers_part(const MoverTable&, const std::string& source);
/// What became slower or faster.
Part comparison_part(const Comparison&, const std::string& source);

// The sections below read the JSON that programs print. They throw Error that names source and key for a value that is
// missing or has another form.

/// The candidates of `shiplap plan --json`.
Part plan_part(const JsonReader&, const std::string& source);
/// The advice and the timelines of `shiplap advise --json`.
Part advice_part(const JsonReader&, const std::string& source);
/// The curves and the claims of `shiplap reproduce`.
Part reproduction_part(const JsonReader&, const std::string& source);

}  // namespace shiplap::page

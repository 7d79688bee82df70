// How much slower the choices of the plan and of a race are than the best of a sweep, as text and as Markdown.
#pragma once

#include <string>
#include <vector>

#include "shiplap/document/table.hpp"
#include "shiplap/evaluate/regret.hpp"

namespace shiplap {

/// The summary, and the jobs in which the plan's choice is furthest from the best.
std::string regret_report(const std::vector<JobRegret>&, const TextStyle& = {});
/// The summary and all jobs as a Markdown page.
std::string regret_markdown(const std::vector<JobRegret>&);

}  // namespace shiplap

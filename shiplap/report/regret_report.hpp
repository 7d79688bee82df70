// What following the plan and a race costs against a sweep, for people.
#pragma once

#include <string>
#include <vector>

#include "shiplap/evaluate/regret.hpp"
#include "shiplap/report/table.hpp"

namespace shiplap {

/// The summary, and the jobs in which the plan's choice is furthest from the best.
std::string regret_report(const std::vector<JobRegret>&, const TextStyle& = {});
/// All jobs as a Markdown page.
std::string regret_markdown(const std::vector<JobRegret>&);

}  // namespace shiplap

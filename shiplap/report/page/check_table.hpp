// Verdicts on a node as a table and as sentences.
#pragma once

#include <string>
#include <vector>

#include "shiplap/measure/check.hpp"
#include "shiplap/report/page/figure.hpp"

namespace shiplap::page {

/// Every figure with its limit and its verdict.
DataTable check_table(const std::vector<CheckedFigure>&);
/// How fast copies are, with their fraction of the link's limit; "" when no copies were measured.
std::string speed_sentence(const Profile&, const std::string& gpu);
/// Whether the node is healthy, and the figure that is lowest beside what is expected of it; "" when none is known.
std::string health_sentence(const std::string& node, const std::vector<CheckedFigure>&);

}  // namespace shiplap::page

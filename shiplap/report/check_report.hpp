// The verdicts of a check as a table: every measured figure beside its limit, and likely causes of a low one.
#pragma once

#include <string>
#include <vector>

#include "shiplap/measure/check.hpp"
#include "shiplap/report/table.hpp"

namespace shiplap {

std::string check_report(const std::vector<CheckedFigure>&, const TextStyle& = {});

}  // namespace shiplap

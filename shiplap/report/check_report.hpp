// A verdict for people.
#pragma once

#include <string>
#include <vector>

#include "shiplap/measure/check.hpp"
#include "shiplap/report/table.hpp"

namespace shiplap {

std::string check_report(const std::vector<CheckedFigure>&, const TextStyle& = {});

}  // namespace shiplap

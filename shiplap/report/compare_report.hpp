// A comparison for people: what became worse, what became better, and what the intervals leave open.
#pragma once

#include <string>

#include "shiplap/measure/compare.hpp"
#include "shiplap/report/table.hpp"

namespace shiplap {

/// The figures that changed, worst first, or all of them in the order of measuring; conditions that differ; and a line
/// that counts.
std::string compare_report(const Comparison&, bool all, const TextStyle& = {});

}  // namespace shiplap

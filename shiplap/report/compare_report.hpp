// A comparison of two measurements as text: figures that became worse or better, and those too uncertain to tell.
#pragma once

#include <string>

#include "shiplap/measure/compare.hpp"
#include "shiplap/report/table.hpp"

namespace shiplap {

/// A table of the figures that changed, the worst first (with `all`: every figure, in the order of measuring), the
/// conditions that differ, and the number of figures by verdict.
std::string compare_report(const Comparison&, bool all, const TextStyle& = {});

}  // namespace shiplap

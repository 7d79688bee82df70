// The result of a check as metrics of Prometheus, for the textfile collector of node_exporter.
#pragma once

#include <string>

#include "shiplap/report/check_line.hpp"

namespace shiplap {

struct CheckTiming {
  Seconds duration{0};  ///< time that the check took
  Seconds finished{0};  ///< end of the check, since 1970 (Unix time)
};

/// The metrics `shiplap_check_…` in Prometheus' text format 0.0.4, in base units. A default NodeCheck stands for a
/// check that could not be done: its verdict is unknown, and it has no figures.
std::string check_metrics(const CheckedNode&, const NodeCheck&, const CheckTiming&);

}  // namespace shiplap

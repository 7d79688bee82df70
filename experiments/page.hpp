// A reproduction as a Markdown page and as CSV files.
#pragma once

#include <string>

#include "experiments/reproduction.hpp"

namespace shiplap::experiments {

/// The claims of the paper beside the findings, every figure as a table, the errors of the paper, and the device.
/// Figures with more than `most_rows` rows are cut, with a note on the CSV that has all rows.
std::string page(const Experiment&, const Reproduction&, std::size_t most_rows = 60);
/// The table of claims, for a terminal.
std::string claims_report(const Experiment&, const Reproduction&, std::size_t width);
/// A figure as CSV (RFC 4180): a header of names with units, and one line for each row.
std::string csv(const Figure&);

}  // namespace shiplap::experiments

// A reproduction as a Markdown page and as CSV files.
#pragma once

#include <string>

#include "experiments/reproduction.hpp"
#include "shiplap/document/table.hpp"

namespace shiplap::experiments {

/// The count of verdicts, the claims of the paper with the findings, the errors of the paper, every figure as a table,
/// and the device.
/// Figures with more than `most_rows` rows are cut, with a note on the CSV that has all rows.
std::string page(const Experiment&, const ReproductionView&, std::size_t most_rows = 60);
/// A figure as CSV (RFC 4180): a header of names with units, and one line for each row.
std::string csv(const Figure&);

}  // namespace shiplap::experiments

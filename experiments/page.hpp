// A reproduction as a Markdown page and as CSV files.
#pragma once

#include <string>

#include "experiments/reproduction.hpp"

namespace shiplap::experiments {

/// What the paper claims beside what was found, every figure as a table, what is wrong in the paper, and the device.
/// Figures of more than `most_rows` rows are cut there, with a word on the CSV that holds all.
std::string page(const Experiment&, const Reproduction&, std::size_t most_rows = 60);
/// The claims alone, for a terminal.
std::string claims_report(const Experiment&, const Reproduction&, std::size_t width);
/// One line for each row under a header of names with units; RFC 4180.
std::string csv(const Figure&);

}  // namespace shiplap::experiments

// Curves of a paper's figures: columns of its tables as plots of a report, the published values as points.
#pragma once

#include <vector>

#include "experiments/reproduction.hpp"
#include "shiplap/document/document.hpp"

namespace shiplap::experiments {

/// The plots of the steps that were run, in the order of `Experiment::curves`. A plot without points is left out.
std::vector<document::Plot> plots_of(const Experiment&, const Reproduction&);

}  // namespace shiplap::experiments

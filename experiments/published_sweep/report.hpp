// A report on the accuracy of the models on published points.
#pragma once

#include <string>

#include "experiments/published_sweep/evaluation.hpp"
#include "shiplap/document/table.hpp"

namespace shiplap::experiments::published_sweep {

/// Tables of the models' errors on fitted and held-out points, of the fitted parameters, and of the simulation's errors
/// by groups of held-out points.
std::string published_report(const PublishedEvaluation&, const TextStyle& = {});

}  // namespace shiplap::experiments::published_sweep

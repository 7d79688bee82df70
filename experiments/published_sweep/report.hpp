// How well the models predict published points, for people.
#pragma once

#include <string>

#include "experiments/published_sweep/evaluation.hpp"
#include "shiplap/report/table.hpp"

namespace shiplap::experiments::published_sweep {

/// A table of the models' errors on fitted and held-out points, what was fitted, and where the held-out points of the
/// simulation are off.
std::string published_report(const PublishedEvaluation&, const TextStyle& = {});

}  // namespace shiplap::experiments::published_sweep

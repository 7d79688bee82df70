// The steps of the reproduction of van Werkhoven et al. 2014: one file each.
#pragma once

#include "experiments/experiment.hpp"

namespace shiplap::experiments::werkhoven {

/// Tables I and Figs 5 and 6: the link's parameters, and copies alone beside the model made of them.
StepResult run_transfers(const Bench&);
/// Table II: both directions at once.
StepResult run_both_ways(const Bench&);
/// Figs 1-3 and 7: every equation for streams on a device of its category, and how many streams are best.
StepResult run_categories(const Bench&);
/// Figs 8-10 by the paper's equations and parameters: no device is asked.
StepResult run_published_machines(const Bench&);
/// Figs 8-10 on the device, which stands for each category in turn.
StepResult run_ocean(const Bench&);

}  // namespace shiplap::experiments::werkhoven

// The steps of the reproduction of van Werkhoven et al. 2014, each in its own file.
#pragma once

#include "experiments/experiment.hpp"

namespace shiplap::experiments::werkhoven {

/// Table I, Figs 5 and 6: the parameters of the link, and bursts of copies beside the model with these parameters.
StepResult run_transfers(const Bench&);
/// §II: the time to create a stream beside the gap between messages.
StepResult run_stream_creation(const Bench&);
/// Table II: G of each direction in duplex.
StepResult run_duplex(const Bench&);
/// Figs 1-3 and 7: every equation for streams on a device of its category, and the best number of streams.
StepResult run_categories(const Bench&);
/// Figs 8-10 by the paper's equations and parameters, without a device.
StepResult run_published_machines(const Bench&);
/// Figs 8-10 on the device, which emulates each category.
StepResult run_ocean(const Bench&);

}  // namespace shiplap::experiments::werkhoven

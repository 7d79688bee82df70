// Pictures of a run: its timelines as SVG and as text.
#pragma once

#include <string>

#include "shiplap/document/table.hpp"
#include "shiplap/pipeline/run.hpp"

namespace shiplap {

/// "observed", or "simulated" for a run on a virtual device.
const char* observed_label(const Report&);

/// (predicted − observed) / observed, which is negative for a run that took longer than predicted.
double prediction_error(Seconds predicted, Seconds observed);

/// The timelines of a run as an SVG picture, predicted above observed. Throws Error when the run was not traced.
std::string run_picture(const Report&, unsigned width = 960);

/// The timelines of a run as text, one below the other, with the same time axis. Throws as `run_picture` does.
std::string run_gantt(const Report&, const TextStyle& = {});

}  // namespace shiplap

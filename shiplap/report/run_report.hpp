// The report of a run: predicted and observed time, ideal overlap, the bound, the spread, and whether the result is
// right.
#pragma once

#include <string>

#include "shiplap/pipeline/run.hpp"
#include "shiplap/report/table.hpp"

namespace shiplap {

/// A table of the times, the prediction error and the result. Times of a virtual device are called simulated, not
/// observed.
std::string run_report(const Report&, const TextStyle& = {});

/// "observed", or "simulated" for a run on a virtual device.
const char* observed_label(const Report&);

/// (predicted − observed) / observed, which is negative for a run that took longer than predicted.
double prediction_error(Seconds predicted, Seconds observed);

/// The timelines of a run as an SVG picture, predicted above observed. Throws Error when the run was not traced.
std::string run_picture(const Report&, unsigned width = 960);

/// The timelines of a run as text, one below the other, with the same time axis. Throws as `run_picture` does.
std::string run_gantt(const Report&, const TextStyle& = {});

}  // namespace shiplap

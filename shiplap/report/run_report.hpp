// A run for people: predicted beside observed, ideal overlap and the bound, the spread, and whether the result is
// right.
#pragma once

#include <string>

#include "shiplap/pipeline/run.hpp"
#include "shiplap/report/table.hpp"

namespace shiplap {

/// What a virtual device gave is called simulated, not observed.
std::string run_report(const Report&, const TextStyle& = {});

/// "observed", or "simulated" for a run on a virtual device, whose times are no observation.
const char* observed_word(const Report&);

/// (predicted − observed) / observed: negative when it took longer than predicted.
double prediction_error(Seconds predicted, Seconds observed);

/// The timelines of a run as an SVG picture, predicted above observed. Throws Error when the run was not traced.
std::string run_picture(const Report&, unsigned width = 960);

/// The same as text, under each other with one axis.
std::string run_gantt(const Report&, const TextStyle& = {});

}  // namespace shiplap

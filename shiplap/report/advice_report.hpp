// Advice as text and as pictures of the recorded and of the advised step.
#pragma once

#include <string>

#include "shiplap/advise/advice.hpp"
#include "shiplap/core/json.hpp"
#include "shiplap/document/table.hpp"

namespace shiplap {

/// What a step does, how well the simulation reproduces it, a table of advice, and how each is done.
std::string advice_report(const Advised&, const TextStyle&);

/// The recorded steps above the advised ones, on one time axis. Throws Error when there is no simulated step.
std::string advice_svg(const Advised&);

/// The same as a trace for Perfetto.
Json advice_trace(const Advised&);

}  // namespace shiplap

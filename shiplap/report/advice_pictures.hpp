// Pictures of the recorded step of a program above the advised one.
#pragma once

#include <string>

#include "shiplap/advise/advice.hpp"
#include "shiplap/core/json.hpp"

namespace shiplap {

/// The recorded steps above the advised ones, on one time axis. Throws Error when there is no simulated step.
std::string advice_svg(const Advised&);

/// The same as a trace for Perfetto.
Json advice_trace(const Advised&);

}  // namespace shiplap

// Advice as text and as pictures of the recorded and of the advised step.
#pragma once

#include <string>

#include "shiplap/advise/advice.hpp"
#include "shiplap/core/json.hpp"
#include "shiplap/document/text.hpp"

namespace shiplap {

/// The time of a step now and with all advice, what a step does, how well the simulation reproduces it, and a table of
/// advice; in detail also how each is done, and when it is allowed.
std::string advice_report(const Advised&, const TextStyle&, document::Detail = document::Detail::figures);

/// The recorded steps above the advised ones, on one time axis. Throws Error when there is no simulated step.
std::string advice_svg(const Advised&);

/// The same as a trace for Perfetto.
Json advice_trace(const Advised&);

}  // namespace shiplap

// What must hold whichever call fails.
#pragma once

#include <string>

#include "tests/faults/runs.hpp"

namespace shiplap::faults {

/// What a run with a fault did that it must not do; empty: nothing. `whole` is the run without a fault.
std::string violation(const Scenario&, const Files& initial, const Outcome& whole, const Fault&, const Outcome&);

}  // namespace shiplap::faults

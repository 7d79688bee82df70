// What must hold whichever call fails.
#pragma once

#include <string>

#include "tests/faults/runs.hpp"

namespace shiplap::faults {

/// What a run with a fault did that it must not do; empty: nothing. `whole` is the run without a fault.
std::string violation(const Scenario&, const Files& initial, const Outcome& whole, const Fault&, const Outcome&);

/// Whether this is what nlohmann::json 3.11 does without memory in a program that has no handler for it: a destructor
/// of it asks for memory, which ends the program, and an object that it makes of a list is lost.
bool can_be_of_json(const Outcome&);

}  // namespace shiplap::faults

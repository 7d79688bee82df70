// The judgement of a fleet as text: nodes that are not like their peers, and what peers have.
#pragma once

#include <string>

#include "shiplap/document/table.hpp"
#include "shiplap/fleet/judge.hpp"

namespace shiplap {

/// A sentence with the numbers of nodes, a table of all that are not good, and a table of the peers' figures.
std::string fleet_report(const JudgedFleet&, const TextStyle& = {});

/// One sentence with the numbers of nodes in each state.
std::string fleet_summary(const JudgedFleet&);

}  // namespace shiplap

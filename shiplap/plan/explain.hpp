// The reasons for the choice of a ranking, as one paragraph with the figures that decide.
#pragma once

#include <string>
#include <vector>

#include "shiplap/plan/ranking.hpp"

namespace shiplap {

std::string explain(const Ranking&);

/// One line for each reason, with the strategies that are refused for it: "explicit, streams: pinned arrays are ...".
std::vector<std::string> reasons_of(const std::vector<Refused>&);

/// A phrase such as "3.2 % above ideal overlap". For a choice that is faster: "30.2 % below ideal overlap (zero-copy
/// needs no copy)".
std::string beside_ideal_overlap(const Candidate&, const IdealOverlap&);

}  // namespace shiplap

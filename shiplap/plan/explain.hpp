// The reasons for the choice of a ranking, as one paragraph with the figures that decide.
#pragma once

#include <string>

#include "shiplap/plan/ranking.hpp"

namespace shiplap {

std::string explain(const Ranking&);

}  // namespace shiplap

// Why a plan ranks as it does, in one paragraph of plain words with the figures that decide.
#pragma once

#include <string>

#include "shiplap/plan/ranking.hpp"

namespace shiplap {

std::string explain(const Ranking&);

}  // namespace shiplap

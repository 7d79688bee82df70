// A race for people.
#pragma once

#include <string>

#include "shiplap/pipeline/race.hpp"
#include "shiplap/report/table.hpp"

namespace shiplap {

/// Every finalist with what was predicted and observed, the fastest first, and a sentence on the winner.
std::string race_report(const std::string& job, const RaceResult&, const TextStyle& = {});

}  // namespace shiplap

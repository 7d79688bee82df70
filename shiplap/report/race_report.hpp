// The result of a race as text.
#pragma once

#include <string>

#include "shiplap/document/table.hpp"
#include "shiplap/pipeline/race.hpp"

namespace shiplap {

/// A table of the finalists with their predicted and observed times, the winner first and then the fastest, and a
/// sentence about the winner.
std::string race_report(const std::string& job, const RaceResult&, const TextStyle& = {});

}  // namespace shiplap

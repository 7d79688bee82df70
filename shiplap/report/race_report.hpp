// The result of a race as text.
#pragma once

#include <string>

#include "shiplap/document/table.hpp"
#include "shiplap/document/text.hpp"
#include "shiplap/pipeline/race.hpp"

namespace shiplap {

/// A sentence about the winner, and a table of predicted and observed times, the fastest first. It has a row for the
/// fastest finalist of each strategy; with `Detail::all`, for every finalist.
std::string race_report(const std::string& job, const RaceResult&, const TextStyle& = {},
                        document::Detail = document::Detail::figures);

}  // namespace shiplap

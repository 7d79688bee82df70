// A run of an adaptation as text, a JSON value a line: what it knew at the start, what was observed of every batch and
// what was decided. From the first two the decisions follow again.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "shiplap/plan/adaptation.hpp"

namespace shiplap {

/// Takes one line, without its end.
using LineSink = std::function<void(std::string_view)>;

/// The first line: schema, version, table and options.
std::string header_line(const std::string& job, const std::string& profile_hash, const SteadyTable&,
                        const AdaptationOptions&);
/// A line of the log. Numbers keep all their digits, so that a replay calculates with the same ones.
std::string log_line_of(const BatchSeen&);
/// A line of the log, with numbers that keep all their digits.
std::string log_line_of(const Decision&);

/// What a log holds, beside what follows from it.
struct Replay {
  std::string job;               ///< its name
  std::string profile_hash;      ///< parameter_hash of the profile that the table is from
  SteadyTable table;             ///< what could be chosen
  std::uint64_t batches = 0;     ///< observed
  std::vector<Decision> logged;  ///< as they were made
  std::vector<Decision> again;   ///< as they are made now
  /// The first that is not the same, in words; empty when all are.
  std::string difference;
};
/// A last line without its end, and a decision that would have come behind the last batch, count as cut off. Throws
/// Error that names the line for text that is no such log, or a log of another version.
Replay replay(std::string_view log, const std::string& source);

}  // namespace shiplap

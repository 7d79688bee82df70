// The log of an adaptation, with one JSON value on each line: what it knew at the start, what was observed of every
// batch, and the decisions. A replay makes the decisions again from the other lines.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "shiplap/core/formats.hpp"
#include "shiplap/core/json_forward.hpp"
#include "shiplap/plan/adaptation.hpp"

namespace shiplap {

/// Receives one line, without a newline.
using LineSink = std::function<void(std::string_view)>;

/// The JSON Schema of the first line of a log. Those of its other lines are in its definitions.
Json adaptation_log_schema();
/// The first line: schema, version, table and options.
std::string header_line(const std::string& job, const std::string& profile_hash, const SteadyTable&,
                        const AdaptationOptions&);
/// The line for a batch. Numbers are written exactly, so that a replay calculates with the same values.
std::string log_line_of(const BatchObservation&);
/// The line for a decision, with exact numbers.
std::string log_line_of(const BatchDecision&);

/// Writes a decision as results have it, with its times in milliseconds.
Json to_json(const BatchDecision&);
/// Reads what to_json wrote. Throws Error that names the key.
void from_json(const JsonReader&, BatchDecision&);
Json json_schema(const BatchDecision&);  ///< JSON Schema of what to_json writes

/// Counts the bytes of a log, which ends where it would be longer than what is read of one.
class LogLength {
 public:
  explicit LogLength(std::uint64_t most = limits::log_bytes) : most_(most) {}
  /// Whether this line still belongs to the log. After one that does not, no other does.
  bool takes(std::string_view line);
  std::uint64_t bytes() const { return bytes_; }
  bool has_ended() const { return has_ended_; }

 private:
  std::uint64_t most_;
  std::uint64_t bytes_ = 0;
  bool has_ended_ = false;
};

/// The content of a log, and the decisions of its replay.
struct Replay {
  std::string job;                     ///< name of the job
  std::string profile_hash;            ///< parameter_hash of the profile from which the table was made
  SteadyTable table;                   ///< the choices, with their predictions
  std::vector<BatchObservation> seen;  ///< what was observed, in the order of the batches
  std::vector<BatchDecision> logged;   ///< the decisions in the log
  std::vector<BatchDecision> again;    ///< the decisions of the replay
  /// The first difference between `logged` and `again`; "" without any.
  std::string difference;
};
/// Reads a log and replays it. A log may be cut off: its last line may be incomplete, and the decision after its last
/// batch may be absent. Throws Error that names the line for text that is no log of this version.
Replay replay(std::string_view log, const std::string& source);

/// Writes the document `shiplap/adaptation-replay`.
Json to_json(const Replay&);
/// The JSON Schema of the document.
Json json_schema(const Replay&);

}  // namespace shiplap

// The results of a step that are on their way to the host and that the host has not waited for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "shiplap/advise/program_step.hpp"

namespace shiplap {

/// Whether the op brings results to the host: a copy to the host, or a graph with one.
bool brings_results(const StepOp&);

/// Follows the ops of a step in their order. Steps follow each other, so that results which the step before has left in
/// flight are unread when the step begins.
class UnreadResults {
 public:
  /// The step must outlive the object.
  explicit UnreadResults(const ProgramStep&);

  /// Performs the op: it may bring results, or its thread may have waited for some.
  void perform(std::size_t op);
  /// Whether no thread of the host has waited for some results.
  bool any() const { return !unread_.empty(); }
  /// Whether a wait is one for results that its thread has not waited for. Whoever waits for an op waits for what came
  /// before it in its stream, and for all that these waited for.
  bool are_awaited_by(std::size_t wait) const;

 private:
  /// The number of an op among the ops of two steps: the step before, and then the step.
  using Position = std::size_t;

  const StepOp& op_at(Position) const;
  std::optional<Position> earlier(Position of, const EarlierOp&) const;
  /// The ops that have ended when these have, without those of which the thread knows it.
  std::set<Position> ended_with(const std::vector<Position>&, std::uint32_t thread) const;
  std::vector<Position> awaited_by(Position wait) const;
  void perform_at(Position);

  const ProgramStep& step_;
  std::vector<std::optional<Position>> before_in_stream_;  ///< by position
  std::map<std::uint32_t, std::set<Position>> ended_;      ///< the ops of which a thread knows that they have ended
  std::set<Position> unread_;
};

}  // namespace shiplap

// Performs the calls that submit a schedule as CUDA would, with agents and streams interleaved at random, for tests.
#pragma once

#include <deque>
#include <random>
#include <string>
#include <vector>

#include "shiplap/schedule/submission.hpp"
#include "tests/schedule/byte_machine.hpp"

namespace shiplap::testing_orders {

/// Agents make their calls one after the other, and streams hold what was submitted to them. An event that is not
/// recorded yet holds nobody back.
class SubmissionMachine {
 public:
  /// The machine has the memory, and knows no order but that of its calls. Both arguments must outlive this.
  SubmissionMachine(const Schedule&, ByteMachine& memory);
  /// Returns what went wrong; empty when all ops have ended.
  std::string run(std::mt19937_64&);

 private:
  struct Item {
    SubmissionStep step;
    std::vector<OpId> ops{};  ///< submit: ops that have not ended
  };
  bool agent_is_able(std::size_t) const;
  void advance_agent(std::size_t, std::mt19937_64&);
  bool stream_is_able(std::size_t) const;
  void advance_stream(std::size_t, std::mt19937_64&);
  bool has_made_steps_of(OpId) const;

  const Schedule& schedule_;
  ByteMachine& memory_;
  Submission program_;
  std::vector<std::size_t> next_;  // by agent
  std::vector<bool> submitted_;    // by op
  std::vector<std::deque<Item>> streams_;
  std::vector<bool> recorded_;
  std::vector<bool> reached_;
};

}  // namespace shiplap::testing_orders

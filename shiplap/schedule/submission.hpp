// How a schedule is submitted: the sequence of calls that each host agent makes. The CUDA device makes these calls, and
// the simulator adds their times.
#pragma once

#include <cstdint>
#include <vector>

#include "shiplap/schedule/schedule.hpp"

namespace shiplap {

using EventId = Id<struct EventTag>;

/// One call of a host agent.
struct SubmissionStep {
  enum class Kind : std::uint8_t {
    await,        ///< the agent waits until another agent has made all steps of the op `awaited`
    synchronize,  ///< the agent waits for the event
    wait,         ///< the stream waits for the event
    submit,       ///< the op and its batch are submitted to the stream, or the agent performs the op
    record,       ///< the event is recorded in the stream
    finish,       ///< the end mark of the stream is recorded after its last op
  };
  Kind kind = Kind::submit;
  StreamId stream;
  OpId op;                  ///< the op that the step belongs to; record: the op after which the event is recorded
  EventId event;            ///< used by wait, synchronize and record
  OpId awaited{};           ///< await: an op of another agent; synchronize and wait: the op that the event follows
  std::uint32_t batch = 1;  ///< submit: number of ops, which are this op and the next ones in the schedule
};

struct Submission {
  /// Steps of each agent in the order of its calls.
  std::vector<std::vector<SubmissionStep>> agents;
  std::uint32_t events = 0;
};

/// The calls that submit a sound schedule.
/// - A dependency across streams becomes an event after the earlier op and a wait before the later one. A dependency
///   within a stream needs no call.
/// - For an op that an agent performs itself, the agent waits for events on the host. The op ends before the agent's
///   next step.
/// - Before an agent waits for an op of another agent, it awaits the steps of that op, because a wait for an event that
///   is not recorded yet has no effect.
/// - The steps of a batch are those of its first op.
/// - A wait is left out when the stream has already waited for a later op of the same stream.
/// - Every stream gets an end mark after its last op, unless another stream waits for that op.
/// - A schedule that is submitted as a graph has the same steps. They are made once, when the graph is created.
Submission submission(const Schedule&);

}  // namespace shiplap

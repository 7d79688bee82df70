// How a schedule is submitted: the exact sequence of calls that each host agent makes. The CUDA device makes these
// calls and the simulator charges for them, so that both speak of the same program.
#pragma once

#include <cstdint>
#include <vector>

#include "shiplap/schedule/schedule.hpp"

namespace shiplap {

using EventId = Id<struct EventTag>;

/// One call of a host agent.
struct Step {
  enum class Kind : std::uint8_t {
    await,        ///< the agent waits until another one has made all its steps of `awaited`
    synchronize,  ///< the agent waits for the event
    wait,         ///< stream waits for event
    submit,       ///< op goes to its stream, with the others of its batch, or is performed by the agent
    record,       ///< event is recorded in stream
    finish,       ///< the stream has got its last op: its end mark is recorded
  };
  Kind kind = Kind::submit;
  StreamId stream;
  OpId op;                  ///< the op that the step belongs to; record: the op behind which the event is recorded
  EventId event;            ///< wait, synchronize and record
  OpId awaited{};           ///< await: an op of another agent; synchronize and wait: the op behind which the event is
  std::uint32_t batch = 1;  ///< submit: how many ops, this one and those behind it in the schedule
};

struct Submission {
  /// Steps of each agent in the order of its calls.
  std::vector<std::vector<Step>> agents;
  std::uint32_t events = 0;
};

/// Dependencies across streams become an event behind the earlier op and a wait before the later one; those inside a
/// stream cost nothing. What an agent performs itself waits for events on the host, and ends before the agent's next
/// step. Before an agent uses what another one submits or performs, it awaits that: an event that is not recorded yet
/// holds nobody back. The steps of a batch are those of its first op. A wait is left out when the stream has already
/// waited for a later op of the same stream. A stream whose last op is waited for by another stream needs no end mark,
/// all others get one right behind their last op. A schedule that is submitted as a graph has the same steps, made
/// once, when the graph is.
Submission submission(const Schedule&);

}  // namespace shiplap

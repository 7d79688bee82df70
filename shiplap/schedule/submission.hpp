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
    wait,    ///< queue waits for event
    submit,  ///< op goes to its queue (or is performed by the agent, for a host copy)
    record,  ///< event is recorded in queue
    finish,  ///< the queue has got its last op: its end mark is recorded
  };
  Kind kind = Kind::submit;
  QueueId queue;
  OpId op;        ///< submit: the op; wait: the op that will wait; record: the op behind which the event is recorded
  EventId event;  ///< wait and record
};

struct Submission {
  /// Steps of each agent in the order of its calls.
  std::vector<std::vector<Step>> agents;
  std::uint32_t events = 0;
};

/// Dependencies across queues become an event behind the earlier op and a wait before the later one; those inside a
/// queue cost nothing. A wait is left out when the queue has already waited for a later op of the same queue. A queue
/// whose last op is waited for by another queue needs no end mark, all others get one right behind their last op.
Submission submission(const Schedule&);

}  // namespace shiplap

// The schedule of a recorded step, repeated, and its simulated time.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "shiplap/advise/program_step.hpp"
#include "shiplap/core/units.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "shiplap/schedule/timeline.hpp"

namespace shiplap {

/// Makes a schedule of `repeats` steps, one after the other. Each host thread is an agent, and its own code is work of
/// this agent. Host times of calls are as recorded: where the simulator adds the profile's time of a call, the rest is
/// work. The `chunk` of an op is the number of its step.
Schedule schedule_of(const ProgramStep&, std::size_t repeats, const Profile&);

/// A simulated step.
struct SimulatedStep {
  Seconds time{0};                       ///< from one step to the next in a long run; of a single step: to its end
  Schedule schedule;                     ///< a few steps
  Timeline timeline;                     ///< their simulated times
  std::vector<std::string> assumptions;  ///< what the simulation assumes, one sentence each
};
/// Simulates steps one after the other, or a step that is done once alone. Throws as `simulate` does.
SimulatedStep simulated_step(const ProgramStep&, const Profile&);

}  // namespace shiplap

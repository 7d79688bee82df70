#include "shiplap/sim/simulate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "shiplap/core/error.hpp"
#include "shiplap/sim/assumptions.hpp"
#include "shiplap/sim/sim_parameters.hpp"
#include "shiplap/sim/simulator.hpp"

namespace shiplap {

Prediction simulate(const Schedule& schedule, const Profile& profile, const SimulateOptions& options) {
  for (std::size_t g = 0; g < profile.gpus.size(); ++g) {
    const Bytes used = memory_at(schedule, Place::gpu(static_cast<std::uint16_t>(g)));
    if (used > profile.gpus[g].memory)
      throw Error(
          fmt::format("the schedule needs {} on GPU {}, but {} has {}; use a smaller ring or more chunks, or smaller "
                      "arrays that stay on "
                      "the GPU",
                      to_string(used), g, profile.gpus[g].name, to_string(profile.gpus[g].memory)));
  }
  if (options.held && !can_be_held(schedule))
    throw Unsupported(
        "the host waits for some ops of the schedule, so it cannot submit all ops before the first one runs; leave "
        "`held` out");
  const sim::SimParameters machine(profile);
  sim::Simulator simulator(schedule, machine, options.held);
  simulator.run();
  Prediction result;
  result.submission = Seconds{simulator.submission_time()};
  result.timeline = simulator.timeline();
  result.assumptions = sim::assumptions(profile);
  std::ranges::move(sim::assumed_of_several_gpus(schedule, profile), std::back_inserter(result.assumptions));
  return result;
}

}  // namespace shiplap

// Fits the parameters of the simulation to a published sweep of the arccos program. Each file gets its own parameters,
// because link and kernel were in a different state in each.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "experiments/published_sweep/data.hpp"
#include "shiplap/core/interval.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/workload/job.hpp"

namespace shiplap::experiments::published_sweep {

/// The arccos kernel on resident data. Its time is the larger of one thread's chain of calls, and elements·(per_element
/// + calls·per_element_and_call), the time of all elements at the rate of the full GPU. `per_element` contains the
/// accesses to device memory.
struct PublishedKernel {
  Interval<Seconds> latency_per_call{};
  Interval<Seconds> per_element{};
  Interval<Seconds> per_element_and_call{};
};

/// One pinned array in and one out, 4 bytes for each element, blocks of 256 threads.
Job published_job(const PublishedPoint&, const PublishedKernel&);

/// The parameters fitted to one file. All times are by the host's clock over the whole program, so the L+o of each
/// direction contains half of launch latency plus synchronisation.
struct SimulationFit {
  Profile profile;
  PublishedKernel kernel;
  /// Whether the number of calls varied. Otherwise a longer kernel and a slower copy explain the same times, so neither
  /// G nor the kernel is a rate of the hardware.
  bool calls_vary = false;
  bool converged = false;
};

/// Fits by least squares on relative errors, with the simulator as forward model. Relative errors beyond 5 % count
/// linearly. The parameters are G of each direction, L+o at three sizes, g at six, the host's time for a call, and the
/// three terms of the kernel (only the one per element and call where the number of calls does not vary). The profile's
/// intervals are ±1.96 standard errors of the fit, and exact where no point depends on the parameter. The result is
/// deterministic. `file` names the data in the profile. Throws Error with fewer points than parameters.
SimulationFit fit_simulation(std::span<const PublishedPoint>, const std::string& file);

/// The simulated time of the program: strategy "streams" with a stream for each chunk, submitted depth-first.
Seconds predict(const SimulationFit&, const PublishedPoint&);

}  // namespace shiplap::experiments::published_sweep

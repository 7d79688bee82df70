// Fits what the simulation needs to a published sweep of the arccos program: one set of parameters for one file,
// because link and kernel were in another state in each.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "experiments/published_sweep/data.hpp"
#include "shiplap/core/statistics.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/workload/job.hpp"

namespace shiplap::experiments::published_sweep {

/// The arccos kernel on resident data: as long as the slower of one thread's chain of calls, and all elements at the
/// rate of the full GPU, elements·(per_element + calls·per_element_and_call). `per_element` holds the accesses to
/// device memory.
struct PublishedKernel {
  Interval<Seconds> latency_per_call{};
  Interval<Seconds> per_element{};
  Interval<Seconds> per_element_and_call{};
};

/// One pinned array in and one out, 4 bytes for each element, blocks of 256 threads.
Job published_job(const PublishedPoint&, const PublishedKernel&);

/// The simulation of one file. All times are by the host's clock over the whole program: L+o therefore holds the
/// launch latency and the synchronisation, too, half of their sum in each direction.
struct SimulationFit {
  Profile profile;
  PublishedKernel kernel;
  /// Whether the number of calls varied. Where it did not, a longer kernel and a slower copy explain the same times,
  /// and neither G nor the kernel is to be read as a rate of the hardware.
  bool calls_vary = false;
  bool converged = false;
};

/// Least squares on relative errors, with the simulator as forward model; relative errors beyond 5 % count in
/// proportion only. What is fitted: G each way, L+o at three sizes and g at six, the host's time for a call, and the
/// three terms of the kernel (one, per element and call, where the number of calls never varies). The profile's
/// intervals are ±1.96 standard errors of the fit, exact where no point depends on the parameter. Deterministic.
/// `file` names the data in the profile. Throws Error where there are fewer points than parameters.
SimulationFit fit_simulation(std::span<const PublishedPoint>, const std::string& file);

/// The simulated time of the program: "streams" with a stream for each chunk, issued depth first.
Seconds predict(const SimulationFit&, const PublishedPoint&);

}  // namespace shiplap::experiments::published_sweep

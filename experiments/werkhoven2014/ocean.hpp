// The ocean kernels of §VII under the four implementations on one device, as values.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "experiments/experiment.hpp"
#include "experiments/werkhoven2014/judge.hpp"

namespace shiplap::experiments::werkhoven {

/// How an implementation is run here: `blocks` 0 is the kernel's own grid. Streams and Hybrid have a stream for each
/// chunk and are submitted breadth-first, as the authors' programs do; the category is emulated where it is not the
/// device's own.
Choice ocean_choice(std::size_t implementation, van_werkhoven_2014::Category, std::uint64_t blocks,
                    std::uint32_t chunks = streams_used);
/// Streams in three streams, one each for copies in, kernels and copies out: not the paper's, for comparison.
Choice streams_in_three_streams();
/// Hybrid in three streams, submitted depth-first: not the paper's, a candidate for its best.
Choice hybrid_in_three_streams(std::uint64_t blocks, std::uint32_t chunks = streams_used);

/// What is known of one choice of one kernel.
struct OceanPoint {
  Choice choice;
  std::optional<Seconds> time;               ///< observed; of a virtual device simulated
  std::optional<Seconds> equation;           ///< the paper's
  std::optional<Seconds> while_both_move{};  ///< its other reading, see OceanTimes
  std::optional<Seconds> simulated;          ///< the simulator's, where `time` was observed
};

/// All choices of one kernel.
struct OceanRun {
  std::size_t kernel = 0;  ///< index into `ocean_kernels`
  Job job;                 ///< with its cost
  std::vector<OceanPoint> points{};
  std::map<std::string, std::string> refused{};  ///< why a strategy could not run, by its name
};

/// Runs, or simulates, the kernels: both of state's numbers of outputs unless quick on a GPU.
std::vector<OceanRun> ocean_runs(const Bench&);
/// Categories that the device is or can stand for.
std::vector<van_werkhoven_2014::Category> ocean_categories(const Bench&);
/// The grids that are tried beside the kernel's own, of kernels that access host memory.
std::vector<std::uint64_t> limited_grids(const Bench&);
/// Numbers of streams that Hybrid is tried in beside the paper's, each with every grid and layout: they divide 42. None
/// in a quick run.
std::vector<std::uint32_t> other_streams(const Bench&);

}  // namespace shiplap::experiments::werkhoven

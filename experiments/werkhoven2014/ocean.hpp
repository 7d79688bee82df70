// The ocean kernels of §VII in the four implementations on one device, as values.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "experiments/experiment.hpp"
#include "experiments/werkhoven2014/judge.hpp"

namespace shiplap::experiments::werkhoven {

/// The choice that represents an implementation. `blocks` 0 is the kernel's own grid. Streams and Hybrid have a stream
/// for each chunk and breadth-first submission, like the authors' programs. A category that differs from the device's
/// own is emulated.
Choice ocean_choice(std::size_t implementation, van_werkhoven_2014::Category, std::uint64_t blocks,
                    std::uint32_t chunks = streams_used);
/// Implementation Streams with three streams, one each for copies in, kernels and copies out. It is not in the paper
/// and serves for comparison.
Choice streams_in_three_streams();
/// Implementation Hybrid with three streams and depth-first submission. It is not in the paper and is a candidate for
/// the best variant.
Choice hybrid_in_three_streams(std::uint64_t blocks, std::uint32_t chunks = streams_used);

/// Times of one choice of one kernel.
struct OceanPoint {
  Choice choice;
  std::optional<Seconds> time;               ///< observed time; simulated on a virtual device
  std::optional<Seconds> equation;           ///< time by the paper's equation
  std::optional<Seconds> while_both_move{};  ///< time by the other reading of §VIII (OceanTimes)
  std::optional<Seconds> simulated;          ///< simulated time, where `time` was observed
};

/// Times of all choices of one kernel.
struct OceanRun {
  std::size_t kernel = 0;  ///< index into `ocean_kernels`
  Job job;                 ///< job with its kernel cost
  std::vector<OceanPoint> points{};
  std::map<std::string, std::string> refused{};  ///< reasons why strategies could not run, by strategy
};

/// Runs or simulates the kernels. A quick run on a GPU leaves one of state's numbers of outputs out.
std::vector<OceanRun> ocean_runs(const Bench&);
/// Categories of the device: its own and those that it can emulate.
std::vector<van_werkhoven_2014::Category> ocean_categories(const Bench&);
/// Further grids that are tried for kernels that access host memory.
std::vector<std::uint64_t> limited_grids(const Bench&);
/// Further numbers of streams that are tried for Hybrid, each with every grid and layout. They divide 42. A quick run
/// has none.
std::vector<std::uint32_t> other_streams(const Bench&);

}  // namespace shiplap::experiments::werkhoven

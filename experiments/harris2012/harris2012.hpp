// Harris 2012: one SAXPY timed in every way of the article, and what is concluded from such times.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "experiments/experiment.hpp"
#include "shiplap/core/statistics.hpp"
#include "shiplap/core/units.hpp"

namespace shiplap::experiments::harris {

inline constexpr std::uint64_t published_elements = 20ull << 20;  ///< of the complete listing
inline constexpr double published_effective = 110.374872;         ///< GB/s, as its run printed
inline constexpr double published_clock_mhz = 1546;               ///< of the memory of a Tesla M2050
inline constexpr unsigned published_bus_bits = 384;               ///< of that memory
inline constexpr double published_single_gflops = 1030;           ///< peak of that GPU, single precision
inline constexpr double published_double_gflops = 515;            ///< double precision
inline constexpr double published_grain_us = 0.5;                 ///< resolution of events

/// Bytes that SAXPY reads and writes: x and y are read, y is written.
constexpr Bytes read_by(std::uint64_t elements) { return {8 * elements}; }
/// See read_by.
constexpr Bytes written_by(std::uint64_t elements) { return {4 * elements}; }

/// One launch of SAXPY on data that are on the GPU, by every clock. Medians.
struct SaxpyTimes {
  std::uint64_t elements = 0;
  Seconds alone{0};                        ///< by events, submitted before any of it could start
  Seconds listed{0};                       ///< by events, as in the article's listing: the GPU waits for the launch
  Seconds submitted{0};                    ///< by the host's clock, read without a barrier
  Seconds waited{0};                       ///< by the host's clock, read behind a barrier
  std::optional<Seconds> first{};          ///< by events, the first run of all; none where it is simulated
  std::vector<std::string> assumptions{};  ///< of a simulation: what its profile lacks
};
/// Measured on a GPU; simulated on a virtual device, where no bytes are moved. Throws Unsupported where the profile
/// lacks what the kernel's time could be derived from.
SaxpyTimes time_saxpy(const Bench&, std::uint64_t elements);

/// What the kernel takes on a GPU that is not there: by bytes and operations, by bytes alone where no flop rate is
/// known (SAXPY has two operations for twelve bytes). Throws Unsupported.
KernelCost cost_of_saxpy(const Job&, const Profile&);

/// (R_B + W_B) / t of the kernel alone.
Bandwidth effective(const SaxpyTimes&);
/// Clock × width × 2 of the device's memory: of the GPU at hand, or of the article's where it is that. nullopt where
/// the conditions do not tell.
std::optional<Bandwidth> theoretical(const Bench&);
/// Peak single-precision flop/s of the device by its clock and SMs; nullopt where that is not known.
std::optional<double> peak_flops(const Bench&);

// What follows judges figures: pure functions.

/// How much of the theoretical bandwidth SAXPY reaches.
Finding judge_effective(const SaxpyTimes&, std::optional<Bandwidth> peak);
/// Whether it is the memory that limits it, not the arithmetic.
Finding judge_limit(const SaxpyTimes&, std::optional<Bandwidth> peak, std::optional<double> peak_flops);
/// Whether a clock without a barrier shows the launch, whatever the kernel takes. By increasing size.
Finding judge_launch(std::span<const SaxpyTimes>);
/// Whether a clock with a barrier shows the kernel.
Finding judge_barrier(const SaxpyTimes&);
/// What is known of a cost. Of one too small for its clock the value is 0: it is the interval's upper end at most.
struct Cost {
  Seconds time{0};
  bool at_most = false;
};
/// nullopt where the interval is 0 too.
std::optional<Cost> cost_of(const Interval<Seconds>&);
/// "1.2 µs", "at most 0.05 µs"
std::string text_of(const Cost&);
/// Whether kernels that are waited for one by one come more slowly than those that are not.
Finding judge_waits(Seconds waited_for, const Cost& behind_another);
/// Whether an event costs the host less than a wait.
Finding judge_events(const Cost& record, Seconds waited_for);
/// The smallest step between any two of the times; nullopt when all are equal.
std::optional<Seconds> grain(std::vector<double> times_us);
Finding judge_grain(std::optional<Seconds> grain);

/// One copy submitted to the GPU's stream.
struct CopyTimes {
  std::string direction;  ///< "host to GPU"
  std::string memory;     ///< "pageable"
  Bytes size;
  Seconds events{0};     ///< by events, of the copy
  Seconds submitted{0};  ///< host time until the call had returned
  Seconds waited{0};     ///< host time until its end was known
};
/// Whether calls that copy pageable memory hold the host until the end, and those that copy pinned memory do not.
Finding judge_blocking(std::span<const CopyTimes>);
/// Whether events show the same rate of large copies as the host's clock.
Finding judge_rates(std::span<const CopyTimes>);

/// Where the time of a kernel goes at the limits of a GPU.
struct KernelBalance {
  std::string workload;
  Seconds memory{0};      ///< bytes over the memory's bandwidth
  Seconds arithmetic{0};  ///< operations over the flop rate
};
/// Whether most kernels are limited by the memory.
Finding judge_kernels(std::span<const KernelBalance>);

// The steps.
StepResult run_bandwidth(const Bench&);
StepResult run_clocks(const Bench&);
StepResult run_waits(const Bench&);
StepResult run_copies(const Bench&);
StepResult run_kernels(const Bench&);

}  // namespace shiplap::experiments::harris

// Harris 2012: a SAXPY kernel timed in every way of the article, and verdicts on the article's claims.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "experiments/experiment.hpp"
#include "shiplap/core/interval.hpp"
#include "shiplap/core/units.hpp"

namespace shiplap::experiments::harris {

inline constexpr std::uint64_t published_elements = 20ull << 20;  ///< elements in the complete listing
inline constexpr double published_effective = 110.374872;         ///< GB/s that the published run printed
inline constexpr double published_clock_mhz = 1546;               ///< MHz, memory clock of a Tesla M2050
inline constexpr unsigned published_bus_bits = 384;               ///< bits, width of that memory
inline constexpr double published_single_gflops = 1030;           ///< Gflop/s, peak of that GPU in single precision
inline constexpr double published_double_gflops = 515;            ///< Gflop/s, peak in double precision
inline constexpr double published_grain_us = 0.5;                 ///< µs, published resolution of events

/// Bytes that SAXPY reads: x and y.
constexpr Bytes read_by(std::uint64_t elements) { return {8 * elements}; }
/// Bytes that SAXPY writes.
constexpr Bytes written_by(std::uint64_t elements) { return {4 * elements}; }

/// Median times of one launch of SAXPY on resident data, by every clock.
struct SaxpyTimes {
  std::uint64_t elements = 0;
  Seconds alone{0};                        ///< by events, with everything submitted before the launch can start
  Seconds listed{0};                       ///< by events as in the article's listing, where the GPU waits for the
                                           ///< launch
  Seconds submitted{0};                    ///< by the host's clock, without a synchronisation
  Seconds waited{0};                       ///< by the host's clock, after a synchronisation
  std::optional<Seconds> first{};          ///< by events, the very first run; none where it is simulated
  std::vector<std::string> assumptions{};  ///< assumptions of the simulation, for parameters that the profile lacks
};
/// Measures SAXPY on a GPU, or simulates it on a virtual device without moving bytes. Throws Unsupported where the
/// profile lacks the rates that the kernel's time is derived from.
SaxpyTimes time_saxpy(const Bench&, std::uint64_t elements);

/// Cost of the kernel on a simulated GPU, by bytes and operations, or by bytes alone where no flop rate is known (SAXPY
/// has two operations for twelve bytes). Throws Unsupported where the bandwidth is unknown.
KernelCost cost_of_saxpy(const Job&, const Profile&);

/// Effective bandwidth (R_B + W_B) / t of the kernel.
Bandwidth effective(const SaxpyTimes&);
/// Theoretical bandwidth of the device memory, clock × width × 2. nullopt where clock or width is unknown.
std::optional<Bandwidth> theoretical(const Bench&);
/// Peak single-precision flop/s of the device by its clock and number of SMs; nullopt where these are unknown.
std::optional<double> peak_flops(const Bench&);

// The next functions judge figures. They are pure functions.

/// Judges the fraction of the theoretical bandwidth that SAXPY reaches.
Finding judge_effective(const SaxpyTimes&, std::optional<Bandwidth> peak);
/// Judges whether memory limits SAXPY, and not arithmetic.
Finding judge_limit(const SaxpyTimes&, std::optional<Bandwidth> peak, std::optional<double> peak_flops);
/// Judges whether a clock without a synchronisation shows the launch only, independent of the kernel's time. The times
/// are by increasing size.
Finding judge_launch(std::span<const SaxpyTimes>);
/// Judges whether a clock with a synchronisation shows the kernel.
Finding judge_barrier(const SaxpyTimes&);
/// A cost. When it is too small for the clock, `at_most` is set and the value is only an upper limit.
struct Cost {
  Seconds time{0};
  bool at_most = false;
};
/// The cost for an interval; nullopt where the interval is 0.
std::optional<Cost> cost_of(const Interval<Seconds>&);
/// Text of a cost: "1.2 µs", "at most 0.05 µs".
std::string text_of(const Cost&);
/// Judges whether a wait after each kernel reduces the rate of kernels.
Finding judge_waits(Seconds waited_for, const Cost& behind_another);
/// Judges whether an event costs the host less than a wait.
Finding judge_events(const Cost& record, Seconds waited_for);
/// The smallest difference between any two of the times; nullopt when all are equal.
std::optional<Seconds> grain(std::vector<double> times_us);
Finding judge_grain(std::optional<Seconds> grain);

/// One copy submitted to the GPU's stream.
struct CopyTimes {
  std::string direction;  ///< direction, as in "host to GPU"
  std::string memory;     ///< kind of host memory, as in "pageable"
  Bytes size;
  Seconds events{0};     ///< copy time by events
  Seconds submitted{0};  ///< host time until the call returns
  Seconds waited{0};     ///< host time until the host knows that the copy has ended
};
/// Judges whether copies of pageable memory block the host until the end, and copies of pinned memory do not.
Finding judge_blocking(std::span<const CopyTimes>);
/// Judges whether events and the host's clock show the same rate of large copies.
Finding judge_rates(std::span<const CopyTimes>);

/// Least times of a kernel by the limits of a GPU.
struct KernelBalance {
  std::string workload;
  Seconds memory{0};      ///< bytes over memory bandwidth
  Seconds arithmetic{0};  ///< operations over the flop rate
};
/// Judges whether memory limits most kernels.
Finding judge_kernels(std::span<const KernelBalance>);

// The next functions are the steps.
StepResult run_bandwidth(const Bench&);
StepResult run_clocks(const Bench&);
StepResult run_waits(const Bench&);
StepResult run_copies(const Bench&);
StepResult run_kernels(const Bench&);

}  // namespace shiplap::experiments::harris

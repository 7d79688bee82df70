// The sweeps of the report: times of one workload by number of streams, observed on a GPU, simulated at the same size
// where the device is a virtual one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "experiments/experiment.hpp"

namespace shiplap::experiments::eth {

/// Whether sizes and points are fewer: simulating the published ones takes no time to speak of.
inline bool reduced(const Bench& bench) { return bench.quick && !bench.info.is_virtual; }

inline void progress(const Bench& bench, std::string_view what, std::size_t done, std::size_t total) {
  if (bench.progress) bench.progress(what, done, total);
}

/// Times of one workload.
struct Sweep {
  std::uint64_t of = 0;                ///< what varies from sweep to sweep: elements, calls, levels
  std::map<std::uint32_t, double> ms;  ///< by streams, of those that could run
  std::optional<double> automatic_ms;  ///< of the plan's choice
  std::string automatic;               ///< that choice
  /// The kernel on resident data, or both copies at once: the longer. Of a kernel that is faster in chunks, which stay
  /// in the L2 cache, the time of those chunks; nullopt too where runs are faster still.
  std::optional<double> bound_ms;
  std::optional<double> kernel_ms{};  ///< the whole kernel on resident data
  std::string bound_note{};           ///< why the bound is not that of the whole kernel; "" where it is
  std::string missing;                ///< why some or all are not there; "" where all are

  /// Of one stream over so many; nullopt where one of both is not there.
  std::optional<double> speedup(std::uint32_t streams) const;
  /// One stream over the plan's choice.
  std::optional<double> automatic_speedup() const;
  /// One stream over the bound.
  std::optional<double> most() const;

  struct Best {
    double speedup = 1;
    std::uint32_t streams = 1;
  };
  /// The number of streams, of those with one and more, that gains most; nullopt without the time of one stream.
  std::optional<Best> best() const;
};

/// What bounds a sweep, for chunks whose kernel is faster than its share of the whole: `pieces_ms`, the kernel in as
/// many chunks as it is fastest in. The measured bound is the longer of the whole kernel and both copies at once. A run
/// that is faster than its bound shows that it is none.
void bound_by_chunks(Sweep&, double pieces_ms, double copies_ms);

/// A choice and the number of streams that it stands for.
struct InStreams {
  std::uint32_t streams = 1;
  Choice choice;
};
/// As the report's programs do it: a stream for each chunk, submitted chunk by chunk.
std::vector<InStreams> as_published(std::span<const std::uint32_t> streams, std::uint64_t most);
/// A level at a time, dealt out to so many streams.
std::vector<InStreams> level_by_level(std::span<const std::uint32_t> streams, std::uint64_t levels);

/// Runs or simulates. What cannot be is in `missing`.
Sweep sweep(const Bench&, std::uint64_t of, const std::string& workload, const std::vector<InStreams>&,
            unsigned rounds);
/// The report's arccos, with the division by π in double precision as its program has it. On a profile of the report's
/// machine the kernel is the one that was fitted with it.
Sweep arccos_sweep(const Bench&, std::uint64_t of, std::uint64_t elements, std::uint32_t calls,
                   std::span<const std::uint32_t> streams, unsigned rounds);

/// What a note says of simulated times; "" on a GPU.
std::string simulated_note(const Bench&);

/// The reasons of all that is missing, each once; "" where nothing is.
std::string missing_of(std::span<const Sweep>);

}  // namespace shiplap::experiments::eth

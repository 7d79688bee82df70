// The sweeps of the report: times of one workload by number of streams. They are observed on a GPU, or simulated at the
// same size on a virtual device.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "experiments/experiment.hpp"

namespace shiplap::experiments::eth {

/// Whether sizes and points are reduced. Simulations are fast, so they never are on a virtual device.
inline bool reduced(const Bench& bench) { return bench.quick && !bench.info.is_virtual; }

inline void progress(const Bench& bench, std::string_view what, std::size_t done, std::size_t total) {
  if (bench.progress) bench.progress(what, done, total);
}

/// Times of one workload by number of streams.
struct Sweep {
  std::uint64_t of = 0;                ///< quantity that differs between sweeps: elements, calls or levels
  std::map<std::uint32_t, double> ms;  ///< times by number of streams, for those that could run
  std::optional<double> automatic_ms;  ///< time of the plan's choice
  std::string automatic;               ///< the plan's choice
  /// The longer of the kernel on resident data and both copies at once. For a kernel that is faster in chunks, which
  /// stay in the L2 cache, the time of the chunks is used. nullopt where runs are faster still.
  std::optional<double> ideal_overlap_ms;
  std::optional<double> kernel_ms{};  ///< time of the whole kernel on resident data
  std::string ideal_overlap_note{};   ///< reason why ideal overlap is not that of the whole kernel; "" where it is
  std::string missing;                ///< reason why some or all times are missing; "" where none are

  /// Time in one stream over that in `streams` streams; nullopt where either is missing.
  std::optional<double> speedup(std::uint32_t streams) const;
  /// Time in one stream over that of the plan's choice.
  std::optional<double> automatic_speedup() const;
  /// Time in one stream over ideal overlap.
  std::optional<double> most() const;

  struct Best {
    double speedup = 1;
    std::uint32_t streams = 1;
  };
  /// The number of streams with the largest speed-up; nullopt without the time of one stream.
  std::optional<Best> best() const;
};

/// Corrects ideal overlap of a sweep for kernels that are faster in chunks. `chunked_ms` is the kernel's time in the
/// number of chunks in which it is fastest. The measured ideal overlap is the longer of the whole kernel and both
/// copies at once. A run that is faster than ideal overlap refutes it.
void ideal_overlap_of_chunks(Sweep&, double chunked_ms, double copies_ms);

/// A choice and the number of streams that it represents.
struct InStreams {
  std::uint32_t streams = 1;
  Choice choice;
};
/// Choices like those of the report's programs: a stream for each chunk, submitted depth-first.
std::vector<InStreams> as_published(std::span<const std::uint32_t> streams, std::uint64_t most);
/// Choices with one level per chunk, distributed over numbers of streams.
std::vector<InStreams> level_by_level(std::span<const std::uint32_t> streams, std::uint64_t levels);

/// Runs or simulates the choices. Reasons for missing times are in `missing`.
Sweep sweep(const Bench&, std::uint64_t of, const std::string& workload, const std::vector<InStreams>&,
            unsigned rounds);
/// A sweep of the report's arccos, with the division by π in double precision like its program. On a profile of the
/// report's machine the kernel is the one that was fitted with the profile.
Sweep arccos_sweep(const Bench&, std::uint64_t of, std::uint64_t elements, std::uint32_t calls,
                   std::span<const std::uint32_t> streams, unsigned rounds);

/// Note on simulated times; "" on a GPU.
std::string simulated_note(const Bench&);

/// The reasons for missing times, each once; "" where none are.
std::string missing_of(std::span<const Sweep>);

}  // namespace shiplap::experiments::eth

// Batches that follow each other without end: what each of them takes when several are under way, by choice and by how
// long the kernel takes.
#pragma once

#include <cstdint>
#include <vector>

#include "shiplap/core/json.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/schedule/timeline.hpp"
#include "shiplap/strategy/strategy.hpp"
#include "shiplap/workload/job.hpp"

namespace shiplap {

/// What a batch takes among others like it.
struct SteadyState {
  Seconds period{0};   ///< from the end of one batch to the end of the next
  Seconds span{0};     ///< from when its first stream gets to it until its end
  Seconds kernels{0};  ///< in which any of its kernels runs
};

/// Of kernels' spans, in the order in which they start, what each adds to the time in which any of them runs: a mark in
/// front of a kernel may be passed while it waits for those of other streams.
std::vector<Seconds> added_busy_times(std::vector<Span> kernels);

/// Simulated: a batch is submitted when the one `in_flight` before it has ended. Throws as `succession` and `simulate`
/// do.
SteadyState steady_state(const Schedule& batch, std::uint32_t in_flight, const Profile&);

/// The same of every choice, for kernels that take so many times as long as planned. A value, from which decisions can
/// be made and made again without profile or job.
struct SteadyTable {
  std::uint32_t in_flight = 1;                     ///< batches under way at once
  std::vector<Choice> choices{};                   ///< what a batch may be cut into
  std::vector<double> factors{};                   ///< of the kernel's time, ascending
  std::vector<std::vector<SteadyState>> states{};  ///< by choice and factor

  /// With kernels that take `kernel` times as long and a link that takes `link` times as long, fixed costs with it.
  /// Interpolated between factors (straight lines of logarithms); beyond them kernels are all that counts.
  SteadyState at(std::size_t choice, double kernel, double link = 1) const;
};

/// Choices for a batch whose arrays are pinned: chunks in powers of two, in three streams and in four.
std::vector<Choice> steady_choices(const Job& batch);

/// Of those choices that the job and the limits of one batch allow. `batch.cost` is factor 1. Throws UsageError when
/// none is left, with the last reason.
SteadyTable steady_table(const Job& batch, const Profile&, const Limits&, const std::vector<Choice>&,
                         std::uint32_t in_flight);

/// Times in seconds, as they are.
Json to_json(const SteadyTable&);
/// Throws Error naming the key.
SteadyTable steady_table_from_json(const JsonReader&);

}  // namespace shiplap

// Simulated times of batches in an endless run with several in flight, by choice and by how long the kernel takes.
#pragma once

#include <cstdint>
#include <vector>

#include "shiplap/core/json.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "shiplap/schedule/timeline.hpp"
#include "shiplap/strategy/strategy.hpp"
#include "shiplap/workload/job.hpp"

namespace shiplap {

/// Times of a batch in an endless run of batches with the same schedule.
struct SteadyState {
  Seconds period{0};   ///< from the end of one batch to the end of the next
  Seconds span{0};     ///< from when its first stream reaches the batch until the end of the batch
  Seconds kernels{0};  ///< time in which at least one of its kernels runs
};

/// For each kernel, in the order of the starts, the time that it adds to the time in which any kernel runs. Spans may
/// overlap, because the start mark of a kernel can fire while the kernel waits for kernels of other streams.
std::vector<Seconds> added_busy_times(std::vector<Span> kernels);

/// Simulates a run in which each batch is submitted when the one `in_flight` batches before it has ended. Throws as
/// `succession` and `simulate` do.
SteadyState steady_state(const Schedule& batch, std::uint32_t in_flight, const Profile&);

/// The simulated times of every choice, for several factors of the kernel's time. Decisions can be made from this value
/// without the profile and the job.
struct SteadyTable {
  std::uint32_t in_flight = 1;                     ///< number of batches in flight
  std::vector<Choice> choices{};                   ///< the choices for a batch
  std::vector<double> factors{};                   ///< factors of the planned time of the kernel, ascending
  std::vector<std::vector<SteadyState>> states{};  ///< times by choice and factor

  /// Times when the kernel takes `kernel` times as long as planned, and copies and all fixed costs `link` times as
  /// long. Between factors, logarithms of times are interpolated linearly. Outside of the factors, times change with
  /// the kernel's time alone.
  SteadyState at(std::size_t choice, double kernel, double link = 1) const;
};

/// Choices for a batch whose arrays are pinned: numbers of chunks that are powers of two, in three streams and in four.
std::vector<Choice> steady_choices(const Job& batch);

/// The table of the given choices without those that the job or the limits of one batch do not allow. Factor 1 stands
/// for `batch.cost`. Throws UsageError with the last reason when no choice is left.
SteadyTable steady_table(const Job& batch, const Profile&, const Limits&, const std::vector<Choice>&,
                         std::uint32_t in_flight);

/// Writes the table, with exact times in seconds.
Json to_json(const SteadyTable&);
/// Reads what to_json wrote. Throws Error that names the key.
void from_json(const JsonReader&, SteadyTable&);
Json json_schema(const SteadyTable&);  ///< JSON Schema of what to_json writes

}  // namespace shiplap

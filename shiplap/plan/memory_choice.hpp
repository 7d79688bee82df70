// The ways to prepare pageable arrays for a number of runs: to leave them, to register them, or to allocate them
// pinned; and what each costs once and in every run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "shiplap/plan/ranking.hpp"

namespace shiplap {

/// Whether the space may be searched for pinned arrays: it names no host threads, which pinned arrays do without, and
/// either no strategy or one for pinned arrays.
bool allows_pinned(const SearchSpace&);
/// Whether an array that is cut into chunks is in pageable memory, so that pinning may pay.
bool has_pageable_chunks(const Job&);
/// The job with its cut arrays pinned. Arrays that stay on the GPU during a run are copied once in it, and remain as
/// they are.
Job with_pinned_chunks(Job);

/// How pageable arrays are prepared for a number of runs.
enum class Preparation : std::uint8_t {
  none,        ///< "as it is"
  registered,  ///< "registered": pinned where they are (cudaHostRegister), and unpinned after the last run
  pinned,      ///< "pinned": allocated in pinned memory (cudaHostAlloc) instead of pageable memory, and freed
};
/// The preparations of arrays with their names.
EnumNames<Preparation> names_of(Preparation);
/// What has to be done once, as in "cudaHostRegister, and cudaHostUnregister after the last run".
std::string_view what_is_done(Preparation);

/// One way to prepare pageable arrays for a number of runs.
struct MemoryWay {
  Preparation preparation = Preparation::none;  ///< how the arrays are prepared
  Seconds setup_time{0};                        ///< time before the first and after the last run
  Candidate best;                               ///< the best candidate for memory of that kind
  Seconds total_time{0};                        ///< `setup_time` and the time of all runs
  /// Number of runs from which this way is faster than arrays left as they are; nullopt: never.
  std::optional<std::uint64_t> pays_from{};
};

/// A way that these arrays do not have, or for which the profile lacks times.
struct UnknownWay {
  Preparation preparation = Preparation::none;  ///< how the arrays would be prepared
  std::string reason;                           ///< why its times are unknown
};

/// The ways to prepare pageable arrays, compared.
struct MemoryChoice {
  std::uint64_t runs = 1;       ///< number of runs over the same arrays
  std::vector<MemoryWay> ways;  ///< by `total_time`, the fastest first; equally fast ones with the least effort first
  std::vector<UnknownWay> unknown;  ///< the other ways
  /// Predicted time of a run by plain copies of the arrays as they are; nullopt when that was not predicted.
  std::optional<Seconds> plain_copies_time{};
  /// The ranking for pinned arrays; nullopt when no strategy can do the job with them.
  std::optional<Ranking> pinned{};
  /// The way with this preparation; null when its times are unknown.
  const MemoryWay* find(Preparation) const;
};

/// Compares the ways to prepare the pageable arrays of a job for a number of runs over the same arrays. `as_it_is` is
/// the ranking with pageable arrays. For `Preparation::pinned`, the time that allocating pageable arrays would have
/// taken is not subtracted. The search for pinned arrays keeps to the given space
/// if `allows_pinned`. Otherwise it keeps only graphs, batches and the number of GPUs of the space.
/// `why_not_registered` is the reason why the device cannot pin these arrays; "" when it can. Throws UsageError when no
/// array is pageable, and for 0 runs.
MemoryChoice choose_memory(const Job&, const Profile&, const Limits&, const SearchSpace&, const Ranking& as_it_is,
                           std::uint64_t runs, const std::string& why_not_registered = {});

/// Every way with its times, and the unknown ones with the reason.
Json to_json(const MemoryChoice&);
/// Reads what to_json wrote, without the ranking for pinned arrays. Throws Error that names the key.
void from_json(const JsonReader&, MemoryChoice&);
Json json_schema(const MemoryChoice&);  ///< JSON Schema of what to_json writes

}  // namespace shiplap

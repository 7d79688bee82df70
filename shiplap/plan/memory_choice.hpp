// Stage, register, or allocate pinned memory: what each costs once and in every run, for arrays that come as they
// are from malloc and are used so many times.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "shiplap/plan/ranking.hpp"

namespace shiplap {

/// Whether an array that is cut into chunks is in pageable memory, so that pinning it is worth a thought.
bool has_pageable_chunks(const Job&);
/// The job with its cut arrays pinned. Arrays that stay on the GPU during a run are copied once in it, and remain as
/// they are.
Job with_pinned_chunks(Job);

/// One way to prepare pageable arrays for a number of runs.
struct MemoryWay {
  std::string name;   ///< "as it is", "registered", "pinned"
  std::string what;   ///< what has to be done for it once
  Seconds once{0};    ///< before the first and after the last run
  Candidate best;     ///< of all strategies for memory of that kind
  Seconds in_all{0};  ///< once, and every run
  /// Number of runs from which it is faster than arrays left as they are; nullopt: never.
  std::optional<std::uint64_t> pays_from{};
};

/// The ways to prepare pageable arrays, compared.
struct MemoryChoice {
  std::uint64_t runs = 1;        ///< number of runs over the same arrays
  std::vector<MemoryWay> ways;   ///< fastest first, of equals in the order of their effort
  std::vector<Refused> unknown;  ///< ways that the profile has no figures for
  /// The strategies for pinned arrays; none where no strategy can do the job with them.
  std::optional<Ranking> pinned{};
};

/// Compares ways to prepare the pageable arrays of a job, for a number of runs over the same arrays. `as_it_is` ranks
/// the job with pageable arrays. Registering pins the arrays where they are (cudaHostRegister) and unpins them after
/// the last run. The other way is a program that obtains its arrays pinned, so that nothing is copied into them; what
/// obtaining pageable arrays would have cost is not counted. For pinned arrays the whole search space is open again but
/// for graphs, batches and the number of GPUs: strategies, chunks and threads were given for pageable arrays. Throws
/// UsageError when no array is pageable, or for no runs.
MemoryChoice choose_memory(const Job&, const Profile&, const Limits&, const SearchSpace&, const Ranking& as_it_is,
                           std::uint64_t runs);

/// Every way with its times, and the unknown ones with the reason.
Json to_json(const MemoryChoice&);

}  // namespace shiplap

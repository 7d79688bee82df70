// Stage, register, or allocate page-locked memory: what each costs once and in every run, for arrays that come as they
// are from malloc and are used so many times.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "shiplap/plan/plan.hpp"

namespace shiplap {

struct MemoryWay {
  std::string name;   ///< "as it is", "registered", "page-locked"
  std::string what;   ///< what has to be done for it once
  Seconds once{0};    ///< before the first and after the last run
  Candidate best;     ///< of all strategies for memory of that kind
  Seconds in_all{0};  ///< once, and every run
  /// Number of runs from which it is faster than arrays left as they are; nullopt: never.
  std::optional<std::uint64_t> pays_from{};
};

struct MemoryChoice {
  std::uint64_t runs = 1;
  std::vector<MemoryWay> ways;   ///< fastest first, of equals in the order of their effort
  std::vector<Refused> unknown;  ///< ways that the profile has no figures for
};

/// For a job with pageable arrays and its plan. Registering page-locks them where they are (cudaHostRegister) and lets
/// go of them after the last run; the other way is a program that obtains its arrays page-locked, so that nothing is
/// copied into them and what pageable ones would have cost to obtain is not counted. Throws UsageError when no array is
/// pageable, or for no runs. Of the options only the device memory counts for page-locked arrays: strategies, chunks
/// and threads were chosen for pageable ones.
MemoryChoice choose_memory(const Job&, const Profile&, const PlanOptions&, const Plan& as_it_is, std::uint64_t runs);

Json to_json(const MemoryChoice&);

}  // namespace shiplap

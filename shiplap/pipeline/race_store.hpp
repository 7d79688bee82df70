// A cache of race results, so that a job that was raced before need not race again.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "shiplap/pipeline/race.hpp"
#include "shiplap/profile/profile.hpp"

namespace shiplap {

/// The key of a cached race. A result is reused only for jobs with an equal key.
struct JobSignature {
  std::string job;   ///< kernel name; name, role, element type and memory kind of every array
  std::string node;  ///< GPU, bus address, driver and host; for a virtual GPU the hash of its profile
  std::string size;  ///< items, array sizes, device memory and kernel time in steps of a factor 1.4; number of GPUs
};
/// Builds the key. The job's kernel cost must be known.
JobSignature signature_of(const DeviceInfo&, const Job&, const Profile&, const Limits&, std::uint32_t gpus);

/// Path of the cache file; nullopt when there is no cache directory.
std::optional<std::filesystem::path> race_path(const JobSignature&);
/// Returns the cached race. When it returns nullopt and races of the same job exist for another node or size, or the
/// file cannot be read, `why_not` receives a sentence about it; otherwise `why_not` is unchanged.
std::optional<RaceResult> kept_race(const JobSignature&, std::string& why_not);
/// Writes the race to the cache and replaces an earlier one with the same key. Processes that do so at the same time
/// keep each other's entries. Returns a phrase for the user with the path, or the reason why nothing was written.
std::string keep_race(const JobSignature&, const RaceResult&);

/// Arguments of race_or_kept.
struct RaceTerms {
  const Job& job;            ///< with a known kernel cost
  const Profile& profile;    ///< the profile that the plan was made from
  const Limits& limits;      ///< the limits of the runs
  const SearchSpace& space;  ///< the space of the plan
  Seconds budget;            ///< most time of all runs (sum of makespans)
  bool anew = false;         ///< whether to race although a result is cached
};
/// Returns the cached race when there is one whose winner can run this job; otherwise runs the race and caches it. A
/// race is neither read from nor written to the cache when the options restrict the choices, and it is not written when
/// a finalist could not be prepared. `RaceResult::note` says what happened.
RaceResult race_or_kept(const DeviceInfo&, const RaceTerms&, const RaceField&, const MakeReady&);

}  // namespace shiplap

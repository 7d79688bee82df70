// Winners of races, kept so that a job that comes again need not race again.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "shiplap/pipeline/race.hpp"

namespace shiplap {

/// What a race is kept under. A winner holds for another job where all three are equal.
struct JobSignature {
  std::string job;   ///< its kernel by name, and its arrays: name, role, element and memory
  std::string node;  ///< GPU, its bus address, driver and host; of a virtual one its profile
  std::string
      size;  ///< of items, arrays, device memory and the kernel's time, to a factor of about 1.4, and the GPUs used
};
/// Of a job whose kernel's cost is known.
JobSignature signature_of(const DeviceInfo&, const Job&, const Profile&, const Limits&, std::uint32_t gpus);

/// Where races of such jobs are kept; nullopt where there is no cache directory.
std::optional<std::filesystem::path> race_path(const JobSignature&);
/// The kept race of the signature. None: `why_not` then says so where races of the job are kept for another node or
/// size, or the file cannot be read; it is left as it is otherwise.
std::optional<RaceResult> kept_race(const JobSignature&, std::string& why_not);
/// Keeps it in place of an earlier one of the same signature. Returns where, or why it could not be kept, for people.
std::string keep_race(const JobSignature&, const RaceResult&);

/// A race on a device: what it is about, and what was asked for.
struct RaceTerms {
  const Job& job;              ///< with its kernel's cost
  const Profile& profile;      ///< that it was planned from
  const Limits& limits;        ///< under which it is to run
  const PlanOptions& options;  ///< of the plan
  Seconds budget;              ///< of makespans
  bool anew = false;           ///< whatever is kept
};
/// The kept race of such a job where there is one that fits it; else the finalists race, and it is kept, unless some
/// could not be made ready or the options leave out some of what there is. `note` of the result says which.
RaceResult race_or_kept(const DeviceInfo&, const RaceTerms&, const std::vector<Candidate>& finalists, const MakeReady&);

}  // namespace shiplap

// Profiles of nodes with several GPUs that are alike.
#pragma once

#include <cstdint>

namespace shiplap {

struct Profile;

/// The most GPUs that a job is shared among, and that a virtual device has.
inline constexpr std::uint32_t most_gpus = 64;

/// The profile with `gpus` GPUs that are like the first. GPUs beyond the first also get links like the first one,
/// unless the profile has links of theirs. Throws UsageError for more than `most_gpus`.
Profile with_gpus(Profile, std::uint32_t gpus);

}  // namespace shiplap

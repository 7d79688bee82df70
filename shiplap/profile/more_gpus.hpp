// Profiles with another number of GPUs than were measured.
#pragma once

#include <cstddef>
#include <cstdint>

namespace shiplap {

struct GpuModel;
struct Profile;

/// The most GPUs that a job is shared among, and that a virtual device has.
inline constexpr std::uint32_t most_gpus = 64;

/// The number of GPUs, from the first on, of which the profile has figures and a link of their own. A profile that was
/// measured on a device of several GPUs has those of the first.
std::uint32_t own_gpus(const Profile&);

/// The profile with exactly `gpus` GPUs. GPUs beyond them are left out, with their links and their copies from and to
/// other GPUs. GPUs of which the profile has no figures are like the first one, and GPUs without a link have one like
/// its first link. Throws UsageError for 0 GPUs and for more than `most_gpus`.
Profile with_gpus(Profile, std::uint32_t gpus);

/// A GPU of the profile. When the first GPU has the same name, its figures stand for those that the GPU itself lacks,
/// because `measure` measures the links of further GPUs but not their kernels.
GpuModel with_figures_of_first(const Profile&, std::size_t gpu);

}  // namespace shiplap

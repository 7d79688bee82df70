// Profiles of GPUs that nobody has measured, derived from what NVIDIA publishes about them.
#pragma once

#include <optional>
#include <string_view>

#include "shiplap/profile/profile.hpp"

namespace shiplap {

/// The profile of a machine with one GPU of this name, as the driver or `published_gpu_names` has it. Its origin is
/// `derived`. Memory, SMs, rates of memory and arithmetic, generation and width of the link are published. Copies of
/// pinned memory reach the share of the link's limit that those of the built-in profile h100 reach; the interval goes
/// from the limit to `sound_share_of_link` of it. All other times and rates are those of h100, with intervals of a
/// factor of two to either side, and those of pageable and managed memory are no faster than the link. Other GPUs and
/// moves of scattered blocks are missing. `link` ("8.0 GT/s PCIe x8") is the link of a machine that is known; "": the
/// fastest one that the GPU can have. nullopt for a GPU that is not known, or that has no PCIe link.
std::optional<Profile> derived_profile(std::string_view gpu, std::string_view link = {});

/// The profile of a machine with a GPU of which no more than the name is known. Its origin is `assumed`. All is as in a
/// derived profile of a GPU like the H100 on PCIe 4.0 x16, so it stands only until its link and GPU are known.
Profile assumed_profile(std::string_view gpu);

/// What is known of GPUs of this name without a measurement of the node: a built-in profile that was measured, else the
/// derived one, else another built-in profile. nullopt for a GPU that is not known.
std::optional<Profile> known_profile_of(std::string_view gpu, std::string_view link = {});

}  // namespace shiplap

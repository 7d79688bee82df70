// What the copies of a recorded program say of its machine's link.
#pragma once

#include <string>

#include "shiplap/advise/recording.hpp"
#include "shiplap/profile/profile.hpp"

namespace shiplap {

/// A profile for a recording, and what people must know of its link.
struct RecordedLink {
  Profile profile;
  std::string rates;  ///< median rates of the largest copies: "13.1 GB/s to the GPU from pinned memory"; "": none
  /// The link that stands for that of pinned memory, because no large copy of it was recorded: "the link of profile
  /// h100", "an assumed link (8.0 GT/s PCIe x16)"; "": none.
  std::string assumed;
};

/// The profile with the rates of the recorded copies of the first GPU in place of its own, for each direction and kind
/// of memory. Copies that run while others go in the opposite direction count for that state alone.
///
/// - pinned memory, copies of 1 MiB and more: the time per byte is that of the fastest quarter, because other work only
///   adds time; its interval goes from the fastest to the median, at least 5 % to either side. A direction that was not
///   recorded is like the other one, within a factor of 1.5.
/// - pageable memory, copies of 64 KiB and more: the profile's times near the recorded sizes, times the median ratio of
///   recorded and own time; the interval holds four of five ratios. Pinned copies that were not recorded are no slower.
RecordedLink with_recorded_link(Profile, const Recording&);

/// Whether the recording has large copies of pinned memory, which tell how fast its link is.
bool tells_its_link(const Recording&);

/// The profile of a GPU of the recorded name (known_profile_of), with the recorded link, and as many GPUs as have work.
/// What the profile of a published machine lacks is assumed, and all of a GPU that is not known.
RecordedLink profile_of_recording(const Recording&);

}  // namespace shiplap

// What the copies of a recorded program say of its machine's link.
#pragma once

#include <string>

#include "shiplap/advise/recording.hpp"
#include "shiplap/profile/profile.hpp"

namespace shiplap {

/// What people must know of the link that predictions have.
struct LinkNote {
  std::string rates{};  ///< median rates of the largest copies: "13.1 GB/s to the GPU from pinned memory"; "": none
  /// Whose link it is, where it is not that of the recording: "the link of profile h100", "an assumed link
  /// (8.0 GT/s PCIe x16)"; "": the recorded one.
  std::string assumed{};
  bool is_recorded = false;  ///< whether large copies of pinned memory tell how fast the recorded link is
};

/// A profile for a recording.
struct RecordedLink {
  Profile profile;
  LinkNote note;
};

/// The profile with the rates of the recorded copies of the first GPU in place of its own. For each direction and
/// kind of host memory they are:
///
/// - pinned memory, copies of 1 MiB and more that run without one in the opposite direction: the time per byte is that
///   of the fastest quarter, because other work only adds time; its interval goes from the fastest to the median, at
///   least 5 % to either side. A direction that was not recorded is like the other one, within a factor of 1.5. Where
///   all copies are duplex, only the duplex rates are recorded ones.
/// - pageable memory, copies of 64 KiB and more: the profile's times near the recorded sizes, times the median ratio of
///   recorded and own time; the interval holds four of five ratios. Pinned copies that were not recorded are no slower.
RecordedLink with_recorded_link(Profile, const Recording&);

/// The profile that somebody asked for, as it is. The note says when it is of another GPU than the recorded one, or
/// was not measured.
RecordedLink with_link_of(Profile, const Recording&);

/// The profile of a GPU of the recorded name (known_profile_of), with the recorded link, and as many GPUs as have work.
/// What the profile of a published machine lacks is assumed, and all of a GPU that is not known.
RecordedLink profile_of_recording(const Recording&);

}  // namespace shiplap

// Profiles of imagined nodes, derived from a given profile. No imagined link was measured, so the origin of the result
// is `assumed`, its name says what is assumed, and the intervals of its rates are wide.
//
// Width: copies reach a fraction of the rate that a PCIe link carries after line coding, and how large it is on another
// link is not known. A time per byte G lies between G times this fraction, which is the link's limit, and G divided by
// it. The fraction is that of the H2D or D2H copies of the given link. Where its profile does not say which link it has
// (`gpu.link`), it is the fraction of the GTX Titan, which van Werkhoven et al. 2014 published (Table I: 12.02 GB/s H2D
// and 12.62 GB/s D2H of 15.75 GB/s).
#pragma once

#include <string_view>

#include "shiplap/profile/profile.hpp"

namespace shiplap {

/// The profile with its link scaled. `what` is "link=pcie4" (generation 1 to 6), "link=x8" (number of lanes), or
/// "link=0.5" (factor of the bandwidth). Times per byte of copies and of zero-copy change in proportion to the link's
/// limit, fixed costs stay, and host memory is assumed to be fast enough. Copies of pageable memory and moves of
/// managed memory are limited by the CPU or by the link: they keep their times unless copies of pinned memory now take
/// longer, with intervals that hold the times as they are and the times in proportion to the link. Moves of scattered
/// blocks become unknown. Throws UsageError for any other `what`, and Unsupported when the profile has no link or does
/// not say which link it has.
Profile what_if(const Profile&, std::string_view what);

/// The profile, which must have no link, with an assumed one for its first GPU. `what` is the name or the path of a
/// profile, whose link between pinned memory and its first GPU is taken, or "pcie1" to "pcie6": the link of the GTX
/// Titan of van Werkhoven et al. 2014 (Table I, PCIe 3.0 x16), scaled to that generation as `what_if` does. Throws
/// UsageError for any other `what` and for a profile that has a link, and Unsupported when the named profile has none.
Profile with_link(const Profile&, std::string_view what);

}  // namespace shiplap

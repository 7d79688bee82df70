// The profile that a command predicts from, measured with progress on stderr where there is none.
#pragma once

#include <string>

#include "shiplap/document/text.hpp"
#include "shiplap/pipeline/profile_cache.hpp"

namespace shiplap::cli {

/// The profile of a virtual device, or the cached one of a GPU. Measures a GPU without a cached profile, says so on
/// stderr, and caches the result.
Profile profile_of(MeasurableDevice&);

/// Measures with progress on stderr and fits; `command` goes into the profile as its source. Notes on stderr when the
/// governor of a CPU is not `performance`.
Measured measure_profile(MeasurableDevice&, MeasureOptions, const std::string& command);

/// What a profile says, for people: how fast copies are and what is not as it should be; in detail every parameter.
std::string profile_text(const Profile&, document::Detail);

}  // namespace shiplap::cli

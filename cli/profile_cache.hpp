// The profile that a command predicts from, measured with progress on stderr where there is none.
#pragma once

#include <string>

#include "shiplap/pipeline/profile_cache.hpp"

namespace shiplap::cli {

/// A virtual device's own profile; for a GPU the cached one, or, said on stderr, one measured now and kept.
Profile profile_of(MeasurableDevice&);

/// Measures with progress on stderr and fits; `command` goes into the profile as its source.
Measured measure_profile(MeasurableDevice&, MeasureOptions, const std::string& command);

}  // namespace shiplap::cli

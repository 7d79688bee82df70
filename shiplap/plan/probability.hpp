// How likely each of several predictions is the least, given their ranges.
#pragma once

#include <span>
#include <vector>

#include "shiplap/core/statistics.hpp"
#include "shiplap/core/units.hpp"

namespace shiplap {

/// The probability of each that its time turns out to be the least. Ranges hold nine in ten observations; each time is
/// taken to be normal on either side of its value, with the spread of that side, and independent of the others, which
/// is what the model itself is off by from one choice to the next; what the profile is uncertain of is common to many
/// choices and tells them apart less than this assumes. Exact predictions that are equal share what they get. The
/// probabilities add up to 1, by numerical integration to about 1e-3.
std::vector<double> probability_of_least(std::span<const Interval<Seconds>>);

}  // namespace shiplap

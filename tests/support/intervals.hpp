// Parameters of profiles by their figures, known exactly where no limits are given.
#pragma once

#include "shiplap/profile/profile.hpp"

namespace shiplap {

inline Interval<Seconds> us(double value, double low, double high) {
  return {microseconds(value), microseconds(low), microseconds(high)};
}
inline Interval<Seconds> us(double value) { return us(value, value, value); }

inline Interval<Bandwidth> gbs(double value, double low, double high) {
  return {gigabytes_per_second(value), gigabytes_per_second(low), gigabytes_per_second(high)};
}
inline Interval<Bandwidth> gbs(double value) { return gbs(value, value, value); }

/// What a byte takes at this rate.
inline Interval<PerByte> per_byte_at(double gb_per_second) {
  return Interval<PerByte>::exact(per_byte(gigabytes_per_second(gb_per_second)));
}

}  // namespace shiplap

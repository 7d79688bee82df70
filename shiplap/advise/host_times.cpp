#include "shiplap/advise/host_times.hpp"

#include <algorithm>

namespace shiplap {

Seconds time_of_preparing(const Profile& profile, Bytes size) {
  constexpr Seconds least = microseconds(100);  // calls of an interpreted language
  if (!profile.host || profile.host->copy.empty()) return least;
  return std::max(least, size / rate_of(profile.host->copy, 1) / copies_at_least);
}

Seconds time_of_pinning(const Profile& profile, const std::vector<Bytes>& sizes) {
  if (!profile.host) return Seconds{0};
  const auto rows = profile.host->calls.find("pin");
  if (rows == profile.host->calls.end()) return Seconds{0};
  Seconds time{0};
  for (const Bytes size : sizes) time += time_at(rows->second, size);
  return time;
}

}  // namespace shiplap

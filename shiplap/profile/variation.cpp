#include "shiplap/profile/variation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

#include "shiplap/core/enum_names.hpp"
#include "shiplap/profile/link_rows.hpp"

namespace shiplap {
namespace {

// A copy of the profile without its raw measurements, which predictions do not need.
Profile parameters_of(const Profile& profile) {
  return {.name = profile.name,
          .origin = profile.origin,
          .source = {},
          .conditions = {},
          .gpus = profile.gpus,
          .links = profile.links,
          .peers = profile.peers,
          .shared = profile.shared,
          .host = profile.host,
          .submission = profile.submission,
          .missing = {},
          .residuals = {},
          .measurements = {}};
}

// The fast end of a time is the low end of its interval, and that of a rate the high end.
template <class T>
constexpr bool is_rate = !std::is_same_v<T, Seconds> && !std::is_same_v<T, PerByte>;

template <class T>
void move(Interval<T>& interval, End end) {
  interval.value = (end == End::low) != is_rate<T> ? interval.low : interval.high;
}

/// A factor of rates that makes the times practically 0.
constexpr double beyond_measure = 1e6;

void stretch(Interval<Seconds>& t, double factor) { t = {t.value * factor, t.low * factor, t.high * factor}; }
void stretch(Interval<PerByte>& t, double factor) {
  for (PerByte* p : {&t.value, &t.low, &t.high}) p->seconds *= factor;
}
void stretch(Interval<Bandwidth>& rate, double factor) {
  for (Bandwidth* b : {&rate.value, &rate.low, &rate.high}) b->bytes_per_second /= factor;
}
void stretch(Estimate&, double) {}  // no term contains plain numbers

void clear_group(Profile& profile, ParameterGroup group) {
  for_each_parameter(profile, [&]<class T>(const ParameterInfo& info, Interval<T>& interval) {
    if (info.tag.group == group) interval = Interval<T>{};
  });
}

// Removes `Cause::host`: pages and pageable bytes move as fast as pinned ones, and host threads take no time.
void clear_host(Profile& profile) {
  const auto as_pinned = [](std::vector<TimeAt>& rows, const DirectionModel& d) {
    for (TimeAt& row : rows) {
      const Seconds pinned = cost_at(d, row.size).latency_overhead + row.size * d.per_byte.value;
      row.time = Interval<Seconds>::exact(std::min(row.time.value, pinned));
    }
  };
  for (LinkModel& link : profile.links)
    for_each_unpinned(link, [&](auto& rows, const DirectionModel& pinned) {
      if constexpr (std::is_same_v<decltype(rows), std::vector<TimeAt>&>) as_pinned(rows, pinned);
    });
  for_each_parameter(profile, []<class T>(const ParameterInfo& info, Interval<T>& interval) {
    if constexpr (std::is_same_v<T, Bandwidth>)
      if (info.tag.term == CostTerm::host) stretch(interval, 1 / beyond_measure);
  });
}

// Removes `Cause::duplex_gap`: gaps under duplex load are those of copies that run alone.
void clear_duplex_gap(Profile& profile) {
  for (LinkModel& link : profile.links)
    for (DirectionModel* d : {&link.h2d, &link.d2h}) {
      if (!d->duplex) continue;
      for (GapAt& gap : d->duplex->gaps)
        gap.gap = Interval<Seconds>::exact(std::min(cost_at(*d, gap.size).gap, gap.gap.value));
    }
}

}  // namespace

Profile at_interval_end(const Profile& original, ParameterGroup group, End end) {
  Profile profile = parameters_of(original);
  for_each_parameter(profile, [&](const ParameterInfo& info, auto& interval) {
    if (info.tag.group == group) move(interval, end);
  });
  return profile;
}

Profile without_cost(const Profile& original, Cause cause) {
  Profile profile = parameters_of(original);
  switch (cause) {
    case Cause::host:
      clear_host(profile);
      break;
    case Cause::submission:
      clear_group(profile, ParameterGroup::submission);
      break;
    case Cause::duplex_gap:
      clear_duplex_gap(profile);
      break;
    case Cause::gap:
      clear_group(profile, ParameterGroup::gaps);
      break;
    case Cause::latency:
      clear_group(profile, ParameterGroup::latencies);
      break;
  }
  return profile;
}

std::string to_string(CostTerm term) {
  constexpr std::array names{std::pair{CostTerm::h2d_rate, "H2D copies, per byte"sv},
                             std::pair{CostTerm::d2h_rate, "D2H copies, per byte"sv},
                             std::pair{CostTerm::zero_copy_rate, "zero-copy, per byte"sv},
                             std::pair{CostTerm::gaps, "gaps between ops (g)"sv},
                             std::pair{CostTerm::latencies, "latencies (L+o, launches, handovers)"sv},
                             std::pair{CostTerm::submission, "submission by the host"sv},
                             std::pair{CostTerm::host, "host threads, pageable copies, moving pages"sv},
                             std::pair{CostTerm::blocks, "moves of scattered blocks"sv}};
  return std::string(name_in(names, term));
}

Profile slowed(const Profile& original, CostTerm term, double factor) {
  Profile profile = parameters_of(original);
  const bool is_of_a_direction = term == CostTerm::h2d_rate || term == CostTerm::d2h_rate;
  for_each_parameter(profile, [&](const ParameterInfo& info, auto& interval) {
    if (info.tag.term == term) stretch(interval, factor);
    if (info.tag.term == CostTerm::both_rates && is_of_a_direction) stretch(interval, std::sqrt(factor));
  });
  return profile;
}

}  // namespace shiplap

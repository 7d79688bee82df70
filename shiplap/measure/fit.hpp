// The parts of the fit: how measurements become observations with errors, and which part of a profile each file fits.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shiplap/measure/uncertain.hpp"
#include "shiplap/profile/profile.hpp"

namespace shiplap {

/// The median of one verified measurement, in seconds, with its error.
struct Observation {
  const Measurement* measurement = nullptr;
  Uncertain time;

  double argument(const char* name) const { return measurement->arguments.at(name); }
  Bytes bytes() const { return {static_cast<std::uint64_t>(argument("bytes"))}; }
};

/// All usable observations of a fit. Its error has two independent parts: that of the median (from its 95 % interval)
/// and, for times by events, a uniform one as wide as the resolution of the events.
class Observations {
 public:
  /// Measurements that were not verified, or lack an argument of their primitive, are left out.
  explicit Observations(std::span<const Measurement>);

  std::vector<Observation> of(std::string_view primitive) const;
  ErrorSources& sources() { return sources_; }
  /// Step of the device's event clock.
  Seconds event_resolution() const { return event_resolution_; }

 private:
  std::vector<Observation> all_;
  ErrorSources sources_;
  Seconds event_resolution_{0};
};

/// The step of the event clock as the samples show it: the least difference between two samples of one short point.
/// 0.5 µs, what is documented, when no two samples differ, and at most that.
Seconds event_resolution(std::span<const Measurement>);

/// Straight lines with a slope in common, one for each family of points.
struct Lines {
  Uncertain slope;
  /// nullopt for a family without points. One that came out negative is kept as it came out (its interval says what it
  /// can be at most) and took no part in the slope.
  std::vector<std::optional<Uncertain>> intercepts;
};
/// Fits time = intercept of its family + size · slope to all points of size `from` and more. Throws Error when they do
/// not determine it.
Lines fit_lines(std::span<const std::map<Bytes, Uncertain>> families, Bytes from, ErrorSources&);

struct Findings {
  std::vector<Missing> missing;
  std::vector<Residual> residuals;
};

/// Makes `residual` that of this point when it is worse.
void keep_worst(Residual& residual, double fitted, const Uncertain& observed, const std::string& at);

/// Costs of one direction before they are rounded off to a table: correlated with each other through G.
struct DirectionFit {
  struct Row {
    Bytes size;
    Uncertain latency_overhead;
    Uncertain gap;
  };
  Uncertain per_byte;
  std::vector<Row> rows;  ///< by increasing size; the last row holds for all larger sizes
  Row at(Bytes size) const;
};
/// `direction` is "h2d" or "d2h". nullopt, with an entry in `missing`, without single copies of two large sizes.
std::optional<DirectionFit> fit_direction(Observations&, std::string_view direction, Findings&);

/// G and g of each direction while the other is busy, {to device, to host}; nullopt without usable duplex points.
struct DuplexFit {
  struct Row {
    Bytes size;
    Uncertain gap;
  };
  Uncertain per_byte;
  std::vector<Row> rows;
};
std::optional<std::pair<DuplexFit, DuplexFit>> fit_duplex(Observations&, const DirectionFit& to_device,
                                                          const DirectionFit& to_host, Findings&);

/// Time of one more, from the largest and the smallest count; nullopt with fewer than two.
std::optional<Uncertain> one_more(const std::map<double, Uncertain>& times_by_count);

/// Time of one more `count`, for each of the families that `key_of` deals observations to.
template <class KeyOf>
auto periods(const std::vector<Observation>& observations, const char* count, const KeyOf& key_of) {
  using Key = decltype(key_of(observations.front()));
  std::map<Key, std::map<double, Uncertain>> families;
  for (const Observation& o : observations) families[key_of(o)].emplace(o.argument(count), o.time);
  std::map<Key, Uncertain> result;
  for (const auto& [key, times] : families)
    if (const auto period = one_more(times)) result.emplace(key, *period);
  return result;
}

/// Time of one copy more in a burst, k·G + g(k), by size.
std::map<Bytes, Uncertain> burst_periods(const std::vector<Observation>&);

/// GpuModel::stream_groups. An engine serves one group after the other and may begin with any: so whole groups come
/// before the first stream and before the second; without groups one copy comes before the second. nullopt, with an
/// entry in `missing`, where it was not measured.
std::optional<unsigned> fit_stream_groups(const Observations&, const LinkModel&, Findings&);

/// nullopt, with an entry in `missing`, without usable points.
std::optional<WaitingStreams> fit_waiting_streams(Observations&, Findings&);
/// nullopt, with an entry in `missing`, when a chain was not measured. `link` is what was fitted, or null.
std::optional<HandoverModel> fit_handovers(const Observations&, const LinkModel* link, Findings&);

/// nullopt, with an entry in `missing`, when a table was not measured. `link` is what was fitted, or null.
std::optional<ZeroCopyModel> fit_zero_copy(const Observations&, const LinkModel* link, const GpuModel&, Findings&);

/// The link of GPU 0; nullopt, with an entry for "links" in `missing`, when a direction cannot be fitted.
std::optional<LinkModel> fit_link(Observations&, Findings&);
/// The links of the GPU to the other NUMA nodes that were measured: what was not measured there is named as missing,
/// but for the gaps between copies, which are the copy engine's and taken from `near`.
std::vector<LinkModel> fit_numa(Observations&, const LinkModel& near, Findings&);
/// Sets the parameters of `gpu` that were measured, and lists those that were not; not its handovers.
void fit_gpu(Observations&, GpuModel& gpu, Findings&);
SubmissionModel fit_submission(Observations&, Findings&);
/// From GPU 0 to GPU 1 and back, which are taken to be alike; empty where neither way was measured.
std::vector<PeerModel> fit_peers(const Observations&, Findings&);
/// These three: nullopt, with an entry in `missing`, when nothing of it was measured. `link` is what was fitted, or
/// null.
std::optional<PageableModel> fit_pageable(const Observations&, Findings&);
/// With the launch latency and the submission that the profile has.
std::optional<ManagedModel> fit_managed(const Observations&, const Profile&, Findings&);
std::optional<HostModel> fit_host(const Observations&, const LinkModel* link, Findings&);

/// Sizes from which on a copy is "large": its fixed cost no longer depends on the size. At most 16 MiB, and small
/// enough that the three largest powers of two are large.
Bytes large_from(Bytes largest_measured);

/// A time or rate that cannot be negative, with its interval.
template <class T>
Interval<T> non_negative(const Uncertain& u) {
  const Estimate e = u.estimate();
  return {T{std::max(e.value, 0.0)}, T{std::max(e.low, 0.0)}, T{std::max(e.high, 0.0)}};
}

}  // namespace shiplap

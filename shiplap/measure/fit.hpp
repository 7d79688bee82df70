// Parts of the fit of a profile: observations with errors, and the functions that fit each group of parameters.
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

/// All usable observations of a fit. The error of an observation has two independent parts: that of the median (from
/// its 95 % interval) and, for event times, a uniform one as wide as the resolution of the events.
class Observations {
 public:
  /// Measurements that were not verified or lack an argument of their primitive are left out.
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

/// The step of the event clock: the least difference between two samples of one short point. It is at most the
/// documented 0.5 µs, which is also the result when no two samples differ.
Seconds event_resolution(std::span<const Measurement>);

/// Straight lines with a slope in common, one for each family of points.
struct Lines {
  Uncertain slope;
  /// Intercept by family; nullopt for a family without points. A negative intercept is kept, because its interval still
  /// gives an upper limit. Its family does not contribute to the slope.
  std::vector<std::optional<Uncertain>> intercepts;
};
/// Fits time = intercept of the family + size · slope to all points of size `from` and more. Throws Error when the
/// points do not determine the lines.
Lines fit_lines(std::span<const std::map<Bytes, Uncertain>> families, Bytes from, ErrorSources&);

struct Findings {
  std::vector<Missing> missing;
  std::vector<Residual> residuals;
};

/// Replaces `residual` by that of this point when it is larger.
void keep_worst(Residual& residual, double fitted, const Uncertain& observed, const std::string& at);

/// Costs of copies in one direction, as correlated numbers with errors. They share the slope G.
struct DirectionFit {
  struct Row {
    Bytes size;
    Uncertain latency_overhead;
    Uncertain gap;
  };
  Uncertain per_byte;
  std::vector<Row> rows;  ///< rows by increasing size; the last row applies to all larger sizes
  Row at(Bytes size) const;
};
/// Fits one direction, "h2d" or "d2h". Without single copies of two large sizes the result is nullopt, with an entry in
/// `missing`.
std::optional<DirectionFit> fit_direction(Observations&, std::string_view direction, Findings&);

/// G and g of one direction while the opposite direction is busy.
struct DuplexFit {
  struct Row {
    Bytes size;
    Uncertain gap;
  };
  Uncertain per_byte;
  std::vector<Row> rows;
};
/// Fits duplex copies to the GPU and to the host; nullopt, with an entry in `missing`, without usable duplex points.
std::optional<std::pair<DuplexFit, DuplexFit>> fit_duplex(Observations&, const DirectionFit& to_device,
                                                          const DirectionFit& to_host, Findings&);

/// Time of one further op, from the largest and the smallest count; nullopt with fewer than two counts.
std::optional<Uncertain> one_more(const std::map<double, Uncertain>& times_by_count);

/// Additional time when the argument `count` grows by one, for each family of observations with the same `key_of`.
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

/// Time of one further copy in a burst, k·G + g(k), by size.
std::map<Bytes, Uncertain> burst_periods(const std::vector<Observation>&);

/// Fits GpuModel::stream_groups. A copy engine serves one group of streams after the other and may begin with any
/// group, so whole groups of copies end before the copies of the first and the second stream. Without groups exactly
/// one copy ends before the copy of the second stream. The result is nullopt, with an entry in `missing`, where this
/// was not measured.
std::optional<unsigned> fit_stream_groups(const Observations&, const LinkModel&, Findings&);

/// Fits the slow-down of copies by streams that wait; nullopt, with an entry in `missing`, without usable points.
std::optional<WaitingStreams> fit_waiting_streams(Observations&, Findings&);
/// Fits the delays between dependent ops on different engines or in different streams (handovers); nullopt, with an
/// entry in `missing`, when a primitive `chain.…` was not measured. `link` is the fitted link, and may be null.
std::optional<HandoverModel> fit_handovers(const Observations&, const LinkModel* link, Findings&);

/// Fits the zero-copy rates; nullopt, with an entry in `missing`, when a table was not measured. `link` is the fitted
/// link, or null.
std::optional<ZeroCopyModel> fit_zero_copy(const Observations&, const LinkModel* link, const GpuModel&, Findings&);

/// Fits the link of GPU 0; nullopt, with an entry for "links" in `missing`, when a direction cannot be fitted.
std::optional<LinkModel> fit_link(Observations&, Findings&);
/// Fits the links of the GPU to the other NUMA nodes that were measured. Parameters that were not measured there are
/// listed in `missing`. The gaps between copies are those of `near`, because they belong to the copy engine.
std::vector<LinkModel> fit_numa(Observations&, const LinkModel& near, Findings&);
/// Sets the parameters of `gpu` that were measured, except its handovers, and lists the others in `missing`.
void fit_gpu(Observations&, GpuModel& gpu, Findings&);
SubmissionModel fit_submission(Observations&, Findings&);
/// Copies from GPU 0 to GPU 1 and back, assumed equal in both directions; empty where neither was measured.
std::vector<PeerModel> fit_peers(const Observations&, Findings&);
/// Rates of all GPUs together, and of those that share an uplink; empty where one of them was not measured. `link` is
/// the fitted link, which all of them are taken to have.
std::vector<SharedRates> fit_shared(const Observations&, const LinkModel& link, std::size_t gpus);
/// Fits the times of pageable copies; nullopt, with an entry in `missing`, when none of the primitives was measured.
std::optional<PageableModel> fit_pageable(const Observations&, Findings&);
/// Fits the times of moving pages, with the launch latency and the submission times of the profile; nullopt as
/// `fit_pageable`.
std::optional<ManagedModel> fit_managed(const Observations&, const Profile&, Findings&);
/// Fits the times of moving scattered blocks, with the launch latency and the submission times of the profile. Movers
/// and slowdowns that were not measured are listed in `missing`. The result is nullopt, with one entry, when no mover
/// was measured.
std::optional<BlockModel> fit_blocks(const Observations&, const Profile&, Findings&);
/// Fits the work of host threads; nullopt as `fit_pageable`. `link` is the fitted link, and may be null.
std::optional<HostModel> fit_host(const Observations&, const LinkModel* link, Findings&);

/// Size from which on a copy is "large", which means that its fixed cost no longer depends on the size. It is at most
/// 16 MiB, and small enough that the three largest powers of two are large.
Bytes large_from(Bytes largest_measured);

/// A time or rate that cannot be negative, with its interval.
template <class T>
Interval<T> non_negative(const Uncertain& u) {
  const Estimate e = u.estimate();
  return {T{std::max(e.value, 0.0)}, T{std::max(e.low, 0.0)}, T{std::max(e.high, 0.0)}};
}

}  // namespace shiplap

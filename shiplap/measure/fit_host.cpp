// Tables of measured times without a model behind them: pageable and managed memory, other GPUs, copies by host
// threads.
#include <fmt/format.h>

#include <algorithm>

#include "shiplap/measure/fit.hpp"
#include "shiplap/measure/host_trial.hpp"

namespace shiplap {
namespace {

std::vector<TimeAt> times(const Observations& observations, const std::string& primitive) {
  std::vector<TimeAt> rows;
  for (const Observation& o : observations.of(primitive))
    rows.push_back({.size = o.bytes(), .time = non_negative<Seconds>(o.time)});
  std::ranges::sort(rows, {}, &TimeAt::size);
  return rows;
}

std::vector<RateOfThreads> rates(const Observations& observations, const std::string& primitive) {
  std::vector<RateOfThreads> rows;
  for (const Observation& o : observations.of(primitive)) {
    const Estimate time = o.time.estimate();
    if (time.low <= 0) continue;
    const double bytes = o.argument("bytes");
    rows.push_back({.threads = static_cast<unsigned>(o.argument("threads")),
                    .rate = {{bytes / time.value}, {bytes / time.high}, {bytes / time.low}}});
  }
  std::ranges::sort(rows, {}, &RateOfThreads::threads);
  return rows;
}

std::string not_measured(const std::string& primitive) {
  return fmt::format("not measured: needs verified points of {}", primitive);
}

/// Sets one table of a model, and adds an entry to `missing` when it is empty.
template <class Rows>
Rows noted(Rows rows, const std::string& path, const std::string& primitive, std::vector<Missing>& missing) {
  if (rows.empty()) missing.push_back({path, not_measured(primitive)});
  return rows;
}

void keep(Findings& findings, std::vector<Missing> missing) {
  std::ranges::move(missing, std::back_inserter(findings.missing));
}

}  // namespace

std::optional<PageableModel> fit_pageable(const Observations& observations, Findings& findings) {
  const std::string path = "links[0].pageable";
  std::vector<Missing> missing;
  // The rates are those of flushed memory, because the data of a program is rarely in the CPU caches.
  const auto way = [&](const std::string& direction) {
    const std::string primitive = "copy.pageable." + direction;
    std::vector<TimeAt> flushed = times(observations, primitive + ".flushed");
    return flushed.empty() ? noted(times(observations, primitive), path + "." + direction, primitive, missing)
                           : flushed;
  };
  PageableModel model{
      .h2d = way("h2d"),
      .d2h = way("d2h"),
      .both = noted(times(observations, "copy.pageable.both"), path + ".both", "copy.pageable.both", missing)};
  if (model.h2d.empty() && model.d2h.empty()) {
    findings.missing.push_back({path, not_measured("copy.pageable.*")});
    return std::nullopt;
  }
  keep(findings, std::move(missing));
  return model;
}

std::optional<ManagedModel> fit_managed(const Observations& observations, const Profile& profile, Findings& findings) {
  const std::string path = "links[0].managed";
  std::vector<Missing> missing;
  ManagedModel model{
      .prefetch_h2d = noted(times(observations, "prefetch.h2d"), path + ".prefetch_h2d", "prefetch.h2d", missing),
      .prefetch_d2h = noted(times(observations, "prefetch.d2h"), path + ".prefetch_d2h", "prefetch.d2h", missing),
      .demand_h2d = noted(times(observations, "demand.h2d"), path + ".demand_h2d", "demand.h2d", missing),
      .demand_d2h = noted(rates(observations, "demand.d2h"), path + ".demand_d2h", "demand.d2h", missing)};
  // Submission and launch latency of the kernel that touches pages are subtracted, because the simulator adds them for
  // every kernel.
  const Parameter<Seconds>& latency = profile.gpus.front().launch_latency;
  const Parameter<Seconds>& submission = profile.submission.launch;
  const Seconds launch = (latency ? latency->value : Seconds{0}) + (submission ? submission->value : Seconds{0});
  for (TimeAt& row : model.demand_h2d)
    for (Seconds* t : {&row.time.value, &row.time.low, &row.time.high}) *t = std::max(Seconds{0}, *t - launch);
  if (missing.size() == 4) {
    findings.missing.push_back({path, not_measured("prefetch.* and demand.*")});
    return std::nullopt;
  }
  keep(findings, std::move(missing));
  return model;
}

namespace {

/// Least ratio of a measured period to the time of the threads or the copy engine at which it counts as longer and not
/// as noise.
constexpr double clearly_longer = 1.15;

Bytes piece_of(const Observation& o) { return {static_cast<std::uint64_t>(o.argument("piece"))}; }
unsigned threads_of(const Observation& o) { return static_cast<unsigned>(o.argument("threads")); }

// Rate of the threads while all of them copy. With n threads for each direction, H2D threads have filled their last
// slots n copies of the engine before the end. D2H threads wait for (n + 1) / 2 copies on average at the beginning.
RateThroughRings rate_through_rings(const Observation& o, unsigned ways, const LinkModel& link, const HostModel& host) {
  const auto engine = [&](const DirectionModel& direction) {
    const PerByte rate = ways == 2 && direction.duplex ? direction.duplex->per_byte.value : direction.per_byte.value;
    return (piece_of(o) * rate).count();
  };
  const double in = engine(link.h2d) + just_written_delay(host, piece_of(o)).count();
  const double each_way = std::max(1u, threads_of(o) / ways);
  double waiting = ways == 1 ? each_way * in : (each_way * in + (each_way + 1) / 2 * engine(link.d2h)) / 2;
  const Estimate time = o.time.estimate();
  if (time.low <= waiting) waiting = 0;  // impossible, so the whole time is attributed to the threads
  const double bytes = o.argument("bytes") * ways;
  return {.threads = threads_of(o),
          .rings = piece_of(o) * (std::uint64_t{staging_slots} * threads_of(o)),
          .rate = {{bytes / (time.value - waiting)}, {bytes / (time.high - waiting)}, {bytes / (time.low - waiting)}}};
}

// Uses the fitted `host.written`.
std::vector<RateThroughRings> fit_staging(const Observations& observations, const LinkModel* link,
                                          const HostModel& host) {
  std::vector<RateThroughRings> rows;
  if (link == nullptr) return rows;
  for (const Observation& o : observations.of("staged.h2d"))
    if (o.argument("threads") == 1 && piece_of(o) == staging_piece)
      rows.push_back(rate_through_rings(o, 1, *link, host));
  for (const Observation& o : observations.of("staged.both")) rows.push_back(rate_through_rings(o, 2, *link, host));
  std::ranges::sort(rows, {}, [](const RateThroughRings& row) { return std::pair{row.threads, row.rings}; });
  return rows;
}

// When the threads are faster than the copy engine, pieces are copied at the rate of the engine. The result is the
// engine's additional time over a copy from memory. It cannot be measured where the threads are slower.
std::vector<GapAt> fit_written(const Observations& observations, const HostModel& host, const LinkModel* link) {
  std::vector<GapAt> rows;
  if (link == nullptr || host.staging.empty()) return rows;
  for (const Observation& o : observations.of("staged.h2d")) {
    const Bytes piece = piece_of(o);
    if (piece >= staging_piece) continue;
    const double pieces = o.argument("bytes") / in_bytes(piece);
    const double by_threads =
        (piece / rate_of(staging_rates(host, piece * (std::uint64_t{staging_slots} * threads_of(o))), threads_of(o)))
            .count();
    const double engine = (piece * link->h2d.per_byte.value).count() + cost_at(link->h2d, piece).gap.count();
    // The threads fill their first slots together, while the engine waits.
    const auto period = (o.time - Uncertain::exact(by_threads * threads_of(o))) / pieces;
    const Uncertain longer = period - Uncertain::exact(engine);
    if (period.value() < clearly_longer * std::max(by_threads, engine)) continue;
    rows.push_back({.size = piece, .gap = non_negative<Seconds>(longer)});
  }
  std::ranges::sort(rows, {}, &GapAt::size);
  return rows;
}

}  // namespace

std::optional<HostModel> fit_host(const Observations& observations, const LinkModel* link, Findings& findings) {
  using Kind = HostCall::Kind;
  std::vector<Missing> missing;
  HostModel model{.copy = noted(rates(observations, "host.copy"), "host.copy", "host.copy", missing), .calls = {}};
  // The two parameters depend on each other, so the fits alternate.
  model.staging = fit_staging(observations, link, model);
  if (model.staging.empty())
    missing.push_back(
        {"host.staging", not_measured("staged.both, and the rates of the link") + "; assuming the rates of host.copy"});
  model.written = fit_written(observations, model, link);
  model.staging = fit_staging(observations, link, model);
  if (model.written.empty())
    missing.push_back({"host.written",
                       "not seen: needs verified points of staged.h2d in small pieces at which the copy engine and not "
                       "the threads is slower; assuming 0"});
  for (const Kind kind : {Kind::pin, Kind::unpin, Kind::flush, Kind::allocate, Kind::release})
    for (const MemoryKind memory :
         {MemoryKind::pageable, MemoryKind::pinned, MemoryKind::driver_pinned, MemoryKind::managed, MemoryKind::device})
      if (auto rows = times(observations, call_primitive(kind, memory)); !rows.empty())
        model.calls.emplace(name_in_profile(kind, memory), std::move(rows));
  for (const auto& [kind, primitive] :
       {std::pair{Kind::create_stream, "call.create_stream"}, std::pair{Kind::destroy_stream, "call.destroy_stream"}})
    for (const Observation& o : observations.of(primitive))
      model.calls[name_in_profile(kind, MemoryKind::device)] = {{1_B, non_negative<Seconds>(o.time)}};
  if (model.copy.empty() && model.staging.empty() && model.calls.empty()) {
    findings.missing.push_back({"host", not_measured("host.copy, staged.both and call.*")});
    return std::nullopt;
  }
  keep(findings, std::move(missing));
  return model;
}

std::vector<PeerModel> fit_peers(const Observations& observations, Findings& findings) {
  // Time of one copy more in a burst, which contains no start and no end.
  const auto one_copy_more = [&](const std::string& primitive) {
    std::vector<TimeAt> rows;
    const std::vector<Observation> points = observations.of(primitive);
    const auto by_size = periods(points, "copies", [](const Observation& o) { return o.argument("bytes"); });
    for (const auto& [size, period] : by_size)
      rows.push_back({.size = {static_cast<std::uint64_t>(size)}, .time = non_negative<Seconds>(period)});
    return rows;
  };
  const std::vector<TimeAt> direct = one_copy_more("peer.copy");
  const std::vector<TimeAt> staged = one_copy_more("peer.staged");
  if (direct.empty() && staged.empty()) return {};
  std::vector<PeerModel> peers{{.from = 0, .to = 1, .direct = direct, .staged = staged},
                               {.from = 1, .to = 0, .direct = direct, .staged = staged}};
  for (std::size_t i = 0; i < peers.size(); ++i) {
    const std::string path = fmt::format("peers[{}]", i);
    if (direct.empty()) findings.missing.push_back({path + ".direct", not_measured("peer.copy")});
    if (staged.empty()) findings.missing.push_back({path + ".staged", not_measured("peer.staged")});
  }
  return peers;
}

}  // namespace shiplap

#include "shiplap/measure/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "shiplap/measure/block_trial.hpp"
#include "shiplap/measure/fit.hpp"
#include "shiplap/measure/limits.hpp"
#include "shiplap/measure/primitive_family.hpp"
#include "shiplap/measure/trial.hpp"
#include "shiplap/profile/missing.hpp"

namespace shiplap {
namespace {

/// Names of arguments that count the ops of a trial. A primitive has at most one of them.
constexpr std::array count_arguments{"copies", "count", "kernels", "launches", "reads", "rounds", "faults"};

const char* count_argument(const Measurement& m) {
  for (const char* count : count_arguments)
    if (m.arguments.contains(count)) return count;
  return nullptr;
}

std::optional<Bytes> bytes_moved(const std::string& primitive, const std::map<std::string, double>& arguments) {
  const PrimitiveFamily* const family = family_of(primitive);
  if (family == nullptr || family->moved == Moved::nothing) return std::nullopt;
  if (family->moved == Moved::blocks)
    return bytes_of_blocks(arguments) * (primitive.starts_with("blocks.both.") ? 2 : 1);
  if (primitive.starts_with("copies.") && primitive.find(".beside.") != std::string::npos)
    return copy_size_beside(arguments);
  const auto bytes = arguments.find("bytes");
  if (bytes == arguments.end()) return std::nullopt;
  const auto gpus = arguments.find("gpus");
  const std::uint64_t ways =
      (moves_both_ways(primitive) ? 2 : 1) * (gpus == arguments.end() ? 1 : static_cast<std::uint64_t>(gpus->second));
  return Bytes{static_cast<std::uint64_t>(bytes->second) * ways};
}

/// The fast time of n samples is that of sample number n / 10 in increasing order (`Figure::fast`).
constexpr std::size_t one_fast_in = 10;

double fast_sample_us(const Measurement& m) {
  std::vector<double> ordered = m.samples_us;
  const auto tenth =
      ordered.begin() + static_cast<std::ptrdiff_t>((std::max(ordered.size(), one_fast_in) / one_fast_in) - 1);
  std::ranges::nth_element(ordered, tenth);
  return *tenth;
}

/// Time of one op more, between the smallest and the largest count, or of one op on average for a single count.
Seconds fast_of_one(const std::map<double, double>& us) {
  const auto& [few, of_few] = *us.begin();
  const auto& [many, of_many] = *us.rbegin();
  return microseconds(us.size() > 1 ? (of_many - of_few) / (many - few) : of_few / few);
}

}  // namespace

bool moves_both_ways(std::string_view primitive) {
  constexpr std::string_view flushed = ".flushed";
  if (primitive.ends_with(flushed)) primitive.remove_suffix(flushed.size());
  return primitive.ends_with(".both");
}

std::optional<Bytes> bytes_of_run(const Measurement& m) {
  const auto moved = bytes_moved(m.primitive, m.arguments);
  if (!moved) return std::nullopt;
  const char* count = count_argument(m);
  return *moved * (count != nullptr ? static_cast<std::uint64_t>(m.arguments.at(count)) : 1);
}

std::vector<Figure> figures(std::span<const Measurement> measurements, const Conditions& conditions) {
  const Observations observations(measurements);
  std::vector<std::string> names;
  for (const Measurement& m : measurements)
    if (std::ranges::find(names, m.primitive) == names.end()) names.push_back(m.primitive);

  std::vector<Figure> result;
  for (const std::string& name : names) {
    std::map<std::map<std::string, double>, std::map<double, Uncertain>> families;
    std::map<std::map<std::string, double>, std::string> clocks;
    std::map<std::map<std::string, double>, std::map<double, double>> fast_us;
    for (const Observation& o : observations.of(name)) {
      const char* count = count_argument(*o.measurement);
      auto arguments = o.measurement->arguments;
      if (count != nullptr) arguments.erase(count);
      clocks[arguments] = o.measurement->clock;
      const double ops = count != nullptr ? o.argument(count) : 1;
      families[arguments].emplace(ops, o.time);
      fast_us[arguments].emplace(ops, fast_sample_us(*o.measurement));
    }
    for (const auto& [arguments, times] : families) {
      const auto more = one_more(times);
      Figure figure{.primitive = name,
                    .arguments = arguments,
                    .time = non_negative<Seconds>(more ? *more : times.begin()->second / times.begin()->first),
                    .fast = fast_of_one(fast_us.at(arguments)),
                    .bytes = bytes_moved(name, arguments),
                    .clock = clocks.at(arguments)};
      for (const auto& [count, time] : times) figure.counts.push_back(count);
      figure.limit = limit_of(figure, conditions);
      result.push_back(std::move(figure));
    }
  }
  return result;
}

std::vector<Figure> parameter_figures(const Profile& profile) {
  constexpr Bytes large = 64_MiB;
  std::vector<Figure> all;
  const auto add = [&](std::string primitive, const Interval<Seconds>& time,
                       std::map<std::string, double> arguments = {}) {
    arguments["bytes"] = in_bytes(large);
    all.push_back({.primitive = std::move(primitive),
                   .arguments = arguments,
                   .time = time,
                   .fast = time.value,
                   .bytes = large,
                   .clock = "events"});
  };
  const auto of_rate = [&](const Interval<PerByte>& g) {
    return Interval<Seconds>{large * g.value, large * g.low, large * g.high};
  };
  // The interval is as wide as that of the row that follows, or of the last one.
  const auto of_rows = [&](const std::vector<TimeAt>& rows) {
    const auto next = std::ranges::find_if(rows, [&](const TimeAt& row) { return row.size >= large; });
    const Interval<Seconds>& near = next == rows.end() ? rows.back().time : next->time;
    const Seconds time = time_at(rows, large);
    const double part = near.value > Seconds{0} ? time / near.value : 1;
    return Interval<Seconds>{time, near.low * part, near.high * part};
  };
  if (const LinkModel* const link = profile.find_link(0)) {
    for (const bool to_gpu : {true, false}) {
      const DirectionModel& way = to_gpu ? link->h2d : link->d2h;
      const std::string name = to_gpu ? "h2d" : "d2h";
      if (!is_missing(profile, fmt::format("links[{}].{}.per_byte", link - profile.links.data(), name)))
        add("burst.pinned." + name, of_rate(way.per_byte));
      if (way.duplex) add("duplex.pinned." + name, of_rate(way.duplex->per_byte));
      if (!link->pageable) continue;
      const std::vector<TimeAt>& rows = to_gpu ? link->pageable->h2d : link->pageable->d2h;
      if (!rows.empty()) add("copy.pageable." + name, of_rows(rows));
    }
  }
  if (!profile.gpus.empty() && profile.gpus.front().copy_bandwidth) {
    const Interval<Bandwidth>& rate = *profile.gpus.front().copy_bandwidth;
    add("copy.device", {large / rate.value, large / rate.high, large / rate.low});
  }
  for (const PeerModel& peer : profile.peers) {
    const std::map<std::string, double> ends{{"from", peer.from}, {"to", peer.to}};
    if (!peer.direct.empty()) add("peer.copy", of_rows(peer.direct), ends);
    if (!peer.staged.empty()) add("peer.staged", of_rows(peer.staged), ends);
  }
  return all;
}

std::string name_of(const Figure& figure) {
  std::string name = figure.primitive;
  for (const auto& [argument, value] : figure.arguments) {
    if (argument == "bytes")
      name += fmt::format(", {}", to_string(Bytes{static_cast<std::uint64_t>(value)}));
    else if (argument == "copy")
      name += fmt::format(", copies of {}", to_string(Bytes{static_cast<std::uint64_t>(value)}));
    else if (argument == "block")
      name += fmt::format(", blocks of {}", to_string(Bytes{static_cast<std::uint64_t>(value)}));
    else if (argument == "pool")
      name += fmt::format(", pool of {}", to_string(Bytes{static_cast<std::uint64_t>(value)}));
    else if (argument == "blocks" || argument == "streams" || argument == "followers" || argument == "threads")
      name += fmt::format(", {:.0f} {}", value, value == 1 ? argument.substr(0, argument.size() - 1) : argument);
    else
      name += fmt::format(", {} {:.4g}", argument, value);
  }
  return name;
}

}  // namespace shiplap

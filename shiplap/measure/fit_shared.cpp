#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "shiplap/measure/fit.hpp"

namespace shiplap {
namespace {

/// GPUs that reach this part of the sum of their links, or of what other two GPUs reach, are not held back.
constexpr double reaches_links = 0.97;

enum Way : std::size_t { to_gpus, from_gpus, both_ways };
constexpr std::array rows_together{"all.h2d", "all.d2h", "all.both"};
using Rates = std::array<std::optional<Interval<Bandwidth>>, rows_together.size()>;

/// The two GPUs of a pair; none: all GPUs.
using Pair = std::optional<std::pair<std::uint16_t, std::uint16_t>>;

Pair pair_of(const Observation& observation) {
  const auto& arguments = observation.measurement->arguments;
  const auto first = arguments.find("first");
  if (first == arguments.end()) return std::nullopt;
  return std::pair{static_cast<std::uint16_t>(first->second), static_cast<std::uint16_t>(arguments.at("second"))};
}

/// Rates of these GPUs together: all bytes of one copy more for each of them, over the time of these.
std::map<Pair, Rates> observed_rates(const Observations& observations, std::size_t gpus) {
  std::map<Pair, Rates> all;
  for (std::size_t way = 0; way < rows_together.size(); ++way) {
    const std::vector<Observation> points = observations.of(rows_together[way]);
    const auto key_of = [](const Observation& o) { return std::pair{pair_of(o), o.argument("bytes")}; };
    for (const auto& family : periods(points, "copies", key_of)) {
      const Pair& pair = family.first.first;
      const double copies = static_cast<double>(pair ? 2 : gpus) * (way == both_ways ? 2 : 1);
      const double bytes = copies * family.first.second;
      const Interval<Seconds> time = non_negative<Seconds>(family.second);
      if (!(time.low > Seconds{0})) continue;
      const auto rate = [&](Seconds t) { return Bandwidth{bytes / t.count()}; };
      all[pair][way] = Interval<Bandwidth>{rate(time.value), rate(time.high), rate(time.low)};
    }
  }
  return all;
}

/// What this many GPUs would reach if each had its link for itself.
double sum_of_links(const LinkModel& link, std::size_t way, std::size_t gpus) {
  const auto rate = [&](const DirectionModel& direction, bool duplex) {
    return 1 / (duplex && direction.duplex ? direction.duplex->per_byte : direction.per_byte).value.seconds;
  };
  double of_one = 0;
  if (way != from_gpus) of_one += rate(link.h2d, way == both_ways);
  if (way != to_gpus) of_one += rate(link.d2h, way == both_ways);
  return of_one * static_cast<double>(gpus);
}

/// The observed rate where it is less than `expected` without anything that all GPUs share; else the sum of their
/// links. All of them copy as much, so the slowest counts.
Interval<Bandwidth> shared_rate(const Interval<Bandwidth>& observed, double expected, double links) {
  if (observed.value.bytes_per_second < reaches_links * expected) return observed;
  return Interval<Bandwidth>::exact(Bandwidth{std::max(links, observed.value.bytes_per_second)});
}

bool is_whole(const Rates& rates) {
  return std::ranges::all_of(rates, [](const auto& rate) { return rate.has_value(); });
}

/// Whether two GPUs share more than any two do: they are slower than others, which the host's memory holds back alike.
class HeldPairs {
 public:
  explicit HeldPairs(const std::map<Pair, Rates>& rates) {
    for (const auto& [pair, of_pair] : rates) {
      if (!pair || !is_whole(of_pair)) continue;
      pairs_.emplace_back(*pair, of_pair);
      for (std::size_t way = 0; way < best_.size(); ++way)
        best_[way] = std::max(best_[way], of_pair[way]->value.bytes_per_second);
    }
  }

  /// Sets of GPUs that share something, by pairs that do.
  std::vector<std::vector<std::uint16_t>> sets(std::size_t gpus) const {
    std::vector<std::uint16_t> set_of(gpus);
    std::iota(set_of.begin(), set_of.end(), std::uint16_t{0});
    for (const auto& [pair, rates] : pairs_) {
      const std::uint16_t from = set_of.at(pair.second), to = set_of.at(pair.first);
      if (is_held(rates)) std::ranges::replace(set_of, from, to);
    }
    std::vector<std::vector<std::uint16_t>> sets(gpus);
    for (std::uint16_t gpu = 0; gpu < gpus; ++gpu) sets[set_of[gpu]].push_back(gpu);
    // A GPU with a slower link than the others is slow beside each of them, and they share nothing.
    std::erase_if(sets, [&](const auto& set) {
      return set.size() < 2 || set.size() == gpus || held_within(set) < set.size() * (set.size() - 1) / 2;
    });
    return sets;
  }

  /// What each of two GPUs gets at least beside another one.
  double least(Way way) const {
    double rate = best_[way];
    for (const auto& [pair, rates] : pairs_) rate = std::min(rate, rates[way]->value.bytes_per_second);
    return rate / 2;
  }
  bool empty() const { return pairs_.empty(); }

  /// The smallest rate of pairs of the set that are held back: all of them use what it shares.
  Interval<Bandwidth> rate_of(const std::vector<std::uint16_t>& set, Way way, const LinkModel& link) const {
    const auto has = [&](std::uint16_t gpu) { return std::ranges::find(set, gpu) != set.end(); };
    std::optional<Interval<Bandwidth>> least;
    for (const auto& [pair, rates] : pairs_)
      if (has(pair.first) && has(pair.second) && is_held(rates, way) &&
          (!least || rates[way]->value.bytes_per_second < least->value.bytes_per_second))
        least = rates[way];
    return least ? *least : Interval<Bandwidth>::exact(Bandwidth{sum_of_links(link, way, set.size())});
  }

 private:
  std::size_t held_within(const std::vector<std::uint16_t>& set) const {
    const auto has = [&](std::uint16_t gpu) { return std::ranges::find(set, gpu) != set.end(); };
    return static_cast<std::size_t>(std::ranges::count_if(
        pairs_, [&](const auto& one) { return has(one.first.first) && has(one.first.second) && is_held(one.second); }));
  }
  bool is_held(const Rates& rates) const {
    return is_held(rates, to_gpus) || is_held(rates, from_gpus) || is_held(rates, both_ways);
  }
  bool is_held(const Rates& rates, Way way) const {
    return rates[way]->value.bytes_per_second < reaches_links * best_[way];
  }

  std::vector<std::pair<std::pair<std::uint16_t, std::uint16_t>, Rates>> pairs_;
  std::array<double, rows_together.size()> best_{};
};

}  // namespace

std::vector<SharedRates> fit_shared(const Observations& observations, const LinkModel& link, std::size_t gpus) {
  const std::map<Pair, Rates> rates = observed_rates(observations, gpus);
  std::vector<SharedRates> shared;
  const HeldPairs pairs(rates);
  for (const auto& set : pairs.sets(gpus))
    shared.push_back({.gpus = set,
                      .h2d = pairs.rate_of(set, to_gpus, link),
                      .d2h = pairs.rate_of(set, from_gpus, link),
                      .both = pairs.rate_of(set, both_ways, link)});
  const auto all = rates.find(std::nullopt);
  if (all == rates.end() || !is_whole(all->second)) return {};
  const auto rate = [&](Way way) {
    const double links = sum_of_links(link, way, gpus);
    double slowest = links / static_cast<double>(gpus);
    if (!pairs.empty()) slowest = std::min(slowest, pairs.least(way));
    for (const SharedRates& set : shared) {
      const auto& of_set = way == to_gpus ? set.h2d : way == from_gpus ? set.d2h : set.both;
      slowest = std::min(slowest, of_set.value.bytes_per_second / static_cast<double>(set.gpus.size()));
    }
    return shared_rate(*all->second[way], slowest * static_cast<double>(gpus), links);
  };
  SharedRates of_all{
      .gpus = std::vector<std::uint16_t>(gpus), .h2d = rate(to_gpus), .d2h = rate(from_gpus), .both = rate(both_ways)};
  std::iota(of_all.gpus.begin(), of_all.gpus.end(), std::uint16_t{0});
  shared.push_back(std::move(of_all));
  return shared;
}

}  // namespace shiplap

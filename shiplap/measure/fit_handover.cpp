// Costs of waits between streams and engines, for the op that waits and for copies that move meanwhile.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "shiplap/measure/fit.hpp"

namespace shiplap {
namespace {

/// Time of one more link of a chain, by the number of streams.
std::map<double, Uncertain> chain_periods(const Observations& observations, std::string_view chain) {
  return periods(observations.of(chain), "count", [](const Observation& o) { return o.argument("streams"); });
}

std::optional<Uncertain> single(const Observations& observations, std::string_view primitive, const char* argument,
                                double value) {
  for (const Observation& o : observations.of(primitive))
    if (o.argument(argument) == value) return o.time;
  return std::nullopt;
}

/// Additional time of a chunk when kernels are in the copies' streams instead of a stream of their own, as a line over
/// the size.
std::optional<Slowdown> slowdown(Observations& observations, std::string_view primitive) {
  const auto chunk = periods(observations.of(primitive), "copies", [](const Observation& o) {
    return std::pair{o.argument("bytes"), o.argument("streams")};
  });
  std::vector<Equation> equations;
  for (const auto& [key, alone] : chunk) {
    const auto& [bytes, streams] = key;
    const auto several = chunk.upper_bound(key);
    if (streams == 1 && several != chunk.end() && several->first.first == bytes)
      equations.push_back({{1, bytes}, several->second - alone});
  }
  if (equations.size() < 2) return std::nullopt;
  const Solution line = least_squares(equations, observations.sources());
  // A negative coefficient is set to 0, and the other one is fitted again without it.
  const auto only = [&](std::size_t kept) {
    std::vector<Equation> reduced = equations;
    for (Equation& equation : reduced) equation.coefficients = {equation.coefficients[kept]};
    return least_squares(reduced, observations.sources()).unknowns[0];
  };
  const bool no_gap = line.unknowns[0].value() < 0;
  const bool no_slope = line.unknowns[1].value() < 0;
  return Slowdown{.gap = non_negative<Seconds>(no_slope ? only(0) : line.unknowns[0]),
                  .per_byte = non_negative<PerByte>(no_gap ? only(1) : line.unknowns[1])};
}

}  // namespace

std::optional<WaitingStreams> fit_waiting_streams(Observations& observations, Findings& findings) {
  const auto h2d = slowdown(observations, "waiting.pinned.h2d");
  const auto d2h = slowdown(observations, "waiting.pinned.d2h");
  const auto both = slowdown(observations, "waiting.pinned.both");
  // Without a second copy engine there are no duplex copies to measure, and the cost of the slower direction is assumed
  // for them.
  if (h2d && d2h)
    return WaitingStreams{
        .h2d = *h2d, .d2h = *d2h, .duplex = both.value_or(h2d->gap.value > d2h->gap.value ? *h2d : *d2h)};
  findings.missing.push_back(
      {"links[0].waiting_streams", "not measured: needs verified points of waiting.pinned.h2d and waiting.pinned.d2h"});
  return std::nullopt;
}

// A link of a chain consists of a copy, a kernel and two handovers.
std::optional<HandoverModel> fit_handovers(const Observations& observations, const LinkModel* link,
                                           Findings& findings) {
  const auto launch = single(observations, "launch.latency", "kernels", 1);
  HandoverModel model;
  bool complete = launch.has_value() && link != nullptr;
  for (const bool to_device : {true, false}) {
    const std::string_view way = to_device ? "h2d" : "d2h";
    const std::vector<Observation> points = observations.of(fmt::format("chain.{}", way));
    const double bytes = points.empty() ? 0 : points.front().argument("bytes");
    const auto copy = single(observations, fmt::format("copy.pinned.{}", way), "bytes", bytes);
    const auto chains = chain_periods(observations, fmt::format("chain.{}", way));
    complete = complete && copy.has_value() && chains.contains(1) && chains.contains(4);
    if (!complete) break;
    // Kernels that wait in several streams slow down the copies of a chain over these streams.
    const double slowdown =
        link->waiting_streams
            ? (to_device ? link->waiting_streams->h2d : link->waiting_streams->d2h).per_byte.value.seconds
            : 0;
    const Uncertain work = *copy + *launch;
    (to_device ? model.h2d_same_stream : model.d2h_same_stream) = non_negative<Seconds>((chains.at(1) - work) / 2);
    (to_device ? model.h2d_other_stream : model.d2h_other_stream) =
        non_negative<Seconds>((chains.at(4) - (work + Uncertain::exact(bytes * slowdown))) / 2);
  }
  if (complete) return model;
  findings.missing.push_back({"gpus[0].handovers",
                              "not measured: needs verified points of the chain primitives, launch.latency and single "
                              "copies of the chains' size"});
  return std::nullopt;
}

}  // namespace shiplap

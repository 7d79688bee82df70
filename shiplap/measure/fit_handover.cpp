// What it costs that queues and engines wait for each other: the op that waits, and the copies that move meanwhile.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "shiplap/measure/fit.hpp"

namespace shiplap {
namespace {

/// Time of one link more of a chain, by (queues, busy).
std::map<std::pair<double, double>, Uncertain> chain_periods(const Observations& observations, std::string_view chain) {
  return periods(observations.of(chain), "count", [](const Observation& o) {
    return std::pair{o.argument("queues"), o.argument("busy")};
  });
}

std::optional<Uncertain> single(const Observations& observations, std::string_view primitive, const char* argument,
                                double value) {
  for (const Observation& o : observations.of(primitive))
    if (o.argument(argument) == value) return o.time;
  return std::nullopt;
}

/// What a link of a chain takes without its handovers, alone and beside copies.
struct Work {
  Uncertain idle;
  Uncertain busy;
};

/// nullopt without the points of a chain alone; what was not measured beside copies is taken as it is alone.
std::optional<Handover> handover(const std::map<std::pair<double, double>, Uncertain>& chains, double queues,
                                 const Work& work, double handovers) {
  const auto alone = chains.find({queues, 0.0});
  if (alone == chains.end()) return std::nullopt;
  Handover result;
  result.idle = result.busy = non_negative<Seconds>((alone->second - work.idle) / handovers);
  if (const auto busy = chains.find({queues, 1.0}); busy != chains.end())
    result.busy = non_negative<Seconds>((busy->second - work.busy) / handovers);
  return result;
}

}  // namespace

// Only the last copy is watched by a single queue in both runs: n - 1 copies make the difference.
std::optional<WaitingQueues> fit_waiting_queues(const Observations& observations, const DirectionModel& to_device,
                                                const DirectionModel& to_host, Findings& findings) {
  std::map<std::pair<bool, bool>, Estimate> factors;  // by direction and load
  for (const bool h2d : {true, false}) {
    std::map<double, std::map<double, Observation>> by_load;
    for (const Observation& o : observations.of(h2d ? "waiting.pinned.h2d" : "waiting.pinned.d2h"))
      by_load[o.argument("busy")].insert_or_assign(o.argument("queues"), o);
    const DirectionModel& direction = h2d ? to_device : to_host;
    for (const auto& [busy, by_queues] : by_load) {
      if (by_queues.size() < 2 || by_queues.begin()->first != 1) continue;
      const Observation& several = by_queues.rbegin()->second;
      const double per_byte =
          busy > 0 && direction.duplex ? direction.duplex->per_byte.value.seconds : direction.per_byte.value.seconds;
      const Uncertain factor = (several.time - by_queues.begin()->second.time) /
                               ((several.argument("copies") - 1) * several.argument("bytes") * per_byte);
      const Estimate more = factor.estimate();
      factors[{h2d, busy > 0}] = {1 + std::max(0.0, more.value), 1 + std::max(0.0, more.low),
                                  1 + std::max(0.0, more.high)};
    }
  }
  if (!factors.contains({true, false}) || !factors.contains({false, false})) {
    findings.missing.push_back({"links[0].waiting_queues",
                                "not measured: needs verified points of waiting.pinned.h2d and waiting.pinned.d2h"});
    return std::nullopt;
  }
  // Without a second copy engine there is no other direction to move meanwhile.
  const auto factor = [&](bool h2d, bool busy) {
    return factors.contains({h2d, busy}) ? factors[{h2d, busy}] : factors[{h2d, false}];
  };
  return WaitingQueues{.h2d = factor(true, false),
                       .h2d_duplex = factor(true, true),
                       .d2h = factor(false, false),
                       .d2h_duplex = factor(false, true)};
}

// One link of a chain with copies is a copy, a kernel and two handovers; one of kernels a kernel and one.
std::optional<HandoverModel> fit_handovers(const Observations& observations, const LinkModel* link,
                                           Findings& findings) {
  const auto launch = single(observations, "launch.latency", "kernels", 1);
  HandoverModel model;
  bool complete = launch.has_value() && link != nullptr;
  const auto take = [&](Handover& into, const std::optional<Handover>& found) {
    complete = complete && found.has_value();
    if (found) into = *found;
  };
  if (complete) take(model.kernels, handover(chain_periods(observations, "chain.kernels"), 4, {*launch, *launch}, 1));
  for (const bool to_device : {true, false}) {
    const std::string_view way = to_device ? "h2d" : "d2h";
    const std::vector<Observation> points = observations.of(fmt::format("chain.{}", way));
    const double bytes = points.empty() ? 0 : points.front().argument("bytes");
    const auto copy = single(observations, fmt::format("copy.pinned.{}", way), "bytes", bytes);
    complete = complete && copy.has_value();
    if (!complete) break;
    const DirectionModel& direction = to_device ? link->h2d : link->d2h;
    const WaitingQueues* waiting = link->waiting_queues ? &*link->waiting_queues : nullptr;
    const double g = direction.per_byte.value.seconds;
    const double g2 = direction.duplex ? direction.duplex->per_byte.value.seconds : g;
    // The copies of a chain over several queues are slowed down by the kernels that wait in them.
    const auto work = [&](bool several) -> Work {
      const auto times = [&](Estimate WaitingQueues::*factor) {
        return several && waiting != nullptr ? (waiting->*factor).value : 1.0;
      };
      const double alone = times(to_device ? &WaitingQueues::h2d : &WaitingQueues::d2h);
      const double both = times(to_device ? &WaitingQueues::h2d_duplex : &WaitingQueues::d2h_duplex);
      return {.idle = *copy + *launch + Uncertain::exact(bytes * g * (alone - 1)),
              .busy = *copy + *launch + Uncertain::exact(bytes * (g2 * both - g))};
    };
    const auto chains = chain_periods(observations, fmt::format("chain.{}", way));
    take(to_device ? model.h2d_same_queue : model.d2h_same_queue, handover(chains, 1, work(false), 2));
    take(to_device ? model.h2d_other_queue : model.d2h_other_queue, handover(chains, 4, work(true), 2));
  }
  if (complete) return model;
  findings.missing.push_back({"gpus[0].handovers",
                              "not measured: needs verified points of the chain primitives, launch.latency and single "
                              "copies of the chains' size"});
  return std::nullopt;
}

}  // namespace shiplap

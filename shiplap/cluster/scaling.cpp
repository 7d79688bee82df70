#include "shiplap/cluster/scaling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "shiplap/cluster/share.hpp"
#include "shiplap/cluster/share_job.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/core/formats.hpp"
#include "shiplap/core/record.hpp"
#include "shiplap/plan/ranking_json.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/workload/array_place.hpp"

namespace shiplap {
namespace {

/// 1, 2, 4, … and `nodes`.
std::vector<std::uint32_t> numbers_up_to(std::uint32_t nodes) {
  std::vector<std::uint32_t> result;
  for (std::uint64_t n = 1; n < nodes; n *= 2) result.push_back(static_cast<std::uint32_t>(n));
  result.push_back(nodes);
  return result;
}

/// The items of a node for each number of nodes, by increasing size.
std::vector<std::uint64_t> equal_shares(const Job& job, const std::vector<std::uint32_t>& numbers) {
  std::vector<std::uint64_t> sizes;
  for (const std::uint32_t n : numbers) {
    const std::uint64_t unit = job.items / job.items_per_block >= n ? job.items_per_block : 1;
    const std::uint64_t units = (job.items + unit - 1) / unit;
    sizes.push_back(std::min(job.items, (units + n - 1) / n * unit));
  }
  std::ranges::sort(sizes);
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

Bytes most_received(std::span<const HaloMessage> messages, std::size_t ranks) {
  std::vector<Bytes> received(ranks);
  for (const HaloMessage& message : messages) received[message.to] += message.bytes.length;
  return *std::ranges::max_element(received);
}

void require_network(const Job& job, const std::optional<Network>& network, Bytes halo) {
  if (network && (!(network->bandwidth.bytes_per_second > 0) || !std::isfinite(network->bandwidth.bytes_per_second) ||
                  network->latency < Seconds{0} || !std::isfinite(network->latency.count())))
    throw UsageError("the network needs a bandwidth that is more than 0 and a latency that is not negative");
  if (!network && halo.count > 0)
    throw UsageError(fmt::format(
        "{}: a node receives up to {} of halos before a run, and nothing is known of the network: state its "
        "`network_bandwidth` and `network_latency`",
        job.name, to_string(halo)));
}

/// Bytes of the arrays that every node copies whole.
Bytes resident_bytes(const Job& job) {
  Bytes sum;
  for (const Array& array : job.arrays)
    if (array.role == Role::broadcast && is_copied_whole(array)) sum += array.size;
  return sum;
}

/// The time of the copies of broadcast arrays, at the rate at which the arrays that are cut are copied.
Seconds time_of_resident_arrays(const Plan& plan) {
  const Bytes cut = std::max(bytes_in(plan.job), bytes_out(plan.job));
  if (cut.count == 0) return Seconds{0};
  return plan.ranking.ideal_overlap.copies * (in_bytes(resident_bytes(plan.job)) / in_bytes(cut));
}

/// The largest part of the time above that of perfect scaling. `perfect` is that time, and `even` the time of a node if
/// all nodes took equally long.
std::string limit_of_scale(const ScaledRun& run, const Plan& plan, Seconds perfect, Seconds even) {
  constexpr double little = 0.05;
  if (run.idle > 0) return fmt::format("too few items: {} of {} nodes get none", run.idle, run.nodes);
  if (run.total() - perfect <= run.total() * little) return plan.ranking.bound.set_by() + " of each node";
  const Seconds uneven = std::max(Seconds{0}, run.node - even);
  const Seconds fixed = std::max(Seconds{0}, run.node - uneven - perfect);
  if (run.exchange >= std::max(uneven, fixed)) return "exchange of halos";
  if (uneven >= fixed) return "shares of unequal size";
  const Seconds resident = time_of_resident_arrays(plan) * (1 - 1.0 / run.nodes);
  return resident >= fixed / 2 ? "broadcast arrays, which every node copies whole" : "latencies, filling and draining";
}

/// The job on `nodes` nodes with these times.
ScaledRun run_on(const Node& node, const Job& job, const NodeTimes& times, std::uint32_t nodes,
                 const PlanOptions& options, Seconds perfect, const Shares& shares, Seconds exchange) {
  ScaledRun run;
  run.nodes = nodes;
  run.exchange = exchange;
  run.idle = static_cast<std::uint32_t>(std::ranges::count(shares.items, 0u, &ItemRange::count));
  const auto slowest = static_cast<std::size_t>(std::ranges::max_element(shares.predicted) - shares.predicted.begin());
  run.items = shares.items[slowest].count;
  const Plan planned = plan(node, job_of_share(job, shares.items[slowest]), options);
  run.choice = planned.chosen.choice;
  run.node = planned.chosen.predicted.value;
  const Seconds even = times.at(items_before(job, job.items) / nodes);
  run.limit = limit_of_scale(run, planned, perfect > Seconds{0} ? perfect / nodes : run.total(), even);
  return run;
}

}  // namespace

Scaling predict_scaling(const Node& node, const Job& given, std::uint32_t nodes, const std::optional<Network>& network,
                        const PlanOptions& given_options) {
  if (nodes == 0) throw UsageError("`nodes` 0: a job runs on at least 1");
  require_valid(given);
  PlanOptions options = given_options;
  options.race = Seconds{0};
  const Job job = with_kernel_cost(node, given, nodes, options);
  Scaling result{.job = job.name, .profile = profile_of(node).name};
  const std::vector<std::uint32_t> numbers = numbers_up_to(nodes);
  const NodeTimes times = node_times_of(node, job, equal_shares(job, numbers), options);
  std::vector<std::pair<Shares, std::vector<HaloMessage>>> cuts;
  for (const std::uint32_t n : numbers) {
    cuts.emplace_back();
    try {
      cuts.back().first = share(job, std::vector<NodeTimes>(n, times));
    } catch (const Unsupported& error) {
      result.refused.push_back({n, error.what()});
      continue;
    }
    cuts.back().second = halo_messages(job, cuts.back().first.items);
    result.largest_halo = std::max(result.largest_halo, most_received(cuts.back().second, n));
  }
  require_network(job, network, result.largest_halo);
  if (result.largest_halo.count > 0) result.network = network;
  Seconds perfect{0};  // time of the fewest nodes, times their number
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto& [shares, messages] = cuts[i];
    if (shares.items.empty()) continue;
    const Seconds exchange = network ? longest_exchange(messages, numbers[i], *network) : Seconds{0};
    ScaledRun run = run_on(node, job, times, numbers[i], options, perfect, shares, exchange);
    if (perfect == Seconds{0}) perfect = run.total() * numbers[i];
    run.speed_up = perfect / run.total();
    run.efficiency = run.speed_up / numbers[i];
    result.runs.push_back(std::move(run));
  }
  if (result.runs.empty()) throw Unsupported(result.refused.back().reason);
  return result;
}

template <class V, Like<ScaledRun> R>
void describe(V& v, R& run) {
  v.field("nodes", run.nodes, "number of nodes", one_or_more<std::uint32_t>);
  v.field("items", run.items, "items of the node that takes longest");
  v.field("idle", run.idle, "nodes that get no items");
  v.field("choice", run.choice, "what the plan of this node chose");
  v.field("node", run.node, "predicted time of this node for its share, by simulation");
  v.field("exchange", run.exchange, "time of the exchange of halos before the run");
  v.derived("total", "time of the exchange and of the slowest node", [&] { return run.total(); });
  v.field("speed_up", run.speed_up, "over the fewest nodes that can do the job, times their number", InUnit{"1"});
  v.field("efficiency", run.efficiency, "speed-up as a fraction of the number of nodes", InUnit{"1"});
  v.field("limit", run.limit, "what keeps the run from being faster, as a phrase");
}
template <class V, Like<RefusedScale> R>
void describe(V& v, R& refused) {
  v.field("nodes", refused.nodes, "number of nodes", one_or_more<std::uint32_t>);
  v.field("reason", refused.reason, "why they cannot do the job");
}
template <class V, Like<Network> R>
void describe(V& v, R& network) {
  v.field("bandwidth", network.bandwidth, "rate of large messages from one node to another, in each direction");
  v.field("latency", network.latency, "time of a small message");
  v.field("origin", network.origin, "how the figures are known: stated or measured");
}
template <class V, Like<Scaling> R>
void describe(V& v, R& scaling) {
  v.header(formats::scaling);
  v.field("job", scaling.job, "name of the job");
  v.field("profile", scaling.profile, "name of the profile that every node has");
  v.field("runs", scaling.runs, "by the number of nodes", ListOf<ScaledRun>{.least = 1});
  v.field("refused", scaling.refused, "numbers of nodes that cannot do the job");
  v.field("largest_halo", scaling.largest_halo, "most bytes that a node receives before a run on any number of nodes");
  v.field("network", scaling.network, "the network that carries the halos; null where there are none");
}

Json to_json(const Scaling& scaling) { return write_record(scaling); }
void from_json(const JsonReader& json, Scaling& scaling) { read_record(json, scaling); }
Json json_schema(const Scaling&) {
  return document_schema<Scaling>("shiplap scaling",
                                  "Predicted strong scaling, as `shiplap plan --nodes N --json` prints it.");
}

}  // namespace shiplap

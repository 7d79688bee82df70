#include "shiplap/plan/relays.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "shiplap/plan/ranking.hpp"
#include "shiplap/profile/more_gpus.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/sim/fair_rates.hpp"
#include "shiplap/sim/simulate.hpp"
#include "shiplap/strategy/relayed.hpp"
#include "shiplap/workload/array_place.hpp"

namespace shiplap {
namespace {

/// Sizes of pieces. On H200s a piece of 1 MiB takes 19 µs over the link, several times what starts it.
constexpr Bytes pieces[]{1_MiB, 2_MiB, 4_MiB, 8_MiB};

/// Copies of more pieces than this are tried in pieces of the largest size alone, because the time of a simulation
/// grows with their number.
constexpr std::uint64_t most_pieces = 512;

bool knows_peer(const Profile& profile, std::uint16_t from, std::uint16_t to) {
  return std::ranges::any_of(
      profile.peers, [&](const PeerModel& peer) { return peer.from == from && peer.to == to && !peer.direct.empty(); });
}

/// Bytes per second over the link of the GPU in the directions of the job, all of them at once.
double link_rate(const RelayedCopies& copies, const Profile& profile, std::uint16_t gpu) {
  const LinkModel& link = profile.link(gpu);
  double rate = 0;
  if (copies.in) rate += 1 / link.h2d.per_byte.value.seconds;
  if (copies.out) rate += 1 / link.d2h.per_byte.value.seconds;
  return rate;
}

/// Bytes per second over the link of each of these GPUs while all of them copy: the max-min fair rates under the limits
/// that they share (Profile::shared).
std::vector<double> rates_together(const RelayedCopies& copies, const Profile& profile,
                                   const std::vector<std::uint16_t>& gpus) {
  std::vector<double> limits;
  for (const std::uint16_t gpu : gpus) limits.push_back(link_rate(copies, profile, gpu));
  std::vector<sim::Capacity> capacities;
  for (const SharedRates& shared : profile.shared) {
    const Interval<Bandwidth>& rate = copies.in && copies.out ? shared.both : copies.in ? shared.h2d : shared.d2h;
    sim::Capacity& capacity = capacities.emplace_back(sim::Capacity{.rate = rate.value.bytes_per_second});
    for (std::size_t i = 0; i < gpus.size(); ++i)
      if (std::ranges::find(shared.gpus, gpus[i]) != shared.gpus.end()) capacity.users.push_back(i);
  }
  return sim::fair_rates(limits, capacities);
}

/// What these GPUs reach together, summed over what the job may do at a time: copies in each direction, and duplex.
double reached(const RelayedCopies& copies, const Profile& profile, const std::vector<std::uint16_t>& gpus) {
  double sum = 0;
  for (const RelayedCopies& at_a_time : {RelayedCopies{.in = true, .out = false, .gpu = copies.gpu},
                                         RelayedCopies{.in = false, .out = true, .gpu = copies.gpu}, copies}) {
    if ((at_a_time.in && !copies.in) || (at_a_time.out && !copies.out)) continue;
    const std::vector<double> rates = rates_together(at_a_time, profile, gpus);
    sum += std::reduce(rates.begin(), rates.end());
  }
  return sum;
}

bool can_relay(const RelayedCopies& copies, const Profile& profile, std::uint16_t gpu,
               std::optional<double> max_slowdown) {
  if (gpu == copies.gpu || gpu >= profile.gpus.size() || profile.find_link(gpu) == nullptr) return false;
  if (copies.in && !knows_peer(profile, gpu, copies.gpu)) return false;
  if (copies.out && !knows_peer(profile, copies.gpu, gpu)) return false;
  return !max_slowdown || slowdown_of_relaying(copies, profile, gpu).value_or(1) <= *max_slowdown;
}

}  // namespace

std::uint32_t gpus_of(const SearchSpace& space) {
  std::uint32_t gpus = space.gpus;
  for (const std::uint16_t gpu : space.relays) gpus = std::max(gpus, gpu + 1u);
  return gpus;
}

RelayedCopies copies_of(const Job& job) {
  return {.in = std::ranges::any_of(job.arrays, is_copied_in), .out = std::ranges::any_of(job.arrays, is_copied_out)};
}

std::optional<double> slowdown_of_relaying(const RelayedCopies& copies, const Profile& profile,
                                           std::uint16_t relaying) {
  const GpuModel model = with_figures_of_first(profile, relaying);
  if (!model.copy_bandwidth || profile.find_link(relaying) == nullptr) return std::nullopt;
  return link_rate(copies, profile, relaying) / model.copy_bandwidth->value.bytes_per_second;
}

std::vector<Relay> relays_worth_trying(const RelayedCopies& copies, const Profile& profile,
                                       std::span<const std::uint16_t> relays, std::optional<double> max_slowdown) {
  std::vector<Relay> all;
  if (relays.empty() || profile.find_link(copies.gpu) == nullptr || !(copies.in || copies.out)) return all;
  std::vector<std::uint16_t> gpus;
  for (const std::uint16_t gpu : relays)
    if (can_relay(copies, profile, gpu, max_slowdown)) gpus.push_back(gpu);
  // The next GPU is the one with which all of them reach the most. One that shares its uplink with others brings
  // nothing.
  constexpr double least_gain = 1.02;
  std::vector<std::uint16_t> used{copies.gpu};
  double most = reached(copies, profile, used);
  while (!gpus.empty()) {
    std::vector<double> with;
    for (const std::uint16_t gpu : gpus) {
      used.push_back(gpu);
      with.push_back(reached(copies, profile, used));
      used.pop_back();
    }
    const auto best = std::ranges::max_element(with);
    if (*best < least_gain * most) break;
    most = *best;
    const auto at = gpus.begin() + (best - with.begin());
    used.push_back(*at);
    gpus.erase(at);
    const std::vector<double> rates = rates_together(copies, profile, used);
    Relay relay;
    for (std::size_t i = 1; i < used.size(); ++i)
      relay.through.push_back({used[i], rates[i] / std::reduce(rates.begin(), rates.end())});
    for (const Bytes piece : pieces) {
      relay.piece = piece;
      if (piece * relay_slots <= most_relay_ring) all.push_back(relay);
    }
  }
  return all;
}

Relay with_shares_times(Relay relay, double factor) {
  double sum = 0;
  for (const RelayShare& one : relay.through) sum += one.share * factor;
  if (!(sum < 1)) return relay;
  for (RelayShare& one : relay.through) one.share *= factor;
  return relay;
}

Schedule schedule_of_copy(Bytes size, const RelayedCopies& copies, const Relay& relay) {
  Schedule schedule;
  const BufferId host = schedule.add_buffer(
      {.name = "host", .place = Place::host(any_numa_node), .memory = MemoryKind::pinned, .size = size});
  const BufferId gpu =
      schedule.add_buffer({.name = "gpu", .place = Place::gpu(copies.gpu), .memory = MemoryKind::device, .size = size});
  const Region there{host, Bytes{}, size};
  const Region here{gpu, Bytes{}, size};
  schedule.add({.what = copies.in ? Copy{there, here} : Copy{here, there},
                .stream = schedule.add_stream("own link", Place::gpu(copies.gpu)),
                .agent = AgentId{0},
                .after = {}});
  return relayed(std::move(schedule), relay);
}

Relay fastest_relay(Bytes size, const RelayedCopies& copies, const Profile& profile,
                    std::span<const std::uint16_t> relays, std::optional<double> max_slowdown) {
  const auto time_by = [&](const Relay& relay) {
    return simulate(schedule_of_copy(size, copies, relay), profile).timeline.makespan;
  };
  Relay best;
  Seconds least = time_by(best);
  const Seconds direct = least;
  const auto attempt = [&](const Relay& relay) {
    const Seconds time = time_by(relay);
    if (time >= least || !pays(time, direct)) return;
    least = time;
    best = relay;
  };
  for (const Relay& relay : relays_worth_trying(copies, profile, relays, max_slowdown))
    if (size / relay.piece.count < Bytes{most_pieces} || relay.piece == pieces[std::size(pieces) - 1]) attempt(relay);
  if (const Relay found = best; !found.through.empty())
    for (const double factor : share_factors) attempt(with_shares_times(found, factor));
  return best;
}

Profile with_relayed_link(const Profile& profile, std::span<const std::uint16_t> relays) {
  constexpr RelayedCopies copies{.in = true};
  constexpr Bytes large = 64_MiB;
  constexpr Bytes larger = 512_MiB;
  const auto time_of = [&](Bytes size) {
    const Relay relay = fastest_relay(size, copies, profile, relays, {});
    return std::pair{simulate(schedule_of_copy(size, copies, {}), profile).timeline.makespan,
                     simulate(schedule_of_copy(size, copies, relay), profile).timeline.makespan};
  };
  const auto [own, together] = time_of(large);
  const auto [own_of_larger, together_of_larger] = time_of(larger);
  const double faster = (own_of_larger - own) / (together_of_larger - together);
  Profile result = profile;
  for (LinkModel& link : result.links) {
    if (link.gpu != 0) continue;
    for (Interval<PerByte>* rate : {&link.h2d.per_byte, link.h2d.duplex ? &link.h2d.duplex->per_byte : nullptr})
      if (rate != nullptr)
        *rate = {PerByte{rate->value.seconds / faster}, PerByte{rate->low.seconds / faster},
                 PerByte{rate->high.seconds / faster}};
  }
  return result;
}

bool pays(Seconds relayed, Seconds direct) {
  constexpr double least_share = 0.1;
  constexpr Seconds least = microseconds(20);
  return direct - relayed > std::max(direct * least_share, least);
}

std::string cost_of_relaying(const RelayedCopies& copies, const Profile& profile, const Relay& relay) {
  std::vector<std::string> gpus;
  double most = 0;
  for (const RelayShare& one : relay.through) {
    gpus.push_back(std::to_string(one.gpu));
    most = std::max(most, slowdown_of_relaying(copies, profile, one.gpu).value_or(0));
  }
  if (gpus.empty()) return {};
  const std::uint64_t directions = (copies.in ? 1u : 0u) + (copies.out ? 1u : 0u);
  return fmt::format(
      "copies also go over the link{} of GPU {}, which gives {} of its memory to them; a kernel there that waits for "
      "its memory all the time takes up to {:.2g} % longer meanwhile",
      gpus.size() == 1 ? "" : "s", fmt::join(gpus, " and GPU "), to_string(relay.piece * relay_slots * directions),
      most * 100);
}

}  // namespace shiplap

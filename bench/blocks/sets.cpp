#include "bench/blocks/sets.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "bench/blocks/neighbours.hpp"
#include "shiplap/core/statistics.hpp"
#include "shiplap/device/execution.hpp"
#include "shiplap/plan/mover_choice.hpp"
#include "shiplap/sim/simulate.hpp"

namespace shiplap::bench {
namespace {

constexpr Bytes pool_size = 512_MiB;
constexpr Bytes largest_set = 64_MiB;
constexpr Bytes memory_of_neighbour = 256_MiB;
constexpr unsigned rounds_of_sweep = 5;
constexpr unsigned rounds_of_final = 21;
constexpr std::size_t in_final = 3;
constexpr std::uint32_t rounds_of_computing = 2000;
constexpr Seconds shortest_neighbour = milliseconds(3);

/// One of the drawn sets.
Set draw(std::mt19937_64& random) {
  const auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  Set set;
  const double block = std::exp2(uniform(8, 22));  // 256 B to 4 MiB
  set.block = Bytes{std::max<std::uint64_t>(1, static_cast<std::uint64_t>(block / 16)) * 16};
  const double most = std::min(65536.0, in_bytes(largest_set) / in_bytes(set.block));
  set.blocks = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::exp2(uniform(0, std::log2(most)))));
  set.to_device = random() % 2 == 0;
  set.sorted = random() % 3 == 0;
  set.neighbour = static_cast<Neighbour>(random() % 3);
  if (set.neighbour != Neighbour::none && random() % 2 == 0) set.max_slowdown = random() % 2 == 0 ? 0.05 : 0.02;
  return set;
}

double loss(Seconds with, Seconds without) { return with / without - 1; }

Seconds median_of(std::vector<double> seconds) { return Seconds{median(seconds)}; }

}  // namespace

class SetRuns {
 public:
  SetRuns(MeasurableDevice& device, const Profile& profile)
      : device_(device),
        profile_(profile),
        pool_(device.allocate(Place::host(), MemoryKind::pinned, pool_size)),
        packed_(device.allocate(Place::gpu(), MemoryKind::device, largest_set)),
        scratch_(device.allocate(Place::gpu(), MemoryKind::device, memory_of_neighbour)) {
    device.fill(pool_, 1);
    for (const Neighbour kind : {Neighbour::compute, Neighbour::memory}) alone_[kind] = time_of_neighbour(kind);
  }

  SetResult run(const Set& set, std::mt19937_64& random) {
    choose_indices(set, random);
    SetResult result{.set = set, .movers = {}};
    const BlockSet shape{.block = set.block, .blocks = set.blocks, .to_device = set.to_device};
    const MoverLimits limits{.max_slowdown = set.max_slowdown,
                             .memory_bound = set.neighbour == Neighbour::compute ? 0.0 : 1.0};
    for (const MoverTime& known : mover_times(profile_, 0, 0, shape, {.memory_bound = limits.memory_bound})) {
      const Schedule alone = schedule(set, known.mover, 0);
      result.movers.push_back({.mover = known.mover,
                               .predicted = simulate(alone, profile_).timeline.makespan,
                               .predicted_loss = known.slowdown});
    }
    const Mover chosen = choose_mover(profile_, 0, 0, shape, limits).best.mover;
    sweep(set, result);
    result.chosen = find(result, chosen);
    if (set.neighbour != Neighbour::none)
      for (MoverResult& one : result.movers) one.loss = loss_by(set, one.mover, one.time);
    decide(set, result);
    return result;
  }

 private:
  static std::size_t find(const SetResult& result, const Mover& mover) {
    const auto found = std::ranges::find(result.movers, mover, &MoverResult::mover);
    return static_cast<std::size_t>(found - result.movers.begin());
  }

  void choose_indices(const Set& set, std::mt19937_64& random) {
    indices_.resize(pool_size.count / set.block.count);
    std::iota(indices_.begin(), indices_.end(), 0u);
    std::shuffle(indices_.begin(), indices_.end(), random);
    indices_.resize(set.blocks);
    if (set.sorted) std::ranges::sort(indices_);
  }

  // Stream 0 moves the blocks `moves` times (once for 0), stream 1 has the neighbours.
  Schedule schedule(const Set& set, const Mover& mover, unsigned neighbours, unsigned moves = 1) const {
    Schedule s;
    const BufferId pool =
        s.add_buffer({.name = "pool", .place = Place::host(), .memory = MemoryKind::pinned, .size = pool_size});
    const BufferId packed =
        s.add_buffer({.name = "packed", .place = Place::gpu(), .memory = MemoryKind::device, .size = largest_set});
    const StreamId mover_stream = s.add_stream("mover");
    s.streams[mover_stream.index()].urgent = true;
    const StreamId neighbour_stream = s.add_stream("neighbour");
    const KernelId kernel = s.add_kernel("neighbour");
    const BlockListId list = s.add_list({.name = "list", .block = set.block, .pitch = set.block, .count = set.blocks});
    for (unsigned i = 0; i < neighbours; ++i)
      s.add({.what = Kernel{.kernel = kernel, .items = 1, .operands = {}, .flows = {}},
             .stream = neighbour_stream,
             .after = {}});
    for (unsigned i = 0; i < moves; ++i)
      s.add({.what = BlockCopy{.list = list,
                               .count = set.blocks,
                               .gather = set.to_device,
                               .pool = {pool, Bytes{0}, pool_size},
                               .packed = {packed, Bytes{0}, set.block * set.blocks},
                               .mover = mover},
             .stream = mover_stream,
             .after = {}});
    return s;
  }

  std::unique_ptr<Execution> prepare(const Schedule& s, Neighbour neighbour) {
    KernelBinding binding{.host = [](const Launch&) {},
                          .cuda = [this, neighbour](const Launch& l) { launch(neighbour, l.stream); }};
    return device_.prepare(s, {.buffers = {pool_.data(), packed_.data()}, .kernels = {binding}, .lists = {indices_}});
  }

  void launch(Neighbour kind, void* stream) const {
    if (kind == Neighbour::memory)
      launch_memory_bound(scratch_.data(), memory_of_neighbour, stream);
    else
      launch_computing(scratch_.data(), rounds_of_computing, stream);
  }

  Seconds time_of_neighbour(Neighbour kind) {
    indices_ = {0};
    const Set set{.block = 256_B, .blocks = 1};
    Schedule s = schedule(set, {}, 4, 0);
    const auto execution = prepare(s, kind);
    std::vector<double> seconds;
    for (unsigned i = 0; i < 13; ++i) {
      const double time = execution->run({.hold = true, .timed = StreamId{1}}).timeline.makespan.count();
      if (i >= 3) seconds.push_back(time);
    }
    return median_of(seconds) / 4;
  }

  /// Number of neighbours that outlast a move of this time.
  unsigned neighbours_for(const Set& set, Seconds time) const {
    if (set.neighbour == Neighbour::none) return 0;
    return 2 + static_cast<unsigned>(std::max(time, shortest_neighbour) * 2.0 / alone_.at(set.neighbour));
  }

  void sweep(const Set& set, SetResult& result) {
    std::vector<std::unique_ptr<Execution>> executions;
    for (const MoverResult& one : result.movers)
      executions.push_back(prepare(schedule(set, one.mover, neighbours_for(set, one.predicted)), set.neighbour));
    const auto times = in_turn(executions, rounds_of_sweep);
    for (std::size_t i = 0; i < times.size(); ++i) result.movers[i].time = median_of(times[i]);
  }

  static std::vector<std::vector<double>> in_turn(const std::vector<std::unique_ptr<Execution>>& executions,
                                                  unsigned rounds) {
    std::vector<std::vector<double>> times(executions.size());
    for (unsigned round = 0; round <= rounds; ++round)
      for (std::size_t i = 0; i < executions.size(); ++i) {
        const double time = executions[i]->run({.timed = StreamId{0}}).timeline.makespan.count();
        if (round > 0) times[i].push_back(time);
      }
    return times;
  }

  /// The loss of the neighbour while the mover moves sets one after the other.
  double loss_by(const Set& set, const Mover& mover, Seconds time) {
    const Seconds alone = alone_.at(set.neighbour);
    const auto neighbours = static_cast<unsigned>(std::max(2.0, std::ceil(shortest_neighbour / alone)));
    const double busy = neighbours * alone / time * 1.6;
    const auto moves = static_cast<unsigned>(std::clamp(busy, 2.0, 400.0));
    const auto execution = prepare(schedule(set, mover, neighbours, moves), set.neighbour);
    const auto base = prepare(schedule(set, mover, neighbours, 0), set.neighbour);
    std::vector<double> with;
    std::vector<double> without;
    for (unsigned i = 0; i < 6; ++i) {
      const double a = base->run({.timed = StreamId{1}}).timeline.makespan.count();
      const double b = execution->run({.timed = StreamId{1}}).timeline.makespan.count();
      if (i == 0) continue;
      without.push_back(a);
      with.push_back(b);
    }
    return loss(median_of(with), median_of(without));
  }

  /// Measures the chosen mover again with the best ones of the sweep that keep the limit.
  void decide(const Set& set, SetResult& result) {
    std::vector<std::size_t> order(result.movers.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto keeps = [&](std::size_t i) { return !set.max_slowdown || result.movers[i].loss <= *set.max_slowdown; };
    std::erase_if(order, [&](std::size_t i) { return !keeps(i); });
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return result.movers[i].time; });
    if (order.size() > in_final) order.resize(in_final);
    if (std::ranges::find(order, result.chosen) == order.end()) order.push_back(result.chosen);
    std::vector<std::unique_ptr<Execution>> executions;
    for (const std::size_t i : order)
      executions.push_back(
          prepare(schedule(set, result.movers[i].mover, neighbours_for(set, result.movers[i].time)), set.neighbour));
    const auto times = in_turn(executions, rounds_of_final);
    result.best = result.chosen;
    for (std::size_t k = 0; k < order.size(); ++k) {
      MoverResult& one = result.movers[order[k]];
      one.time = median_of(times[k]);
      if (keeps(order[k]) && (one.time < result.movers[result.best].time || !keeps(result.best)))
        result.best = order[k];
    }
    const double ratio = result.movers[result.chosen].time / result.movers[result.best].time;
    result.regret = std::max(0.0, ratio - 1);
  }

  MeasurableDevice& device_;
  const Profile& profile_;
  Memory pool_;
  Memory packed_;
  Memory scratch_;
  std::map<Neighbour, Seconds> alone_;
  std::vector<std::uint32_t> indices_;
};

std::vector<SetResult> run_sets(MeasurableDevice& device, const Profile& profile, unsigned count, std::uint64_t seed,
                                const std::function<void(const SetResult&)>& done) {
  std::mt19937_64 random(seed);
  SetRuns runs(device, profile);
  std::vector<SetResult> results;
  for (unsigned i = 0; i < count; ++i) {
    results.push_back(runs.run(draw(random), random));
    done(results.back());
  }
  return results;
}

}  // namespace shiplap::bench

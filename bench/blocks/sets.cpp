#include "bench/blocks/sets.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "bench/blocks/neighbours.hpp"
#include "shiplap/core/statistics.hpp"
#include "shiplap/device/bindings.hpp"
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
  set.aligned = random() % 4 != 0;
  const std::uint64_t unit = set.aligned ? 256 : 16;
  set.block = Bytes{std::max<std::uint64_t>(256 / unit, static_cast<std::uint64_t>(block) / unit) * unit};
  const double most = std::min(65536.0, in_bytes(largest_set) / in_bytes(set.block));
  set.blocks = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::exp2(uniform(0, std::log2(most)))));
  set.to_device = random() % 2 == 0;
  set.sorted = random() % 3 == 0;
  set.seed = random();
  set.neighbour = static_cast<Beside>(random() % 3);
  if (set.neighbour != Beside::none && random() % 2 == 0) set.max_slowdown = random() % 2 == 0 ? 0.05 : 0.02;
  return set;
}

double loss(Seconds with, Seconds without) { return with / without - 1; }

void keep_shorter(Seconds& kept, Seconds time) { kept = kept > Seconds{0} ? std::min(kept, time) : time; }

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
    for (const Beside kind : {Beside::compute, Beside::memory}) alone_[kind] = time_of_neighbour(kind);
  }

  /// The times of all movers, in the order of the profile's choice.
  SetResult sweep(const Set& set) {
    choose_indices(set);
    SetResult result{.set = set, .movers = {}};
    const BlockSet shape{.block = set.block, .blocks = set.blocks, .to_device = set.to_device};
    const MoverLimits limits{.max_slowdown = set.max_slowdown, .neighbour = neighbour_of(set)};
    for (const MoverTime& known : mover_times(profile_, 0, any_numa_node, shape, {.neighbour = limits.neighbour}))
      result.movers.push_back(
          {.mover = known.mover,
           .predicted = limits.neighbour ? known.time : simulate(moving(set, known.mover), profile_).timeline.makespan,
           .predicted_loss = known.slowdown});
    if (const auto known = mover_times(profile_, 0, any_numa_node, shape, limits); !known.empty())
      result.chosen = find(result, known.front().mover);
    time_movers(set, result);
    return result;
  }
  /// Times the movers again, much later: a disturbance by other programs is seldom there both times, and the shorter
  /// time is kept. Then finds the best mover.
  void finish(SetResult& result) {
    const Set& set = result.set;
    choose_indices(set);
    time_movers(set, result);
    if (set.neighbour != Beside::none)
      for (MoverResult& one : result.movers) one.loss = loss_by(set, one.mover, one.time);
    decide(set, result);
  }

 private:
  static std::size_t find(const SetResult& result, const Mover& mover) {
    const auto found = std::ranges::find(result.movers, mover, &MoverResult::mover);
    return static_cast<std::size_t>(found - result.movers.begin());
  }

  std::optional<Neighbour> neighbour_of(const Set& set) const {
    if (set.neighbour == Beside::none) return std::nullopt;
    const Seconds time = alone_.at(set.neighbour);
    if (set.neighbour == Beside::compute)
      return Neighbour{.memory_bound = 0, .thread_block = time / waves_of_computing()};
    return Neighbour{.memory_bound = 1,
                     .thread_block = time / (passes_of_memory_bound * waves_of_memory_bound(memory_of_neighbour))};
  }

  void choose_indices(const Set& set) {
    std::mt19937_64 random(set.seed);
    indices_.resize(pool_size.count / set.block.count);
    std::iota(indices_.begin(), indices_.end(), 0u);
    std::shuffle(indices_.begin(), indices_.end(), random);
    indices_.resize(set.blocks);
    if (set.sorted) std::ranges::sort(indices_);
  }

  /// A schedule that moves the blocks `moves` times.
  static Schedule moving(const Set& set, const Mover& mover, unsigned moves = 1) {
    Schedule s;
    const BufferId pool =
        s.add_buffer({.name = "pool", .place = Place::host(), .memory = MemoryKind::pinned, .size = pool_size});
    const BufferId packed =
        s.add_buffer({.name = "packed", .place = Place::gpu(), .memory = MemoryKind::device, .size = largest_set});
    const StreamId stream = s.add_stream("mover");
    s.streams[stream.index()].urgent = mover.kind == Mover::Kind::kernel;
    const BlockListId list = s.add_list({.name = "list", .block = set.block, .pitch = set.block, .count = set.blocks});
    for (unsigned i = 0; i < moves; ++i)
      s.add({.what = BlockCopy{.list = list,
                               .count = set.blocks,
                               .gather = set.to_device,
                               .pool = {pool, Bytes{0}, pool_size},
                               .packed = {packed, Bytes{0}, set.block * set.blocks},
                               .mover = mover},
             .stream = stream,
             .after = {}});
    return s;
  }

  std::unique_ptr<Execution> prepare(const Schedule& s) {
    return device_.prepare(s, {.buffers = {pool_.data(), packed_.data()}, .kernels = {}, .lists = {indices_}});
  }

  /// Kernels that take about `time` alone; null without a neighbour.
  std::unique_ptr<Execution> neighbours(Beside kind, Seconds time) {
    if (kind == Beside::none) return nullptr;
    Schedule s;
    const StreamId stream = s.add_stream("neighbour");
    const KernelId kernel = s.add_kernel("neighbour");
    const auto known = alone_.find(kind);
    const unsigned count =
        known == alone_.end() ? 4 : std::max(2u, static_cast<unsigned>(std::ceil(time / known->second)));
    for (unsigned i = 0; i < count; ++i)
      s.add({.what = Kernel{.kernel = kernel, .items = 1, .operands = {}, .flows = {}}, .stream = stream, .after = {}});
    const KernelBinding binding{.host = [](const Launch&) {},
                                .cuda = [this, kind](const Launch& l) { launch(kind, l.stream); }};
    return device_.prepare(s, {.buffers = {}, .kernels = {binding}});
  }

  void launch(Beside kind, void* stream) const {
    if (kind == Beside::memory)
      launch_memory_bound(scratch_.data(), memory_of_neighbour, stream);
    else
      launch_computing(scratch_.data(), rounds_of_computing, stream);
  }

  Seconds time_of_neighbour(Beside kind) {
    const auto execution = neighbours(kind, {});
    std::vector<double> seconds;
    for (unsigned i = 0; i < 13; ++i) {
      const double time = execution->run({.hold = true}).timeline.makespan.count();
      if (i >= 3) seconds.push_back(time);
    }
    return median_of(seconds) / 4;
  }

  /// Times of the movers, in turn, while the neighbours run.
  std::vector<std::vector<double>> in_turn(const Set& set, const std::vector<Mover>& movers, Seconds longest,
                                           unsigned rounds) {
    std::vector<std::unique_ptr<Execution>> executions;
    for (const Mover& mover : movers) executions.push_back(prepare(moving(set, mover)));
    const auto beside = neighbours(set.neighbour, std::max(3 * longest, shortest_neighbour));
    std::vector<std::vector<double>> times(movers.size());
    for (unsigned round = 0; round <= rounds; ++round)
      for (std::size_t i = 0; i < executions.size(); ++i) {
        if (beside) beside->submit();
        const double time = executions[i]->run().timeline.makespan.count();
        if (beside) beside->wait();
        if (round > 0) times[i].push_back(time);
      }
    return times;
  }

  void time_movers(const Set& set, SetResult& result) {
    std::vector<Mover> movers;
    Seconds longest{0};
    for (const MoverResult& one : result.movers) {
      movers.push_back(one.mover);
      longest = std::max(longest, one.predicted);
    }
    const auto times = in_turn(set, movers, longest, rounds_of_sweep);
    for (std::size_t i = 0; i < times.size(); ++i) keep_shorter(result.movers[i].time, median_of(times[i]));
  }

  /// The loss of the neighbour while the mover moves sets one after the other.
  double loss_by(const Set& set, const Mover& mover, Seconds time) {
    const auto moves = static_cast<unsigned>(std::clamp(shortest_neighbour / time * 2.5, 2.0, 600.0));
    const auto execution = prepare(moving(set, mover, moves));
    const auto beside = neighbours(set.neighbour, shortest_neighbour);
    std::vector<double> with;
    std::vector<double> without;
    for (unsigned i = 0; i < 8; ++i) {
      const double a = beside->run({.hold = true}).timeline.makespan.count();
      execution->submit();
      const double b = beside->run().timeline.makespan.count();
      execution->wait();
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
    if (result.chosen && std::ranges::find(order, *result.chosen) == order.end()) order.push_back(*result.chosen);
    std::vector<Mover> movers;
    Seconds longest{0};
    for (const std::size_t i : order) {
      movers.push_back(result.movers[i].mover);
      longest = std::max(longest, result.movers[i].time);
    }
    const auto times = in_turn(set, movers, longest, rounds_of_final);
    for (std::size_t k = 0; k < order.size(); ++k) {
      MoverResult& one = result.movers[order[k]];
      one.time = median_of(times[k]);
      if (keeps(order[k]) && (!result.best || one.time < result.movers[*result.best].time)) result.best = order[k];
    }
    if (!result.chosen || !result.best) return;
    const double ratio = result.movers[*result.chosen].time / result.movers[*result.best].time;
    result.regret = std::max(0.0, ratio - 1);
  }

  MeasurableDevice& device_;
  const Profile& profile_;
  Memory pool_;
  Memory packed_;
  Memory scratch_;
  std::map<Beside, Seconds> alone_;
  std::vector<std::uint32_t> indices_;
};

std::vector<SetResult> run_sets(MeasurableDevice& device, const Profile& profile, unsigned count, std::uint64_t seed,
                                const std::function<void(const SetResult&)>& done) {
  std::mt19937_64 random(seed);
  SetRuns runs(device, profile);
  std::vector<SetResult> results;
  for (unsigned i = 0; i < count; ++i) results.push_back(runs.sweep(draw(random)));
  for (SetResult& result : results) {
    runs.finish(result);
    done(result);
  }
  return results;
}

}  // namespace shiplap::bench

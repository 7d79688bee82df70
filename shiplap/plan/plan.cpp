#include "shiplap/plan/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ranges>
#include <set>

#include "shiplap/core/error.hpp"
#include "shiplap/plan/explain.hpp"
#include "shiplap/plan/probability.hpp"
#include "shiplap/sim/simulate.hpp"

namespace shiplap {
namespace {

constexpr std::uint64_t most_chunks = 256;
// Pipelines of many queues are unsteady: on an H200 runs of one and the same schedule differ by up to 25 % with 128
// queues and more at 256 MiB each way, and by up to 19 % with 32 and 64 at 64 MiB (a sweep of 492 pipelines).
// More than these are used when they are asked for.
constexpr std::uint32_t most_queues = 32;
constexpr std::size_t listed_per_strategy = 4;
// Pieces that host threads move may be smaller: they are many threads, and what they touch stays in their caches.
constexpr std::uint32_t most_pieces = 1024;

// Chunk counts that are tried: 1, 2, 3, 4, 6, 8, 12 … (each octave in two steps), then the neighbourhood of the best.
std::vector<std::uint32_t> coarse_chunks(std::uint64_t most) {
  std::vector<std::uint32_t> counts;
  for (std::uint32_t power = 1; power <= most; power *= 2)
    for (const std::uint32_t count : {power, power + power / 2})
      if (count <= most && (counts.empty() || counts.back() < count)) counts.push_back(count);
  return counts;
}
std::vector<std::uint32_t> counts_around(std::uint32_t best, std::uint64_t most) {
  std::vector<std::uint32_t> counts;
  for (const double factor : {0.8, 0.9, 1.1, 1.2, 1.35}) {
    const auto count = static_cast<std::uint32_t>(best * factor + 0.5);
    if (count >= 1 && count != best && count <= most) counts.push_back(count);
  }
  return counts;
}
// More than usual where the GPU's memory is small beside the data, of which it then holds a few chunks at a time.
std::uint64_t most_useful_chunks(const Job& job, const Limits& limits, std::uint32_t gpus) {
  constexpr std::uint64_t held_at_once = 8;
  constexpr std::uint64_t most_of_all = 1 << 14;  // beyond, planning itself would take long
  const std::uint64_t items = std::max<std::uint64_t>(1, job.items / std::max(1u, gpus));
  const std::uint64_t loads =
      (bytes_in(job) + bytes_out(job)).count / std::max<std::uint64_t>(1, limits.device_memory.count);
  return std::min(items, std::clamp(held_at_once * loads, most_chunks, most_of_all));
}

// Where copies decide, the direction that ends last waits for the first chunk, and the other one is ahead by its faster
// rate: chunks may grow all the way (or, the other way round, shrink). Where the kernel decides, both ends may be
// short.
std::vector<Ramp> ramps_worth_trying(std::uint32_t chunks) {
  std::vector<Ramp> ramps;
  for (const double end : {0.65, 0.5, 0.35, 0.25, 0.15}) {
    const double all_the_way = std::pow(1 / end, 1.0 / (chunks - 1));
    ramps.push_back({.first = end, .last = 1, .growth = all_the_way});
    ramps.push_back({.first = 1, .last = end, .growth = all_the_way});
  }
  for (const double end : {0.5, 0.25, 0.125}) ramps.push_back({.first = end, .last = end, .growth = 2});
  return ramps;
}

// Pipelines with shared streams are predicted to several per cent only, so they must be predicted faster by more.
constexpr double close_layout = 0.05;
// Ramps too: the steeper, the more depends on how far the two directions differ. Steep ones also depend on what small
// launches of the kernel cost.
constexpr double close_ramp = 0.002;
constexpr double close_steep_ramp = 0.01;
constexpr double steep_growth = 1.5;
// A smaller grid than the kernel's own must be predicted faster by this much: each of its blocks does more of the work,
// so one slow SM delays more of it.
constexpr double close_grid = 0.01;

// A graph must be predicted faster by this much, because it has to be instantiated before the first run.
double close_graph(Seconds time) { return std::max(0.005, microseconds(1) / time); }
// Copies in batches must be predicted faster by this much.
constexpr double close_batch = 0.002;

// Kernels and copies that share the link are predicted to a few per cent only: they must promise more than that.
constexpr double close_shared = 0.05;

struct Tried {
  Choice choice;
  Seconds time{0};
  bool leads = false;  // the first of its strategy
};

// Engines that serve one queue each, then a queue for each chunk, then queues that chunks share.
int complexity(const Choice& choice) {
  return choice.layout == Layout::three ? 0 : choice.layout == Layout::per_chunk ? 1 : 2;
}

// Moves what `less` puts first, among the tried that are close to the first one and that `eligible` admits, to the
// front; the others stay by predicted time.
template <class Eligible, class Less>
void prefer(std::vector<Tried>& tried, double close, const Eligible& eligible, const Less& less) {
  const Seconds limit = tried.front().time * (1 + close);
  auto best = tried.begin();
  for (auto t = tried.begin(); t != tried.end(); ++t)
    if (t->time <= limit && eligible(t->choice) && less(t->choice, best->choice)) best = t;
  std::rotate(tried.begin(), best, best + 1);
}

bool shares_the_link(const Choice& choice) {
  const Strategy& strategy = find_strategy(choice.strategy);
  return strategy.mapped && strategy.chunked;
}

// By predicted time; in front, of those that come close, what does not have kernels and copies share the link, the
// simplest layout, of that the gentlest ramp, and the kernel's own grid.
void rank(std::vector<Tried>& tried) {
  std::stable_sort(tried.begin(), tried.end(), [](const Tried& a, const Tried& b) { return a.time < b.time; });
  const auto any = [](const Choice&) { return true; };
  prefer(tried, close_shared, any,
         [](const Choice& a, const Choice& b) { return !shares_the_link(a) && shares_the_link(b); });
  prefer(
      tried, close_layout, [first = tried.front().choice](const Choice& c) { return c.strategy == first.strategy; },
      [](const Choice& a, const Choice& b) { return complexity(a) < complexity(b); });
  const auto growth = [](const Choice& c) { return c.ramp.level() ? 1.0 : c.ramp.growth; };
  const auto alike = [first = tried.front().choice](const Choice& c) {
    return c.strategy == first.strategy && c.layout == first.layout;
  };
  prefer(tried, close_steep_ramp, alike,
         [&](const Choice& a, const Choice& b) { return growth(a) < steep_growth && growth(b) >= steep_growth; });
  prefer(tried, close_ramp, alike, [&](const Choice& a, const Choice& b) { return growth(a) < growth(b); });
  prefer(tried, close_graph(tried.front().time), alike,
         [](const Choice& a, const Choice& b) { return !a.graph && b.graph; });
  prefer(tried, close_batch, alike, [](const Choice& a, const Choice& b) { return !a.batched && b.batched; });
  prefer(tried, close_grid, alike, [](const Choice& a, const Choice& b) { return a.blocks == 0 && b.blocks != 0; });
}

// Simulates the choices of one strategy; keeps the reason of the last refusal.
class Search {
 public:
  Search(const Job& job, const Profile& profile, const PlanOptions& options, const Limits& limits)
      : job_(job),
        profile_(profile),
        options_(options),
        limits_(limits),
        most_chunks_(most_useful_chunks(job, limits, options.gpus)) {}

  std::vector<Tried> tried;
  std::string refusal;
  std::vector<std::string> assumptions;

  void run(const Strategy& strategy) {
    run_op_by_op(strategy);
    const bool chosen = options_.graph || options_.batched || !options_.fewer_calls;
    if (chosen || options_.gpus > 1 || strategy.memory != ArrayMemory::page_locked) return;
    // The fastest choices are tried with fewer calls too.
    constexpr std::size_t worth_it = 3;
    std::vector<Tried> fastest = tried;
    std::ranges::stable_sort(fastest, {}, &Tried::time);
    const std::string refusal_of_single_calls = refusal;
    for (const Tried& one : fastest | std::views::take(worth_it)) {
      Choice choice = one.choice;
      choice.graph = true;
      try_choice(strategy, choice);
      choice.graph = false;
      choice.batched = true;
      try_choice(strategy, choice);
    }
    refusal = refusal_of_single_calls;
  }

 private:
  void run_op_by_op(const Strategy& strategy) {
    if (strategy.mapped) return run_mapped(strategy);
    if (strategy.memory != ArrayMemory::page_locked) return run_unlocked(strategy);
    if (!strategy.chunked) {
      try_choice(strategy, {.strategy = std::string(strategy.name), .chunks = 1});
      return;
    }
    const bool chosen = !options_.chunks.empty();
    for_each_shape([&](Layout layout, IssueOrder order) {
      const auto first = static_cast<std::ptrdiff_t>(tried.size());
      const auto best = [&] {
        return std::min_element(tried.begin() + first, tried.end(),
                                [](const Tried& a, const Tried& b) { return a.time < b.time; })
            ->choice.chunks;
      };
      const auto ramps = options_.ramps.empty() ? std::vector<Ramp>{{}} : options_.ramps;
      for (const std::uint32_t chunks : chosen ? options_.chunks : coarse_chunks(most_chunks_))
        for (const Ramp& ramp : ramps) try_shape(strategy, chunks, layout, order, ramp);
      if (chosen || tried.begin() + first == tried.end()) return;
      for (const std::uint32_t chunks : counts_around(best(), most_chunks_))
        for (const Ramp& ramp : ramps) try_shape(strategy, chunks, layout, order, ramp);
      if (!options_.ramps.empty()) return;
      const std::uint32_t level = best();
      for (const double factor : {0.8, 1.0, 1.2, 1.4}) {
        const auto chunks = static_cast<std::uint32_t>(std::lround(level * factor));
        if (chunks < 4 || chunks > most_chunks_) continue;
        for (const Ramp& ramp : ramps_worth_trying(chunks)) try_shape(strategy, chunks, layout, order, ramp);
      }
    });
  }

  template <class Visit>
  void for_each_shape(const Visit& visit) const {
    static const std::vector<Layout> all_layouts{Layout::three, Layout::few, Layout::per_chunk};
    // Breadth-first issue matters to one shared copy engine; with two engines it is only asked for by name.
    const bool shared = profile_.gpus.front().copy_engines < 2;
    const std::vector<IssueOrder> default_orders =
        shared ? std::vector{IssueOrder::depth, IssueOrder::breadth} : std::vector{IssueOrder::depth};
    const auto orders = [&](Layout layout) {
      if (!options_.orders.empty()) return options_.orders;
      return is_emulated(layout) ? std::vector{IssueOrder::breadth} : default_orders;
    };
    for (const Layout layout : options_.layouts.empty() ? all_layouts : options_.layouts)
      for (const IssueOrder order : orders(layout)) visit(layout, order);
  }

  // Kernels that access host memory take turns on the link, so one queue of them is enough. First the grid is chosen at
  // a few numbers of chunks, then the number of chunks at that grid and those next to it.
  void run_mapped(const Strategy& strategy) {
    const Layout layout = options_.layouts.empty() ? Layout::three : options_.layouts.front();
    const std::vector<std::uint64_t> grids = !options_.blocks.empty() ? options_.blocks
                                             : job_.any_grid          ? grids_worth_trying()
                                                                      : std::vector<std::uint64_t>{0};
    const std::vector<Ramp> ramps =
        options_.ramps.empty() || !strategy.chunked ? std::vector<Ramp>{{}} : options_.ramps;
    const std::vector<IssueOrder> orders =
        !options_.orders.empty() && strategy.chunked
            ? options_.orders
            : std::vector{is_emulated(layout) ? IssueOrder::breadth : IssueOrder::depth};
    const auto try_grids = [&](const auto& chosen, const std::vector<std::uint32_t>& counts) {
      for (const std::uint64_t blocks : chosen)
        for (const std::uint32_t chunks : counts)
          for (const Ramp& ramp : ramps)
            for (const IssueOrder order : orders)
              try_choice(strategy, {.strategy = std::string(strategy.name),
                                    .chunks = chunks,
                                    .ramp = ramp,
                                    .layout = layout,
                                    .queues = options_.queues,
                                    .order = order,
                                    .blocks = blocks});
    };
    if (!strategy.chunked) return try_grids(grids, {1});
    if (!options_.chunks.empty()) return try_grids(grids, options_.chunks);
    std::vector<std::uint32_t> few{16, 64};
    std::erase_if(few, [&](std::uint32_t chunks) { return chunks > most_chunks_; });
    if (few.empty()) few = {1};
    try_grids(grids, few);
    if (tried.empty()) return;
    const auto best =
        std::min_element(tried.begin(), tried.end(), [](const Tried& a, const Tried& b) { return a.time < b.time; });
    const auto at = std::find(grids.begin(), grids.end(), best->choice.blocks);
    std::vector<std::uint64_t> around{*at};
    if (at != grids.begin()) around.push_back(*std::prev(at));
    if (std::next(at) != grids.end()) around.push_back(*std::next(at));
    std::vector<std::uint32_t> counts = coarse_chunks(most_chunks_);
    std::erase_if(counts, [&](std::uint32_t c) { return std::find(few.begin(), few.end(), c) != few.end(); });
    try_grids(around, counts);
  }

  // Memory that is not page-locked: layouts mean nothing to these, pieces of a size do. First the piece is chosen with
  // as many threads as the host has use for, then how many fewer do.
  void run_unlocked(const Strategy& strategy) {
    const auto attempt = [&](std::uint32_t chunks, std::uint32_t threads) {
      try_choice(
          strategy,
          {.strategy = std::string(strategy.name), .chunks = chunks, .threads = strategy.threaded ? threads : 0});
    };
    const std::vector<std::uint32_t> threads = options_.threads.empty() ? threads_worth_trying() : options_.threads;
    std::vector<std::uint32_t> counts = options_.chunks;
    if (!strategy.chunked) counts = {1};
    for (const Bytes piece : {1_MiB, 2_MiB, 4_MiB, 8_MiB, 32_MiB, 128_MiB}) {
      if (!options_.chunks.empty() || !strategy.chunked) break;
      const std::uint64_t count = std::max(bytes_in(job_), bytes_out(job_)).count / piece.count;
      if (count >= 1 && count <= most_pieces && count <= items_of_a_gpu())
        counts.push_back(static_cast<std::uint32_t>(count));
    }
    if (counts.empty()) counts = {1};
    for (const std::uint32_t count : counts) attempt(count, threads.back());
    if (tried.empty() || !strategy.threaded) return;
    const auto best =
        std::min_element(tried.begin(), tried.end(), [](const Tried& a, const Tried& b) { return a.time < b.time; });
    const std::uint32_t chosen = best->choice.chunks;
    for (const std::uint32_t count : threads) attempt(chosen, count);
  }

  /// Half of the threads with which copies by the host were measured, for each way, and fewer.
  std::vector<std::uint32_t> threads_worth_trying() const {
    unsigned most = 1;
    if (profile_.host)
      for (const RateOfThreads& row : profile_.host->copy) most = std::max(most, row.threads / 2);
    std::vector<std::uint32_t> counts;
    for (std::uint32_t count = 1; count < most; count *= 2) counts.push_back(count);
    counts.push_back(most);
    return counts;
  }

  /// The measured grids where zero-copy was measured, otherwise a fixed list.
  std::vector<std::uint64_t> grids_worth_trying() const {
    if (!job_.cost.zero_copy.empty()) {
      std::set<std::uint64_t> measured;
      for (const KernelCost::ZeroCopy& row : job_.cost.zero_copy)
        if (row.blocks > 0) measured.insert(row.blocks);
      std::vector<std::uint64_t> grids(measured.begin(), measured.end());
      grids.push_back(0);
      return grids;
    }
    const unsigned multiprocessors = std::max(1u, profile_.gpus.front().multiprocessors);
    std::vector<std::uint64_t> grids{2, 4, 8, 16, 24, 32, 48, 64, 96};
    std::erase_if(grids, [&](std::uint64_t blocks) { return blocks >= multiprocessors; });
    grids.push_back(multiprocessors);
    grids.push_back(0);
    return grids;
  }

  void try_shape(const Strategy& strategy, std::uint32_t chunks, Layout layout, IssueOrder order, const Ramp& ramp) {
    if (layout == Layout::per_chunk && chunks > most_queues && options_.layouts.empty()) return;
    try_choice(strategy, {.strategy = std::string(strategy.name),
                          .chunks = chunks,
                          .ramp = ramp,
                          .layout = layout,
                          .queues = options_.queues,
                          .order = order});
  }

  void try_choice(const Strategy& strategy, Choice choice) {
    choice.graph = choice.graph || options_.graph;
    choice.batched = choice.batched || options_.batched;
    choice.gpus = options_.gpus;
    if (std::ranges::find(tried, choice, &Tried::choice) != tried.end()) return;
    try {
      Prediction prediction = simulate(strategy.schedule(job_, choice, limits_), profile_);
      tried.push_back({std::move(choice), prediction.timeline.makespan});
      assumptions = std::move(prediction.assumptions);
    } catch (const UsageError&) {
      throw;  // what the user asked for is wrong, not merely impossible here
    } catch (const Error& error) {
      refusal = error.what();
    }
  }

  std::uint64_t items_of_a_gpu() const { return job_.items / std::max(1u, options_.gpus); }

  const Job& job_;
  const Profile& profile_;
  const PlanOptions& options_;
  const Limits& limits_;
  std::uint64_t most_chunks_;
};

}  // namespace

bool restricts_choices(const PlanOptions& o) {
  return !(o.strategies.empty() && o.chunks.empty() && o.ramps.empty() && o.layouts.empty() && o.orders.empty() &&
           o.blocks.empty() && o.threads.empty());
}

Plan plan(const Job& job, const Profile& profile, const PlanOptions& options) {
  if (options.gpus == 0) throw UsageError("a job runs on one GPU at least, not on none");
  Limits limits = limits_of(profile);
  if (options.device_memory.count > 0) limits.device_memory = options.device_memory;
  Plan result;
  result.job = job.name;
  result.profile = profile.name;
  result.profile_hash = parameter_hash(profile);
  result.kernel_cost_origin = job.cost.origin;
  const Bound b = bound(job, profile, options.gpus);
  result.bound = b.time;
  result.bound_by = b.copies >= b.kernel ? "copies in both directions" : "kernel";

  for (const std::string& name : options.strategies) find_strategy(name);
  std::vector<Tried> listed;
  for (const Strategy& strategy : strategies()) {
    const auto wanted = [&](const std::string& name) { return name == strategy.name; };
    if (!options.strategies.empty() && std::none_of(options.strategies.begin(), options.strategies.end(), wanted))
      continue;
    Search search(job, profile, options, limits);
    search.run(strategy);
    if (search.tried.empty()) {
      result.refused.push_back({std::string(strategy.name), search.refusal});
      continue;
    }
    result.assumptions = search.assumptions;
    rank(search.tried);
    search.tried.front().leads = true;
    search.tried.resize(std::min(search.tried.size(), listed_per_strategy));
    listed.insert(listed.end(), search.tried.begin(), search.tried.end());
  }
  if (listed.empty()) {
    std::string reasons;
    for (const Refused& refused : result.refused)
      reasons += fmt::format("\n  {}: {}", refused.strategy, refused.reason);
    throw Unsupported(fmt::format("no strategy can run {}:{}", job.name, reasons));
  }
  rank(listed);
  // The neighbourhood of the best, and the best of every other strategy.
  std::erase_if(listed, [best = listed.front().choice.strategy](const Tried& tried) {
    return tried.choice.strategy != best && !tried.leads;
  });
  for (const Tried& tried : listed) result.candidates.push_back(predict(job, profile, tried.choice, limits));
  std::vector<Interval<Seconds>> times;
  for (const Candidate& candidate : result.candidates) times.push_back(candidate.predicted);
  const std::vector<double> probabilities = probability_of_least(times);
  for (std::size_t i = 0; i < times.size(); ++i) result.candidates[i].probability_best = probabilities[i];
  const Interval<Seconds> best = result.candidates.front().predicted;
  for (Candidate& candidate : result.candidates) candidate.tied_with_best = candidate.predicted.low <= best.high;
  result.why = explain(result, b);
  return result;
}

}  // namespace shiplap

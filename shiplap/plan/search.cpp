#include "shiplap/plan/search.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/plan/predict.hpp"
#include "shiplap/plan/relays.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "shiplap/strategy/gpu_chunks.hpp"

namespace shiplap {
namespace {

constexpr std::uint64_t most_chunks_tried = 256;  // tried where the GPU's memory is no limit
constexpr std::uint64_t chunks_on_gpu = 8;        // wanted on the GPU at a time where its memory is a limit
// Most chunks of pageable memory that are tried.
constexpr std::uint32_t most_staged_chunks = 1024;
// Ramps of more chunks than this are tried only when they are asked for: they make the first and the last chunk
// smaller, which is less than 0.1 % of the data then.
constexpr std::uint32_t most_ramped_chunks = 1024;
// Number of ops of all schedules that a search keeps, about 200 MB. Later schedules are built anew when they are among
// the best.
constexpr std::size_t most_kept_ops = std::size_t{1} << 20;
// Number of the fastest candidates that are tried as graphs and in batches too.
constexpr std::size_t tried_with_fewer_calls = 3;
// Number of the fastest candidates that are tried with relays too.
constexpr std::size_t tried_with_relays = 3;
// Number of the fastest candidates that are tried with other movers of blocks too.
constexpr std::size_t tried_with_other_movers = 6;

// 1, 2, 3, 4, 6, 8, 12, …: each octave in two steps.
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

// Where the memory of a GPU is small beside its part of the data, more chunks are tried, so that it holds several at a
// time. All GPUs together get no more chunks than one GPU may have: the time of a simulation grows with their number.
std::uint64_t most_useful_chunks(const Job& job, const Limits& limits, std::uint32_t gpus) {
  const std::uint64_t sharing = std::max(1u, gpus);
  const std::uint64_t items = std::max<std::uint64_t>(1, job.items / sharing);
  const std::uint64_t loads =
      (bytes_in(job) + bytes_out(job)).count / sharing / std::max<std::uint64_t>(1, limits.device_memory.count);
  const std::uint64_t most = most_chunks / sharing;
  return std::min(items, std::clamp(chunks_on_gpu * loads, std::min(most_chunks_tried, most), most));
}

// Where copies take longest, the slower direction waits for the first chunk or ends with the last one, so chunks grow
// or shrink throughout. Where the kernel takes longest, the first and the last chunks are small.
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

Seconds time_of(const Candidate& candidate) { return candidate.predicted.value; }

std::vector<Ramp> ramps_or_none(const SearchSpace& space) {
  return space.ramps.empty() ? std::vector<Ramp>{{}} : space.ramps;
}

}  // namespace

Search::Search(const Job& job, const Profile& profile, SearchSpace space, Limits limits)
    : job_(job),
      profile_(profile),
      space_(std::move(space)),
      limits_(std::move(limits)),
      most_chunks_(most_useful_chunks(job, limits_, space_.gpus)) {}

void Search::run(const Strategy& strategy) {
  if (space_.given) return try_choice(strategy, *space_.given);
  try_single_calls(strategy);
  if (has_blocks(job_))
    try_other_movers(strategy);
  else
    try_fewer_calls(strategy);
  try_relays(strategy);
}

void Search::try_single_calls(const Strategy& strategy) {
  if (strategy.zero_copy) return try_zero_copy(strategy);
  if (strategy.memory != ArrayMemory::pinned) return try_unpinned(strategy);
  if (strategy.chunked) return try_pipelines(strategy);
  try_choice(strategy, {.strategy = std::string(strategy.name), .chunks = 1});
}

void Search::try_fewer_calls(const Strategy& strategy) {
  const bool given = space_.graph || space_.batched || !space_.fewer_calls;
  if (given || space_.gpus > 1 || strategy.memory != ArrayMemory::pinned) return;
  const std::string refusal_of_single_calls = refusal;
  for (Choice choice : fastest(tried_with_fewer_calls)) {
    choice.graph = job_.capturable;
    if (choice.graph) try_choice(strategy, choice);
    choice.graph = false;
    choice.batched = true;
    try_choice(strategy, choice);
  }
  refusal = refusal_of_single_calls;
}

// First where the pieces are of which size, then which share and number of chunks suit the best of these: with more
// links the copies take less of the time, so that other numbers of chunks may be better.
void Search::try_relays(const Strategy& strategy) {
  if (space_.gpus != 1 || strategy.memory != ArrayMemory::pinned || has_blocks(job_)) return;
  const std::vector<Relay> relays = relays_worth_trying(copies_of(job_), profile_, space_.relays, space_.max_slowdown);
  const std::string refusal_without = refusal;
  const std::size_t first = tried.size();
  std::vector<Choice> choices = fastest(relays.empty() ? 0 : tried.size());
  std::erase_if(choices, [](const Choice& choice) { return choice.graph || choice.batched; });
  choices.resize(std::min(tried_with_relays, choices.size()));
  for (Choice& choice : choices) {
    for (const Relay& relay : relays) {
      choice.relay = relay;
      try_choice(strategy, choice);
    }
  }
  if (tried.size() > first && strategy.chunked && space_.chunks.empty())
    for (const double factor : {0.5, 0.7, 1.4, 2.0}) {
      Choice choice = fastest_since(first);
      choice.chunks = static_cast<std::uint32_t>(std::lround(choice.chunks * factor));
      if (choice.chunks >= 1 && choice.chunks <= most_chunks_) try_choice(strategy, choice);
    }
  if (tried.size() > first)
    for (const double factor : share_factors) {
      Choice choice = fastest_since(first);
      choice.relay = with_shares_times(std::move(choice.relay), factor);
      try_choice(strategy, choice);
    }
  refusal = refusal_without;
}

std::vector<Choice> Search::fastest(std::size_t count) const {
  std::vector<const Candidate*> by_time;
  for (const Candidate& candidate : tried) by_time.push_back(&candidate);
  std::ranges::stable_sort(by_time, {}, [](const Candidate* candidate) { return time_of(*candidate); });
  std::vector<Choice> choices;
  by_time.resize(std::min(count, by_time.size()));
  for (const Candidate* candidate : by_time) choices.push_back(candidate->choice);
  return choices;
}

// Pipelines are searched with the movers that are the fastest alone. In a pipeline others may be better: copy engines
// leave the SMs to the kernel.
void Search::try_other_movers(const Strategy& strategy) {
  if (strategy.threaded) return;
  for (Choice choice : fastest(tried_with_other_movers))
    for (const JobMovers& other : movers(choice)) {
      choice.mover_h2d = other.gather;
      choice.mover_d2h = other.scatter;
      try_choice(strategy, choice);
    }
}

const std::vector<JobMovers>& Search::movers(const Choice& choice) {
  const bool own_streams = choice.layout == Layout::three;
  std::vector<JobMovers>& known = own_streams ? movers_of_own_streams_ : movers_of_shared_streams_;
  if (known.empty()) known = movers_worth_trying(job_, profile_, space_, own_streams);
  return known;
}

void Search::try_pipelines(const Strategy& strategy) {
  // No other layout was faster by more than a per mille, by simulation on seven profiles
  // (results/virtual/ablation.txt). A race tries others.
  static const std::vector<Layout> usual_layout{Layout::three};
  // Breadth-first submission matters where both directions share a copy engine. With two engines it is tried only when
  // it is asked for.
  const bool is_shared = profile_.gpus.front().copy_engines < 2;
  const std::vector<IssueOrder> usual =
      is_shared ? std::vector{IssueOrder::depth, IssueOrder::breadth} : std::vector{IssueOrder::depth};
  for (const Layout layout : space_.layouts.empty() ? usual_layout : space_.layouts) {
    const std::vector<IssueOrder> orders = !space_.orders.empty() ? space_.orders
                                           : is_emulated(layout)  ? std::vector{IssueOrder::breadth}
                                                                  : usual;
    for (const IssueOrder order : orders) try_pipelines(strategy, layout, order);
  }
}

// First numbers of chunks from one to the largest, then those near the best, then ramps near the best. Where numbers
// are given, ramps of all of them, so that what is asked for is searched at least as well as what is not.
void Search::try_pipelines(const Strategy& strategy, Layout layout, IssueOrder order) {
  const std::size_t first = tried.size();
  const auto attempt = [&](std::uint32_t chunks, const Ramp& ramp) {
    try_choice(strategy, {.strategy = std::string(strategy.name),
                          .chunks = chunks,
                          .ramp = ramp,
                          .layout = layout,
                          .streams = space_.streams,
                          .order = order});
  };
  const std::vector<Ramp> ramps = ramps_or_none(space_);
  const bool given = !space_.chunks.empty();
  for (const std::uint32_t chunks : given ? space_.chunks : coarse_chunks(most_chunks_))
    for (const Ramp& ramp : ramps) attempt(chunks, ramp);
  if (!given)
    for (std::uint32_t chunks = 1; tried.size() == first && has_more_chunks(chunks);) attempt(chunks, ramps.front());
  if (tried.size() == first) return;
  if (!given)
    for (const std::uint32_t chunks : counts_around(fastest_since(first).chunks, most_chunks_))
      for (const Ramp& ramp : ramps) attempt(chunks, ramp);
  if (!space_.ramps.empty()) return;
  std::vector<std::uint32_t> ramped = space_.chunks;
  if (!given) {
    const std::uint32_t level = fastest_since(first).chunks;
    for (const double factor : {0.8, 1.0, 1.2, 1.4})
      ramped.push_back(static_cast<std::uint32_t>(std::lround(level * factor)));
  }
  for (const std::uint32_t chunks : ramped) {
    if (chunks < 4 || chunks > std::min<std::uint64_t>(most_chunks_, most_ramped_chunks)) continue;
    for (const Ramp& ramp : different_ramps(chunks)) attempt(chunks, ramp);
  }
}

// Where no number of chunks that is worth trying fits into the memory, larger ones are tried, up to a chunk for each
// item.
bool Search::has_more_chunks(std::uint32_t& chunks) const {
  const std::uint64_t most = std::min<std::uint64_t>(most_chunks, job_.items / std::max(1u, space_.gpus));
  if (chunks >= most) return false;
  chunks = static_cast<std::uint32_t>(std::min<std::uint64_t>(std::uint64_t{chunks} * 2, most));
  return true;
}

// Ramps that cut the items like equal chunks or like an earlier ramp, as where there are few items, are left out.
std::vector<Ramp> Search::different_ramps(std::uint32_t chunks) const {
  Choice choice{.chunks = chunks, .gpus = space_.gpus};
  const auto cut = [&](const Ramp& ramp) {
    choice.ramp = ramp;
    std::vector<ItemRange> all;
    for (const GpuChunks& gpu : chunks_by_gpu(job_, choice)) all.insert(all.end(), gpu.items.begin(), gpu.items.end());
    return all;
  };
  std::vector<Ramp> ramps;
  std::vector<std::vector<ItemRange>> cuts{cut({})};
  for (const Ramp& ramp : ramps_worth_trying(chunks))
    if (std::vector<ItemRange> items = cut(ramp); std::ranges::find(cuts, items) == cuts.end()) {
      ramps.push_back(ramp);
      cuts.push_back(std::move(items));
    }
  return ramps;
}

// First all grids at a few numbers of chunks, then all numbers of chunks at the best grid and those next to it.
void Search::try_zero_copy(const Strategy& strategy) {
  const std::vector<std::uint64_t> grids = !space_.max_grids.empty() ? space_.max_grids
                                           : job_.any_grid           ? grids_worth_trying()
                                                                     : std::vector<std::uint64_t>{0};
  if (!strategy.chunked) return try_grids(strategy, grids, {1});
  if (!space_.chunks.empty()) return try_grids(strategy, grids, space_.chunks);
  std::vector<std::uint32_t> few{16, 64};
  std::erase_if(few, [&](std::uint32_t chunks) { return chunks > most_chunks_; });
  if (few.empty()) few = {1};
  try_grids(strategy, grids, few);
  if (tried.empty()) return;
  const auto at = std::ranges::find(grids, fastest_since(0).max_grid);
  std::vector<std::uint64_t> around{*at};
  if (at != grids.begin()) around.push_back(*std::prev(at));
  if (std::next(at) != grids.end()) around.push_back(*std::next(at));
  std::vector<std::uint32_t> others = coarse_chunks(most_chunks_);
  std::erase_if(others, [&](std::uint32_t chunks) { return std::ranges::find(few, chunks) != few.end(); });
  try_grids(strategy, around, others);
}

// Zero-copy kernels take turns on the link, so one layout is tried.
void Search::try_grids(const Strategy& strategy, const std::vector<std::uint64_t>& grids,
                       const std::vector<std::uint32_t>& chunk_counts) {
  const Layout layout = space_.layouts.empty() ? Layout::three : space_.layouts.front();
  const std::vector<Ramp> ramps = strategy.chunked ? ramps_or_none(space_) : std::vector<Ramp>{{}};
  const std::vector<IssueOrder> orders =
      !space_.orders.empty() && strategy.chunked
          ? space_.orders
          : std::vector{is_emulated(layout) ? IssueOrder::breadth : IssueOrder::depth};
  for (const std::uint64_t blocks : grids)
    for (const std::uint32_t chunks : chunk_counts)
      for (const Ramp& ramp : ramps)
        for (const IssueOrder order : orders)
          try_choice(strategy, {.strategy = std::string(strategy.name),
                                .chunks = chunks,
                                .ramp = ramp,
                                .layout = layout,
                                .streams = space_.streams,
                                .order = order,
                                .max_grid = blocks});
}

// The number of chunks is searched with the largest number of threads, then fewer threads are tried.
void Search::try_unpinned(const Strategy& strategy) {
  const auto attempt = [&](std::uint32_t chunks, std::uint32_t threads) {
    try_choice(strategy,
               {.strategy = std::string(strategy.name), .chunks = chunks, .threads = strategy.threaded ? threads : 0});
  };
  const std::vector<std::uint32_t> threads = space_.threads.empty() ? threads_worth_trying() : space_.threads;
  for (const std::uint32_t chunks : chunks_worth_trying(strategy)) attempt(chunks, threads.back());
  if (strategy.chunked && space_.chunks.empty())
    for (std::uint32_t chunks = 1; tried.empty() && has_more_chunks(chunks);) attempt(chunks, threads.back());
  if (tried.empty() || !strategy.threaded) return;
  const std::uint32_t chunks = fastest_since(0).chunks;
  for (const std::uint32_t count : threads) attempt(chunks, count);
}

std::vector<std::uint32_t> Search::chunks_worth_trying(const Strategy& strategy) const {
  if (!strategy.chunked) return {1};
  if (!space_.chunks.empty()) return space_.chunks;
  const std::uint64_t items_of_a_gpu = job_.items / std::max(1u, space_.gpus);
  const std::uint64_t most = std::min<std::uint64_t>(most_staged_chunks, std::max<std::uint64_t>(1, items_of_a_gpu));
  std::set<std::uint32_t> counts;
  for (const Bytes size : {2_MiB, 8_MiB, 32_MiB, 128_MiB}) {
    const std::uint64_t count = std::max(bytes_in(job_), bytes_out(job_)).count / size.count;
    counts.insert(static_cast<std::uint32_t>(std::clamp<std::uint64_t>(count, 1, most)));
  }
  return {counts.begin(), counts.end()};
}

// Powers of two up to half of the threads with which host copies were measured, and that this process may use: each
// direction takes one half.
std::vector<std::uint32_t> Search::threads_worth_trying() const {
  unsigned most = 1;
  if (profile_.host)
    for (const RateOfThreads& row : profile_.host->copy) most = std::max(most, row.threads / 2);
  if (limits_.host_threads > 0) most = std::clamp(limits_.host_threads / 2, 1u, most);
  std::vector<std::uint32_t> counts;
  for (std::uint32_t count = 1; count < most; count *= 2) counts.push_back(count);
  counts.push_back(most);
  return counts;
}

// The grids at which zero-copy was measured. Where it was not, a fixed list up to one block for each SM.
std::vector<std::uint64_t> Search::grids_worth_trying() const {
  if (!job_.cost.zero_copy.empty()) {
    std::set<std::uint64_t> measured;
    for (const KernelCost::ZeroCopy& row : job_.cost.zero_copy)
      if (row.blocks > 0) measured.insert(row.blocks);
    std::vector<std::uint64_t> grids(measured.begin(), measured.end());
    grids.push_back(0);
    return grids;
  }
  const unsigned sm_count = std::max(1u, profile_.gpus.front().sm_count);
  std::vector<std::uint64_t> grids{2, 4, 8, 16, 24, 32, 48, 64, 96};
  std::erase_if(grids, [&](std::uint64_t blocks) { return blocks >= sm_count; });
  grids.push_back(sm_count);
  grids.push_back(0);
  return grids;
}

const Choice& Search::fastest_since(std::size_t first) const {
  return std::ranges::min_element(tried.begin() + static_cast<std::ptrdiff_t>(first), tried.end(), {}, time_of)->choice;
}

void Search::try_choice(const Strategy& strategy, Choice choice) {
  choice.graph = choice.graph || space_.graph;
  choice.batched = choice.batched || space_.batched;
  choice.gpus = space_.gpus;
  try {
    if (has_blocks(job_) && !strategy.threaded && !choice.mover_h2d && !choice.mover_d2h) {
      choice.mover_h2d = movers(choice).front().gather;
      choice.mover_d2h = movers(choice).front().scatter;
    }
    if (std::ranges::find(tried, choice, &Candidate::choice) != tried.end()) return;
    if (simulated_ops > most_simulated_ops) {
      ++left_out;
      return;
    }
    Candidate candidate{.choice = std::move(choice), .predicted = {}};
    std::vector<std::string> assumed = predict_value(job_, profile_, limits_, space_.closed_forms, candidate);
    const std::size_t ops = candidate.schedule->ops.size();
    simulated_ops += ops;
    if (kept_ops_ + ops <= most_kept_ops) {
      kept_ops_ += ops;
    } else {
      candidate.schedule = nullptr;
      candidate.timeline = {};
    }
    tried.push_back(std::move(candidate));
    if (!assumed.empty()) assumptions = std::move(assumed);
  } catch (const UsageError&) {
    throw;  // the request is invalid, not merely impossible for this job
  } catch (const Error& error) {
    refusal = error.what();
  }
}

}  // namespace shiplap

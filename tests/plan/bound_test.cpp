// The bound against brute force: no strategy is simulated below it, on any profile, for any job; and against times that
// were observed.
#include "shiplap/plan/bound.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/plan/explain.hpp"
#include "shiplap/plan/models.hpp"
#include "shiplap/plan/ranking.hpp"
#include "shiplap/profile/more_gpus.hpp"
#include "shiplap/profile/parameter_table.hpp"
#include "shiplap/sim/simulate.hpp"
#include "tests/support/jobs.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

/// Seeded draws of everything that a time depends on.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}

  double real(double low, double high) { return std::uniform_real_distribution(low, high)(random_); }
  double log_real(double low, double high) { return std::exp(real(std::log(low), std::log(high))); }
  std::uint64_t integer(std::uint64_t low, std::uint64_t high) {
    return std::uniform_int_distribution<std::uint64_t>(low, high)(random_);
  }
  std::uint64_t log_integer(std::uint64_t low, std::uint64_t high) {
    return std::clamp(static_cast<std::uint64_t>(log_real(static_cast<double>(low), static_cast<double>(high))), low,
                      high);
  }
  bool one_in(std::uint64_t n) { return integer(1, n) == 1; }
  template <class T>
  T of(std::initializer_list<T> all) {
    return *(all.begin() + integer(0, all.size() - 1));
  }
  Interval<Seconds> time(double low, double high) {
    const Seconds value{log_real(low, high)};
    return {value, value * real(0.9, 1), value * real(1, 1.1)};
  }

 private:
  std::mt19937_64 random_;
};

void scale(Interval<Seconds>& t, double by, double e) { t = {t.value * by, t.value * (by - e), t.value * (by + e)}; }
void scale(Interval<PerByte>& t, double by, double e) {
  const double g = t.value.seconds;
  t = {{g * by}, {g * (by - e)}, {g * (by + e)}};
}
void scale(Interval<Bandwidth>& t, double by, double e) {
  const double rate = t.value.bytes_per_second;
  t = {{rate * by}, {rate * (by - e)}, {rate * (by + e)}};
}
void scale(Estimate&, double, double) {}

/// A profile whose every time and rate is up to `most` times as much or as little as planted, with two GPUs.
Profile random_profile(Draw& draw, double most) {
  Profile profile = planted_profile();
  profile.gpus.push_back(profile.gpus[0]);
  profile.links.push_back(profile.links[0]);
  profile.links[1].gpu = 1;
  for_each_parameter(profile, [&](const ParameterInfo&, auto& interval) {
    const double by = draw.log_real(1 / most, most);
    scale(interval, by, draw.real(0, 0.1) * by);
  });
  for (GpuModel& gpu : profile.gpus) {
    gpu.copy_engines = draw.one_in(4) ? 1 : 2;
    gpu.engine_order = draw.of({EngineOrder::readiness, EngineOrder::submission});
    gpu.implicit_sync = draw.of({ImplicitSync::none, ImplicitSync::none, ImplicitSync::until_started});
    gpu.concurrent_kernels = !draw.one_in(4);
  }
  for (LinkModel& link : profile.links) {
    if (draw.one_in(4)) link.h2d.duplex = link.d2h.duplex = std::nullopt;
    if (draw.one_in(4) && link.zero_copy) link.zero_copy->read_beside_d2h.clear();
    if (draw.one_in(4) && link.zero_copy) link.zero_copy->write_beside_h2d.clear();
  }
  return profile;
}

Array random_array(Draw& draw, Role role, std::uint64_t items, std::size_t number) {
  const std::uint64_t per_item = draw.log_integer(1, std::max<std::uint64_t>(2, (1ull << 30) / items));
  Array array{.name = "array " + std::to_string(number), .role = role, .size = Bytes{items * per_item}};
  if (stays(role) || role == Role::scratch) array.size = Bytes{draw.log_integer(1, 1 << 26)};
  if (role == Role::in && draw.one_in(4)) array.reach = halo(draw.integer(0, 3), draw.integer(0, 3));
  if (role == Role::in && draw.one_in(6))  // the first half of every item alone
    array.reach = mapped_by([per_item](ItemRange range) {
      return ElementRange{range.first * per_item, (range.count - 1) * per_item + (per_item + 1) / 2};
    });
  return array;
}

KernelCost random_cost(Draw& draw, std::uint64_t items) {
  KernelCost cost;
  cost.origin = "drawn";
  const double whole = draw.log_real(1e-6, 1e-1);
  const auto n = static_cast<double>(items);
  const auto point = [&](std::uint64_t count, double least) {
    const double time = whole * static_cast<double>(count) / n * draw.real(0.6, 1.4);
    return KernelCost::Point{count, draw.time(std::max(time, least), std::max(time, least) * 1.0001)};
  };
  cost.has_floor = items > 64 && draw.one_in(2);
  const double floor = cost.has_floor ? draw.log_real(1e-6, 1e-4) : 0;
  if (cost.has_floor) cost.points.push_back({draw.log_integer(1, items / 64), draw.time(floor, floor * 1.0001)});
  if (items > 1024 && draw.one_in(2)) cost.points.push_back(point(draw.log_integer(items / 16, items / 4), floor));
  if (items > 1024 && !cost.points.empty() && draw.one_in(3)) cost.cached_items = cost.points.back().items;
  cost.points.push_back(point(items, floor));
  return cost;
}

void add_zero_copy(Draw& draw, Job& job) {
  for (const auto& [in, out] : {std::pair{true, true}, std::pair{false, true}, std::pair{true, false}}) {
    if (draw.one_in(3)) continue;
    const double whole = job.cost.points.back().work.value.count() * draw.log_real(1, 10);
    KernelCost::ZeroCopy row{
        .in = in, .out = out, .alone = {{job.items, draw.time(whole, whole * 1.001)}}, .beside = {}};
    if (!(in && out)) row.beside = {{job.items, draw.time(whole * 1.1, whole * 3)}};
    row.copies_beside = draw.real(1, 2);
    job.cost.zero_copy.push_back(row);
  }
}

Job random_job(Draw& draw) {
  Job job;
  job.items = draw.log_integer(1, 1 << 24);
  job.name = "drawn";
  const MemoryKind memory =
      draw.of({MemoryKind::pinned, MemoryKind::pinned, MemoryKind::pinned, MemoryKind::pageable, MemoryKind::managed});
  const std::uint64_t count = draw.integer(1, 4);
  for (std::size_t a = 0; a < count; ++a) {
    const Role role = a == 0 ? draw.of({Role::in, Role::out, Role::inout})
                             : draw.of({Role::in, Role::in, Role::in, Role::out, Role::out, Role::inout,
                                        Role::broadcast, Role::carried, Role::scratch});
    job.arrays.push_back(random_array(draw, role, job.items, a));
  }
  if (draw.one_in(8) && job.arrays[0].role == Role::in && !job.arrays[0].reach.elements)
    job.arrays.push_back(
        {.name = "front", .role = Role::broadcast, .size = job.arrays[0].size / 2 + 1_B, .prefix_of = 0u});
  for (Array& array : job.arrays) array.memory = memory;
  job.items_per_block = draw.log_integer(1, 1024);
  job.cost = random_cost(draw, job.items);
  if (draw.one_in(3)) add_zero_copy(draw, job);
  if (draw.one_in(8)) job.launches = 3;
  return job;
}

Choice random_choice(Draw& draw, const Job& job) {
  Choice choice;
  const std::span<const Strategy> all = strategies();
  choice.strategy = std::string(all[draw.integer(0, all.size() - 1)].name);
  choice.chunks = static_cast<std::uint32_t>(draw.log_integer(1, std::min<std::uint64_t>(job.items, 64)));
  if (draw.one_in(4)) choice.ramp = {draw.real(0.1, 1), draw.real(0.1, 1), draw.real(1.01, 2)};
  choice.layout = draw.of({Layout::per_chunk, Layout::few, Layout::three, Layout::one_engine, Layout::implicit_sync});
  choice.streams = static_cast<std::uint32_t>(draw.integer(1, 8));
  choice.order = draw.of({IssueOrder::depth, IssueOrder::breadth});
  // Only kernels that access host memory have a limit on their grid.
  const auto has = [&](Role role) { return std::ranges::count(job.arrays, role, &Array::role) > 0; };
  const bool accesses_host = choice.strategy == "hybrid-mirror" ? has(Role::in) : has(Role::out) || has(Role::inout);
  if (find_strategy(choice.strategy).zero_copy && accesses_host && draw.one_in(3))
    choice.max_grid = draw.log_integer(1, 4096);
  if (draw.one_in(3)) choice.ring = static_cast<std::uint32_t>(draw.integer(1, 4));
  choice.threads = static_cast<std::uint32_t>(draw.integer(1, 8));
  if (job.items > 1 && draw.one_in(4)) choice.gpus = 2;
  choice.graph = draw.one_in(6);
  choice.batched = draw.one_in(6);
  return choice;
}

/// A case whose simulated time was the smallest multiple of the bound, and how many there were.
struct Closest {
  double ratio = 1e9;
  std::string what;
  std::map<std::string, unsigned> simulated{};  ///< by strategy
};

void try_choices(Draw& draw, const Job& job, const Profile& profile, unsigned choices, Closest& closest) {
  const Limits limits = limits_of(profile);
  const Bound of_one = bound(job, profile, 1);
  const Bound of_two = job.items > 1 ? bound(job, profile, 2) : of_one;
  for (unsigned i = 0; i < choices; ++i) {
    const Choice choice = random_choice(draw, job);
    Seconds time{0};
    try {
      time = simulate(find_strategy(choice.strategy).schedule(job, choice, limits), profile).timeline.makespan;
    } catch (const Error&) {
      continue;  // the strategy cannot do this job, or the profile has no figures for it
    }
    ++closest.simulated[choice.strategy];
    const Bound& least = choice.gpus == 1 ? of_one : of_two;
    if (time / least.time >= closest.ratio) continue;
    closest.ratio = time / least.time;
    closest.what = to_string(choice) + " on " + profile.name + ": " + to_string(time) + ", link " +
                   to_string(least.link) + ", kernel " + to_string(least.kernel) + ", " + std::to_string(job.items) +
                   " items";
  }
}

constexpr double rounding = 1e-9;

TEST(Bound, is_never_above_the_simulated_time_of_any_strategy_on_random_profiles) {
  Draw draw(1);
  Closest closest;
  for (unsigned i = 0; i < 2000; ++i) {
    const Profile profile = random_profile(draw, draw.of({1.0, 1.3, 4.0}));
    try_choices(draw, random_job(draw), profile, 12, closest);
  }
  EXPECT_GE(closest.ratio, 1 - rounding) << closest.what;
  for (const Strategy& strategy : strategies())
    EXPECT_GT(closest.simulated[std::string(strategy.name)], 60u) << strategy.name;
}

TEST(Bound, is_never_above_the_simulated_time_of_any_strategy_on_built_in_profiles) {
  Draw draw(2);
  Closest closest;
  for (const std::string& name : built_in_profiles()) {
    Profile profile = find_profile(name);
    if (profile.links.empty()) continue;
    profile.gpus.resize(1);
    profile.gpus.push_back(profile.gpus[0]);
    profile.links.resize(1);
    profile.links.push_back(profile.links[0]);
    profile.links[1].gpu = 1;
    for (unsigned i = 0; i < 80; ++i) try_choices(draw, random_job(draw), profile, 12, closest);
  }
  EXPECT_GE(closest.ratio, 1 - rounding) << closest.what;
  unsigned all = 0;
  for (const auto& [strategy, simulated] : closest.simulated) all += simulated;
  EXPECT_GT(all, 400u);
}

/// Expects that no candidate of any ranking on a built-in profile is below its bound.
void expect_bound_of_all_strategies(const std::vector<std::pair<Bytes, Bytes>>& sizes,
                                    const std::vector<Seconds>& kernels, const std::vector<unsigned>& blocks) {
  std::size_t candidates = 0;
  for (const std::string& name : built_in_profiles()) {
    const Profile profile = find_profile(name);
    if (profile.links.empty()) continue;
    for (const Seconds kernel : kernels)
      for (const auto& [in, out] : sizes) {
        Job job = in_out_job(in, out, kernel, static_cast<unsigned>(std::max(in, out).count / 4));
        for (const unsigned per_block : blocks) {
          job.items_per_block = job.threads_per_block = per_block;
          try {
            const Ranking ranking = rank(job, profile);
            candidates += ranking.candidates.size();
            for (const Candidate& candidate : ranking.candidates)
              EXPECT_GE(candidate.predicted.value / ranking.bound.time, 1 - rounding)
                  << name << ", " << to_string(kernel) << ", " << to_string(in) << ": " << to_string(candidate.choice);
          } catch (const Unsupported&) {
            continue;  // the GPU's memory is too small
          }
        }
      }
  }
  EXPECT_GT(candidates, 100u);
}

// Many waves of thread blocks, whose last ones are almost full.
TEST(Bound, is_never_above_a_candidate_for_round_sizes_and_long_kernels_on_built_in_profiles) {
  expect_bound_of_all_strategies({{1_GiB, 512_MiB}, {256_MiB, 256_MiB}, {64_MiB, 1_GiB}},
                                 {milliseconds(1), milliseconds(100), Seconds{1}}, {256, 1024});
}

// Grids that do not fill the GPU, or fill it little more than once.
TEST(Bound, is_never_above_a_candidate_for_small_grids_on_built_in_profiles) {
  expect_bound_of_all_strategies({{64_KiB, 64_KiB}, {1_MiB, 300_KiB}, {3_MiB, 1_MiB}, {5_MiB, 5_MiB}},
                                 {microseconds(20), milliseconds(1), milliseconds(50)}, {128, 1000});
}

/// A job whose kernel takes nearly all of the time, in grids of many blocks with a last wave that is not full. The
/// kernel's cost has a point of few items that take longer per item, or a floor of a block for each SM.
Job job_with_tails(Draw& draw, unsigned sm_count) {
  const std::uint64_t items = draw.log_integer(100'000, 10'000'000);
  Job job = in_out_job(Bytes{items}, Bytes{items}, Seconds{draw.log_real(5e-3, 1e-1)}, items);
  job.threads_per_block = draw.of({128u, 512u, 1024u});
  job.items_per_block = draw.of({1u, 2u});
  const KernelCost::Point whole = job.cost.points.front();
  job.cost.has_floor = draw.one_in(2);
  const std::uint64_t few = job.cost.has_floor ? sm_count * job.items_per_block : items / 64;
  const double longer = draw.real(0.9, 1.6);
  job.cost.points.insert(job.cost.points.begin(),
                         {few, Interval<Seconds>::exact(whole.work.value * (longer * static_cast<double>(few) /
                                                                            static_cast<double>(items)))});
  return job;
}

// Launches that run at the same time fill each other's last waves. Together they are not faster than the whole job.
TEST(Bound, is_never_above_the_simulated_time_of_launches_that_fill_each_others_last_waves) {
  Draw draw(4);
  const Profile profile = find_profile("h200");
  double closest = 1e9;
  std::string what;
  for (unsigned i = 0; i < 200; ++i) {
    const Job job = job_with_tails(draw, profile.gpus[0].sm_count);
    const Seconds least = bound(job, profile).time;
    for (const Layout layout : {Layout::per_chunk, Layout::few}) {
      const Choice choice{.strategy = "streams",
                          .chunks = static_cast<std::uint32_t>(draw.integer(2, 64)),
                          .layout = layout,
                          .order = draw.of({IssueOrder::depth, IssueOrder::breadth})};
      const Schedule schedule = find_strategy("streams").schedule(job, choice, limits_of(profile));
      const double ratio = simulate(schedule, profile).timeline.makespan / least;
      if (ratio >= closest) continue;
      closest = ratio;
      what = to_string(choice) + ", " + std::to_string(job.items) + " items";
    }
  }
  EXPECT_GE(closest, 1 - rounding) << what;
  EXPECT_LT(closest, 1.01) << "and is near";
}

/// A job whose kernel takes nearly all of the time. In small launches an item takes between a little less and twice as
/// long as in one launch of all items.
Job job_slow_in_small_launches(Draw& draw, unsigned sm_count) {
  const std::uint64_t items = draw.log_integer(200, 3'000'000);
  Job job = in_out_job(Bytes{items}, Bytes{items}, Seconds{draw.log_real(2e-3, 1e-1)}, items);
  job.threads_per_block = draw.of({32u, 128u, 256u, 512u, 1024u});
  job.items_per_block = draw.of({1u, 2u, 16u, 64u, 256u});
  if (draw.one_in(4)) job.blocks_per_item_group = draw.of({2u, 3u, 8u});
  const KernelCost::Point whole = job.cost.points.front();
  std::vector<std::uint64_t> launches;
  if (draw.one_in(2)) launches.push_back(std::max<std::uint64_t>(1, sm_count * job.items_per_block));
  job.cost.has_floor = !launches.empty() && launches.front() < items;
  for (std::uint64_t more = draw.integer(0, 3); more > 0; --more) launches.push_back(draw.log_integer(1, items));
  std::ranges::sort(launches);
  launches.erase(std::unique(launches.begin(), launches.end()), launches.end());
  job.cost.points.clear();
  Seconds least{0};
  for (const std::uint64_t of : launches) {
    if (of >= items) continue;
    const double part = static_cast<double>(of) / static_cast<double>(items);
    least = std::max(least, whole.work.value * (draw.real(0.8, 2.0) * part));
    job.cost.points.push_back({of, Interval<Seconds>::exact(least)});
  }
  job.cost.points.push_back({items, Interval<Seconds>::exact(std::max(least, whole.work.value))});
  return job;
}

// The number of blocks of a wave is rounded, which may be in favour of a small launch. Together they gain nothing.
TEST(Bound, is_never_above_any_strategy_for_kernels_that_are_slower_in_small_launches) {
  Draw draw(6);
  Closest closest;
  for (const char* name : {"h200", "h100", "gh200-2025-258389"}) {
    Profile profile = with_gpus(find_profile(name), 2);
    for (unsigned i = 0; i < 150; ++i)
      try_choices(draw, job_slow_in_small_launches(draw, profile.gpus[0].sm_count), profile, 12, closest);
  }
  EXPECT_GE(closest.ratio, 1 - rounding) << closest.what;
  EXPECT_LT(closest.ratio, 1.01) << "and is near: " << closest.what;
  for (const char* strategy : {"explicit", "streams", "implicit", "hybrid", "hybrid-mirror"})
    EXPECT_GT(closest.simulated[strategy], 60u) << strategy;
}

// Table I of van Werkhoven et al. 2014: zero-copy takes L + Thd = 58.633 ms by eq 6, where copies by one engine take
// Thd + Tdh = 86.536 ms. So the copy engine does not set the bound.
TEST(Bound, is_not_above_zero_copy_where_only_the_rates_of_copies_are_known) {
  const Job job = in_out_job(Bytes{704643072}, Bytes{352321536}, milliseconds(5), 42);
  const Profile profile = paper_profile({.copy_engines = 1});
  EXPECT_NEAR(in_milliseconds(bound(job, profile).time), 704643072 * 8.318392e-8, 1e-6);
  EXPECT_NEAR(in_milliseconds(find_strategy("implicit").closed_form(job, {.strategy = "implicit"}, profile)->time),
              58.63341592980224, 1e-9);
}

TEST(Bound, is_never_above_a_closed_form_that_covers_the_job) {
  Draw draw(5);
  std::map<std::string, unsigned> forms;
  for (unsigned i = 0; i < 2000; ++i) {
    Profile profile = random_profile(draw, draw.of({1.0, 1.3, 4.0}));
    for (LinkModel& link : profile.links)
      if (draw.one_in(3)) link.zero_copy.reset();
    const Job job = random_job(draw);
    const Seconds least = bound(job, profile).time;
    for (unsigned c = 0; c < 6; ++c) {
      Candidate candidate;
      candidate.choice = random_choice(draw, job);
      candidate.choice.gpus = 1;
      if (array_memory(job) != ArrayMemory::pinned) continue;
      const std::vector<ModelPrediction> models = model_predictions(job, profile, candidate);
      for (const ModelPrediction& m : std::span(models).subspan(1)) {
        if (!m.time || !m.assumption.empty()) continue;
        ++forms[m.model + ", " + m.form];
        ASSERT_GE(*m.time / least, 1 - rounding) << m.model << ", " << m.form << ": " << to_string(candidate.choice);
      }
    }
  }
  for (const char* form : {"van-werkhoven-2014, eq 5", "van-werkhoven-2014, eq 6", "van-werkhoven-2014, two stages",
                           "van-werkhoven-2014, max(eq 1, eq 2)", "van-werkhoven-2014, max(eq 3, eq 4)",
                           "van-werkhoven-2014, eqs 1, 2, 3, 5 at n = 1", "van-werkhoven-2014 as printed, eq 5"})
    EXPECT_GT(forms[form], 20u) << form;
}

TEST(Bound, is_below_the_low_end_of_every_prediction) {
  Draw draw(3);
  unsigned predicted = 0;
  for (unsigned i = 0; i < 150; ++i) {
    const Profile profile = random_profile(draw, 1.3);
    const Job job = random_job(draw);
    for (unsigned c = 0; c < 4; ++c) {
      const Choice choice = random_choice(draw, job);
      try {
        const Candidate candidate = predict(job, profile, choice);
        ++predicted;
        ASSERT_GE(candidate.predicted.low / bound(job, profile, choice.gpus).time, 1 - rounding) << to_string(choice);
      } catch (const Error&) {
        continue;
      }
    }
  }
  EXPECT_GT(predicted, 100u);
}

TEST(Bound, holds_where_zero_copy_is_faster_than_ideal_overlap) {
  const Profile profile = planted_profile();
  // Four inputs of 256 KiB: their copies have three gaps that a kernel which reads them itself does not have.
  Job job{.items = 1 << 16, .name = "small", .each_byte_once = true};
  for (const char* name : {"a", "b", "c", "d"}) job.arrays.push_back({.name = name, .role = Role::in, .size = 256_KiB});
  job.arrays.push_back({.name = "out", .role = Role::out, .size = 256_KiB});
  job.cost = {.points = {{job.items, Interval<Seconds>::exact(microseconds(2))}}, .origin = "stated"};
  const Candidate zero_copy = predict(job, profile, {.strategy = "implicit"});
  EXPECT_LT(zero_copy.predicted.value, ideal_overlap(job, profile).time.value) << "which is no bound";
  EXPECT_GE(zero_copy.predicted.low, bound(job, profile).time);
  EXPECT_GT(bound(job, profile).time, zero_copy.predicted.value * 0.8) << "and is near";
  EXPECT_LT(zero_copy.distance.total, Seconds{0});
  const std::string text = beside_ideal_overlap(zero_copy, ideal_overlap(job, profile));
  EXPECT_NE(text.find(" % below ideal overlap (zero-copy needs no copy)"), std::string::npos) << text;
  EXPECT_EQ(text.find('-'), text.find("zero-copy") + 4) << "no negative percentage: " << text;
}

TEST(Bound, holds_for_chunks_that_stay_in_the_cache) {
  Job job = in_out_job(1_MiB, 1_MiB, milliseconds(10), 1 << 20);
  job.cost.points = {{1 << 16, Interval<Seconds>::exact(milliseconds(0.3))},
                     {1 << 20, Interval<Seconds>::exact(milliseconds(10))}};
  job.cost.cached_items = 1 << 16;
  const Profile profile = planted_profile();
  EXPECT_NEAR(in_milliseconds(bound(job, profile).kernel), 16 * 0.3 + 0.0023, 1e-6);
  EXPECT_GT(ideal_overlap(job, profile).kernel, milliseconds(10));
}

/// Rates of zero-copy kernels that are so low that no bound uses them.
ZeroCopyModel slow_zero_copy() {
  const auto slow = Interval<Bandwidth>::exact({1});
  const std::vector<ZeroCopyBeside> beside{{1_B, slow, Interval<Bandwidth>::exact({50e9})}};
  return {.read = {{1_B, slow}},
          .write = {{1_B, slow}},
          .both = {{1_B, slow}},
          .read_beside_d2h = beside,
          .write_beside_h2d = beside};
}

// Hand computation: 256 MiB in at 55 GB/s and 128 MiB out at 54 GB/s; in both directions at once 50.8 and 50.5 GB/s.
// All bytes out go while as many go in, the rest goes in alone.
TEST(Bound, moves_both_directions_at_once_and_the_rest_alone) {
  Profile profile = planted_profile();
  profile.links[0].zero_copy.reset();
  const Job job = in_out_job(256_MiB, 128_MiB, microseconds(10), 1 << 20);
  const double mib = 1024 * 1024;
  const double both = 128 * mib / 50.5e9;
  const double alone = (256 * mib - both * 50.8e9) / 55e9;
  EXPECT_NEAR(bound(job, profile).link.count(), both + alone + 2.3e-6, 1e-9);
  profile.gpus[0].copy_engines = 1;
  EXPECT_NEAR(bound(job, profile).link.count(), both + alone + 2.3e-6, 1e-9)
      << "a zero-copy kernel of unknown rates needs no copy engine";
  profile.links[0].zero_copy = slow_zero_copy();
  EXPECT_NEAR(bound(job, profile).link.count(), 256 * mib / 55e9 + 128 * mib / 54e9 + 2.3e-6, 1e-9)
      << "one copy engine serves one direction after the other";
}

// Hand computation: 64 MiB resident go in before the kernel of 5 ms, 128 MiB carried before it and back after it.
TEST(Bound, has_arrays_that_stay_before_the_kernel_and_carried_ones_behind_it) {
  Job job = in_out_job(1_MiB, 1_MiB, milliseconds(5), 1 << 20);
  job.arrays.push_back({.name = "table", .role = Role::broadcast, .size = 64_MiB});
  job.arrays.push_back({.name = "state", .role = Role::carried, .size = 128_MiB});
  const double mib = 1024 * 1024;
  const double expected = 192 * mib / 55e9 + 2.3e-6 + 5e-3 + 128 * mib / 54e9;
  EXPECT_NEAR(bound(job, planted_profile()).kernel.count(), expected, 1e-9);
  for (Array& array : job.arrays) array.memory = MemoryKind::managed;
  EXPECT_NEAR(bound(job, planted_profile()).kernel.count(), 2.3e-6 + 5e-3, 1e-9) << "pages move while the kernel runs";
}

TEST(Bound, takes_the_fast_end_of_every_interval) {
  Profile profile = planted_profile();
  const Job job = in_out_job(256_MiB, 0_B, microseconds(10), 1 << 20);
  const Seconds exact = bound(job, profile).link;
  profile.links[0].h2d.per_byte.low.seconds *= 0.9;
  EXPECT_NEAR(bound(job, profile).link / exact, 0.9, 1e-3);
}

TEST(Bound, of_several_gpus_is_that_of_the_part_that_takes_longest) {
  Profile profile = planted_profile();
  profile.gpus.push_back(profile.gpus[0]);
  profile.links.push_back(profile.links[0]);
  profile.links[1].gpu = 1;
  const Job job = in_out_job(256_MiB, 256_MiB, microseconds(10), 1 << 20);
  EXPECT_NEAR(bound(job, profile, 2).time / bound(job, profile, 1).time, 0.5, 0.001);
  const auto slow_down_second = [&](double factor) {
    profile.links[1].h2d.per_byte.low.seconds *= factor;
    profile.links[1].h2d.duplex.reset();
    profile.links[1].zero_copy.reset();
  };
  slow_down_second(1.5);
  EXPECT_NEAR(bound(job, profile, 2).time / (128_MiB / Bandwidth{55e9 / 1.5}), 1, 0.001);
  slow_down_second(4);
  EXPECT_NEAR(bound(job, profile, 2).time / (128_MiB / Bandwidth{55e9 / 6}), 1, 0.001);
}

TEST(Bound, counts_what_chunks_need_of_a_mapped_array) {
  Job job = in_out_job(64_MiB, 1_MiB, microseconds(10), 1024);
  job.arrays[0].reach = mapped_by([](ItemRange range) {  // the first half of every item of 64 KiB
    return ElementRange{range.first << 16, (range.count << 16) - (1 << 15)};
  });
  const Job half = in_out_job(32_MiB, 1_MiB, microseconds(10), 1024);
  EXPECT_NEAR(bound(job, planted_profile()).time / bound(half, planted_profile()).time, 1, 1e-9);
}

}  // namespace
}  // namespace shiplap

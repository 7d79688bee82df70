#include "shiplap/plan/ranking.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "shiplap/core/error.hpp"
#include "shiplap/plan/explain.hpp"
#include "shiplap/sim/simulate.hpp"
#include "tests/support/jobs.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

Job job_of(double kernel_ms, Bytes size = 64_MiB) {
  Job job = in_out_job(size, size, milliseconds(kernel_ms), size.count / 4);
  job.items_per_block = 1024;
  return job;
}

TEST(Ranking, finds_a_chunk_count_within_one_percent_of_an_exhaustive_search) {
  const Profile profile = planted_profile();
  for (const double kernel_ms : {0.05, 1.2, 5.0}) {
    const Job job = job_of(kernel_ms);
    double best = 1e9;
    for (std::uint32_t chunks = 1; chunks <= 256; ++chunks)
      for (const Layout layout : {Layout::three, Layout::few, Layout::per_chunk})
        best = std::min(best, simulate(find_strategy("streams").schedule(job, {.chunks = chunks, .layout = layout},
                                                                         limits_of(profile)),
                                       profile)
                                  .timeline.makespan.count());
    EXPECT_LE(rank(job, profile).best().predicted.value.count(), 1.01 * best) << kernel_ms;
  }
}

TEST(Ranking, of_a_given_number_of_chunks_is_no_slower_than_what_the_free_search_finds_with_it) {
  for (const double kernel_ms : {0.2, 1.2, 5.0, 30.0})
    for (const Bytes size : {8_MiB, 64_MiB}) {
      const Job job = job_of(kernel_ms, size);
      for (const Candidate& found : rank(job, planted_profile()).candidates) {
        if (!find_strategy(found.choice.strategy).chunked) continue;
        const Ranking asked =
            rank(job, planted_profile(), {.strategies = {found.choice.strategy}, .chunks = {found.choice.chunks}});
        EXPECT_LE(asked.candidates.front().predicted.value, found.predicted.value)
            << to_string(found.choice) << ", kernel " << kernel_ms << " ms";
      }
    }
}

TEST(Ranking, takes_a_stream_for_each_chunk_only_when_it_is_asked_to) {
  // Many chunks pay: the kernel is long and starts with the first chunk.
  const Job job = job_of(30, 1_GiB);
  for (const Candidate& c : rank(job, planted_profile(), {.strategies = {"streams"}}).candidates)
    EXPECT_EQ(c.choice.layout, Layout::three) << to_string(c.choice);
  const Ranking asked = rank(job, planted_profile(), {.strategies = {"streams"}, .layouts = {Layout::per_chunk}});
  EXPECT_EQ(asked.best().choice.layout, Layout::per_chunk);
  EXPECT_GT(asked.best().choice.chunks, 32u);
}

TEST(Ranking, ranks_streams_before_explicit_where_there_is_something_to_overlap) {
  const Ranking p = rank(job_of(1.2), planted_profile(), {.strategies = {"streams", "explicit"}});
  EXPECT_EQ(p.best().choice.strategy, "streams");
  EXPECT_EQ(p.candidates.back().choice.strategy, "explicit");
  EXPECT_GT(p.candidates.back().predicted.value / p.best().predicted.value, 1.5);
}

TEST(Ranking, takes_kernels_that_share_the_link_with_copies_only_where_they_promise_more_than_they_are_off_by) {
  // A kernel that was measured to write host memory as fast as the GPU's leaves copies to the GPU a link of their own:
  // hybrid pipelines nearly reach ideal overlap, the more the less they slow these copies down.
  bool seen[2] = {};
  for (const double slower : {1.0, 1.03, 1.06, 1.09, 1.12, 1.15}) {
    Job job = job_of(1.2);
    const KernelCost::Point whole{job.items, Interval<Seconds>::exact(milliseconds(1.2))};
    job.cost.zero_copy = {
        {.in = false, .out = true, .blocks = 0, .alone = {whole}, .beside = {whole}, .copies_beside = slower}};
    const Ranking p = rank(job, planted_profile(), {.strategies = {"streams", "hybrid"}});
    const auto time_of = [&](const char* strategy) {
      const auto found =
          std::ranges::find_if(p.candidates, [&](const Candidate& c) { return c.choice.strategy == strategy; });
      return found->predicted.value;
    };
    const double gain = time_of("streams") / time_of("hybrid") - 1;
    const bool shares = p.best().choice.strategy != "streams";
    if (gain <= 0) continue;
    seen[shares] = true;
    EXPECT_EQ(shares, gain > 0.05) << gain;
    EXPECT_EQ(shares, p.simpler.find("do not share the link") == std::string::npos) << p.simpler;
  }
  EXPECT_TRUE(seen[false] && seen[true]) << "both were tried";
}

TEST(Ranking, never_predicts_less_than_the_bound) {
  for (const double kernel_ms : {0.01, 0.5, 1.2, 3.0, 20.0}) {
    const Ranking p = rank(job_of(kernel_ms), planted_profile());
    for (const Candidate& c : p.candidates)
      EXPECT_GE(c.predicted.low, p.bound.time) << kernel_ms << " " << to_string(c.choice);
  }
}

TEST(Ranking, says_what_sets_the_bound_and_ideal_overlap) {
  const Ranking short_kernel = rank(job_of(0.1), planted_profile());
  EXPECT_EQ(short_kernel.bound.set_by(), "the link");
  EXPECT_EQ(short_kernel.ideal_overlap.set_by(), "copies in both directions");
  const Ranking long_kernel = rank(job_of(50), planted_profile());
  EXPECT_EQ(long_kernel.bound.set_by(), "the kernel");
  EXPECT_EQ(long_kernel.ideal_overlap.set_by(), "kernel");
}

TEST(Ranking, splits_the_distance_to_ideal_overlap_without_a_rest) {
  const Ranking p = rank(job_of(1.2), planted_profile());
  for (const Candidate& c : p.candidates) {
    const Distance& d = c.distance;
    EXPECT_NEAR((d.submission + d.latency + d.gap + d.duplex_gap + d.fill_and_drain).count(), d.total.count(), 1e-12);
    EXPECT_NEAR((c.predicted.value - p.ideal_overlap.time.value).count(), d.total.count(), 1e-12);
  }
}

TEST(Ranking, widens_the_range_with_the_intervals_of_the_profile) {
  Profile profile = planted_profile();
  const Interval<Seconds> exact = predict(job_of(0.1), profile, {.chunks = 16}).predicted;
  const double model = find_strategy("streams").model_error;
  EXPECT_GT(model, 0);
  const double unexplained = 5e-6 / exact.value.count();
  EXPECT_NEAR((exact.high - exact.value) / exact.value, std::hypot(model, unexplained), 1e-9)
      << "the model's own error is left, and 5 us";
  for (DirectionModel* d : {&profile.links[0].h2d, &profile.links[0].d2h}) {
    auto& g = d->duplex->per_byte;
    g.low.seconds = g.value.seconds * 0.98;
    g.high.seconds = g.value.seconds * 1.02;
  }
  const Interval<Seconds> wide = predict(job_of(0.1), profile, {.chunks = 16}).predicted;
  // Duplex copies are most of the time, the rest are gaps and the one-way copies while the pipeline fills and drains.
  const double both = std::hypot(0.017, model);
  EXPECT_NEAR((wide.high - wide.value) / wide.value, both, 0.001);
  EXPECT_NEAR((wide.value - wide.low) / wide.value, both, 0.001);
}

TEST(Ranking, is_sorted_by_predicted_time_and_says_why_another_one_than_the_fastest_is_preferred) {
  std::size_t others = 0;
  for (const double kernel_ms : {0.05, 0.3, 0.9, 1.2, 2.0, 5.0})
    for (const Bytes size : {1_MiB, 8_MiB, 64_MiB}) {
      const Ranking p = rank(job_of(kernel_ms, size), planted_profile());
      EXPECT_TRUE(std::ranges::is_sorted(p.candidates, {},
                                         [](const Candidate& candidate) { return candidate.predicted.value; }));
      EXPECT_EQ(&p.best(), &p.candidates[p.first_choice]);
      EXPECT_EQ(p.simpler.empty(), p.first_choice == 0);
      EXPECT_EQ(p.why.find(to_string(p.best().choice)), 0u) << "the choice comes first: " << p.why;
      if (p.first_choice == 0) continue;
      ++others;
      EXPECT_LE(p.best().predicted.value / p.candidates.front().predicted.value, 1.05);
    }
  EXPECT_GT(others, 0u) << "the simplest was always the fastest, so nothing was seen";
}

TEST(Ranking, calls_choices_with_overlapping_ranges_a_tie) {
  Profile profile = planted_profile();
  for (DirectionModel* d : {&profile.links[0].h2d, &profile.links[0].d2h}) {
    auto& g = d->duplex->per_byte;
    g.low.seconds = g.value.seconds * 0.95;
    g.high.seconds = g.value.seconds * 1.05;
  }
  const Ranking p = rank(job_of(0.1), profile, {.strategies = {"streams", "explicit"}, .chunks = {16, 20}});
  ASSERT_GE(p.candidates.size(), 2u);
  EXPECT_TRUE(p.candidates[1].tied_with_fastest);
  EXPECT_FALSE(p.candidates.back().tied_with_fastest);  // explicit is far behind
}

TEST(Ranking, refuses_when_no_strategy_can_and_gives_the_reasons) {
  Job job = job_of(1);
  job.arrays[0].memory = MemoryKind::pageable;
  try {
    rank(job, planted_profile());
    FAIL();
  } catch (const Unsupported& e) {
    EXPECT_NE(std::string(e.what()).find("`pinned_vector`"), std::string::npos) << e.what();
  }
}

TEST(Ranking, works_on_the_published_profile_and_names_what_it_lacks) {
  const Ranking p = rank(job_of(5), load_profile(SHIPLAP_SOURCE_DIR "/profiles/gtx-titan-2014.json"));
  EXPECT_FALSE(p.assumptions.empty());
  EXPECT_EQ(p.best().choice.strategy, "implicit") << "by eq 6";
}

TEST(Ranking, predicts_the_ring_that_the_memory_it_was_given_allows) {
  const Profile profile = planted_profile();
  const Limits limits{.device_memory = 2_MiB, .resident_threads = limits_of(profile).resident_threads};
  const Ranking p = rank(job_of(1.2), profile, limits, {.strategies = {"streams"}, .chunks = {64}});
  for (const Candidate& c : p.candidates)
    EXPECT_EQ(c.predicted.value,
              simulate(find_strategy("streams").schedule(job_of(1.2), c.choice, limits), profile).timeline.makespan);
  EXPECT_LT(rank(job_of(1.2), profile, {.strategies = {"streams"}, .chunks = {64}}).best().predicted.value,
            p.best().predicted.value);
}

TEST(Ranking, stays_within_the_memory_of_the_gpu) {
  Profile profile = planted_profile();
  profile.gpus[0].memory = 20_MiB;
  const Ranking p = rank(job_of(1.2), profile, {.strategies = {"streams", "explicit"}});
  EXPECT_EQ(p.best().choice.strategy, "streams");
  ASSERT_EQ(p.refused.size(), 1u);
  EXPECT_EQ(p.refused[0].strategy, "explicit");
  EXPECT_NE(p.refused[0].reason.find("128 MiB"), std::string::npos) << p.refused[0].reason;
}

TEST(Ranking, has_no_two_choices_that_cut_the_items_alike) {
  // 16 items, so that most ramps cut them like no ramp.
  const Job job = in_out_job(16_MiB, 16_MiB, milliseconds(0.1), 16);
  const Ranking p = rank(job, planted_profile(), {.strategies = {"streams"}, .fewer_calls = false});
  for (std::size_t a = 0; a < p.candidates.size(); ++a)
    for (std::size_t b = 0; b < a; ++b) {
      Choice one = p.candidates[a].choice;
      const Choice& other = p.candidates[b].choice;
      one.ramp = other.ramp;
      if (one != other) continue;
      EXPECT_NE(cut_into_chunks(job, one.chunks, p.candidates[a].choice.ramp),
                cut_into_chunks(job, other.chunks, other.ramp))
          << to_string(p.candidates[a].choice) << " and " << to_string(other);
    }
}

TEST(Ranking, leaves_out_strategies_without_chunks_where_several_are_asked_for) {
  Job job = job_of(1);
  for (Array& array : job.arrays) array.memory = MemoryKind::pageable;
  const auto reason_of = [](const Ranking& ranking, std::string_view strategy) {
    const auto found = std::ranges::find(ranking.refused, strategy, &Refused::strategy);
    return found == ranking.refused.end() ? "" : found->reason;
  };
  const Profile h200 = find_profile("h200");
  const Ranking p = rank(job, h200, {.chunks = {4}});
  EXPECT_EQ(reason_of(p, "pageable"), "`chunks` asks for several chunks, and it has none");
  EXPECT_EQ(p.best().choice.strategy, "staged");
  EXPECT_EQ(reason_of(rank(job, h200, {.chunks = {1, 4}}), "pageable"), "");
  const Ranking named = rank(job, h200, {.strategies = {"pageable"}, .chunks = {4}});
  EXPECT_NE(named.assumptions.back().find("the number has no effect"), std::string::npos) << named.assumptions.back();
}

TEST(Ranking, refuses_for_lack_of_device_memory_with_that_memory_first) {
  Limits limits = limits_of(planted_profile());
  limits.device_memory = Bytes{1000};
  const std::string message = message_of<Unsupported>([&] {
    rank(job_of(1), planted_profile(), limits, {.strategies = {"explicit", "streams", "staged"}});
  });
  EXPECT_EQ(message.find("no strategy can run"), 0u);
  EXPECT_NE(message.find("with 1000 B of device memory"), std::string::npos) << message;
  EXPECT_EQ(message.find("staged"), std::string::npos) << message;
  EXPECT_EQ(message.find("(s)"), std::string::npos) << message;
}

TEST(ReasonsOf, name_every_strategy_of_a_reason_once) {
  EXPECT_EQ(reasons_of({{"explicit", "explicit: x is away"}, {"streams", "streams: x is away"}, {"staged", "why"}}),
            (std::vector<std::string>{"explicit, streams: x is away", "staged: why"}));
}

TEST(Ranking, of_choices_that_no_job_can_have_is_an_error_and_no_refusal) {
  const auto refusal = [](const SearchSpace& space) {
    return message_of<UsageError>([&] { rank(job_of(1.2), planted_profile(), roomy, space); });
  };
  EXPECT_NE(refusal({.strategies = {"streams"}, .chunks = {0}}).find("`chunks` 0"), std::string::npos);
  EXPECT_NE(refusal({.strategies = {"streams"}, .graph = true, .batched = true}).find("copies in a graph"),
            std::string::npos);
}

TEST(Ranking, has_one_row_for_a_single_chunk_in_whatever_streams) {
  const Ranking p =
      rank(job_of(1.2), planted_profile(), {.strategies = {"streams"}, .chunks = {1}, .fewer_calls = false});
  EXPECT_EQ(p.candidates.size(), 1u);
  for (const Candidate& a : rank(job_of(0.01, 64_KiB), planted_profile()).candidates)
    EXPECT_EQ(std::ranges::count_if(rank(job_of(0.01, 64_KiB), planted_profile()).candidates,
                                    [&](const Candidate& b) {
                                      return b.choice.strategy == a.choice.strategy && b.choice.chunks == 1 &&
                                             a.choice.chunks == 1 && b.choice.max_grid == a.choice.max_grid &&
                                             b.choice.graph == a.choice.graph && b.choice.batched == a.choice.batched;
                                    }),
              a.choice.chunks == 1 ? 1 : 0)
        << to_string(a.choice);
}

TEST(Ranking, cuts_into_more_chunks_where_the_memory_holds_no_larger_ones) {
  Limits limits = limits_of(planted_profile());
  limits.device_memory = 4_MiB;
  Job job = in_out_job(32_GiB, 32_GiB, milliseconds(3000), 1 << 20);
  const auto chunks_of = [&](const char* strategy) {
    return rank(job, planted_profile(), limits, {.strategies = {strategy}}).best().choice.chunks;
  };
  EXPECT_GT(chunks_of("streams"), 8192u);
  for (Array& array : job.arrays) array.memory = MemoryKind::pageable;
  EXPECT_GT(chunks_of("staged"), 8192u);
  // 128 items are fewer than pieces of 128 MiB.
  job = in_out_job(32_GiB, 32_GiB, milliseconds(3000), 128);
  for (Array& array : job.arrays) array.memory = MemoryKind::pageable;
  limits.device_memory = 2_GiB;
  EXPECT_GT(chunks_of("staged"), 16u);
}

TEST(Ranking, says_of_arrays_that_stay_on_the_gpu_that_they_do_not_fit_and_nothing_of_chunks) {
  Limits limits = limits_of(planted_profile());
  limits.device_memory = 1_MiB;
  Job job = job_of(1);
  job.arrays.push_back({.name = "table", .role = Role::broadcast, .size = 2_MiB});
  const std::string said =
      message_of<Unsupported>([&] { rank(job, planted_profile(), limits, {.strategies = {"streams"}}); });
  EXPECT_EQ(said.find("more chunks"), std::string::npos) << said;
  EXPECT_NE(said.find("make the arrays that stay on the GPU smaller"), std::string::npos) << said;
}

TEST(Ranking, says_of_a_halo_that_does_not_fit_nothing_of_arrays_that_stay_on_the_gpu) {
  Limits limits = limits_of(planted_profile());
  limits.device_memory = 1_MiB;
  Job job = in_out_job(32_MiB, 32_MiB, milliseconds(3), 1024);
  job.arrays[0].reach = {.before = 64, .after = 0, .elements = {}};
  const std::string said =
      message_of<Unsupported>([&] { rank(job, planted_profile(), limits, {.strategies = {"streams"}}); });
  EXPECT_NE(said.find("allow more device memory"), std::string::npos) << said;
  EXPECT_EQ(said.find("stay on the GPU"), std::string::npos) << said;
}

TEST(Ranking, refuses_a_number_of_gpus_that_no_node_has) {
  EXPECT_EQ(
      message_of<UsageError>([] { rank(job_of(1), planted_profile(), {.gpus = static_cast<std::uint32_t>(-1)}); }),
      "`gpus` is too large: a job is shared among at most 64 GPUs");
}

}  // namespace
}  // namespace shiplap

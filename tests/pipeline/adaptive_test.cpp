#include "shiplap/pipeline/adaptive.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "shiplap/core/error.hpp"
#include "shiplap/device/virtual/virtual_device.hpp"
#include "shiplap/profile/what_if.hpp"
#include "shiplap/workload/described_job.hpp"
#include "tests/support/adaptive_bed.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

using namespace adaptive_bed;

TEST(Adaptive, brings_every_batch_through_in_order_and_counts_them) {
  Bed bed;
  std::uint64_t next = 0;
  const auto report = bed.adaptive.run(bed.source(50, drifting), [&](const Batch& batch) {
    EXPECT_EQ(batch.number, next++);
    bed.sink(drifting)(batch);
  });
  EXPECT_EQ(report.batches, 50u);
  EXPECT_EQ(report.items, 50 * frames);
  EXPECT_EQ(next, 50u);
  EXPECT_EQ(std::accumulate(report.batches_of_choice.begin(), report.batches_of_choice.end(), std::uint64_t{0}), 50u);
  EXPECT_GT(report.rate(), 0);
}

TEST(Adaptive, overlaps_batches_where_it_need_not_wait_for_each) {
  const auto cost = [](std::uint64_t) { return 100u; };
  const Seconds waited = Bed({.in_flight = 1}).elapsed(200, cost);
  const Seconds overlapped = Bed({.in_flight = 3}).elapsed(200, cost);
  // 2 MiB take 38 us on the planted link, and the kernel 60.
  EXPECT_LT(overlapped / waited, 0.85);
  EXPECT_NEAR(in_microseconds(overlapped) / 200, 60, 6);
}

TEST(Adaptive, refuses_more_batches_than_fit_and_says_how_many_do) {
  const auto device = open_virtual(planted_profile(), "virtual:planted");
  const Node node = node_of(*device, planted_profile());
  const auto refused = [](const Node& on, AdaptiveOptions options) {
    return message_of<UsageError>([&] { Adaptive(on, summing(microseconds(60)), std::move(options)); });
  };
  EXPECT_THAT(refused(node, {.in_flight = 1'000'000}), ::testing::HasSubstr("`in_flight` 1000000: at most 64 batches"));
  EXPECT_THAT(refused(node, {.in_flight = 65}), ::testing::HasSubstr("give at most 64"));
  EXPECT_THAT(refused(node, {.in_flight = 3, .slots = 1u << 31}), ::testing::HasSubstr("`slots` 2147483648"));
  Node less = node;
  std::string said;
  for (less.limits.device_memory = 8_MiB; said.empty(); less.limits.device_memory = less.limits.device_memory / 2) {
    try {
      Adaptive(less, summing(microseconds(60)), {.in_flight = 64});
    } catch (const UsageError& error) {
      said = error.what();
      break;
    }
  }
  const std::string before = "give at most ";
  ASSERT_THAT(said, ::testing::HasSubstr(before));
  const auto fit = static_cast<std::uint32_t>(std::stoul(said.substr(said.find(before) + before.size())));
  EXPECT_LT(fit, 64u);
  Adaptive(less, summing(microseconds(60)), {.in_flight = fit});
  EXPECT_THAT(refused(less, {.in_flight = fit + 1}), ::testing::HasSubstr(fmt::format("give at most {}", fit)));
}

// Half of the memory each: a pipeline of chunks needs less than the whole batch on the GPU.
TEST(Adaptive, takes_as_many_batches_as_the_memory_can_be_divided_among) {
  const auto device = open_virtual(planted_profile(), "virtual:planted");
  Node node = node_of(*device, planted_profile());
  Bytes batch{0};
  for (const Array& array : summing(microseconds(60)).arrays) batch += array.size;
  node.limits.device_memory = Bytes{2 * batch.count};
  for (const std::uint32_t in_flight : {2u, 3u, 4u, 8u})
    EXPECT_NO_THROW(Adaptive(node, summing(microseconds(60)), {.in_flight = in_flight})) << in_flight;
}

/// Times of a run under a policy of each kind.
struct Compared {
  Seconds adaptive{0};
  Seconds best_fixed{std::numeric_limits<double>::infinity()};
  Seconds oracle{0};
};

/// To the nearest third of an octave.
std::uint32_t level_of(std::uint32_t cost) {
  return static_cast<std::uint32_t>(std::lround(100 * std::exp2(std::round(3 * std::log2(cost / 100.0)) / 3)));
}

/// The oracle knows about what every batch costs, and what each choice takes then: it has run it with nothing else.
Compared compare(const Cost& cost, std::uint64_t batches) {
  Compared result;
  Bed bed({.in_flight = 1});
  const std::size_t choices = bed.adaptive.table().choices.size();
  std::map<std::uint32_t, std::uint32_t> best;
  for (std::uint64_t b = 0; b < batches; ++b) best[level_of(cost(b))] = 0;
  for (auto& [level, choice] : best) {
    Seconds least{std::numeric_limits<double>::infinity()};
    for (std::uint32_t c = 0; c < choices; ++c) {
      Fixed fixed(c);
      const Seconds time = bed.elapsed(fixed, 3, [v = level](std::uint64_t) { return v; });
      if (time < least) choice = c;
      least = std::min(least, time);
    }
  }
  std::vector<std::uint32_t> known;
  for (std::uint64_t b = 0; b < batches; ++b) known.push_back(best.at(level_of(cost(b))));
  Fixed oracle(known);
  result.oracle = bed.elapsed(oracle, batches, cost);
  for (std::uint32_t c = 0; c < choices; ++c) {
    if (bed.adaptive.table().choices[c].chunks > 8) continue;  // far from the best
    Fixed fixed(c);
    result.best_fixed = std::min(result.best_fixed, bed.elapsed(fixed, batches, cost));
  }
  result.adaptive = bed.elapsed(batches, cost);
  return result;
}

void expect_good(const Compared& c) {
  EXPECT_LT(c.adaptive / c.oracle, 1.03);
  EXPECT_LT(c.adaptive / c.best_fixed, 0.995);
}

TEST(Adaptive, of_batches_that_drift_is_near_the_oracle_and_better_than_any_fixed_choice) {
  expect_good(compare(drifting, 400));
}

TEST(Adaptive, of_shocks_is_near_the_oracle_and_better_than_any_fixed_choice) {
  expect_good(compare(with_shocks, 400));
}

TEST(Adaptive, with_several_in_flight_follows_shocks_of_the_kernel_and_leaves_the_link_alone) {
  Bed bed({.in_flight = 3});
  std::uint64_t decisions = 0;
  const auto report =
      bed.adaptive.run(bed.source(400, with_shocks), bed.sink(with_shocks), [&](const Adaptive::Progress& progress) {
        if (progress.decision == nullptr) return;
        ++decisions;
        EXPECT_NEAR(progress.decision->link, 1, 0.05) << progress.decision->reason;
      });
  EXPECT_EQ(report.batches, 400u);
  EXPECT_GE(decisions, 9u);
  EXPECT_LE(decisions, 40u) << "of nine changes, each seen by batches that were half before and half behind it";
}

/// The node is another one than the profile says: kernels 1.5 times as long, the link at two thirds of its rate.
TEST(Adaptive, finds_out_where_the_profile_is_wrong) {
  const auto device = open_virtual(what_if(planted_profile(), "link=0.6667"), "virtual:slower");
  Adaptive adaptive(node_of(*device, planted_profile()), summing(microseconds(20)), {.in_flight = 1});
  const auto batches = [](std::uint64_t count) {
    return [count](Batch& batch) {
      const auto values = std::span(reinterpret_cast<std::uint32_t*>(batch.arrays[0].data()), frames * pixels / 4);
      for (std::uint64_t f = 0; f < frames; ++f) values[f * pixels / 4] = 150;
      return batch.number < count;
    };
  };
  double kernel = 1;
  adaptive.run(batches(300), {}, [&](const Adaptive::Progress& progress) {
    if (progress.decision != nullptr) kernel = progress.decision->kernel;
  });
  EXPECT_NEAR(kernel, 1.5, 0.05);
  double best = 0;
  for (std::uint32_t c = 0; c < adaptive.table().choices.size(); ++c) {
    Fixed fixed(c);
    best = std::max(best, adaptive.run(fixed, batches(20)).rate());
  }
  EXPECT_GT(adaptive.run(batches(100)).rate(), 0.98 * best) << "by then it knows";
}

TEST(Adaptive, asks_once_for_a_sample_and_keeps_it) {
  const auto device = open_virtual(planted_profile(), "virtual:planted");
  std::vector<std::byte*> sampled;
  Job job = summing(microseconds(20));
  const Adaptive adaptive(node_of(*device, planted_profile()), job,
                          {.in_flight = 2, .sample = [&](std::span<const std::span<std::byte>> arrays) {
                             for (const std::span<std::byte> array : arrays) sampled.push_back(array.data());
                             std::ranges::fill(arrays[0], std::byte{7});
                           }});
  ASSERT_EQ(sampled.size(), 2u);
  EXPECT_EQ(sampled[0], adaptive.arrays(0)[0].data());
  EXPECT_EQ(sampled[1], adaptive.arrays(0)[1].data());
  EXPECT_EQ(adaptive.arrays(0)[0].back(), std::byte{7});
}

TEST(Adaptive, logs_what_replays_to_the_same_decisions) {
  Bed bed;
  bed.elapsed(300, with_shocks);
  std::string text;
  for (const std::string& line : bed.log) text += line + "\n";
  const Replay again = replay(text, "log");
  EXPECT_EQ(again.difference, "");
  EXPECT_EQ(again.seen.size(), 300u);
  EXPECT_GE(again.logged.size(), 6u) << "a change every 40 batches";
}

TEST(Adaptive, takes_batches_from_slots_that_the_source_names) {
  Bed bed({.in_flight = 2, .slots = 4});
  std::vector<std::size_t> used;
  auto fill = bed.source(8, drifting);
  bed.adaptive.run(
      [&](Batch& batch) {
        batch.slot = batch.number % 2 + 2;
        batch.arrays = bed.adaptive.arrays(batch.slot);
        return fill(batch);
      },
      [&](const Batch& batch) {
        used.push_back(batch.slot);
        bed.sink(drifting)(batch);
      });
  EXPECT_EQ(used, (std::vector<std::size_t>{2, 3, 2, 3, 2, 3, 2, 3}));
  const auto always_in = [&](std::size_t slot) {
    return message_of([&] {
      bed.adaptive.run([slot](Batch& batch) {
        batch.slot = slot;
        return batch.number < 4;
      });
    });
  };
  EXPECT_EQ(always_in(0), "batch 1 was put into slot 0, which is in flight: choose a slot that is free");
  EXPECT_EQ(always_in(7), "batch 0 was put into slot 7, which does not exist: choose a slot that is free");
  EXPECT_TRUE(bed.adaptive.is_free(0)) << "nothing is in flight behind an error";
  EXPECT_EQ(bed.adaptive.run(bed.source(3, drifting), bed.sink(drifting)).batches, 3u);
}

TEST(Adaptive, stops_when_it_is_asked_to_with_all_that_was_submitted_done) {
  Bed bed;
  std::stop_source stop;
  auto fill = bed.source(1000, drifting);
  const auto report = bed.adaptive.run(
      [&](Batch& batch) {
        if (batch.number == 10) stop.request_stop();
        return fill(batch);
      },
      bed.sink(drifting), {}, stop.get_token());
  EXPECT_EQ(report.batches, 11u);
}

TEST(Adaptive, what_the_callers_functions_throw_comes_through_and_leaves_nothing_in_flight) {
  Bed bed;
  EXPECT_THROW(bed.adaptive.run(bed.source(10, drifting), [](const Batch&) { throw CheckFailed("wrong"); }),
               CheckFailed);
  for (std::size_t slot = 0; slot < bed.adaptive.slots(); ++slot) EXPECT_TRUE(bed.adaptive.is_free(slot));
  EXPECT_EQ(bed.adaptive.run(bed.source(10, drifting), bed.sink(drifting)).batches, 10u);
}

TEST(Adaptive, refuses_arrays_that_stay_on_the_gpu_and_too_few_slots) {
  const auto device = open_virtual(planted_profile(), "virtual:planted");
  const Node node = node_of(*device, planted_profile());
  Job job = summing(microseconds(60));
  job.arrays.push_back({.name = "table", .role = Role::broadcast, .size = 256_B});
  EXPECT_NE(message_of([&] { Adaptive(node, job); }).find("table would have to stay on the GPU"), std::string::npos);
  EXPECT_THROW(Adaptive(node, summing(microseconds(60)), {.in_flight = 3, .slots = 2}), UsageError);
  EXPECT_THROW(Adaptive(node, summing(microseconds(60)), {.in_flight = 0}), UsageError);
}

}  // namespace
}  // namespace shiplap

#include "experiments/commscope2019/commscope2019.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>

#include "experiments/papers.hpp"
#include "experiments/reproduction.hpp"
#include "shiplap/device/open.hpp"
#include "shiplap/measure/measure.hpp"
#include "tests/experiments/virtual_bench.hpp"

namespace shiplap::experiments::commscope {
namespace {

/// So many bytes each way at so many GB/s, both ways together where there are two.
shiplap::Figure planted(const std::string& primitive, Bytes size, double gb, Arguments arguments = {}) {
  const Bytes moved = size * (primitive.ends_with(".both") ? 2 : 1);
  arguments["bytes"] = static_cast<double>(size.count);
  const Seconds time = moved / gigabytes_per_second(gb);
  return {.primitive = primitive,
          .arguments = std::move(arguments),
          .time = Interval<Seconds>::exact(time),
          .fast = time,
          .bytes = moved,
          .limit = std::nullopt,
          .clock = "events",
          .counts = {1}};
}

ZeroCopy zero(Bytes size, double copy, double read, double write) {
  return {.size = size,
          .to_gpu = gigabytes_per_second(copy),
          .read = gigabytes_per_second(read),
          .read16 = std::nullopt,
          .from_gpu = gigabytes_per_second(copy),
          .write = gigabytes_per_second(write),
          .write16 = std::nullopt};
}

TEST(CommScope2019, every_claim_is_found_about_on_every_kind_of_profile) {
  for (const char* profile : {"h200", "ac922-v100-2019", "tesla-k20m-2014"}) {
    const VirtualBench on(profile);
    const Reproduction reproduction = reproduced(commscope2019, on.bench);
    for (const Claim& claim : commscope2019.claims) {
      const Finding* finding = finding_of(commscope2019, reproduction, claim.id);
      ASSERT_NE(finding, nullptr) << profile << ": " << claim.id;
      if (finding->verdict == Verdict::cannot_be_checked)
        EXPECT_NE(finding->why, "") << profile << ": " << claim.id;
      else
        EXPECT_NE(finding->observed, "") << profile << ": " << claim.id;
    }
  }
}

TEST(CommScope2019, one_gpu_leaves_claims_about_two_unchecked) {
  const VirtualBench on("h200");
  const StepResult peers = run_peers(on.bench);
  for (const Finding& finding : peers.findings) EXPECT_EQ(finding.verdict, Verdict::cannot_be_checked);
  EXPECT_TRUE(peers.figures.at(0).rows.empty());
}

TEST(CommScope2019, the_list_has_31_benchmarks_21_of_them_of_one_gpu) {
  const auto all = benchmarks();
  EXPECT_EQ(all.size(), 31u);
  EXPECT_EQ(std::ranges::count_if(all, [](const Benchmark& b) { return !b.two_gpus; }), 21);
  std::set<int> numbers;
  std::vector<std::string> names;
  for (const Primitive& primitive : primitives()) names.emplace_back(primitive.name);
  for (const Benchmark& b : all) {
    numbers.insert(b.number);
    EXPECT_THAT(names, ::testing::Contains(std::string(b.primitive)));
  }
  EXPECT_EQ(numbers.size(), 31u);
  EXPECT_EQ(judge_benchmarks(all, names).verdict, Verdict::holds_with_a_change);
  std::erase(names, "demand.both");
  EXPECT_EQ(judge_benchmarks(all, names).verdict, Verdict::does_not_hold);
}

TEST(CommScope2019, printed_numbers_stand_beside_ours) {
  const VirtualBench on("h200");
  const StepResult copies = run_copies(on.bench);
  const auto numbers = std::ranges::find(copies.figures, "numbers", &Figure::id);
  ASSERT_NE(numbers, copies.figures.end());
  EXPECT_EQ(std::get<double>(numbers->rows.at(0)[2]), 72);
  EXPECT_EQ(std::get<double>(numbers->rows.at(1)[2]), 41);
  EXPECT_EQ(std::get<double>(numbers->rows.at(2)[2]), 75);
  // 32 GT/s on 16 lanes with 128 of 130 bits.
  EXPECT_NEAR(std::get<double>(numbers->rows.at(2)[3]), 32e9 * 16 / 8 * 128 / 130 * 1e-9, 1e-9);
}

TEST(CommScope2019, rates_are_bytes_over_the_median_of_the_recorded_samples) {
  const VirtualBench on("h200");
  const Rates rates = Rates::collect(on.bench, {"copy.pageable.d2h"});
  for (const Measurement& m : on.bench.profile.measurements) {
    if (m.primitive != "copy.pageable.d2h") continue;
    auto samples = figure_samples(m);
    std::vector<double> sorted(samples.begin(), samples.end());
    std::ranges::sort(sorted);
    const double middle = (sorted[(sorted.size() - 1) / 2] + sorted[sorted.size() / 2]) / 2;
    const double bytes = m.arguments.at("bytes");
    const auto rate = rates.rate(m.primitive, Bytes{static_cast<std::uint64_t>(bytes)});
    ASSERT_TRUE(rate.has_value());
    EXPECT_NEAR(in_gigabytes_per_second(*rate), bytes / middle * 1e-3, 1e-6 * bytes / middle);
  }
  EXPECT_FALSE(rates.rate("copy.pageable.d2h", 3_MiB).has_value());
}

TEST(CommScope2019, a_device_that_is_measured_goes_through_the_same_sweep_with_its_bytes) {
  VirtualBench on("h200");
  const auto simulated = sweep_zero_copy(on.bench, 4_KiB, 256_KiB);
  on.bench.info.is_virtual = false;  // the same device, through the way of a real one
  const auto measured = sweep_zero_copy(on.bench, 4_KiB, 256_KiB);
  ASSERT_EQ(measured.size(), 4u);
  for (std::size_t i = 0; i < measured.size(); ++i) {
    EXPECT_EQ(measured[i].size, simulated[i].size);
    EXPECT_TRUE(measured[i].steady);
    EXPECT_DOUBLE_EQ(measured[i].to_gpu->bytes_per_second, simulated[i].to_gpu->bytes_per_second);
    EXPECT_DOUBLE_EQ(measured[i].write16->bytes_per_second, simulated[i].write16->bytes_per_second);
    EXPECT_DOUBLE_EQ(measured[i].read->bytes_per_second, simulated[i].read->bytes_per_second);
    EXPECT_DOUBLE_EQ(measured[i].from_gpu->bytes_per_second, simulated[i].from_gpu->bytes_per_second);
  }
}

TEST(CommScope2019, tables_have_a_row_for_each_size_of_a_leading_series) {
  const Rates rates({planted("a", 1_KiB, 1), planted("a", 1_MiB, 2), planted("b", 1_MiB, 3), planted("a", 1_B, 9)});
  const Figure both = table_of(rates, "t", "T", "t", {{"a", "a"}, {"b", "b"}, {"c", "c"}});
  ASSERT_EQ(both.rows.size(), 2u);  // a byte has no bandwidth
  EXPECT_EQ(std::get<std::string>(both.rows[0][0]), "1 KiB");
  EXPECT_NEAR(std::get<double>(both.rows[1][1]), 2, 1e-12);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(both.rows[0][2]));
  EXPECT_THAT(both.note, ::testing::HasSubstr("No c:"));
  EXPECT_EQ(table_of(rates, "t", "T", "t", {{"a", "a", {}, false}, {"b", "b"}}).rows.size(), 1u);
}

TEST(CommScope2019, caches_count_when_flushing_them_costs_a_fifth) {
  const auto of = [](double plain, double pinned) {
    return judge_flush(
               Rates({planted("copy.pageable.h2d", 1_MiB, plain), planted("copy.pageable.h2d.flushed", 1_MiB, 8),
                      planted("copy.pinned.h2d", 1_MiB, pinned), planted("copy.pinned.h2d.flushed", 1_MiB, 50)}))
        .verdict;
  };
  EXPECT_EQ(of(15, 80), Verdict::holds);
  EXPECT_EQ(of(15, 50), Verdict::holds_with_a_change);
  EXPECT_EQ(of(8.5, 50), Verdict::does_not_hold);
  EXPECT_EQ(judge_flush(Rates{}).verdict, Verdict::cannot_be_checked);
}

TEST(CommScope2019, pageable_copies_are_judged_against_the_link_and_the_hosts_own_copy) {
  const auto rates = [](double pageable, double host) {
    return Rates({planted("copy.pageable.h2d", 64_MiB, pageable), planted("copy.pageable.d2h", 64_MiB, 15),
                  planted("copy.pinned.h2d", 64_MiB, 55), planted("copy.pinned.d2h", 64_MiB, 55),
                  planted("host.copy", 128_MiB, host, {{"threads", 1}}),
                  planted("host.copy", 128_MiB, 40, {{"threads", 8}})});
  };
  EXPECT_EQ(judge_pageable(rates(7, 6)).verdict, Verdict::holds);
  EXPECT_EQ(judge_pageable(rates(40, 6)).verdict, Verdict::does_not_hold);
  EXPECT_EQ(judge_staging(rates(7, 7)).verdict, Verdict::holds);
  EXPECT_EQ(judge_staging(rates(7, 6)).verdict, Verdict::does_not_hold);
  EXPECT_EQ(judge_link(rates(7, 6), gigabytes_per_second(58)).verdict, Verdict::holds);
  EXPECT_EQ(judge_link(rates(7, 6), gigabytes_per_second(63)).verdict, Verdict::holds_with_a_change);
  EXPECT_EQ(judge_link(rates(7, 6), gigabytes_per_second(100)).verdict, Verdict::does_not_hold);
  EXPECT_EQ(judge_link(rates(7, 6), std::nullopt).verdict, Verdict::cannot_be_checked);
}

TEST(CommScope2019, both_ways_are_compared_with_the_mean_of_one) {
  const auto rates = [](const std::string& kind, double both) {
    return Rates({planted("copy." + kind + ".h2d", 64_MiB, 40), planted("copy." + kind + ".d2h", 64_MiB, 60),
                  planted("copy." + kind + ".both", 64_MiB, both)});
  };
  EXPECT_EQ(judge_pinned_both(rates("pinned", 98)).verdict, Verdict::holds);  // 1.96 times
  EXPECT_EQ(judge_pinned_both(rates("pinned", 85)).verdict, Verdict::holds_with_a_change);
  EXPECT_EQ(judge_pinned_both(rates("pinned", 60)).verdict, Verdict::does_not_hold);
  EXPECT_EQ(judge_pageable_both(rates("pageable", 55)).verdict, Verdict::holds);
  EXPECT_EQ(judge_pageable_both(rates("pageable", 70)).verdict, Verdict::holds_with_a_change);
  EXPECT_EQ(judge_pageable_both(rates("pageable", 90)).verdict, Verdict::does_not_hold);
}

TEST(CommScope2019, pageable_copies_both_ways_are_judged_by_the_median_of_all_large_sizes) {
  std::vector<shiplap::Figure> all;
  const auto add = [&](Bytes size, double both) {
    all.push_back(planted("copy.pageable.h2d", size, 10));
    all.push_back(planted("copy.pageable.d2h", size, 10));
    all.push_back(planted("copy.pageable.both", size, both));
  };
  add(64_KiB, 10);
  add(1_MiB, 16.4);
  add(16_MiB, 16.6);
  add(64_MiB, 11);
  const Finding finding = judge_pageable_both(Rates(all));
  EXPECT_EQ(finding.verdict, Verdict::does_not_hold) << "1.64, not the 1.1 of the largest";
  EXPECT_THAT(finding.observed, ::testing::HasSubstr("1.1 to 1.66 times, median 1.64"));
}

TEST(CommScope2019, two_nodes_and_two_gpus_can_be_judged) {
  const auto nodes = [](double far) {
    return judge_near_and_far(Rates({planted("numa.copy.pinned.h2d", 64_MiB, 72, {{"node", 0}}),
                                     planted("numa.copy.pinned.h2d", 64_MiB, far, {{"node", 1}})}))
        .verdict;
  };
  EXPECT_EQ(nodes(41), Verdict::holds);  // as published
  EXPECT_EQ(nodes(70), Verdict::does_not_hold);
  const auto peers = [](double with, double without) {
    return Rates({planted("peer.copy", 16_MiB, with), planted("peer.staged", 16_MiB, without),
                  planted("copy.pinned.h2d", 16_MiB, 12)});
  };
  EXPECT_EQ(judge_peer_access(peers(21, 11)).verdict, Verdict::holds);  // as published: 10 GB/s more
  EXPECT_EQ(judge_peer_access(peers(366, 36)).verdict, Verdict::holds_with_a_change);
  EXPECT_EQ(judge_peer_access(peers(11, 11)).verdict, Verdict::does_not_hold);
  EXPECT_EQ(judge_without_peer(peers(21, 11)).verdict, Verdict::holds);
  EXPECT_EQ(judge_without_peer(peers(21, 7)).verdict, Verdict::holds_with_a_change);
  EXPECT_EQ(judge_without_peer(peers(21, 20)).verdict, Verdict::does_not_hold);
}

TEST(CommScope2019, zero_copy_is_judged_at_intermediate_and_at_very_large_sizes) {
  EXPECT_EQ(judge_zero_copy({zero(64_MiB, 72, 71, 72)}).verdict, Verdict::holds);
  EXPECT_EQ(judge_zero_copy({zero(64_MiB, 55, 51, 53)}).verdict, Verdict::holds_with_a_change);
  EXPECT_EQ(judge_zero_copy({zero(64_MiB, 55, 20, 53)}).verdict, Verdict::does_not_hold);
  EXPECT_EQ(judge_zero_copy({zero(4_KiB, 1, 1, 1)}).verdict, Verdict::cannot_be_checked);
  EXPECT_EQ(judge_zero_copy_read({zero(64_MiB, 38, 28, 37)}).verdict, Verdict::holds);
  EXPECT_EQ(judge_zero_copy_read({zero(64_MiB, 55, 52, 53)}).verdict, Verdict::does_not_hold);
  const auto drop = [](Bytes last, double rate) {
    return judge_zero_copy_drop({zero(64_MiB, 55, 51, 52), zero(last, 55, rate, 52)}, false).verdict;
  };
  EXPECT_EQ(drop(4_GiB, 30), Verdict::holds);
  EXPECT_EQ(drop(4_GiB, 51), Verdict::does_not_hold);
  EXPECT_EQ(drop(256_MiB, 51), Verdict::cannot_be_checked);
  EXPECT_EQ(judge_zero_copy_drop({zero(4_GiB, 55, 30, 52)}, true).verdict, Verdict::cannot_be_checked);
}

TEST(CommScope2019, sizes_that_were_disturbed_make_no_verdict) {
  // As in a run whose copies of 4 and 16 MiB were slow, and reads with them.
  ZeroCopy first = zero(4_MiB, 34, 30, 51);
  ZeroCopy second = zero(16_MiB, 28, 30, 52);
  first.steady = second.steady = false;
  const std::vector<ZeroCopy> all{zero(1_MiB, 45, 41, 45), first, second, zero(64_MiB, 55, 51, 53)};
  const Finding finding = judge_zero_copy(all);
  EXPECT_EQ(finding.verdict, Verdict::holds_with_a_change);
  EXPECT_THAT(finding.observed, ::testing::HasSubstr("disturbed and left out: 4 MiB, 16 MiB"));
  EXPECT_THAT(finding.why, ::testing::HasSubstr("2 sizes"));
  const std::vector<ZeroCopy> none{first, second};
  EXPECT_EQ(judge_zero_copy(none).verdict, Verdict::cannot_be_checked);
  EXPECT_THAT(judge_zero_copy_read(none).why, ::testing::HasSubstr("disturbed"));
  EXPECT_EQ(judge_zero_copy_drop(none, false).verdict, Verdict::cannot_be_checked);
}

TEST(CommScope2019, few_blocks_that_fill_the_link_leave_the_gpu_free) {
  const auto of = [](double at_few) {
    std::vector<shiplap::Figure> all;
    for (const char* primitive : {"mapped.read", "mapped.write"}) {
      all.push_back(planted(primitive, 8_MiB, at_few, {{"blocks", 24}, {"width", 16}}));
      all.push_back(planted(primitive, 64_MiB, 51, {{"blocks", 1056}, {"width", 16}}));
    }
    return judge_resources(Rates(std::move(all))).verdict;
  };
  EXPECT_EQ(of(50), Verdict::holds_with_a_change);
  EXPECT_EQ(of(20), Verdict::holds);
}

TEST(CommScope2019, managed_memory_on_demand_is_judged_against_copies_with_and_without_caches) {
  const auto to_gpu = [](double demand) {
    return judge_demand_to_gpu(Rates({planted("demand.h2d", 16_MiB, demand), planted("copy.pageable.h2d", 16_MiB, 15),
                                      planted("copy.pageable.h2d.flushed", 16_MiB, 7)}))
        .verdict;
  };
  EXPECT_EQ(to_gpu(20), Verdict::holds);
  EXPECT_EQ(to_gpu(10), Verdict::holds_with_a_change);
  EXPECT_EQ(to_gpu(6), Verdict::does_not_hold);
  EXPECT_EQ(to_gpu(7.2), Verdict::does_not_hold) << "3 % above flushed copies is no more than even";
  EXPECT_EQ(to_gpu(15.5), Verdict::holds_with_a_change) << "3 % above the others";
  const Finding near =
      judge_demand_to_gpu(Rates({planted("demand.h2d", 16_MiB, 9.94), planted("copy.pageable.h2d", 16_MiB, 16.02),
                                 planted("copy.pageable.h2d.flushed", 16_MiB, 9.58)}));
  EXPECT_EQ(near.why,
            "slower than copies whose source is in the caches of the CPU, about even with those whose source is not");
  const auto host = [](double many) {
    return Rates({planted("demand.d2h", 64_MiB, 4, {{"threads", 1}}),
                  planted("demand.d2h", 64_MiB, many, {{"threads", 16}}), planted("copy.pageable.d2h", 64_MiB, 16)});
  };
  EXPECT_EQ(judge_demand_to_host(host(18)).verdict, Verdict::holds);
  EXPECT_EQ(judge_demand_to_host(host(16)).verdict, Verdict::holds_with_a_change);
  EXPECT_EQ(judge_demand_to_host(host(15)).verdict, Verdict::does_not_hold) << "6 % below is not even";
  EXPECT_EQ(judge_demand_to_host(host(5)).verdict, Verdict::does_not_hold);
  EXPECT_EQ(judge_threads(host(16)).verdict, Verdict::holds);
  EXPECT_EQ(judge_threads(host(5)).verdict, Verdict::does_not_hold);
  const auto from = [](double peer) {
    return judge_demand_locality(Rates({planted("demand.h2d", 16_MiB, 10), planted("demand.peer", 16_MiB, peer)}))
        .verdict;
  };
  EXPECT_EQ(from(11), Verdict::holds_with_a_change);
  EXPECT_EQ(from(30), Verdict::does_not_hold);
  const auto limit = [](double demand) {
    return judge_demand_limit(Rates({planted("demand.h2d", 16_MiB, demand), planted("copy.pinned.h2d", 16_MiB, 55)}))
        .verdict;
  };
  EXPECT_EQ(limit(10), Verdict::holds);
  EXPECT_EQ(limit(50), Verdict::does_not_hold);
}

TEST(CommScope2019, prefetches_are_judged_where_they_are_large_and_in_the_middle) {
  const auto rates = [](double in, double out) {
    return Rates({planted("prefetch.h2d", 16_MiB, in), planted("prefetch.d2h", 16_MiB, out),
                  planted("copy.pinned.h2d", 16_MiB, 50), planted("copy.pinned.d2h", 16_MiB, 50)});
  };
  EXPECT_EQ(judge_prefetch_large(rates(47, 46)).verdict, Verdict::holds);
  EXPECT_EQ(judge_prefetch_large(rates(47, 11)).verdict, Verdict::holds_with_a_change);
  EXPECT_EQ(judge_prefetch_large(rates(20, 11)).verdict, Verdict::does_not_hold);
  EXPECT_EQ(judge_prefetch_middle(rates(20, 11)).verdict, Verdict::holds);
  EXPECT_EQ(judge_prefetch_middle(rates(47, 11)).verdict, Verdict::does_not_hold);
}

}  // namespace
}  // namespace shiplap::experiments::commscope

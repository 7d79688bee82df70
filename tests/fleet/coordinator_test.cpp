// The check of a fleet whose ranks are threads: some of them die, hang, share GPUs or have sick ones.
#include "shiplap/fleet/coordinator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "shiplap/core/deadline.hpp"
#include "shiplap/core/json.hpp"
#include "shiplap/fleet/causes.hpp"
#include "shiplap/fleet/coordinator_loopback.hpp"
#include "shiplap/fleet/rank_message.hpp"
#include "shiplap/fleet/worker.hpp"
#include "tests/fleet/memory_ranks.hpp"
#include "tests/fleet/planted_fleet.hpp"

namespace shiplap {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// What a thread throws that dies, in place of an exception that would be reported.
struct Death {};

/// Ranks to which a message takes a while, as where each needs a new folder.
class SlowRanks : public MemoryRanks {
 public:
  using MemoryRanks::MemoryRanks;
  void send(std::size_t to, const std::string& text) override {
    sleep_for(milliseconds(5));
    MemoryRanks::send(to, text);
    ++sent;
  }
  std::size_t sent = 0;
};

TEST(EndAllRanks, tells_as_many_as_it_can_by_the_deadline_and_rank_zero_first) {
  Mail mail(10'000);
  SlowRanks ranks(mail, 0);
  const Seconds begin = steady_time();
  end_all_ranks(ranks, Deadline(begin + milliseconds(100)));
  EXPECT_LT((steady_time() - begin).count(), 5);
  EXPECT_GT(ranks.sent, 0u);
  EXPECT_LT(ranks.sent, 100u);
  EXPECT_TRUE(mail.take(0, Deadline(steady_time())));
}

/// Ranks that behave well unless a test changes them, and what they did.
class PlantedRanks {
 public:
  explicit PlantedRanks(std::size_t ranks) : mail(ranks), works(ranks) {
    options.begin_within = Seconds{4};
    options.budget = Seconds{2};
    options.grace = Seconds{2};
    options.program = "1";
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      works[rank] = {.node = "n" + std::to_string(rank),
                     .program = "1",
                     .devices =
                         [] {
                           return std::vector<RankDevice>{{"cuda:0", "0000:00:00.0"}};
                         },
                     .check = [this, rank](const std::string& device) { return to_json(checked(rank, device)); },
                     .copy_at_once = {}};
    }
  }

  /// The check of a healthy GPU.
  NodeResult checked(std::size_t rank, const std::string& device) {
    const std::lock_guard lock(mutex_);
    ++checks[{rank, device}];
    NodeResult result = fleet_.healthy(works[rank].node);
    result.gpu = device;
    result.pci_bus_id = "0000:0" + device.substr(device.find(':') + 1) + ":00.0";
    return result;
  }

  /// Runs all ranks; those in `silent` never begin.
  FleetRun run(const std::set<std::size_t>& silent = {}) {
    std::vector<std::jthread> threads;
    for (std::size_t rank = 1; rank < mail.size(); ++rank)
      if (!silent.contains(rank))
        threads.emplace_back([this, rank] {
          MemoryRanks ranks(mail, rank);
          try {
            if (run_worker(ranks, works[rank], longest_silence)) ++ended_together;
          } catch (const Death&) {
          } catch (const Error&) {  // nobody tells a rank that is missing to end
          }
        });
    MemoryRanks first(mail, 0);
    FleetRun result = coordinate_and_work(first, options, works[0], Seconds{30});
    abandoned = first.abandoned;
    return result;
  }

  Mail mail;
  std::vector<RankWork> works;
  CoordinatorOptions options;
  Seconds longest_silence{10};                                     ///< after which ranks other than 0 end by themselves
  std::map<std::pair<std::size_t, std::string>, unsigned> checks;  ///< number of checks, by rank and device
  std::vector<std::size_t> abandoned;
  std::atomic<unsigned> ended_together{0};

 private:
  std::mutex mutex_;
  PlantedFleet fleet_{1};
};

TEST(Coordinator, collects_every_rank_once_and_ends_all) {
  PlantedRanks ranks(12);
  const FleetRun run = ranks.run();
  EXPECT_EQ(run.results.size(), 12u);
  EXPECT_THAT(run.missing, IsEmpty());
  EXPECT_THAT(run.failed, IsEmpty());
  EXPECT_EQ(ranks.ended_together, 11u);
  for (const auto& [rank, checks] : ranks.checks) EXPECT_EQ(checks, 1u);
  EXPECT_EQ(judge(run.results).count(NodeState::good), 12u);
}

TEST(Coordinator, has_an_outlier_checked_again_before_it_is_called_sick) {
  PlantedRanks ranks(12);
  ranks.works[5].check = [&](const std::string& device) {
    NodeResult sick = ranks.checked(5, device);
    slow_down(sick, {"device memory", "fp32 multiply-adds"}, 0.8);
    return to_json(sick);
  };
  std::atomic<unsigned> checks{0};
  ranks.works[7].check = [&](const std::string& device) {
    NodeResult disturbed = ranks.checked(7, device);
    if (checks++ == 0) slow_down(disturbed, {"copies to the GPU"}, 0.6);  // somebody else used the link
    return to_json(disturbed);
  };
  const FleetRun run = ranks.run();
  const JudgedFleet judged = judge(run.results);
  EXPECT_EQ(judged.count(NodeState::sick), 1u);
  EXPECT_EQ(judged.count(NodeState::good), 11u);
  EXPECT_EQ(judged.nodes.front().node, "n5");
  EXPECT_THAT(judged.nodes.front().cause, HasSubstr("clocks of the GPU"));
  EXPECT_EQ((ranks.checks[{5, "cuda:0"}]), 2u);
  EXPECT_EQ((ranks.checks[{7, "cuda:0"}]), 2u);
  EXPECT_EQ((ranks.checks[{4, "cuda:0"}]), 1u) << "good GPUs are not checked again";
}

TEST(Coordinator, sick_gpus_that_are_checked_again_do_not_make_themselves_normal) {
  PlantedRanks ranks(8);
  for (const std::size_t sick : {1u, 4u, 6u})
    ranks.works[sick].check = [&, sick](const std::string& device) {
      NodeResult result = ranks.checked(sick, device);
      slow_down(result, {"copies to the GPU"}, 0.4);
      return to_json(result);
    };
  ranks.options.repeats = 3;
  EXPECT_EQ(judge(ranks.run().results).count(NodeState::sick), 3u);
}

TEST(Coordinator, a_rank_that_begins_late_is_checked_while_others_are_waited_for) {
  PlantedRanks ranks(4);
  ranks.options.begin_within = Seconds{0.3};
  ranks.options.budget = Seconds{5};
  ranks.works[1].check = [&](const std::string& device) {
    sleep_for(Seconds{2});
    return to_json(ranks.checked(1, device));
  };
  const std::jthread late([&] {
    sleep_for(Seconds{1});
    MemoryRanks own(ranks.mail, 3);
    run_worker(own, ranks.works[3], Seconds{30});
  });
  const FleetRun run = ranks.run({3});
  EXPECT_THAT(run.missing, IsEmpty());
  EXPECT_EQ(run.results.size(), 4u);
}

TEST(Coordinator, reports_ranks_that_never_begin_die_or_hang_and_collects_the_rest) {
  PlantedRanks ranks(10);
  ranks.options.budget = Seconds{0.2};
  ranks.works[3].check = [](const std::string&) -> Json { throw Death(); };
  ranks.works[6].devices = []() -> std::vector<RankDevice> { throw Death(); };
  const FleetRun run = ranks.run({8});
  EXPECT_EQ(run.results.size(), 7u);
  EXPECT_THAT(run.missing, ElementsAre(AllOf(HasSubstr("n3 (rank 3)"), HasSubstr("while it checked cuda:0")),
                                       HasSubstr("n6 (rank 6) began and did not answer in time"),
                                       HasSubstr("rank 8 did not begin within")));
  EXPECT_THAT(ranks.abandoned, ElementsAre(3, 6, 8));
  EXPECT_EQ(ranks.ended_together, 0u) << "the others are told not to wait for them";
}

TEST(Coordinator, does_not_wait_for_its_own_rank_when_that_has_failed) {
  PlantedRanks ranks(2);
  ranks.options.begin_within = ranks.options.budget = Seconds{60};
  ranks.works[0].stop = []() -> bool { throw Error("planted failure"); };
  const Seconds begin = steady_time();
  const FleetRun run = ranks.run();
  EXPECT_LT((steady_time() - begin).count(), 30);
  ASSERT_EQ(run.results.size(), 1u);
  EXPECT_EQ(run.results[0].node, "n1");
  EXPECT_THAT(run.missing, ElementsAre("n0 (rank 0) ended before it was told to"));
  EXPECT_THAT(run.failed, ElementsAre("rank 0: planted failure"));
}

TEST(Coordinator, keeps_an_answer_that_comes_late_while_others_are_waited_for) {
  PlantedRanks ranks(8);
  ranks.options.budget = Seconds{0.1};
  ranks.options.grace = Seconds{0.5};
  ranks.works[2].check = [&](const std::string& device) {
    sleep_for(Seconds{1});  // later than its 0.6 s
    return to_json(ranks.checked(2, device));
  };
  ranks.works[3].devices = [] {
    std::vector<RankDevice> devices;
    for (int i = 0; i < 20; ++i) devices.push_back({"cuda:" + std::to_string(i), std::to_string(i)});
    return devices;
  };
  ranks.works[3].check = [&](const std::string& device) {
    sleep_for(Seconds{0.08});  // 1.6 s for 20 GPUs, which may take 2.5 s
    return to_json(ranks.checked(3, device));
  };
  const FleetRun run = ranks.run();
  EXPECT_THAT(run.missing, IsEmpty());
  EXPECT_EQ(run.results.size(), 27u);
}

TEST(Coordinator, reports_checks_that_could_not_be_done_unless_a_repetition_could) {
  PlantedRanks ranks(8);
  ranks.works[1].check = [](const std::string&) -> Json { throw Error("no driver answers"); };
  std::atomic<unsigned> checks{0};
  ranks.works[2].check = [&](const std::string& device) {
    if (checks++ == 0) throw Error("out of memory");
    return to_json(ranks.checked(2, device));
  };
  const FleetRun run = ranks.run();
  EXPECT_EQ(run.results.size(), 7u);
  EXPECT_THAT(run.missing, IsEmpty());
  EXPECT_THAT(run.failed, ElementsAre("n1 (rank 1) cuda:0: no driver answers"));
}

TEST(Coordinator, gives_each_gpu_of_a_node_to_one_of_the_ranks_that_see_it) {
  PlantedRanks ranks(6);
  for (std::size_t rank = 0; rank < 6; ++rank) ranks.works[rank].node = rank < 3 ? "a" : "b";
  // The ranks of node a see all of its six GPUs; those of node b have two each, all called cuda:0 and cuda:1.
  for (std::size_t rank = 0; rank < 6; ++rank)
    ranks.works[rank].devices = [rank] {
      std::vector<RankDevice> seen;
      for (unsigned i = 0; i < (rank < 3 ? 6 : 2); ++i)
        seen.push_back({"cuda:" + std::to_string(i), std::to_string(rank < 3 ? i : 2 * rank + i)});
      return seen;
    };
  ranks.run();
  std::map<std::size_t, unsigned> per_rank;
  std::set<std::string> of_node_a;
  for (const auto& [device, checks] : ranks.checks) {
    EXPECT_EQ(checks, 1u);
    ++per_rank[device.first];
    if (device.first < 3) of_node_a.insert(device.second);
  }
  for (std::size_t rank = 0; rank < 6; ++rank) EXPECT_EQ(per_rank[rank], 2u) << rank;
  EXPECT_EQ(of_node_a.size(), 6u);
}

TEST(Coordinator, checks_one_gpu_of_a_node_at_a_time_and_goes_on_when_a_rank_has_died) {
  PlantedRanks ranks(9);
  ranks.options.budget = Seconds{0.2};
  std::mutex mutex;
  std::map<std::string, int> at_once;
  int most_on_a_node = 0;
  int most = 0;
  for (std::size_t rank = 0; rank < 9; ++rank) {
    ranks.works[rank].node = std::string(1, static_cast<char>('a' + rank / 3));
    ranks.works[rank].devices = [rank] { return std::vector<RankDevice>{{"cuda:0", std::to_string(rank % 3)}}; };
    ranks.works[rank].check = [&, rank](const std::string& device) {
      if (rank == 3) throw Death();
      {
        const std::lock_guard lock(mutex);
        most_on_a_node = std::max(most_on_a_node, ++at_once[ranks.works[rank].node]);
        most = std::max(most, at_once["a"] + at_once["b"] + at_once["c"]);
      }
      sleep_for(milliseconds(60));
      NodeResult result = ranks.checked(rank, device);
      result.pci_bus_id = std::to_string(rank % 3);
      const std::lock_guard lock(mutex);
      --at_once[ranks.works[rank].node];
      return to_json(result);
    };
  }
  const FleetRun run = ranks.run();
  EXPECT_EQ(run.results.size(), 8u);
  EXPECT_THAT(run.missing, ElementsAre(HasSubstr("b (rank 3)")));
  EXPECT_EQ(most_on_a_node, 1);
  EXPECT_GT(most, 1) << "nodes do not wait for each other";
}

TEST(Coordinator, ranks_of_one_node_with_simulated_gpus_of_one_name_are_told_apart) {
  PlantedRanks ranks(6);
  for (std::size_t rank = 0; rank < 6; ++rank) {
    ranks.works[rank].node = "one";
    ranks.works[rank].devices = [] { return std::vector<RankDevice>{{"virtual:h200", ""}}; };
    ranks.works[rank].check = [&ranks, rank](const std::string& device) {
      NodeResult result = ranks.checked(rank, device);
      result.pci_bus_id.clear();
      if (rank == 4) slow_down(result, {"copies to the GPU"}, 0.5);
      return to_json(result);
    };
  }
  const JudgedFleet judged = judge(ranks.run().results);
  EXPECT_EQ(judged.nodes.size(), 6u);
  EXPECT_EQ(judged.count(NodeState::sick), 1u);
  EXPECT_EQ(judged.nodes.front().results, 2u);
}

TEST(Coordinator, sums_what_the_gpus_of_a_node_copy_at_once_and_repeats_an_outlier) {
  constexpr std::size_t nodes = 6;
  PlantedRanks ranks(2 * nodes);
  ranks.options.at_once = true;
  std::mutex mutex;
  std::map<std::string, std::set<double>> begins;
  std::map<std::string, unsigned> copies;
  for (std::size_t rank = 0; rank < 2 * nodes; ++rank) {
    ranks.works[rank].node = "n" + std::to_string(rank / 2);
    ranks.works[rank].devices = [rank] {
      return std::vector<RankDevice>{{"cuda:" + std::to_string(rank % 2), std::to_string(rank % 2)}};
    };
    ranks.works[rank].copy_at_once = [&, rank](const std::string& device, Seconds begin) {
      const std::lock_guard lock(mutex);
      const std::string node = ranks.works[rank].node;
      begins[node].insert(begin.count());
      ++copies[node];
      const double rate = node == "n2" ? 20e9 : 50e9;  // its GPUs share a switch
      NodeResult result{.node = node,
                        .gpu = device,
                        .pci_bus_id = "0000:0" + std::to_string(rank % 2) + ":00.0",
                        .kind = "nvidia-h100"};
      for (const char* what : {at_once_to_gpu, at_once_from_gpu})
        result.figures.push_back(
            {.what = what, .measured = "", .limit = "", .unit = "B/s", .measured_value = rate, .causes = {}});
      return to_json(result);
    };
  }
  const FleetRun run = ranks.run();
  EXPECT_THAT(run.failed, IsEmpty());
  const JudgedFleet judged = judge(run.results);
  EXPECT_EQ(judged.count(NodeState::sick), 1u);
  EXPECT_EQ(judged.nodes.front().node, "n2");
  EXPECT_EQ(judged.nodes.front().gpu, "all 2 GPUs");
  EXPECT_EQ(judged.nodes.front().kind, "2 x nvidia-h100");
  EXPECT_THAT(judged.nodes.front().cause, HasSubstr("share"));
  EXPECT_EQ(begins["n0"].size(), 1u) << "both ranks of a node begin at the same time";
  EXPECT_EQ(copies["n0"], 2u);
  EXPECT_EQ(copies["n2"], 4u);
  const auto all = std::ranges::find(run.results, "all 2 GPUs", &NodeResult::gpu);
  EXPECT_EQ(all->figures.front().measured_value, 100e9);
  EXPECT_NEAR(all->figures.front().fraction, 100e9 / (2 * 55.2e9), 0.02);
}

TEST(Coordinator, that_is_stopped_judges_what_has_been_reported) {
  PlantedRanks ranks(4);
  ranks.options.begin_within = Seconds{0.5};
  ranks.options.budget = Seconds{30};
  ranks.options.stop = [begin = steady_time()] { return steady_time() - begin > Seconds{2}; };
  ranks.longest_silence = Seconds{3};
  ranks.works[2].check = [&](const std::string& device) {
    sleep_for(Seconds{4});  // longer than until the stop
    return to_json(ranks.checked(2, device));
  };
  const FleetRun run = ranks.run({3});
  EXPECT_EQ(run.results.size(), 2u) << "of ranks 0 and 1";
  EXPECT_THAT(run.missing, ElementsAre(HasSubstr("n2 (rank 2)"), "rank 3 did not begin"));
}

TEST(Coordinator, reports_ranks_with_another_version_and_messages_that_make_no_sense) {
  PlantedRanks ranks(3);
  ranks.works[1].program = "0.9";
  ranks.mail.put(0, {.from = 2, .text = "{"});
  const FleetRun run = ranks.run();
  EXPECT_THAT(run.failed,
              ::testing::UnorderedElementsAre(HasSubstr("n1 (rank 1) runs shiplap 0.9 and rank 0 shiplap 1"),
                                              HasSubstr("message of rank 2")));
  EXPECT_EQ(run.results.size(), 3u);
}

}  // namespace
}  // namespace shiplap

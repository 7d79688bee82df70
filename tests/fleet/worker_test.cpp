// The check of a fleet in which a connection, rank 0 or the host of a rank fails.
#include "shiplap/fleet/worker.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "shiplap/core/deadline.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/fleet/coordinator.hpp"
#include "shiplap/fleet/coordinator_loopback.hpp"
#include "shiplap/fleet/rank_message.hpp"
#include "tests/fleet/memory_ranks.hpp"
#include "tests/fleet/planted_fleet.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/no_threads.hpp"

namespace shiplap {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Json healthy_check(const std::string& node) { return to_json(PlantedFleet(1).healthy(node)); }

/// Two ranks that have begun. Rank 0 answers at once; to rank 1 nothing can be sent.
class BrokenRanks : public Communicator {
 public:
  BrokenRanks() {
    for (std::size_t rank = 0; rank < 2; ++rank) {
      come_.push_back({rank, to_text(Hello{.node = "n" + std::to_string(rank), .program = ""})});
      come_.push_back({rank, to_text(DeviceList{.devices = {{"cuda:0", "0"}}, .failure = {}})});
    }
  }
  std::size_t rank() const override { return 0; }
  std::size_t size() const override { return 2; }
  void send(std::size_t to, const std::string& text) override {
    if (to == 1) throw Error("the connection is gone");
    const Order order = order_from_text(text, "order");
    if (!order.end) come_.push_back({0, to_text(Task::check, "cuda:0", healthy_check("n0"))});
  }
  std::optional<RankMessage> receive(const Deadline&) override {
    if (come_.empty()) return std::nullopt;
    RankMessage first = std::move(come_.front());
    come_.pop_front();
    return first;
  }
  void abandon(std::size_t rank) override { abandoned.push_back(rank); }

  std::vector<std::size_t> abandoned;

 private:
  std::deque<RankMessage> come_;
};

/// Three ranks of one node, each with a GPU of its own. Rank 0 has ended; its list comes when the others already check.
/// The first check of rank 1 fails.
class EndedRanks : public Communicator {
 public:
  EndedRanks() {
    for (std::size_t rank = 0; rank < size(); ++rank)
      comes(Seconds{0}, rank, to_text(Hello{.node = "n", .program = ""}));
    for (const std::size_t rank : {1u, 2u}) comes(after_a_look, rank, list_of(rank));
  }
  std::size_t rank() const override { return 0; }
  std::size_t size() const override { return 3; }
  bool has_ended(std::size_t rank) const override { return rank == 0; }
  void abandon(std::size_t) override {}
  void send(std::size_t to, const std::string& text) override {
    const Order order = order_from_text(text, "order");
    if (order.end || to == 0) return;
    const std::string device = order.devices.at(0);
    if (to == 1 && !has_failed_) {
      has_failed_ = true;
      comes(Seconds{0}, 0, list_of(0));
      comes(after_a_look, 1, failure_text(Task::check, device, "planted failure"));
    } else {
      Json check = healthy_check("n");
      check["pci_bus_id"] = "0" + device.substr(device.find(':') + 1);
      comes(Seconds{0}, to, to_text(Task::check, device, check));
    }
  }
  std::optional<RankMessage> receive(const Deadline& deadline) override {
    do {
      if (!come_.empty() && steady_time() >= come_.front().first) {
        RankMessage first = std::move(come_.front().second);
        come_.pop_front();
        return first;
      }
      sleep_for(milliseconds(1));
    } while (!deadline.passed());
    return std::nullopt;
  }

 private:
  static constexpr Seconds after_a_look = milliseconds(300);

  static std::string list_of(std::size_t rank) {
    const std::string number = std::to_string(rank);
    return to_text(DeviceList{.devices = {{"cuda:" + number, "0" + number}}, .failure = {}});
  }
  void comes(Seconds later, std::size_t from, std::string text) {
    come_.push_back({steady_time() + later, {.from = from, .text = std::move(text)}});
  }

  bool has_failed_ = false;
  std::deque<std::pair<Seconds, RankMessage>> come_;
};

TEST(BrokenFleet, a_rank_that_has_ended_leaves_its_turn_on_the_node_to_the_others) {
  EndedRanks ranks;
  bool hangs = false;
  const Seconds begin = steady_time();
  const FleetRun run = coordinate(ranks, {.stop = [&] { return hangs = steady_time() - begin > Seconds{20}; }});
  EXPECT_FALSE(hangs) << "nobody begins the turn of another rank";
  EXPECT_EQ(run.results.size(), 2u);
  EXPECT_THAT(run.missing, ElementsAre("n (rank 0) ended before it was told to"));
}

TEST(BrokenFleet, does_not_wait_for_a_rank_to_which_nothing_can_be_sent) {
  BrokenRanks ranks;
  const Seconds begin = steady_time();
  const FleetRun run = coordinate(ranks, {.begin_within = Seconds{60}, .budget = Seconds{60}});
  EXPECT_LT((steady_time() - begin).count(), 30);
  ASSERT_EQ(run.results.size(), 1u);
  EXPECT_EQ(run.results.front().node, "n0");
  EXPECT_THAT(run.failed, ElementsAre("n1 (rank 1): the connection is gone"));
  EXPECT_THAT(run.missing, ElementsAre(HasSubstr("n1 (rank 1) began and did not answer in time")));
  EXPECT_THAT(ranks.abandoned, ElementsAre(1));
}

RankWork work_of_nobody() {
  return {.node = "n0",
          .program = "",
          .devices = [] { return std::vector<RankDevice>{}; },
          .check = [](const std::string&) { return healthy_check("n0"); },
          .copy_at_once = [](const std::string&, Seconds) { return healthy_check("n0"); }};
}

/// Whether the next message to the rank ends it, and without waiting for others.
bool is_told_to_end(Mail& mail, std::size_t rank) {
  const auto message = mail.take(rank, Deadline(steady_time()));
  if (!message) return false;
  const Order order = order_from_text(message->text, "order");
  return order.end && !order.all_answered;
}

TEST(BrokenFleet, is_ended_when_rank_0_fails) {
  Mail mail(3);
  MemoryRanks first(mail, 0);
  const CoordinatorOptions options{.progress = [](std::string_view) { throw Error("planted failure"); }};
  EXPECT_EQ(message_of([&] { coordinate_and_work(first, options, work_of_nobody(), Seconds{30}); }), "planted failure");
  EXPECT_TRUE(is_told_to_end(mail, 1));
  EXPECT_TRUE(is_told_to_end(mail, 2));
}

TEST(BrokenFleet, is_ended_when_rank_0_can_start_no_thread) {
  Mail mail(2);
  MemoryRanks first(mail, 0);
  const NoThreads refused;
  EXPECT_THAT(message_of([&] { coordinate_and_work(first, {}, work_of_nobody(), Seconds{30}); }),
              HasSubstr("no thread can be started"));
  EXPECT_TRUE(is_told_to_end(mail, 1));
}

TEST(BrokenFleet, is_told_which_gpus_did_not_copy_at_once_because_no_thread_could_be_started) {
  Mail mail(2);
  const std::vector<std::string> devices{"cuda:0", "cuda:1"};
  mail.put(1, {.from = 0, .text = to_text(Order{.task = Task::copy_at_once, .devices = devices})});
  mail.put(1, {.from = 0, .text = to_text(Order{.end = true, .all_answered = true})});
  MemoryRanks second(mail, 1);
  {
    const NoThreads refused;
    EXPECT_TRUE(run_worker(second, work_of_nobody(), Seconds{30}));
  }
  std::vector<std::string> failures;
  while (const auto message = mail.take(0, Deadline(steady_time()))) {
    const RankReport report = report_from_text(message->text, "rank 1");
    const auto* answer = std::get_if<Answer>(&report.what);
    if (answer == nullptr) continue;
    EXPECT_EQ(answer->task, Task::copy_at_once);
    failures.push_back(answer->device + ": " + answer->failure);
  }
  EXPECT_THAT(failures, ElementsAre(AllOf(HasSubstr("cuda:0"), HasSubstr("no thread can be started")),
                                    AllOf(HasSubstr("cuda:1"), HasSubstr("no thread can be started"))));
}

}  // namespace
}  // namespace shiplap

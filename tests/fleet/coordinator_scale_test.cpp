// What the check of a fleet costs rank 0 when there are very many ranks.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <deque>
#include <fstream>
#include <optional>
#include <string>
#include <utility>

#include "shiplap/core/deadline.hpp"
#include "shiplap/fleet/communicator.hpp"
#include "shiplap/fleet/coordinator.hpp"
#include "shiplap/fleet/judge.hpp"
#include "shiplap/fleet/rank_message.hpp"
#include "tests/fleet/planted_fleet.hpp"

namespace shiplap {
namespace {

/// A rank 0 whose others are scripted, because ten thousand threads are not needed to see what rank 0 costs.
class ScriptedRanks : public Communicator {
 public:
  ScriptedRanks(std::size_t size, std::size_t sick) : size_(size), sick_(sick) {
    for (std::size_t rank = 0; rank < size; ++rank) {
      queue_.push_back({rank, to_text(Hello{.node = node(rank), .program = ""})});
      queue_.push_back({rank, to_text(DeviceList{.devices = {{"cuda:0", "0"}}, .failure = {}})});
    }
  }
  std::size_t rank() const override { return 0; }
  std::size_t size() const override { return size_; }
  void send(std::size_t to, const std::string& text) override {
    ++sent;
    if (order_from_text(text, "order").end) return;
    NodeResult result = fleet_.healthy(node(to));
    if (to == sick_) slow_down(result, {"copies to the GPU", "copies from the GPU"}, 0.5);
    queue_.push_back({to, to_text(Task::check, "cuda:0", to_json(result))});
  }
  std::optional<RankMessage> receive(const Deadline&) override {
    if (queue_.empty()) return std::nullopt;
    RankMessage first = std::move(queue_.front());
    queue_.pop_front();
    return first;
  }
  void abandon(std::size_t) override {}

  std::size_t sent = 0;

 private:
  static std::string node(std::size_t rank) { return "node" + std::to_string(rank); }
  std::size_t size_;
  std::size_t sick_;
  std::deque<RankMessage> queue_;
  PlantedFleet fleet_{5};
};

/// The most memory that this process has had in RAM since `forget_peak`.
std::uint64_t peak_kb() {
  std::ifstream status("/proc/self/status");
  std::uint64_t kb = 0;
  for (std::string key; status >> key;)
    if (key == "VmHWM:") status >> kb;
  return kb;
}
/// Returns whether the system forgets it.
bool forget_peak() { return peak_kb() > 0 && std::ofstream("/proc/self/clear_refs") << "5" << std::flush; }

TEST(Coordinator, ten_thousand_ranks_cost_seconds_and_messages_in_proportion) {
  const auto seconds_for = [](std::size_t ranks) {
    ScriptedRanks scripted(ranks, ranks / 2);
    const std::clock_t begin = std::clock();  // of the processor, because other tests run at the same time
    const FleetRun run = coordinate(scripted, {});
    const double took = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    EXPECT_EQ(judge(run.results).count(NodeState::sick), 1u);
    EXPECT_EQ(scripted.sent, 2 * ranks + 1) << "an order and an end for each, and one repetition";
    return took;
  };
  const double thousand = seconds_for(1000);
  const bool is_forgotten = forget_peak();
  const std::uint64_t before = peak_kb();
  const double ten_thousand = seconds_for(10'000);
  EXPECT_LT(ten_thousand, 60) << "without optimisation; results/virtual has the time of a release";
  EXPECT_LT(ten_thousand, 30 * thousand) << "linear but for sorting";
  if (is_forgotten) {
    EXPECT_LT(peak_kb() - before, 1'000'000u);
  }
}

}  // namespace
}  // namespace shiplap

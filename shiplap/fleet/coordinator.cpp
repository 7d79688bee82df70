#include "shiplap/fleet/coordinator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/fleet/at_once.hpp"
#include "shiplap/fleet/rank_message.hpp"

namespace shiplap {
namespace {

/// Time until the GPUs of a node begin to copy at once: each of them needs a context first.
constexpr Seconds until_copies{8};
constexpr Seconds until_copies_per_gpu{0.5};
/// Time in which copies at once have been done, from their beginning.
constexpr Seconds copies_take{20};
/// Shortest time between two looks at which ranks are late.
constexpr Seconds look = milliseconds(100);

Seconds now_since_1970() { return std::chrono::system_clock::now().time_since_epoch(); }

/// What is known of a rank.
struct RankState {
  std::optional<Hello> hello{};
  Seconds clock_ahead{0};  ///< its host's clock minus that of rank 0
  std::optional<DeviceList> list{};
  std::vector<std::string> devices{};  ///< those that it checks
  std::set<std::string> waited_for{};  ///< those whose answer has not come
  Seconds late_at{0};                  ///< wall clock from which it is not waited for
  bool is_late = false;

  bool is_done() const { return list && waited_for.empty(); }
};

class Coordinator {
 public:
  Coordinator(Ranks& ranks, const CoordinatorOptions& options)
      : ranks_(ranks), options_(options), states_(ranks.size()) {}

  FleetRun run() {
    for (RankState& state : states_) state.late_at = wall_clock() + options_.begin_within;
    open_ = states_.size();
    collect("GPUs are listed");
    check_all();
    for (unsigned repeat = 1; repeat <= options_.repeats; ++repeat) check_again(repeat);
    if (options_.at_once) copy_at_once();
    end_all();
    for (auto& [device, why] : failures_) run_.failed.push_back(std::move(why));
    return std::move(run_);
  }

 private:
  std::string name(std::size_t rank) const {
    const auto& hello = states_[rank].hello;
    return hello ? fmt::format("{} (rank {})", hello->node, rank) : fmt::format("rank {}", rank);
  }

  /// Receives until every rank has answered or is late.
  void collect(std::string_view what) {
    Seconds next_look = wall_clock();
    while (open_ > 0) {
      if (options_.progress) options_.progress(fmt::format("{}, {} of {} ranks to go", what, open_, states_.size()));
      if (const auto message = ranks_.receive(Deadline(wall_clock() + look))) receive(*message);
      if (options_.stop && options_.stop()) return stop();
      if (wall_clock() < next_look) continue;
      next_look = wall_clock() + look;
      for (RankState& state : states_)
        if (!state.is_done() && !state.is_late && wall_clock() > state.late_at) {
          state.is_late = true;
          --open_;
        }
    }
  }

  /// Waits for nobody any more.
  void stop() {
    for (RankState& state : states_) state.is_late = state.is_late || !state.is_done();
    open_ = 0;
    is_stopped_ = true;
  }

  void receive(const RankMessage& message) {
    if (message.from >= states_.size()) return;
    RankState& state = states_[message.from];
    const bool was_open = !state.is_done() && !state.is_late;
    try {
      std::visit([&](const auto& report) { take(message.from, report); },
                 report_from_text(message.text, fmt::format("message of {}", name(message.from))));
    } catch (const Error& error) {
      run_.failed.push_back(error.what());
    }
    // An answer that comes late counts, as long as others are waited for.
    if (was_open && state.is_done()) --open_;
  }

  void take(std::size_t rank, const Hello& hello) {
    RankState& state = states_[rank];
    state.hello = hello;
    state.clock_ahead = hello.clock - now_since_1970();
    state.late_at = wall_clock() + options_.budget + options_.grace;
    if (hello.program != options_.program)
      run_.failed.push_back(
          fmt::format("{} runs shiplap {} and rank 0 shiplap {}: install one version, or do not "
                      "compare them",
                      name(rank), hello.program, options_.program));
  }

  void take(std::size_t rank, const DeviceList& list) {
    RankState& state = states_[rank];
    state.list = list;
    if (!list.failure.empty()) run_.failed.push_back(fmt::format("{}: {}", name(rank), list.failure));
  }

  void take(std::size_t rank, const Answer& answer) {
    RankState& state = states_[rank];
    state.waited_for.erase(answer.device);
    if (!answer.failure.empty()) {
      failures_[{rank, answer.device}] = fmt::format("{} {}: {}", name(rank), answer.device, answer.failure);
      return;
    }
    failures_.erase({rank, answer.device});
    NodeResult result = answer.result;
    if (state.hello) result.node = state.hello->node;
    if (answer.task == Task::copy_at_once) {
      at_once_[result.node].push_back(std::move(result));
      return;
    }
    const auto taken = checked_by_.find(key(result));
    if (taken != checked_by_.end() && taken->second.first != rank) result.gpu += fmt::format(" (rank {})", rank);
    checked_by_.try_emplace(key(result), rank, answer.device);
    run_.results.push_back(std::move(result));
  }

  void order(std::size_t rank, const Order& order, Seconds longest) {
    RankState& state = states_[rank];
    if (is_stopped_ || state.is_late || order.devices.empty()) return;
    state.waited_for.insert(order.devices.begin(), order.devices.end());
    state.late_at = wall_clock() + longest + options_.grace;
    if (!send(rank, order)) return;
    ++open_;
  }

  bool send(std::size_t rank, const Order& order) {
    try {
      ranks_.send(rank, to_text(order));
      return true;
    } catch (const Error& error) {
      run_.failed.push_back(fmt::format("{}: {}", name(rank), error.what()));
      states_[rank].is_late = true;
      return false;
    }
  }

  /// The node and GPU of a result.
  using Key = std::tuple<std::string, std::string, std::string>;
  static Key key(const NodeResult& result) { return {result.node, result.gpu, result.pci_bus_id}; }

  /// Has each GPU checked by one of the ranks that see it, so that the ranks of a node have about equally many.
  void check_all() {
    std::map<std::string, std::vector<std::size_t>> seen_by;  // ranks, by node and GPU
    for (std::size_t rank = 0; rank < states_.size(); ++rank) {
      const RankState& state = states_[rank];
      if (!state.hello || !state.list) continue;
      for (const RankDevice& device : state.list->devices) seen_by[gpu_name(rank, device)].push_back(rank);
    }
    for (std::size_t rank = 0; rank < states_.size(); ++rank) {
      if (!states_[rank].hello || !states_[rank].list) continue;
      for (const RankDevice& device : states_[rank].list->devices) {
        const auto seen = seen_by.find(gpu_name(rank, device));
        if (seen == seen_by.end()) continue;
        const std::size_t checker = *std::ranges::min_element(
            seen->second, {}, [&](std::size_t candidate) { return states_[candidate].devices.size(); });
        states_[checker].devices.push_back(name_of(checker, gpu_name(rank, device)));
        seen_by.erase(seen);
      }
    }
    for (std::size_t rank = 0; rank < states_.size(); ++rank) {
      const std::vector<std::string>& devices = states_[rank].devices;
      order(rank, {.task = Task::check, .devices = devices}, devices.size() * options_.budget);
    }
    collect("GPUs are checked");
  }
  /// The name of a GPU in the fleet. GPUs without a PCI bus id, which are simulated, belong to their rank.
  std::string gpu_name(std::size_t rank, const RankDevice& device) const {
    return device.pci_bus_id.empty() ? fmt::format("{} {}", rank, device.name)
                                     : fmt::format("{} {}", states_[rank].hello->node, device.pci_bus_id);
  }
  /// How the rank calls this GPU, which it sees.
  std::string name_of(std::size_t rank, const std::string& gpu) const {
    for (const RankDevice& device : states_[rank].list->devices)
      if (gpu_name(rank, device) == gpu) return device.name;
    throw Error(fmt::format("rank {} does not see {}", rank, gpu));
  }

  /// Has what is not good checked again, and what could not be checked.
  void check_again(unsigned repeat) {
    std::map<std::size_t, std::set<std::string>> devices;
    for (const JudgedNode& node : judge(run_.results, options_.judging, options_.history).nodes) {
      if (node.state == NodeState::good) continue;
      const auto& [rank, device] = checked_by_.at({node.node, node.gpu, node.pci_bus_id});
      devices[rank].insert(device);
    }
    for (const auto& [failed, why] : failures_) devices[failed.first].insert(failed.second);
    for (const auto& [rank, names] : devices) {
      order(rank, {.task = Task::check, .devices = {names.begin(), names.end()}}, names.size() * options_.budget);
    }
    collect(fmt::format("what was not good is checked again ({})", repeat));
  }

  /// Has the GPUs of each node copy at once, and again where the sum is an outlier.
  void copy_at_once() {
    std::map<std::string, std::vector<std::size_t>> ranks_of_node;
    std::map<std::string, std::size_t> gpus_of_node;
    for (std::size_t rank = 0; rank < states_.size(); ++rank) {
      const RankState& state = states_[rank];
      if (!state.hello || state.is_late || state.devices.empty()) continue;
      ranks_of_node[state.hello->node].push_back(rank);
      gpus_of_node[state.hello->node] += state.devices.size();
    }
    std::erase_if(ranks_of_node, [&](const auto& node) { return gpus_of_node[node.first] < 2; });
    if (ranks_of_node.empty()) run_.failed.push_back("no node has several GPUs that could copy at once");
    for (unsigned repeat = 0; repeat <= options_.repeats && !ranks_of_node.empty(); ++repeat) {
      at_once_.clear();
      for (const auto& [node, ranks] : ranks_of_node) order_copies(ranks, gpus_of_node[node]);
      collect("all GPUs of a node copy at once");
      std::set<std::string> sums;
      for (const auto& [node, results] : at_once_)
        if (results.size() == gpus_of_node[node]) {
          run_.results.push_back(all_gpus_at_once(results, run_.results));
          sums.insert(run_.results.back().gpu);
        }
      std::set<std::string> outliers;
      for (const JudgedNode& node : judge(run_.results, options_.judging, options_.history).nodes)
        if (node.state != NodeState::good && sums.contains(node.gpu)) outliers.insert(node.node);
      std::erase_if(ranks_of_node, [&](const auto& node) { return !outliers.contains(node.first); });
    }
  }
  void order_copies(const std::vector<std::size_t>& ranks, std::size_t gpus) {
    const Seconds delay = until_copies + gpus * until_copies_per_gpu;
    // All ranks of a node have one clock.
    const Seconds begin = now_since_1970() + delay + states_[ranks.front()].clock_ahead;
    for (const std::size_t rank : ranks)
      order(rank, {.task = Task::copy_at_once, .devices = states_[rank].devices, .begin = begin}, delay + copies_take);
  }

  void end_all() {
    const bool all_answered =
        std::ranges::all_of(states_, [](const RankState& state) { return state.hello && state.is_done(); });
    for (std::size_t rank = 0; rank < states_.size(); ++rank) {
      send(rank, {.end = true, .all_answered = all_answered});  // even to one that is missing, in case that it goes on
      if (const std::string why = why_missing(rank); !why.empty()) {
        run_.missing.push_back(why);
        ranks_.abandon(rank);
      }
    }
  }
  /// Why a rank counts as missing; "" when it does not.
  std::string why_missing(std::size_t rank) const {
    const RankState& state = states_[rank];
    if (!state.hello)
      return fmt::format("{} did not begin{}", name(rank),
                         is_stopped_ ? "" : " within " + to_string(options_.begin_within));
    if (state.is_done()) return "";
    return fmt::format("{} began and did not answer in time{}", name(rank),
                       state.waited_for.empty() ? "" : fmt::format(", while it checked {}", *state.waited_for.begin()));
  }

  Ranks& ranks_;
  const CoordinatorOptions& options_;
  std::vector<RankState> states_;
  std::size_t open_ = 0;  ///< ranks that are waited for
  bool is_stopped_ = false;
  using Device = std::pair<std::size_t, std::string>;       ///< a rank, and a device as the rank names it
  std::map<Key, Device> checked_by_;                        ///< who has checked a GPU
  std::map<Device, std::string> failures_;                  ///< what could not be done, unless it could be done later
  std::map<std::string, std::vector<NodeResult>> at_once_;  ///< copies at once, by node
  FleetRun run_;
};

}  // namespace

FleetRun coordinate(Ranks& ranks, const CoordinatorOptions& options) { return Coordinator(ranks, options).run(); }

}  // namespace shiplap

#include "shiplap/fleet/coordinator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "shiplap/core/deadline.hpp"
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

/// What is known of a rank.
struct RankState {
  std::optional<Hello> hello{};
  /// Its host's clock minus that of rank 0: the highest of what its reports say, because they may lie a while before
  /// they are read.
  Seconds clock_ahead{-std::numeric_limits<double>::infinity()};
  std::optional<DeviceList> list{};
  std::vector<std::string> devices{};  ///< those that it checks
  std::set<std::string> waited_for{};  ///< those whose answer has not come
  Seconds late_at{0};                  ///< wall clock from which it is not waited for
  bool is_late = false;

  bool is_done() const { return list && waited_for.empty(); }
};

class Coordinator {
 public:
  Coordinator(Communicator& ranks, const CoordinatorOptions& options)
      : ranks_(ranks), options_(options), states_(ranks.size()) {}

  FleetRun run() {
    for (RankState& state : states_) state.late_at = steady_time() + options_.begin_within;
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
    Seconds next_look = steady_time();
    while (open_ > 0) {
      if (options_.progress) options_.progress(fmt::format("{}, {} of {} ranks to go", what, open_, states_.size()));
      if (const auto message = ranks_.receive(Deadline(steady_time() + look))) receive(*message);
      if (options_.stop && options_.stop()) return stop();
      if (steady_time() < next_look) continue;
      next_look = steady_time() + look;
      if (an_awaited_rank_has_ended()) {
        // What it has sent is on its way or here.
        while (const auto message = ranks_.receive(Deadline(steady_time()))) receive(*message);
      }
      for (std::size_t rank = 0; rank < states_.size(); ++rank) {
        RankState& state = states_[rank];
        if (!is_awaited(rank) || (steady_time() <= state.late_at && !ranks_.has_ended(rank))) continue;
        state.is_late = true;
        close(rank);
      }
    }
  }

  bool is_awaited(std::size_t rank) const { return !states_[rank].is_done() && !states_[rank].is_late; }
  bool an_awaited_rank_has_ended() const {
    for (std::size_t rank = 0; rank < states_.size(); ++rank)
      if (is_awaited(rank) && ranks_.has_ended(rank)) return true;
    return false;
  }

  /// Stops waiting for all ranks.
  void stop() {
    for (RankState& state : states_) state.is_late = state.is_late || !state.is_done();
    open_ = 0;
    is_stopped_ = true;
  }

  void receive(const RankMessage& message) {
    if (message.from >= states_.size()) return;
    RankState& state = states_[message.from];
    const bool was_open = is_awaited(message.from);
    try {
      const RankReport report = report_from_text(message.text, fmt::format("message of {}", name(message.from)));
      state.clock_ahead = std::max(state.clock_ahead, report.clock - time_since_1970());
      std::visit([&](const auto& what) { take(message.from, what); }, report.what);
    } catch (const Error& error) {
      run_.failed.push_back(error.what());
    }
    // An answer that comes late counts, as long as others are waited for.
    if (was_open && state.is_done()) close(message.from);
  }

  /// The rank is not waited for any more. The next rank of its node may check.
  void close(std::size_t rank) {
    --open_;
    const auto turns = turns_.find(node_of(rank));
    if (turns == turns_.end()) return;
    std::deque<Turn>& left = turns->second;
    const bool was_its_turn = left.front().first == rank;
    std::erase_if(left, [&](const Turn& turn) { return turn.first == rank; });
    if (left.empty())
      turns_.erase(turns);
    else if (was_its_turn)
      begin_turn(left.front());
  }
  std::string node_of(std::size_t rank) const { return states_[rank].hello ? states_[rank].hello->node : ""; }

  void take(std::size_t rank, const Hello& hello) {
    RankState& state = states_[rank];
    state.hello = hello;
    state.late_at = steady_time() + options_.budget + options_.grace;
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
    if (!has_given_gpus_) return;
    // It has begun late, and others are still waited for.
    state.is_late = false;
    give_gpus({rank});
  }

  void take(std::size_t rank, const Answer& answer) {
    RankState& state = states_[rank];
    state.waited_for.erase(answer.device);
    if (!answer.failure.empty()) {
      failures_[{answer.task, rank, answer.device}] =
          fmt::format("{} {}: {}", name(rank), answer.device, answer.failure);
      return;
    }
    failures_.erase({answer.task, rank, answer.device});
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

  using Turn = std::pair<std::size_t, std::vector<std::string>>;  ///< a rank and what it checks

  /// Has a rank check devices when the ranks of its node before it have: GPUs that are checked at the same time would
  /// share links and host memory.
  void check_in_turn(std::size_t rank, const std::vector<std::string>& devices) {
    if (!open(rank, devices, Seconds{std::numeric_limits<double>::infinity()})) return;
    std::deque<Turn>& turns = turns_[node_of(rank)];
    turns.emplace_back(rank, devices);
    if (turns.size() == 1) begin_turn(turns.front());
  }
  void begin_turn(const Turn& turn) {
    const auto& [rank, devices] = turn;
    // A rank that cannot be sent to is late at once.
    const bool is_sent = !is_stopped_ && send(rank, {.task = Task::check, .devices = devices});
    states_[rank].late_at =
        is_sent ? steady_time() + devices.size() * options_.budget + options_.grace : steady_time() - Seconds{1};
  }

  /// Begins to wait for answers about these devices; returns false where nothing is to be waited for.
  bool open(std::size_t rank, const std::vector<std::string>& devices, Seconds late_at) {
    RankState& state = states_[rank];
    if (is_stopped_ || state.is_late || devices.empty()) return false;
    state.waited_for.insert(devices.begin(), devices.end());
    state.late_at = late_at;
    ++open_;
    return true;
  }

  bool send(std::size_t rank, const Order& order) {
    try {
      ranks_.send(rank, to_text(order));
      return true;
    } catch (const Error& error) {
      run_.failed.push_back(fmt::format("{}: {}", name(rank), error.what()));
      return false;
    }
  }

  /// The node and GPU of a result.
  using Key = std::tuple<std::string, std::string, std::string>;
  static Key key(const NodeResult& result) { return {result.node, result.gpu, result.pci_bus_id}; }

  /// Has each GPU checked.
  void check_all() {
    std::vector<std::size_t> all(states_.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    has_given_gpus_ = true;
    give_gpus(all);
    collect("GPUs are checked");
  }
  /// Gives each GPU that these ranks see, and that nobody was given, to one of them, so that the ranks of a node have
  /// about equally many. One rank of a node checks at a time.
  void give_gpus(const std::vector<std::size_t>& ranks) {
    // By node and GPU, how each rank that sees it calls it.
    std::map<std::string, std::map<std::size_t, std::string>> seen_by;
    for (const std::size_t rank : ranks) {
      const RankState& state = states_[rank];
      if (!state.hello || !state.list) continue;
      for (const RankDevice& device : state.list->devices)
        seen_by[gpu_name(rank, device)].try_emplace(rank, device.name);
    }
    for (const std::size_t rank : ranks) {
      if (!states_[rank].hello || !states_[rank].list) continue;
      for (const RankDevice& device : states_[rank].list->devices) {
        const std::string gpu = gpu_name(rank, device);
        if (!given_.insert(gpu).second) continue;
        const auto& [checker, name] = *std::ranges::min_element(
            seen_by.at(gpu), {}, [&](const auto& seen) { return states_[seen.first].devices.size(); });
        states_[checker].devices.push_back(name);
      }
    }
    for (const std::size_t rank : ranks) check_in_turn(rank, states_[rank].devices);
  }
  /// The name of a GPU in the fleet. GPUs without a PCI bus id, which are simulated, belong to their rank.
  std::string gpu_name(std::size_t rank, const RankDevice& device) const {
    return device.pci_bus_id.empty() ? fmt::format("{} {}", rank, device.name)
                                     : fmt::format("{} {}", states_[rank].hello->node, device.pci_bus_id);
  }

  /// Has what is not good checked again, and what could not be checked.
  void check_again(unsigned repeat) {
    std::map<std::size_t, std::set<std::string>> devices;
    for (const JudgedNode& node : judge(run_.results, options_.judging, options_.history).nodes) {
      if (node.state == NodeState::good || node.state == NodeState::low) continue;  // a further check says no more
      const auto& [rank, device] = checked_by_.at({node.node, node.gpu, node.pci_bus_id});
      devices[rank].insert(device);
    }
    for (const auto& [failed, why] : failures_)
      if (std::get<Task>(failed) == Task::check) devices[std::get<1>(failed)].insert(std::get<2>(failed));
    for (const auto& [rank, names] : devices) check_in_turn(rank, {names.begin(), names.end()});
    collect(fmt::format("what was not good is checked again ({})", repeat));
  }

  /// The GPUs of a node, and the ranks that were given them.
  struct NodeGpus {
    std::vector<std::size_t> ranks{};
    std::size_t gpus = 0;
  };
  /// Nodes with several GPUs.
  std::map<std::string, NodeGpus> nodes_with_several() const {
    std::map<std::string, NodeGpus> nodes;
    for (std::size_t rank = 0; rank < states_.size(); ++rank) {
      if (states_[rank].devices.empty()) continue;
      NodeGpus& node = nodes[node_of(rank)];
      node.ranks.push_back(rank);
      node.gpus += states_[rank].devices.size();
    }
    std::erase_if(nodes, [](const auto& node) { return node.second.gpus < 2; });
    return nodes;
  }
  /// Has the GPUs of each node copy at once, and again where that failed or the sum is an outlier.
  void copy_at_once() {
    std::map<std::string, NodeGpus> nodes = nodes_with_several();
    if (nodes.empty()) run_.failed.push_back("no node has several GPUs that could copy at once");
    for (unsigned repeat = 0; repeat <= options_.repeats && !nodes.empty() && !is_stopped_; ++repeat) {
      at_once_.clear();
      for (const auto& [node, gpus] : nodes) order_copies(gpus);
      collect("all GPUs of a node copy at once");
      std::set<std::string> sums;
      for (const auto& [node, gpus] : nodes)
        if (at_once_[node].size() == gpus.gpus) {
          run_.results.push_back(all_gpus_at_once(at_once_[node], run_.results));
          sums.insert(node);
        } else if (repeat == options_.repeats || is_stopped_) {
          run_.failed.push_back(fmt::format("{}: {} of {} GPUs copied at once, so that there is no sum", node,
                                            at_once_[node].size(), gpus.gpus));
        }
      std::set<std::string> outliers;
      for (const JudgedNode& node : judge(run_.results, options_.judging, options_.history).nodes)
        if (node.state != NodeState::good && is_sum(node.gpu)) outliers.insert(node.node);
      std::erase_if(nodes,
                    [&](const auto& node) { return sums.contains(node.first) && !outliers.contains(node.first); });
    }
  }
  void order_copies(const NodeGpus& node) {
    const Seconds delay = until_copies + node.gpus * until_copies_per_gpu;
    // All ranks of a node have one clock. It is at least as far ahead as the quickest report says.
    Seconds ahead = states_[node.ranks.front()].clock_ahead;
    for (const std::size_t rank : node.ranks) ahead = std::max(ahead, states_[rank].clock_ahead);
    const Seconds begin = time_since_1970() + delay + ahead;
    for (const std::size_t rank : node.ranks) {
      const std::vector<std::string>& devices = states_[rank].devices;
      if (!open(rank, devices, steady_time() + delay + copies_take + options_.grace)) continue;
      if (!send(rank, {.task = Task::copy_at_once, .devices = devices, .begin = begin}))
        states_[rank].late_at = steady_time() - Seconds{1};
    }
  }

  void end_all() {
    std::vector<std::size_t> answered;
    for (std::size_t rank = 0; rank < states_.size(); ++rank) {
      if (const std::string why = why_missing(rank); !why.empty()) {
        run_.missing.push_back(why);
        ranks_.abandon(rank);
      } else {
        answered.push_back(rank);
      }
    }
    for (const std::size_t rank : answered) send(rank, {.end = true, .all_answered = run_.missing.empty()});
  }
  /// Why a rank counts as missing; "" when it does not.
  std::string why_missing(std::size_t rank) const {
    const RankState& state = states_[rank];
    if (ranks_.has_ended(rank)) return fmt::format("{} ended before it was told to", name(rank));
    if (!state.hello)
      return fmt::format("{} did not begin{}", name(rank),
                         is_stopped_ ? "" : " within " + to_string(options_.begin_within));
    if (state.is_done()) return "";
    return fmt::format("{} began and did not answer in time{}", name(rank),
                       state.waited_for.empty() ? "" : fmt::format(", while it checked {}", *state.waited_for.begin()));
  }

  Communicator& ranks_;
  const CoordinatorOptions& options_;
  std::vector<RankState> states_;
  std::size_t open_ = 0;  ///< ranks that are waited for
  bool is_stopped_ = false;
  bool has_given_gpus_ = false;
  std::set<std::string> given_;                        ///< names of GPUs that a rank was given to check
  std::map<std::string, std::deque<Turn>> turns_;      ///< by node: the rank that checks, and those after it
  using Device = std::pair<std::size_t, std::string>;  ///< a rank, and a device as the rank names it
  using Failure = std::tuple<Task, std::size_t, std::string>;
  std::map<Key, Device> checked_by_;                        ///< who has checked a GPU
  std::map<Failure, std::string> failures_;                 ///< what could not be done, unless it could be done later
  std::map<std::string, std::vector<NodeResult>> at_once_;  ///< copies at once, by node
  FleetRun run_;
};

}  // namespace

FleetRun coordinate(Communicator& ranks, const CoordinatorOptions& options) {
  return Coordinator(ranks, options).run();
}

void end_all_ranks(Communicator& ranks, const Deadline& deadline) {
  // The others find out by themselves that the run is over.
  for (std::size_t rank = 0; rank < ranks.size() && !deadline.passed(); ++rank) {
    try {
      ranks.send(rank, to_text(Order{.end = true, .all_answered = false}));
    } catch (const Error&) {
      // This rank finds out by itself that the run is over.
    }
  }
}

}  // namespace shiplap

#include "shiplap/fleet/judge.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "shiplap/core/error.hpp"
#include "shiplap/core/formats.hpp"
#include "shiplap/core/quantity_json.hpp"
#include "shiplap/core/statistics.hpp"
#include "shiplap/fleet/at_once.hpp"
#include "shiplap/fleet/causes.hpp"
#include "shiplap/fleet/peers.hpp"

namespace shiplap {
namespace {

/// A figure that is below its peers by this fraction and bad by its own check needs no second look.
constexpr double far_below = 0.3;

/// What tells GPUs apart. Two ranks of a node may each call their GPU cuda:0.
using Gpu = std::tuple<std::string, std::string, std::string>;  // node, device, PCI bus id
Gpu gpu_of(const NodeResult& result) { return {result.node, result.gpu, result.pci_bus_id}; }

/// All results of one GPU.
class Judgement {
 public:
  Judgement(const ResultsOfGpu& results, const Peers& peers) : results_(results), peers_(peers) {}

  JudgedNode judge() const {
    const NodeResult& last = *results_.back();
    JudgedNode node{.node = last.node,
                    .gpu = last.gpu,
                    .pci_bus_id = last.pci_bus_id,
                    .kind = last.kind,
                    .is_sum = is_sum(last.gpu)};
    std::vector<const NodeResult*> judged;
    for (const NodeResult* result : results_) {
      if (std::ranges::any_of(result->figures, was_measured)) judged.push_back(result);
      node.busy.insert(node.busy.end(), result->busy.begin(), result->busy.end());
    }
    node.results = judged.size();
    if (judged.empty()) {
      node.state = node.busy.empty() ? NodeState::unknown : NodeState::busy;
      return node;
    }
    for (const CheckedFigure& figure : judged.front()->figures)
      if (is_outlier_in_all(figure.what, judged)) node.outliers.push_back(outlier(figure.what, judged));
    std::ranges::stable_sort(node.outliers, {}, lowest_ratio);
    node.cause = likely_cause(node.outliers);
    const bool is_sure = judged.size() > 1 || is_beyond_doubt(judged);
    node.state = node.outliers.empty() ? NodeState::good : is_sure ? NodeState::sick : NodeState::suspect;
    if (is_sure) node.confidence = judged.size() > 1 && is_clear(judged) ? Confidence::high : Confidence::medium;
    return node;
  }

  /// The results without the figures that are outliers in them.
  std::vector<NodeResult> without_outliers() const {
    std::vector<NodeResult> clean;
    for (const NodeResult* result : results_) {
      NodeResult& kept = clean.emplace_back(*result);
      std::erase_if(kept.figures, [&](const CheckedFigure& figure) { return is_outlier(*result, figure.what); });
    }
    return clean;
  }

 private:
  static const CheckedFigure* figure_of(const NodeResult& result, const std::string& what) {
    const auto found = std::ranges::find(result.figures, what, &CheckedFigure::what);
    return found == result.figures.end() || !was_measured(*found) ? nullptr : &*found;
  }

  bool is_outlier(const NodeResult& result, const std::string& what) const {
    const CheckedFigure* figure = figure_of(result, what);
    if (figure == nullptr) return false;
    if (peers_.fell(result, *figure) || peers_.is_bad_among_good(result, *figure)) return true;
    const PeerFigure* peers = peers_.of(result.kind, what);
    if (peers == nullptr || peers->lowest <= 0) return figure->verdict == Verdict::bad;
    return figure->measured_value < peers->lowest;
  }

  bool is_outlier_in_all(const std::string& what, const std::vector<const NodeResult*>& judged) const {
    return std::ranges::all_of(judged, [&](const NodeResult* result) { return is_outlier(*result, what); });
  }

  Outlier outlier(const std::string& what, const std::vector<const NodeResult*>& judged) const {
    std::vector<double> values;
    std::vector<double> over_earlier;
    for (const NodeResult* result : judged) {
      values.push_back(figure_of(*result, what)->measured_value);
      over_earlier.push_back(peers_.over_earlier(*result, *figure_of(*result, what)));
    }
    const CheckedFigure& last = *figure_of(*judged.back(), what);
    const PeerFigure* peers = peers_.of(judged.back()->kind, what);
    Outlier found{.what = what, .measured = last.measured, .causes = last.causes};
    if (peers != nullptr && peers->lowest > 0) found.ratio = median(values) / peers->median;
    if (peers_.fell(*judged.back(), last)) found.of_earlier = median(over_earlier);
    return found;
  }
  static double lowest_ratio(const Outlier& outlier) {
    return outlier.of_earlier > 0 && outlier.ratio > 0 ? std::min(outlier.ratio, outlier.of_earlier)
                                                       : std::max(outlier.ratio, outlier.of_earlier);
  }

  /// Whether a figure of the last check is bad by its own limits, or twice as far from its peers as an outlier need be.
  bool is_clear(const std::vector<const NodeResult*>& judged) const {
    return std::ranges::any_of(judged.back()->figures, [&](const CheckedFigure& figure) {
      const PeerFigure* peers = peers_.of(judged.back()->kind, figure.what);
      return was_measured(figure) && is_outlier(*judged.back(), figure.what) &&
             (figure.verdict == Verdict::bad ||
              (peers != nullptr && figure.measured_value < 2 * peers->lowest - peers->median));
    });
  }

  /// A figure that is bad by its own check, which has measured it again, and far below its peers.
  bool is_beyond_doubt(const std::vector<const NodeResult*>& judged) const {
    return std::ranges::any_of(judged.back()->figures, [&](const CheckedFigure& figure) {
      const PeerFigure* peers = peers_.of(judged.back()->kind, figure.what);
      return figure.verdict == Verdict::bad && was_measured(figure) &&
             (peers == nullptr || peers->lowest <= 0 || figure.measured_value < (1 - far_below) * peers->median);
    });
  }

  const ResultsOfGpu& results_;
  const Peers& peers_;
};

constexpr std::array confidence_names{std::pair{Confidence::low, "low"sv}, std::pair{Confidence::medium, "medium"sv},
                                      std::pair{Confidence::high, "high"sv}};
constexpr std::array node_state_names{std::pair{NodeState::sick, "sick"sv}, std::pair{NodeState::suspect, "suspect"sv},
                                      std::pair{NodeState::busy, "busy"sv}, std::pair{NodeState::unknown, "unknown"sv},
                                      std::pair{NodeState::good, "good"sv}};

Json ratio_json(double ratio) { return ratio > 0 ? quantity_json(ratio, "1") : Json(nullptr); }

}  // namespace

EnumNames<Confidence> names_of(Confidence) { return confidence_names; }
EnumNames<NodeState> names_of(NodeState) { return node_state_names; }

std::size_t JudgedFleet::count(NodeState state) const {
  return static_cast<std::size_t>(std::ranges::count(nodes, state, &JudgedNode::state));
}

JudgedFleet judge(std::span<const NodeResult> results, const JudgeOptions& options, const History* history) {
  std::map<Gpu, ResultsOfGpu> by_gpu;
  for (const NodeResult& result : results) by_gpu[gpu_of(result)].push_back(&result);
  std::vector<ResultsOfGpu> gpus;
  for (auto& [gpu, of_gpu] : by_gpu) gpus.push_back(std::move(of_gpu));
  const Peers peers(gpus, options, history);
  JudgedFleet fleet;
  for (const ResultsOfGpu& of_gpu : gpus) {
    const Judgement judgement(of_gpu, peers);
    fleet.nodes.push_back(judgement.judge());
    if (history == nullptr || fleet.nodes.back().state != NodeState::good) continue;
    for (NodeResult& result : judgement.without_outliers()) fleet.to_remember.push_back(std::move(result));
  }
  std::ranges::stable_sort(fleet.nodes, {}, &JudgedNode::state);
  fleet.peers = peers.figures();
  std::ranges::stable_sort(fleet.peers, {}, &PeerFigure::kind);
  return fleet;
}

Json to_json(const JudgedFleet& fleet) {
  Json json{{"schema", formats::fleet.schema},
            {"version", formats::fleet.version},
            {"nodes", Json::array()},
            {"peers", Json::array()}};
  for (const auto& [state, name] : names_of(NodeState{})) json[std::string(name)] = fleet.count(state);
  for (const JudgedNode& node : fleet.nodes) {
    Json outliers = Json::array();
    for (const Outlier& o : node.outliers)
      outliers.push_back({{"what", o.what},
                          {"measured_text", o.measured},
                          {"of_peers", ratio_json(o.ratio)},
                          {"of_earlier", ratio_json(o.of_earlier)}});
    json["nodes"].push_back({{"node", node.node},
                             {"gpu", node.gpu},
                             {"pci_bus_id", node.pci_bus_id},
                             {"kind", node.kind},
                             {"state", enum_name(node.state)},
                             {"results", node.results},
                             {"outliers", std::move(outliers)},
                             {"cause", node.cause},
                             {"confidence", node.outliers.empty() ? Json(nullptr) : Json(enum_name(node.confidence))},
                             {"busy", node.busy}});
  }
  for (const PeerFigure& peer : fleet.peers)
    json["peers"].push_back({{"kind", peer.kind},
                             {"what", peer.what},
                             {"peers", peer.peers},
                             {"median", quantity_json(peer.median, peer.unit)},
                             {"spread", quantity_json(peer.spread, peer.unit)},
                             {"lowest", peer.lowest > 0 ? quantity_json(peer.lowest, peer.unit) : Json(nullptr)},
                             {"of_earlier", ratio_json(peer.of_earlier)},
                             {"of_limit", ratio_json(peer.of_limit)}});
  return json;
}

}  // namespace shiplap

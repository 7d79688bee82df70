#include "shiplap/fleet/judge.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "shiplap/core/error.hpp"
#include "shiplap/core/formats.hpp"
#include "shiplap/core/record.hpp"
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
    JudgedNode node{.node = last.node, .gpu = last.gpu, .pci_bus_id = last.pci_bus_id, .kind = last.kind};
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
    for (const CheckedFigure& figure : judged.front()->figures) {
      if (node.outliers.empty() && is_low_in_all(figure.what, judged)) node.low.push_back(outlier(figure.what, judged));
      if (is_above_in_all(figure.what, judged)) node.above.push_back(outlier(figure.what, judged));
    }
    node.cause = likely_cause(node.outliers.empty() ? node.low : node.outliers);
    const bool is_sure = judged.size() > 1 || is_beyond_doubt(judged);
    node.state = !node.outliers.empty() ? is_sure ? NodeState::sick : NodeState::suspect
                 : node.low.empty()     ? NodeState::good
                                        : NodeState::low;
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

  static bool is_low_in_all(const std::string& what, const std::vector<const NodeResult*>& judged) {
    return std::ranges::all_of(judged, [&](const NodeResult* result) {
      const CheckedFigure* const figure = figure_of(*result, what);
      return figure != nullptr && (figure->verdict == Verdict::low || figure->verdict == Verdict::bad);
    });
  }

  bool is_above_in_all(const std::string& what, const std::vector<const NodeResult*>& judged) const {
    return std::ranges::all_of(judged, [&](const NodeResult* result) {
      const CheckedFigure* const figure = figure_of(*result, what);
      const PeerFigure* const peers = peers_.of(result->kind, what);
      return figure != nullptr && peers != nullptr && peers->lowest > 0 &&
             figure->measured_value > 2 * peers->median - peers->lowest;
    });
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
constexpr std::array node_state_names{
    std::pair{NodeState::sick, "sick"sv},       std::pair{NodeState::suspect, "suspect"sv},
    std::pair{NodeState::low, "low"sv},         std::pair{NodeState::busy, "busy"sv},
    std::pair{NodeState::unknown, "unknown"sv}, std::pair{NodeState::good, "good"sv}};

}  // namespace

EnumNames<Confidence> names_of(Confidence) { return confidence_names; }
EnumNames<NodeState> names_of(NodeState) { return node_state_names; }

bool JudgedNode::is_sum() const { return shiplap::is_sum(gpu); }

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
    const NodeState state = fleet.nodes.back().state;
    if (history == nullptr || (state != NodeState::good && state != NodeState::low)) continue;
    for (NodeResult& result : judgement.without_outliers()) fleet.to_remember.push_back(std::move(result));
  }
  std::ranges::stable_sort(fleet.nodes, {}, &JudgedNode::state);
  fleet.peers = peers.figures();
  std::ranges::stable_sort(fleet.peers, {}, &PeerFigure::kind);
  return fleet;
}

template <class V, Like<Outlier> R>
void describe(V& v, R& outlier) {
  v.field("what", outlier.what, "name of the figure");
  v.field("measured_text", outlier.measured, "the value of the last check for people");
  v.or_null("of_peers", outlier.ratio, "over the median of the peers; null: too few peers", InUnit{"1"});
  v.or_null("of_earlier", outlier.of_earlier,
            "over the median of the GPU's earlier checks; null: it has not fallen, or there are too few", InUnit{"1"});
}
template <class V, Like<JudgedNode> R>
void describe(V& v, R& node) {
  v.field("node", node.node, "name of the host");
  v.field("gpu", node.gpu, "the device, as in cuda:0");
  v.field("pci_bus_id", node.pci_bus_id, "as in 0000:18:00.0; empty: unknown");
  v.field("kind", node.kind, "name of the profile; peers are of one kind");
  v.field("state", node.state, "what is said of the GPU");
  v.field("results", node.results, "number of checks that were judged");
  v.field("outliers", node.outliers, "figures that are outliers in every check, the lowest first");
  v.added("low", node.low, "figures of a low GPU: every check calls them low or bad, and its peers have no more");
  v.added("above", node.above, "figures that are as far above the peers as an outlier is below them");
  v.field("cause", node.cause, "the likely cause, from which figures are low together");
  v.null_unless(!node.outliers.empty(), "confidence", node.confidence,
                "how sure it is that the GPU is not as it should be; null: it is good or was not judged");
  v.field("busy", node.busy, "what others did on the node");
}
template <class V, Like<PeerFigure> R>
void describe(V& v, R& peer) {
  const InUnitOfRecord in_its_unit{peer.unit};
  v.field("kind", peer.kind, "name of the profile that the peers have");
  v.field("what", peer.what, "name of the figure");
  v.field("peers", peer.peers, "number of GPUs with the figure", one_or_more<std::size_t>);
  v.field("median", peer.median, "median over the GPUs", in_its_unit);
  v.field("spread", peer.spread, "robust standard deviation", in_its_unit);
  v.or_null("lowest", peer.lowest, "values below are outliers; null: peers are not compared", in_its_unit);
  v.or_null("of_earlier", peer.of_earlier,
            "median over the GPUs of the value over that of their earlier checks; null: too few have any", InUnit{"1"});
  v.or_null("of_limit", peer.of_limit, "median over the GPUs of the value over its limit; null: no limit is known",
            InUnit{"1"});
}
template <class V, Like<JudgedFleet> R>
void describe(V& v, R& fleet) {
  v.header(formats::fleet);
  v.field("nodes", fleet.nodes, "GPUs, the worst first");
  v.field("peers", fleet.peers, "what peers of one kind have of each figure");
  for (const auto& named : node_state_names)
    v.derived(named.second, "number of GPUs with this state", [&] { return fleet.count(named.first); });
  v.field("missing", fleet.missing, "nodes of --expect without a result, and ranks that did not answer");
  v.field("failed", fleet.failed, "why checks could not be read or done");
}

Json to_json(const JudgedFleet& fleet) { return write_record(fleet); }
void from_json(const JsonReader& json, JudgedFleet& fleet) { read_record(json, fleet); }
Json json_schema(const JudgedFleet&) {
  return document_schema<JudgedFleet>(
      "shiplap fleet",
      "The nodes of a fleet judged against each other, as `shiplap fleet check --json` and `shiplap fleet collect "
      "--json` print it.");
}

}  // namespace shiplap

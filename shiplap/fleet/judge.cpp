#include "shiplap/fleet/judge.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/core/quantity_json.hpp"
#include "shiplap/core/statistics.hpp"

namespace shiplap {
namespace {

/// The median absolute deviation of normally distributed values times this is their standard deviation.
constexpr double deviation_of_normal = 1.4826;
/// A figure that is below its peers by this fraction and bad by its own check needs no second look.
constexpr double far_below = 0.3;

using FigureKey = std::pair<std::string, std::string>;  // kind, name of the figure

bool was_measured(const CheckedFigure& figure) { return figure.measured_value > 0 && figure.verdict != Verdict::busy; }

/// Names of figures that are low together, and what that means. The first entry whose figures are all low is the cause.
struct Cause {
  std::vector<std::string> low;
  const char* text;
};
const std::vector<Cause>& causes() {
  static const std::vector<Cause> all{
      {{"bytes that arrived"}, "bytes change on their way: a broken link, memory or GPU"},
      {{"the link as it is trained"}, "the link trained down to fewer lanes or an older generation"},
      {{"device memory", "fp32 multiply-adds"}, "clocks of the GPU held down by power, heat or a setting"},
      {{"fp32 multiply-adds"}, "the SM clock held down by power, heat or a setting, or another process on the GPU"},
      {{"device memory"}, "the memory clock held down, or another process that uses device memory"},
      {{"copies to the GPU", "copies from the GPU"},
       "a shared switch or slot, an IOMMU that translates, or memory on the far socket"},
      {{"copies to the GPU"}, "slow reads of host memory: the far socket, or another load on the host"},
      {{"copies from the GPU"}, "slow writes to host memory: the far socket, or another load on the host"},
      {{"kernels that read host memory", "kernels that write host memory"},
       "an IOMMU that translates, or host memory in pages of 4 KiB"},
      {{"kernels that read host memory"}, "an IOMMU that translates, or memory on the far socket"},
      {{"copies to the GPU beside copies from it"}, "host memory that is busy or too slow for both directions"},
      {{"copies from the GPU beside copies to it"}, "host memory that is busy or too slow for both directions"}};
  return all;
}

std::string cause_of(const std::vector<Outlier>& outliers) {
  const auto is_low = [&](const std::string& what) {
    return std::ranges::find(outliers, what, &Outlier::what) != outliers.end();
  };
  for (const Cause& cause : causes())
    if (std::ranges::all_of(cause.low, is_low)) return cause.text;
  return outliers.empty() ? "" : outliers.front().causes;
}

/// The values of each figure over all results, and from them the peers' figures.
class Peers {
 public:
  Peers(std::span<const NodeResult> results, const JudgeOptions& options) : options_(options) {
    std::map<FigureKey, std::vector<double>> values;
    for (const NodeResult& result : results)
      for (const CheckedFigure& figure : result.figures) {
        if (!was_measured(figure)) continue;
        const FigureKey key{result.kind, figure.what};
        if (!index_.contains(key)) {
          index_[key] = figures.size();
          figures.push_back({.kind = result.kind, .what = figure.what, .unit = figure.unit, .peers = 0});
        }
        values[key].push_back(figure.measured_value);
      }
    for (auto& [key, all] : values) summarise(figures[index_.at(key)], all);
  }

  /// The peers of a figure; null when nobody has measured it.
  const PeerFigure* of(const std::string& kind, const std::string& what) const {
    const auto found = index_.find({kind, what});
    return found == index_.end() ? nullptr : &figures[found->second];
  }

  std::vector<PeerFigure> figures;

 private:
  void summarise(PeerFigure& figure, std::vector<double>& values) const {
    figure.peers = values.size();
    figure.median = median(values);
    for (double& value : values) value = std::abs(value - figure.median);
    figure.spread = deviation_of_normal * median(values);
    // A node with less time has verified fewer points.
    if (figure.peers < options_.least_peers || figure.unit == "points") return;
    const double allowed = std::max(options_.least_deviation * figure.median, options_.least_spreads * figure.spread);
    figure.lowest = std::max(0.0, figure.median - allowed);
  }

  const JudgeOptions& options_;
  std::map<FigureKey, std::size_t> index_;
};

/// All results of one GPU.
class Judgement {
 public:
  Judgement(const std::vector<const NodeResult*>& results, const Peers& peers) : results_(results), peers_(peers) {}

  JudgedNode judge() {
    const NodeResult& last = *results_.back();
    JudgedNode node{.node = last.node, .gpu = last.gpu, .kind = last.kind};
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
    std::ranges::stable_sort(node.outliers, {}, &Outlier::ratio);
    node.cause = cause_of(node.outliers);
    node.state = node.outliers.empty()                          ? NodeState::good
                 : judged.size() > 1 || is_beyond_doubt(judged) ? NodeState::sick
                                                                : NodeState::suspect;
    return node;
  }

 private:
  static const CheckedFigure* figure_of(const NodeResult& result, const std::string& what) {
    const auto found = std::ranges::find(result.figures, what, &CheckedFigure::what);
    return found == result.figures.end() || !was_measured(*found) ? nullptr : &*found;
  }

  bool is_outlier(const NodeResult& result, const std::string& what) const {
    const CheckedFigure* figure = figure_of(result, what);
    if (figure == nullptr) return false;
    const PeerFigure* peers = peers_.of(result.kind, what);
    if (peers == nullptr || peers->lowest <= 0) return figure->verdict == Verdict::bad;
    return figure->measured_value < peers->lowest;
  }

  bool is_outlier_in_all(const std::string& what, const std::vector<const NodeResult*>& judged) const {
    return std::ranges::all_of(judged, [&](const NodeResult* result) { return is_outlier(*result, what); });
  }

  Outlier outlier(const std::string& what, const std::vector<const NodeResult*>& judged) const {
    std::vector<double> values;
    for (const NodeResult* result : judged) values.push_back(figure_of(*result, what)->measured_value);
    const CheckedFigure& last = *figure_of(*judged.back(), what);
    const PeerFigure* peers = peers_.of(judged.back()->kind, what);
    Outlier found{.what = what, .measured = last.measured, .causes = last.causes};
    if (peers != nullptr && peers->lowest > 0) found.ratio = median(values) / peers->median;
    return found;
  }

  /// A figure that is bad by its own check, which has measured it again, and far below its peers.
  bool is_beyond_doubt(const std::vector<const NodeResult*>& judged) const {
    return std::ranges::any_of(judged.back()->figures, [&](const CheckedFigure& figure) {
      const PeerFigure* peers = peers_.of(judged.back()->kind, figure.what);
      return figure.verdict == Verdict::bad && was_measured(figure) &&
             (peers == nullptr || peers->lowest <= 0 || figure.measured_value < (1 - far_below) * peers->median);
    });
  }

  const std::vector<const NodeResult*>& results_;
  const Peers& peers_;
};

}  // namespace

std::string to_string(NodeState state) {
  switch (state) {
    case NodeState::good:
      return "good";
    case NodeState::suspect:
      return "suspect";
    case NodeState::sick:
      return "sick";
    case NodeState::busy:
      return "busy";
    case NodeState::unknown:
      return "unknown";
  }
  throw Error("a state that does not exist");
}

std::size_t JudgedFleet::count(NodeState state) const {
  return static_cast<std::size_t>(std::ranges::count(nodes, state, &JudgedNode::state));
}

JudgedFleet judge(std::span<const NodeResult> results, const JudgeOptions& options) {
  Peers peers(results, options);
  std::map<std::pair<std::string, std::string>, std::vector<const NodeResult*>> by_gpu;
  for (const NodeResult& result : results) by_gpu[{result.node, result.gpu}].push_back(&result);
  JudgedFleet fleet;
  for (const auto& [gpu, of_gpu] : by_gpu) fleet.nodes.push_back(Judgement(of_gpu, peers).judge());
  constexpr std::array worst_first{NodeState::sick, NodeState::suspect, NodeState::busy, NodeState::unknown,
                                   NodeState::good};
  std::ranges::stable_sort(fleet.nodes, {}, [&](const JudgedNode& node) {
    return std::ranges::find(worst_first, node.state) - worst_first.begin();
  });
  fleet.peers = std::move(peers.figures);
  std::ranges::stable_sort(fleet.peers, {}, &PeerFigure::kind);
  return fleet;
}

Json to_json(const JudgedFleet& fleet) {
  Json json{{"schema", "shiplap/fleet"}, {"version", 1}, {"nodes", Json::array()}, {"peers", Json::array()}};
  for (const NodeState state :
       {NodeState::sick, NodeState::suspect, NodeState::busy, NodeState::unknown, NodeState::good})
    json[to_string(state)] = fleet.count(state);
  for (const JudgedNode& node : fleet.nodes) {
    Json outliers = Json::array();
    for (const Outlier& o : node.outliers)
      outliers.push_back({{"what", o.what},
                          {"measured_text", o.measured},
                          {"of_peers", o.ratio > 0 ? quantity_json(o.ratio, "1") : Json(nullptr)}});
    json["nodes"].push_back({{"node", node.node},
                             {"gpu", node.gpu},
                             {"kind", node.kind},
                             {"state", to_string(node.state)},
                             {"results", node.results},
                             {"outliers", std::move(outliers)},
                             {"cause", node.cause},
                             {"busy", node.busy}});
  }
  for (const PeerFigure& peer : fleet.peers)
    json["peers"].push_back({{"kind", peer.kind},
                             {"what", peer.what},
                             {"peers", peer.peers},
                             {"median", quantity_json(peer.median, peer.unit)},
                             {"spread", quantity_json(peer.spread, peer.unit)},
                             {"lowest", peer.lowest > 0 ? quantity_json(peer.lowest, peer.unit) : Json(nullptr)}});
  return json;
}

}  // namespace shiplap

#include "shiplap/fleet/peers.hpp"

#include <algorithm>

#include "shiplap/core/statistics.hpp"

namespace shiplap {
namespace {

/// A node with less time has verified fewer points, so that numbers of points are not compared.
bool is_comparable(const std::string& unit) { return unit != "points"; }

/// A spread of n values is taken 1 + this / n times.
constexpr double uncertainty_of_spread = 5;

}  // namespace

Peers::Peers(std::span<const NodeResult> results, const JudgeOptions& options, const History* history)
    : options_(options), history_(history) {
  std::vector<Values> values;
  std::vector<std::pair<Key, std::string>> found;
  for (const NodeResult& result : results)
    for (const CheckedFigure& figure : result.figures) {
      if (!was_measured(figure)) continue;
      const Key key{result.kind, figure.what};
      const auto [at, is_new] = index_.try_emplace(key, values.size());
      if (is_new) {
        values.emplace_back();
        found.emplace_back(key, figure.unit);
      }
      values[at->second].measured.push_back(figure.measured_value);
      if (const EarlierFigure before = earlier(result, figure); before.checks > 0) {
        values[at->second].over_earlier.push_back(figure.measured_value / before.median);
        values[at->second].earlier_spreads.push_back(before.spread / before.median);
      }
    }
  for (std::size_t i = 0; i < values.size(); ++i) {
    figures_.push_back(summary(found[i].first, found[i].second, values[i]));
    earlier_spreads_.push_back(values[i].earlier_spreads.empty() ? 0 : median(values[i].earlier_spreads));
  }
}

PeerFigure Peers::summary(const Key& key, const std::string& unit, const Values& values) const {
  PeerFigure figure{.kind = key.first, .what = key.second, .unit = unit, .peers = values.measured.size()};
  figure.median = median(values.measured);
  figure.spread = robust_deviation(values.measured);
  if (values.over_earlier.size() >= options_.least_peers) figure.of_earlier = median(values.over_earlier);
  if (figure.peers >= options_.least_peers && is_comparable(unit))
    figure.lowest = std::max(0.0, figure.median - allowed(figure.peers, figure.median, figure.spread));
  return figure;
}

double Peers::allowed(std::size_t values, double median, double spread) const {
  // The spread of few values may be half of the true one by chance: of 5 values in one case of four.
  const double uncertainty = 1 + uncertainty_of_spread / static_cast<double>(values);
  return std::max(options_.least_deviation * median, uncertainty * options_.least_spreads * spread);
}

const PeerFigure* Peers::of(const std::string& kind, const std::string& what) const {
  const auto found = index_.find({kind, what});
  return found == index_.end() || found->second >= figures_.size() ? nullptr : &figures_[found->second];
}

EarlierFigure Peers::earlier(const NodeResult& result, const CheckedFigure& figure) const {
  if (history_ == nullptr || !was_measured(figure) || !is_comparable(figure.unit)) return {};
  const EarlierFigure found = history_->earlier(History::name_of(result), figure.what);
  return found.checks < options_.least_earlier ? EarlierFigure{} : found;
}

double Peers::over_earlier(const NodeResult& result, const CheckedFigure& figure) const {
  const EarlierFigure before = earlier(result, figure);
  return before.checks == 0 ? 0 : figure.measured_value / before.median;
}

bool Peers::fell(const NodeResult& result, const CheckedFigure& figure) const {
  const EarlierFigure before = earlier(result, figure);
  if (before.checks == 0) return false;
  const PeerFigure* const peers = of(result.kind, figure.what);
  const double all_changed = peers != nullptr && peers->of_earlier > 0 ? peers->of_earlier : 1;
  // Few values tell little about their spread. The spread of a typical GPU is known better, and three times the way
  // down to the lowest value is seldom within the noise.
  const double typical = earlier_spreads_.at(index_.at({result.kind, figure.what})) * before.median;
  const double fall = std::max(allowed(before.checks, before.median, std::max(before.spread, typical)),
                               3 * (before.median - before.lowest));
  return figure.measured_value < all_changed * (before.median - fall);
}

}  // namespace shiplap

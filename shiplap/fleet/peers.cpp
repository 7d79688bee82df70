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

Peers::Peers(std::span<const ResultsOfGpu> gpus, const JudgeOptions& options, const History* history)
    : options_(options), history_(history) {
  std::vector<Values> values;
  for (const ResultsOfGpu& results : gpus) take(results, values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    figures_[i] = summary({figures_[i].kind, figures_[i].what}, figures_[i].unit, values[i]);
    earlier_spreads_.push_back(values[i].earlier_spreads.empty() ? 0 : median(values[i].earlier_spreads));
    bad_.push_back(values[i].bad);
  }
}

void Peers::take(const ResultsOfGpu& results, std::vector<Values>& values) {
  std::map<std::size_t, std::vector<double>> of_gpu;  // by figure
  std::map<std::size_t, std::pair<const NodeResult*, const CheckedFigure*>> last;
  for (const NodeResult* result : results)
    for (const CheckedFigure& figure : result->figures) {
      if (!was_measured(figure)) continue;
      const auto [at, is_new] = index_.try_emplace({result->kind, figure.what}, values.size());
      if (is_new) {
        values.emplace_back();
        figures_.push_back({.kind = result->kind, .what = figure.what, .unit = figure.unit, .peers = 0});
      }
      of_gpu[at->second].push_back(figure.measured_value);
      last[at->second] = {result, &figure};
    }
  for (const auto& [index, measured] : of_gpu) {
    const double value = median(measured);
    values[index].measured.push_back(value);
    const auto& [result, figure] = last[index];
    if (figure->verdict == Verdict::bad) ++values[index].bad;
    if (figure->fraction > 0) values[index].of_limit.push_back(figure->fraction);
    if (const EarlierFigure before = earlier(*result, *figure); before.checks > 0) {
      values[index].over_earlier.push_back(value / before.median);
      values[index].earlier_spreads.push_back(before.spread / before.median);
    }
  }
}

PeerFigure Peers::summary(const Key& key, const std::string& unit, const Values& values) const {
  PeerFigure figure{.kind = key.first, .what = key.second, .unit = unit, .peers = values.measured.size()};
  figure.median = median(values.measured);
  figure.spread = robust_deviation(values.measured);
  if (!values.of_limit.empty()) figure.of_limit = median(values.of_limit);
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
  return found == index_.end() ? nullptr : &figures_[found->second];
}

EarlierFigure Peers::earlier(const NodeResult& result, const CheckedFigure& figure) const {
  if (history_ == nullptr || !was_measured(figure) || !is_comparable(figure.unit)) return {};
  return history_->earlier(History::name_of(result), figure.what, options_.least_earlier);
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
  // Few values tell little about their spread. That of a typical GPU is known better.
  const double typical = earlier_spreads_.at(index_.at({result.kind, figure.what})) * before.median;
  const double fall = allowed(before.checks, before.median, std::max(before.spread, typical));
  return figure.measured_value < all_changed * (before.median - fall);
}

bool Peers::is_bad_among_good(const NodeResult& result, const CheckedFigure& figure) const {
  const auto found = index_.find({result.kind, figure.what});
  if (figure.verdict != Verdict::bad || found == index_.end()) return false;
  return 2 * bad_[found->second] <= figures_[found->second].peers;
}

}  // namespace shiplap

#include "experiments/in_turn.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/core/statistics.hpp"
#include "shiplap/measure/sampler.hpp"

namespace shiplap::experiments {

Settled settled(std::span<const std::vector<double>> visits) {
  std::vector<double> medians;
  for (const std::vector<double>& visit : visits) medians.push_back(median(visit));
  if (medians.empty()) throw Error("nothing was timed");
  const double fastest = std::ranges::min(medians);
  std::vector<double> samples;
  unsigned agreeing = 0;
  for (std::size_t v = 0; v < visits.size(); ++v) {
    if (medians[v] - fastest > std::max(steady_tolerance * fastest, steady_floor_ms)) continue;
    samples.insert(samples.end(), visits[v].begin(), visits[v].end());
    ++agreeing;
  }
  const Estimate middle = median_estimate(samples);
  const double scatter = quantile(samples, 0.75) - quantile(samples, 0.25);
  const bool together = scatter <= std::max(scatter_tolerance * middle.value, scatter_floor_ms);
  return {.ms = middle.value,
          .noise = middle.value > 0 ? (middle.high - middle.low) / 2 / middle.value : 0,
          .steady = (agreeing > 1 && together) || all_equal({samples})};
}

InTurn::InTurn(std::vector<TimedRun> runs, std::function<void()> before)
    : runs_(std::move(runs)), before_(std::move(before)), samples_(runs_.size()) {}

void InTurn::visit(unsigned rounds) {
  if (before_) before_();
  for (const TimedRun& run : runs_) run();
  for (auto& of_run : samples_) of_run.emplace_back();
  for (unsigned round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < runs_.size(); ++i) samples_[i].back().push_back(runs_[i]());
  ++visits_;
}

bool InTurn::steady() const {
  return std::ranges::all_of(samples_, [](const auto& visits) { return !visits.empty() && settled(visits).steady; });
}

void settle(std::span<InTurn* const> all, unsigned rounds) {
  for (unsigned visit = 0; visit < most_visits; ++visit)
    for (InTurn* one : all)
      if (!one->steady()) one->visit(rounds);
}

}  // namespace shiplap::experiments

// Accuracy of the models on published points that they were not fitted to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/published_sweep/closed_forms.hpp"
#include "experiments/published_sweep/fit.hpp"
#include "shiplap/core/json.hpp"

namespace shiplap::experiments::published_sweep {

/// Limits of the points that are fitted; all others are held out.
struct TrainingRule {
  std::uint64_t largest_size = std::uint64_t{1} << 27;  ///< elements
  std::uint32_t most_streams = 64;

  bool covers(const PublishedPoint& p) const { return p.size <= largest_size && p.streams <= most_streams; }
};

/// Statistics of the relative errors (predicted − observed)/observed over some points.
struct PublishedErrors {
  std::size_t count = 0;
  double median = 0;
  double percentile_95 = 0;
  double worst = 0;  ///< worst error with its sign; positive is predicted too long
  double bias = 0;   ///< median of the signed errors
  PublishedPoint worst_at{};
};
/// Errors of the points with one value of a quantity.
struct PublishedGroup {
  std::uint64_t value = 0;
  PublishedErrors errors;
};

struct PublishedModel {
  std::string name;  ///< "simulation", "eq 5", "Gómez-Luna"
  std::string form;
  PublishedErrors training;
  std::optional<PublishedErrors> held_out;  ///< errors of held-out points; nullopt when there are none
  std::vector<PublishedGroup> by_size;      ///< held-out points by size, in increasing order
  std::vector<PublishedGroup> by_streams;
  std::vector<PublishedGroup> by_calls;
  std::vector<PublishedGroup> by_chunk;  ///< bytes of a copy
};

struct PublishedEvaluation {
  std::string data;
  TrainingRule rule;
  SimulationFit simulation;
  Eq5Fit eq5;
  GomezLunaFit gomez_luna;
  std::vector<PublishedModel> models;  ///< simulation, eq 5, Gómez-Luna
};

/// Fits every model to the points that the rule covers. Throws Error naming the data when there are fewer than a model
/// has parameters.
PublishedEvaluation evaluate_published(const PublishedData&, const TrainingRule& = {});

/// JSON with times in µs or ps, as the keys say, and errors as fractions of the observed time.
Json to_json(const PublishedEvaluation&);

}  // namespace shiplap::experiments::published_sweep

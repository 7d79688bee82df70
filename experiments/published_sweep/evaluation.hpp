// How well the models predict published points that they were not fitted on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/published_sweep/closed_forms.hpp"
#include "experiments/published_sweep/fit.hpp"
#include "shiplap/core/json.hpp"

namespace shiplap::experiments::published_sweep {

/// The points that are fitted; all others are held out.
struct TrainingRule {
  std::uint64_t largest_size = std::uint64_t{1} << 27;  ///< elements
  std::uint32_t most_streams = 64;

  bool covers(const PublishedPoint& p) const { return p.size <= largest_size && p.streams <= most_streams; }
};

/// (Predicted − observed)/observed over some points: the sizes of these numbers, and the middle one with its sign.
struct PublishedErrors {
  std::size_t count = 0;
  double median = 0;
  double percentile_95 = 0;
  double worst = 0;  ///< signed: positive is "predicted too long"
  double bias = 0;   ///< median of the signed numbers
  PublishedPoint worst_at{};
};
/// Those of the points that have one value of one quantity in common.
struct PublishedGroup {
  std::uint64_t value = 0;
  PublishedErrors errors;
};

struct PublishedModel {
  std::string name;  ///< "simulation", "eq 5", "Gómez-Luna"
  std::string form;
  PublishedErrors training;
  std::optional<PublishedErrors> held_out;  ///< nullopt when the rule holds no point out
  std::vector<PublishedGroup> by_size;      ///< held-out points, by increasing value, as the next three
  std::vector<PublishedGroup> by_streams;
  std::vector<PublishedGroup> by_calls;
  std::vector<PublishedGroup> by_chunk;  ///< bytes of a copy
};

struct PublishedEvaluation {
  static constexpr std::string_view schema = "shiplap/published-evaluation";
  static constexpr std::uint64_t version = 1;

  std::string data;
  TrainingRule rule;
  SimulationFit simulation;
  Eq5Fit eq5;
  GomezLunaFit gomez_luna;
  std::vector<PublishedModel> models;  ///< simulation, eq 5, Gómez-Luna
};

/// Fits every model on the points that the rule covers, and only on those. Throws Error naming the data when these are
/// fewer than the parameters of a model.
PublishedEvaluation evaluate_published(const PublishedData&, const TrainingRule& = {});

/// Times in µs or ps and errors as shares of the observed time, named so.
Json to_json(const PublishedEvaluation&);

}  // namespace shiplap::experiments::published_sweep

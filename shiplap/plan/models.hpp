// Every model's word on one choice, side by side: the simulation that plans use, and the papers' closed forms.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "shiplap/plan/ranking.hpp"

namespace shiplap {

/// One model's prediction of one choice.
struct ModelPrediction {
  std::string model;            ///< "engine", "van-werkhoven-2014", "van-werkhoven-2014 as printed", "roofline"
  std::string form;             ///< "simulation", "eq 5", "max(eq 3, eq 4)"
  std::optional<Seconds> time;  ///< nullopt where it has no form for this choice
  std::string why_not;          ///< then, the reason
  /// What the model's time is made of; they overlap, so they add up to more than the time. Zero where it has no such
  /// part.
  struct Parts {
    Seconds in{0};          ///< copies to the GPU; of the engine, where one copy engine serves both ways, all copies
    Seconds kernel{0};      ///< kernels
    Seconds out{0};         ///< copies to the host
    Seconds fixed{0};       ///< latencies and gaps on the way from start to end
    Seconds submission{0};  ///< the host cannot submit faster
  };
  Parts parts{};
};

/// By how many per cent the predicted time grows when a quantity grows by one per cent.
struct Elasticity {
  std::string quantity;
  double value = 0;
};

struct ModelComparison {
  Choice choice;
  Interval<Seconds> engine;                ///< the simulation's prediction with its range
  std::vector<ModelPrediction> models;     ///< the engine's first
  std::vector<Elasticity> elasticities{};  ///< of the engine's prediction, the largest first
};

/// What every model says of a candidate that `predict` gave for this job and profile: the engine's word first, then the
/// closed forms. The papers know equal chunks without a ramp: of others they predict the level choice.
std::vector<ModelPrediction> model_predictions(const Job&, const Profile&, const Candidate&);

/// The same of a choice, and what the engine's word hangs on, which takes dozens of simulations. Throws as `predict`
/// does.
ModelComparison compare_models(const Job&, const Profile&, const Choice&, const Limits&);

Json to_json(const ModelComparison&);

}  // namespace shiplap

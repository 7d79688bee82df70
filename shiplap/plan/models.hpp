// The predictions of every model for one choice, side by side: the simulation that plans use and the papers' closed
// forms.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "shiplap/plan/ranking.hpp"
#include "shiplap/profile/profile.hpp"

namespace shiplap {

/// One model's prediction of one choice.
struct ModelPrediction {
  std::string model;            ///< "simulation", "van-werkhoven-2014", "van-werkhoven-2014 as printed", "roofline"
  std::string form;             ///< "simulation", "eq 5", "max(eq 3, eq 4)"
  std::optional<Seconds> time;  ///< nullopt where the model has no form for this choice
  /// The assumption of the form that does not hold for the job, else "" (see ClosedForm). A time with an assumption can
  /// be below the lower bound.
  std::string assumption;
  std::string why_not;  ///< reason why there is no time, else ""
  /// The parts of the model's time. They overlap, so they may add up to more than the time. A part that the model does
  /// not have is 0.
  struct Parts {
    Seconds in{0};          ///< copies to the GPU; in the simulation of a GPU with one copy engine, all copies
    Seconds kernel{0};      ///< kernels
    Seconds out{0};         ///< copies to the host
    Seconds fixed{0};       ///< latencies and gaps on the critical path, and copies of arrays that stay on the GPU
    Seconds submission{0};  ///< time that the host needs to submit all ops
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
  Interval<Seconds> simulation;            ///< the time that plans use, simulated where possible, with its interval
  std::vector<ModelPrediction> models;     ///< the simulation first
  std::vector<Elasticity> elasticities{};  ///< elasticities of the simulated time, the largest first; else empty
};

/// Predictions of every model for a candidate that `predict` gave for this job and profile: the simulation first, then
/// the closed forms. No form without an assumption is below the lower bound (bound.hpp).
std::vector<ModelPrediction> model_predictions(const Job&, const Profile&, const Candidate&);

/// Predictions of every model for a choice, and the sensitivity of the simulated time to each parameter, which takes
/// dozens of simulations. Throws as `predict` does.
ModelComparison compare_models(const Job&, const Profile&, const Choice&, const Limits&);

}  // namespace shiplap

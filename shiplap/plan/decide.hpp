// Decides how a job is run, as a pure function of a profile and of what a device has told: no device is asked here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "shiplap/plan/decision.hpp"

namespace shiplap {

/// What is known about a job before it is decided on. `learn` asks a device (learn.hpp); a caller without one states
/// it.
struct Facts {
  Job job;        ///< the job with its kernel cost and the kinds of memory that its arrays are in
  Limits limits;  ///< device memory and resident threads that schedules may use, in planning and in runs
  /// Why the device cannot pin the pageable arrays; "" when it can, or when nothing is pageable or no device was asked.
  std::string why_not_pinned{};
};

/// What a decision may choose, and how the job will be used.
struct DecisionOptions {
  SearchSpace space{};     ///< strategies, chunks, layouts, GPUs; what is left empty is chosen
  std::uint64_t runs = 1;  ///< number of runs over the same arrays, which decides whether pinning pays
  bool may_pin = true;     ///< whether pageable arrays may be pinned where that pays over `runs`
};

/// Ranks the choices for the arrays as they are, and decides whether to pin pageable ones. The profile describes all
/// GPUs of the space. Choices that the space leaves open for pinned arrays alone are weighed against the best choice of
/// all for the arrays as they are. Throws Unsupported when no strategy can do the job.
Decision decide(const Profile&, const Facts&, const DecisionOptions& = {});

/// Completes a decision: makes the winner of a race the choice, where one was held, and adds what the choice assumes.
void settle(const Profile&, const std::optional<Choice>& winner, Decision&);

}  // namespace shiplap

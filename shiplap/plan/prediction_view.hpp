// What every model and every paper says of a job: the document that `shiplap predict` writes.
#pragma once

#include <string>
#include <vector>

#include "shiplap/core/json_forward.hpp"
#include "shiplap/plan/models.hpp"
#include "shiplap/plan/paper_answers.hpp"

namespace shiplap {

/// The predictions of a job on a profile.
struct PredictionView {
  std::string job{};                       ///< name of the job
  std::string kernel_cost{};               ///< origin of the kernel's cost
  std::string profile{};                   ///< name of the profile
  std::string profile_hash{};              ///< hash of its parameters
  Origin profile_origin{};                 ///< origin of its figures
  std::vector<PaperAnswer> papers{};       ///< answers of the publications
  std::vector<ModelComparison> choices{};  ///< the models' predictions of each choice
};

/// The predictions with their schema and version.
Json to_json(const PredictionView&);
Json json_schema(const PredictionView&);  ///< JSON Schema of what to_json writes

}  // namespace shiplap

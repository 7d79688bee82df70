// What was observed on the H200 and recorded, against what this version predicts: a change to the models may not make
// it worse unseen. The figures are those reached, not those asked for (docs/evaluation.md).
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "shiplap/core/json.hpp"
#include "shiplap/evaluate/errors.hpp"
#include "shiplap/evaluate/predict_again.hpp"
#include "shiplap/measure/measure.hpp"

namespace shiplap {
namespace {

struct Recording {
  const char* profile;
  const char* evaluation;
  std::size_t steady_points;
  double median;  ///< of the engine's absolute errors on steady points, as are the next two
  double p95;
  double worst;
};
std::string name_of(const ::testing::TestParamInfo<Recording>& recording) {
  std::string name = recording.param.evaluation;
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name;
}

class RecordedEvaluation : public ::testing::TestWithParam<Recording> {};

TEST_P(RecordedEvaluation, is_predicted_no_worse_than_before) {
  const std::string folder = SHIPLAP_SOURCE_DIR "/results/h200/";
  const std::string file = folder + GetParam().evaluation;
  const Profile profile = load_profile(folder + GetParam().profile);
  Evaluation recorded = evaluation_from_json(read_json_file(file), file);
  ASSERT_EQ(recorded.profile, profile.name);
  const Profile fitted = fit_again(profile);
  // Kernels on host memory were not measured then: those choices are not predicted to be believed.
  for (EvaluatedWorkload& workload : recorded.workloads)
    std::erase_if(workload.points, [&](const EvaluatedPoint& point) {
      return find_strategy(point.choice.strategy).mapped && workload.cost.zero_copy.empty();
    });
  const Evaluation again = predict_again(recorded, fitted, limits_of(fitted));
  for (std::size_t i = 0; i < again.workloads.size(); ++i) {
    EXPECT_EQ(again.workloads[i].points.size(), recorded.workloads[i].points.size()) << again.workloads[i].name;
    EXPECT_EQ(again.workloads[i].not_run, recorded.workloads[i].not_run) << again.workloads[i].name;
  }
  const ModelErrors engine = errors_by_model(again.workloads).front();
  ASSERT_EQ(engine.name, "engine");
  EXPECT_EQ(engine.steady.points, GetParam().steady_points);
  EXPECT_LE(engine.steady.median, GetParam().median);
  EXPECT_LE(engine.steady.p95, GetParam().p95);
  EXPECT_LE(engine.steady.worst, GetParam().worst);
}

INSTANTIATE_TEST_SUITE_P(
    H200, RecordedEvaluation,
    ::testing::Values(
        Recording{"workloads/profile.json", "workloads/published.json", 600, 0.0172, 0.0805, 0.394},
        Recording{"workloads/profile.json", "workloads/large.json", 498, 0.0112, 0.0848, 0.22},
        Recording{"workloads/profile.json", "workloads/diffusion.json", 25, 0.009, 0.064, 0.157},
        Recording{"workloads/second/profile.json", "workloads/second/published.json", 365, 0.0156, 0.081, 0.366},
        Recording{"evaluation/profile.json", "evaluation/evaluation.json", 535, 0.0165, 0.081, 0.213},
        Recording{"evaluation-2/profile.json", "evaluation-2/evaluation.json", 397, 0.0205, 0.1075, 0.534},
        Recording{"sizes/profile.json", "sizes/small.json", 1385, 0.0135, 0.107, 0.532},
        Recording{"sizes/profile.json", "sizes/large.json", 684, 0.0165, 0.1215, 0.364}),
    name_of);

}  // namespace
}  // namespace shiplap

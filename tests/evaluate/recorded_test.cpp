// What was observed on the H200 and recorded, against what this version predicts: a change to the models may not make
// it worse unseen. The figures are those reached, not those asked for (docs/evaluation.md); those of `large` and
// `diffusion` became worse by up to half a percentage point when measured launches came to count in whole blocks of
// every multiprocessor, which mended launches of few blocks that were off by a factor of three. Without the choices
// whose kernels access host memory: those are only predicted where the kernel was measured there.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "shiplap/core/json.hpp"
#include "shiplap/evaluate/errors.hpp"
#include "shiplap/evaluate/predict_again.hpp"
#include "shiplap/measure/measure.hpp"
#include "shiplap/workload/workload.hpp"

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

/// Blocks that an H200 holds at once of the kernels as they were then, by their occupancy; 0: as many as their threads
/// allow. The recordings do not have it.
std::uint64_t resident_blocks(const EvaluatedWorkload& workload) {
  const Job job = find_workload(workload.name, {}).job;
  const std::uint64_t threads_of_multiprocessor = 2048;
  const auto on_a_multiprocessor = [&]() -> std::uint64_t {
    const auto is = [&](std::string_view name) { return workload.name.starts_with(name); };
    if (is("arccos")) return workload.name.find("promoted") != std::string::npos ? 6 : 8;
    if (is("convolution")) return 10;
    if (is("grayscale")) return 1;
    if (is("spmv")) return 6;
    if (is("pop-buoydiff")) return 2;
    if (is("pop-state")) return workload.name.find("outputs=3") != std::string::npos ? 4 : 5;
    if (is("matmul")) return job.items_per_block == 32 ? 10 : job.items_per_block == 64 ? 4 : 2;
    if (is("diffusion")) return 2;
    return threads_of_multiprocessor / job.threads_per_block;
  };
  return 132 * on_a_multiprocessor();
}

class RecordedEvaluation : public ::testing::TestWithParam<Recording> {};

TEST_P(RecordedEvaluation, is_predicted_no_worse_than_before) {
  const std::string folder = SHIPLAP_SOURCE_DIR "/results/h200/";
  const std::string file = folder + GetParam().evaluation;
  const Profile profile = load_profile(folder + GetParam().profile);
  Evaluation recorded = evaluation_from_json(read_json_file(file), file);
  ASSERT_EQ(recorded.profile, profile.name);
  const Profile fitted = fit_again(profile);
  for (EvaluatedWorkload& workload : recorded.workloads)
    if (workload.cost.resident_blocks == 0 && !workload.cost.points.empty())
      workload.cost.resident_blocks = resident_blocks(workload);
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
  for (const auto& [name, value] :
       {std::pair{"median", engine.steady.median}, {"p95", engine.steady.p95}, {"worst", engine.steady.worst}})
    RecordProperty(name, std::to_string(value));
  EXPECT_EQ(engine.steady.points, GetParam().steady_points);
  EXPECT_LE(engine.steady.median, GetParam().median);
  EXPECT_LE(engine.steady.p95, GetParam().p95);
  EXPECT_LE(engine.steady.worst, GetParam().worst);
}

INSTANTIATE_TEST_SUITE_P(
    H200, RecordedEvaluation,
    ::testing::Values(Recording{"workloads/profile.json", "workloads/published.json", 192, 0.0155, 0.1085, 0.394},
                      Recording{"workloads/profile.json", "workloads/large.json", 184, 0.0058, 0.0545, 0.1445},
                      Recording{"workloads/profile.json", "workloads/diffusion.json", 25, 0.01, 0.067, 0.157},
                      Recording{"workloads/second/profile.json", "workloads/second/published.json", 149, 0.0166, 0.0585,
                                0.366},
                      Recording{"evaluation/profile.json", "evaluation/evaluation.json", 132, 0.01, 0.0642, 0.1475},
                      Recording{"evaluation-2/profile.json", "evaluation-2/evaluation.json", 84, 0.0153, 0.32, 0.534},
                      Recording{"sizes/profile.json", "sizes/small.json", 396, 0.011, 0.0687, 0.532},
                      Recording{"sizes/profile.json", "sizes/large.json", 198, 0.0171, 0.145, 0.364}),
    name_of);

}  // namespace
}  // namespace shiplap

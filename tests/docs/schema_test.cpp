// The schemas of docs/schema that follow from the descriptions of records.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "shiplap/advise/advice_view.hpp"
#include "shiplap/cluster/scaling.hpp"
#include "shiplap/cluster/share_report.hpp"
#include "shiplap/core/json.hpp"
#include "shiplap/core/record.hpp"
#include "shiplap/evaluate/evaluation.hpp"
#include "shiplap/fleet/judge.hpp"
#include "shiplap/measure/compare.hpp"
#include "shiplap/measure/node_result.hpp"
#include "shiplap/pipeline/plan_view.hpp"
#include "shiplap/pipeline/race.hpp"
#include "shiplap/pipeline/run_view.hpp"
#include "shiplap/plan/adaptation_log.hpp"
#include "shiplap/plan/layer_plan_view.hpp"
#include "shiplap/plan/mover_table.hpp"
#include "shiplap/plan/prediction_view.hpp"
#include "shiplap/plan/step_plan_view.hpp"
#include "shiplap/profile/json_text.hpp"
#include "shiplap/report/adaptive_run.hpp"
#include "shiplap/report/reproduction_view.hpp"
#include "shiplap/workload/kernel_profile.hpp"

namespace shiplap {
namespace {

/// Compares the file with the schema; writes it instead when SHIPLAP_WRITE_SCHEMAS is set.
void expect_documented(const std::string& name, const Json& schema) {
  const std::string path = std::string(SHIPLAP_SOURCE_DIR "/docs/schema/") + name + ".schema.json";
  if (std::getenv("SHIPLAP_WRITE_SCHEMAS") != nullptr) std::ofstream(path) << readable_text(schema);
  EXPECT_EQ(read_json_file(path), schema) << "SHIPLAP_WRITE_SCHEMAS=1 and this test write it";
}

TEST(Schemas, are_those_of_the_records) {
  expect_documented("kernel-profile", kernel_profile_schema());
  expect_documented("evaluation", json_schema(Evaluation{}));
  expect_documented("comparison", json_schema(Comparison{}));
  expect_documented("movers", json_schema(MoverTable{}));
  expect_documented("check", json_schema(NodeResult{}));
  expect_documented("fleet", json_schema(JudgedFleet{}));
  expect_documented("run", json_schema(RunView{}));
  expect_documented("plan", json_schema(PlanView{}));
  expect_documented("prediction", json_schema(PredictionView{}));
  expect_documented("shares", json_schema(ShareReport{}));
  expect_documented("race", json_schema(RaceView{}));
  expect_documented("layer-plan", json_schema(LayerPlanView{}));
  expect_documented("layers", json_schema(LayeredModel{}));
  expect_documented("step", json_schema(StepPlanView{}));
  expect_documented("scaling", json_schema(Scaling{}));
  expect_documented("advice", json_schema(AdviceView{}));
  expect_documented("reproduction", json_schema(ReproductionView{}));
  expect_documented("adaptive-run", json_schema(AdaptiveRun{}));
  expect_documented("adaptation-replay", json_schema(Replay{}));
  expect_documented("adaptation", adaptation_log_schema());
}

}  // namespace
}  // namespace shiplap

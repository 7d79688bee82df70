#include "shiplap/report/adaptive_run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "shiplap/core/error.hpp"
#include "shiplap/core/record.hpp"
#include "shiplap/document/text.hpp"
#include "shiplap/report/sections.hpp"

namespace shiplap {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string text_of(const AdaptiveRun& run) {
  return document::text(document::adaptive_section(run), {.width = 1000}, document::Detail::all);
}

/// Two hundred batches, of which the last half ran with the second choice.
AdaptiveRun changed_run() {
  AdaptiveRun run{.workload = "saxpy",
                  .device = "virtual:h200",
                  .simulated = true,
                  .profile = "h200",
                  .profile_hash = "0123456789abcdef",
                  .items_of_batch = 32,
                  .in_flight = 3};
  run.report = {.batches = 200, .items = 6400, .elapsed = milliseconds(4), .changes = 1, .batches_of_choice = {}};
  run.choices = {{.choice = {.strategy = "streams", .chunks = 1}, .batches = 100, .predicted_period = milliseconds(2)},
                 {.choice = {.strategy = "streams", .chunks = 4}, .batches = 100, .predicted_period = milliseconds(1)}};
  run.decisions = {{.after = 99,
                    .reason = "kernels take 20 times as long",
                    .kernel = 20,
                    .link = 1,
                    .from = 0,
                    .to = 1,
                    .period_from = milliseconds(30),
                    .period_to = milliseconds(20)}};
  run.all_decisions = 1;
  run.difference = "";
  return run;
}

TEST(AdaptiveSection, begins_with_whether_the_result_is_right_and_the_rate) {
  AdaptiveRun run = changed_run();
  EXPECT_THAT(text_of(run),
              AllOf(StartsWith("VERIFIED 1.6e+06 items/s (simulated) for saxpy on virtual:h200: "),
                    HasSubstr("verified against the host reference"), HasSubstr("kernels take 20 times as long")));
  run.difference = "item 3";
  EXPECT_THAT(text_of(run), AllOf(StartsWith("WRONG RESULT 1.6e+06 items/s"), HasSubstr("first difference: item 3.")));
  run.difference.reset();
  EXPECT_THAT(text_of(run), StartsWith("1.6e+06 items/s (simulated)"));
}

TEST(AdaptiveSection, is_the_same_for_the_run_and_for_the_file_of_it) {
  AdaptiveRun without_reference = changed_run();
  without_reference.difference.reset();
  for (const AdaptiveRun& run : {changed_run(), without_reference}) {
    const Json file = to_json(run);
    const auto read = Form<AdaptiveRun>::read(JsonReader(file, "run.json"));
    EXPECT_EQ(to_json(read), file);
    EXPECT_EQ(text_of(read), text_of(run));
  }
}

TEST(AdaptiveSection, of_a_file_with_a_decision_for_no_choice_is_refused) {
  Json file = to_json(changed_run());
  file["decisions"][0]["to"] = 2;
  EXPECT_THROW(Form<AdaptiveRun>::read(JsonReader(file, "run.json")), Error);
}

}  // namespace
}  // namespace shiplap

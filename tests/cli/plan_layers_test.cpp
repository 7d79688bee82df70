// shiplap plan --layers as a user runs it.
#include <gmock/gmock.h>

#include "tests/cli/program.hpp"

namespace shiplap {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class PlanLayers : public Cli {
 protected:
  /// Plans a model of 8 blocks of 300 MiB with this time of a block.
  std::string model(const std::string& time) {
    const fs::path file =
        write("model.json", R"({"schema": "shiplap/layers", "version": 1, "name": "small", "layers": [{"name": "block",
          "times": 8, "tensors": ["100MiB", "100MiB", "100MiB"], "time": ")" +
                                time + "\"}]}");
    return "plan --profile h200 --layers " + file.string() + " ";
  }
};

TEST_F(PlanLayers, says_what_a_step_takes_first_and_what_more_memory_brings) {
  const Outcome outcome = shiplap(model("1ms") + "--device-memory 1GiB");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("small: "));
  EXPECT_THAT(outcome.out, HasSubstr("a step predicted with 1 GiB"));
  EXPECT_THAT(outcome.out, HasSubstr("Of 2.344 GiB of weights"));
  EXPECT_THAT(outcome.out, HasSubstr("more memory brings nothing"));
  EXPECT_THAT(outcome.out, HasSubstr("over the bound"));
}

TEST_F(PlanLayers, prints_json_whose_curve_falls_to_the_time_of_the_kernels) {
  const Outcome outcome = shiplap(model("1ms") + "--json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json json = Json::parse(outcome.out);
  EXPECT_EQ(json.at("schema"), "shiplap/layer-plan");
  EXPECT_EQ(json.at("layers").size(), 8u);
  EXPECT_EQ(json.at("streamed").at("value"), 0);  // an H200 holds it
  const Json& points = json.at("points");
  EXPECT_GT(points.front().at("predicted").at("value").get<double>(), 40);
  EXPECT_NEAR(points.back().at("predicted").at("value").get<double>(), 8, 0.1);
}

TEST_F(PlanLayers, refuses_what_is_wrong_and_options_without_meaning) {
  const auto refusal = [&](const std::string& arguments, int code) {
    const Outcome outcome = shiplap(arguments);
    EXPECT_EQ(outcome.code, code) << arguments << outcome.out;
    return outcome.err;
  };
  EXPECT_THAT(refusal(model("1ms") + "--device-memory 100MiB", 1), HasSubstr("needs 300 MiB"));
  const fs::path empty =
      write("empty.json", R"({"schema": "shiplap/layers", "version": 1, "name": "small", "layers": []})");
  EXPECT_THAT(refusal("plan --profile h200 --layers " + empty.string(), 1), HasSubstr("has no layers"));
  EXPECT_THAT(refusal(model("soon"), 1), HasSubstr("a time with its unit"));
  EXPECT_THAT(refusal(model("1ms") + "--gpus 2", 64), HasSubstr("--gpus"));
  EXPECT_THAT(refusal(model("1ms") + "saxpy", 64), HasSubstr("--layers"));
  EXPECT_THAT(refusal("plan --profile h200 --layers no-such-file.json", 1), HasSubstr("no-such-file.json"));
}

}  // namespace
}  // namespace shiplap

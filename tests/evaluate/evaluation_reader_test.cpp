#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "shiplap/core/json.hpp"
#include "shiplap/core/record.hpp"
#include "shiplap/evaluate/evaluation.hpp"
#include "tests/support/message_of.hpp"

namespace shiplap {
namespace {

// What is read is written again: a longer sample would be infinite when its digits are rounded, a shorter one 0.
TEST(EvaluationReader, refuses_samples_that_cannot_be_written) {
  const Json recorded = read_json_file(SHIPLAP_SOURCE_DIR "/tests/evaluate/fixture/pinned.json");
  for (const char* at : {"/workloads/0/points/0/samples/values/0", "/workloads/0/groups/0/automatic_samples/values/0"})
    for (const double sample : {1e300, 1e13, 1e-6, 5e-324}) {
      Json changed = recorded;
      changed[Json::json_pointer(at)] = sample;
      EXPECT_NE(message_of([&] {
                  Form<Evaluation>::read(JsonReader(changed, "changed.json"));
                }).find("a time from 1e-5 ms to 1e9 s"),
                std::string::npos)
          << at << ' ' << sample;
    }
}

}  // namespace
}  // namespace shiplap

// Outputs of other tools, and the profiles that are made of them.
#include <nlohmann/json.hpp>

#include "shiplap/measure/check.hpp"
#include "shiplap/measure/figures.hpp"
#include "shiplap/other_tools/imported_profile.hpp"
#include "shiplap/report/profile_report.hpp"
#include "tests/fuzz/target.hpp"

namespace shiplap::fuzz {
namespace {

void read_any_tool_output(std::string_view bytes) {
  const auto output = read_or_refused([&] { return read_tool_output(bytes, "output"); });
  if (!output) return;
  require(!output->figures.empty(), "an output that is read has a figure");
  const auto profile = read_or_refused([&] { return imported_profile(*output, {.gpu = "Tesla T4"}); });
  require(profile.has_value(), "figures of a known GPU make a profile");
  const Json written = to_json(*profile);
  // A profile has a limited number of explanations, so one of very many links is refused.
  const auto again = read_or_refused([&] { return profile_from_json(written, "profile"); });
  require(again ? to_json(*again) == written : profile->missing.size() > limits::explanations,
          "an imported profile is read as it was written");
  check(*profile);
  parameter_figures(*profile);
  require(!profile_report(*profile, {}).empty(), "an imported profile can be shown");
}

}  // namespace

const Target tool_output_target{"tool_output", read_any_tool_output};

}  // namespace shiplap::fuzz

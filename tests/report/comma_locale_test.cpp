// What is read and written does not depend on the locale that a program has set.
#include "tests/support/comma_locale.hpp"

#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "shiplap/core/json.hpp"
#include "shiplap/device/load.hpp"
#include "shiplap/document/figure_json.hpp"
#include "shiplap/emit/cuda_program.hpp"
#include "shiplap/pipeline/plan.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/profile/topology.hpp"
#include "shiplap/report/profile_report.hpp"
#include "shiplap/report/svg.hpp"
#include "shiplap/report/trace.hpp"
#include "shiplap/workload/workload.hpp"

namespace shiplap {
namespace {

using namespace shiplap::literals;

/// Texts with fractions of every kind that the library writes.
std::vector<std::string> written() {
  const Node node = node_of(find_profile("h200"));
  const Workload workload = find_workload("saxpy:n=12345678");
  const Plan made = plan(node, workload.job);
  const Candidate& chosen = made.chosen;
  const std::array panels{SvgPanel{"predicted", *chosen.schedule, chosen.timeline}};
  const std::array processes{TraceProcess{"predicted", *chosen.schedule, chosen.timeline}};
  document::Plot plot{.title = "t"};
  plot.series.push_back({.name = "s", .points = {{.x = 1.5, .y = 1234.56789, .low = 0.25, .high = {}, .label = {}}}});
  Workload known = workload;
  known.job = made.job;
  return {made.explain(true),
          json_text(made.to_json(), 2),
          json_text(to_json(*node.profile), 2),
          profile_report(*node.profile, {}, {}),
          svg(panels),
          json_text(chrome_trace(processes)),
          json_text(document::to_json(document::Figure(plot))),
          cuda_program(known, chosen.choice, *chosen.schedule,
                       {.command = {}, .profile = {}, .predicted = chosen.predicted})};
}

/// Numbers that the library reads from texts.
std::vector<double> numbers_read() {
  const Ramp ramp = parse_ramp("0.25:0.5:1.05");
  const auto cpu = cpu_times("cpu  100 1 2 3.5 4 5 6 7\n");
  return {ramp.first,
          ramp.last,
          ramp.growth,
          parse_seconds("1.5ms", "x").count(),
          in_bytes(parse_bytes("1.5GiB", "x")),
          parse_bandwidth("12.5GB/s", "x").bytes_per_second,
          parse_fraction("2.5%", "x"),
          parse_json("[1234.5]", "x")[0].get<double>(),
          pcie_link_rate("2.5 GT/s PCIe x16"),
          cpu ? cpu->all : -1};
}

TEST(CommaLocale, changes_nothing_that_is_written_or_read) {
  const std::vector<std::string> texts = written();
  const std::vector<double> numbers = numbers_read();
  EXPECT_EQ(numbers[0], 0.25);
  const CommaLocale locale;
  if (!locale.is_set()) GTEST_SKIP() << "localedef cannot make a locale here";
  std::array<char, 8> printed{};
  std::snprintf(printed.data(), printed.size(), "%.1f", 1.5);
  ASSERT_STREQ(printed.data(), "1,5") << "the locale is in force";
  const std::vector<std::string> again = written();
  for (std::size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(again[i], texts[i]) << i;
  EXPECT_EQ(numbers_read(), numbers);
}

}  // namespace
}  // namespace shiplap

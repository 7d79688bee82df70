// Every built-in workload under every strategy that can run it, on the virtual device.
#include "tests/support/built_in_workloads.hpp"

#include <gtest/gtest.h>

#include "shiplap/core/error.hpp"
#include "shiplap/device/virtual/virtual_device.hpp"
#include "shiplap/pipeline/check_reach.hpp"
#include "shiplap/pipeline/prepared.hpp"
#include "shiplap/pipeline/workload_data.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

class BuiltInWorkloads : public ::testing::TestWithParam<std::string> {
 protected:
  std::shared_ptr<MeasurableDevice> device = open_virtual(planted_profile(), "virtual:planted");
};

TEST_P(BuiltInWorkloads, come_out_right_under_every_strategy_in_any_number_of_chunks) {
  for (const Strategy& strategy : strategies()) {
    const Job job = testing::workload_for(GetParam(), strategy).job;
    for (const std::uint32_t chunks : testing::chunk_counts(job)) {
      const Choice choice{.strategy = std::string(strategy.name), .chunks = chunks, .ring = 3, .threads = 2};
      EXPECT_EQ(testing::difference_after_runs(*device, GetParam(), choice), "") << to_string(choice);
      if (!strategy.chunked) break;
    }
  }
}

TEST_P(BuiltInWorkloads, come_out_right_in_every_layout_and_order) {
  const Job job = testing::workload_for(GetParam(), find_strategy("streams")).job;
  for (const Layout layout : {Layout::per_chunk, Layout::few, Layout::three, Layout::one_engine, Layout::implicit_sync})
    for (const IssueOrder order : {IssueOrder::depth, IssueOrder::breadth})
      for (const std::uint32_t ring : {0u, 2u}) {
        const auto chunks = static_cast<std::uint32_t>(std::min<std::uint64_t>(5, job.items));
        const Choice choice{.chunks = chunks, .layout = layout, .streams = 3, .order = order, .ring = ring};
        EXPECT_EQ(testing::difference_after_runs(*device, GetParam(), choice), "") << to_string(choice);
      }
}

TEST_P(BuiltInWorkloads, do_what_their_jobs_say_and_nothing_else) {
  WorkloadData data(*device, find_workload(GetParam()));
  EXPECT_NO_THROW(require_declared_reach(*device, data.job()));
}

INSTANTIATE_TEST_SUITE_P(All, BuiltInWorkloads, ::testing::ValuesIn(testing::small_workloads()), [](const auto& name) {
  std::string text = name.param;
  for (char& c : text)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return text;
});

}  // namespace
}  // namespace shiplap

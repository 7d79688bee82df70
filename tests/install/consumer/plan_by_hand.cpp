// A program of someone who has installed shiplap: plans a job stated by hand on a built-in profile.
#include <iostream>

#include "shiplap/pipeline/plan.hpp"
#include "shiplap/workload/workload.hpp"

int main() {
  using namespace shiplap::literals;
  const auto workload = shiplap::stated_workload({.in = 64_MiB, .out = 64_MiB, .kernel = shiplap::milliseconds(5)});
  const auto plan = shiplap::plan(shiplap::node_of(shiplap::find_profile("gtx-titan-2014")), workload.job);
  std::cout << shiplap::to_string(plan.chosen.choice) << ": " << shiplap::to_string(plan.chosen.predicted.value)
            << '\n';
}

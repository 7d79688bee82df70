// A program of someone who has installed shiplap: plans a job stated by hand on a built-in profile.
#include <iostream>

#include "shiplap/plan/plan.hpp"
#include "shiplap/workload/workload.hpp"

int main() {
  using namespace shiplap::literals;
  const auto workload = shiplap::stated_workload({.in = 64_MiB, .out = 64_MiB, .kernel = shiplap::milliseconds(5)});
  const auto plan = shiplap::plan(workload.job, shiplap::find_profile("gtx-titan-2014"));
  std::cout << shiplap::to_string(plan.best().choice) << ": " << shiplap::to_string(plan.best().predicted.value)
            << '\n';
}

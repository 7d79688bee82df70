// What the handles of the C interface hold.
#pragma once

#include <map>
#include <string>
#include <variant>

#include "shiplap/device/measurable_device.hpp"
#include "shiplap/pipeline/plan.hpp"
#include "shiplap/pipeline/step.hpp"
#include "shiplap/shiplap.h"

struct shiplap_node {
  shiplap::Node node;
  std::string device;                               ///< id of the device
  std::map<const void*, shiplap::Memory> memory{};  ///< by address: what was allocated and not freed
};

struct shiplap_job {
  shiplap::Job job;
};

struct shiplap_step {
  shiplap::Step step;
};

struct shiplap_plan {
  struct OfJob {
    shiplap::Plan plan;
    shiplap::Job job;
  };
  struct OfStep {
    shiplap::StepPlan plan;
    shiplap::Step step;
  };
  std::variant<OfJob, OfStep> plan;
  std::string explanation;
};

struct shiplap_prepared {
  std::variant<shiplap::Prepared, shiplap::PreparedStep> prepared;
};

// A planned step as it is written and shown.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shiplap/core/interval.hpp"
#include "shiplap/core/json_forward.hpp"
#include "shiplap/plan/step_plan.hpp"

namespace shiplap {

/// Passes of one kind.
struct PassView {
  std::string kernels{};          ///< names of the kernels, as in "state+buoydiff" or "(there+back) x8"
  std::uint64_t times = 1;        ///< how many passes of a step are of this kind
  std::string choice{};           ///< how each is cut
  Interval<Seconds> predicted{};  ///< predicted time of one alone
  Bytes in{};                     ///< bytes that one copies to the GPU
  Bytes out{};                    ///< bytes that one copies back
};

/// An array of the step.
struct StepArrayView {
  std::string name{};
  Bytes size{};
  bool on_gpu = false;  ///< whether memory on the GPU holds all of it
};

/// A planned step.
struct StepPlanView {
  std::string name{};                     ///< name of the step
  Interval<Seconds> predicted{};          ///< predicted time of a step
  Seconds part_by_part{0};                ///< its kernels one after the other, each planned alone; 0: not asked
  Seconds bound{0};                       ///< no way to run it takes less
  Bytes in{};                             ///< bytes that a step copies to the GPU
  Bytes out{};                            ///< bytes that a step copies back
  Bytes device_memory{};                  ///< device memory that it uses
  std::vector<std::string> host_parts{};  ///< names of the parts of the host, in their order
  std::uint64_t repeats = 1;              ///< how often all parts run in a step
  std::vector<PassView> passes{};         ///< in the order of their first one
  std::vector<StepArrayView> arrays{};    ///< in the order of the step
};

StepPlanView step_plan_view(const StepPlan&);      ///< what is shown of a plan
Json to_json(const StepPlanView&);                 ///< the view with its schema and version
void from_json(const JsonReader&, StepPlanView&);  ///< reads what to_json wrote; throws Error that names the key
Json json_schema(const StepPlanView&);             ///< JSON Schema of what to_json writes

}  // namespace shiplap

// The program around the pipeline: memory, streams, events, threads, the timed run, verification and main.
#pragma once

#include <string>

#include "shiplap/emit/names.hpp"
#include "shiplap/emit/pipeline_text.hpp"
#include "shiplap/workload/workload.hpp"

namespace shiplap {

struct HarnessText {
  std::string helpers;       ///< functions that the pipeline calls
  std::string declarations;  ///< constants, memory, streams, events
  std::string rest;          ///< text after the pipeline
};

HarnessText harness_text(const Workload&, const Schedule&, const Structure&, const Names&, const PipelineText&);

}  // namespace shiplap

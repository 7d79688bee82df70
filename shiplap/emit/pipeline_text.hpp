// Text of the functions that make the calls of a schedule, one for each lane of host threads.
#pragma once

#include <string>
#include <vector>

#include "shiplap/emit/expressions.hpp"
#include "shiplap/emit/names.hpp"
#include "shiplap/emit/structure.hpp"
#include "shiplap/schedule/submission.hpp"
#include "shiplap/workload/workload.hpp"

namespace shiplap {

struct PipelineText {
  std::string functions;
  std::vector<Expressions::Constant> constants;
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> tables;
  std::vector<std::string> events;  ///< declarations such as "cudaEvent_t kernel_done[chunks]"
  std::vector<std::string> flags;   ///< declarations such as "std::atomic<int> y_out_made[chunks]"
  std::vector<StreamId> ending;     ///< streams that no other stream waits for
};

/// Writes the functions. `launch` is ProgramText::launch.
PipelineText pipeline_text(const Job&, const Schedule&, const Structure&, const Names&, const std::string& launch);

/// The text with lines of at most 120 characters, broken after commas.
std::string wrapped_code(const std::string& text);

}  // namespace shiplap

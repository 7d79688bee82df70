// Text of one run: the threads, the graph or the calls, and the clock that times it.
#pragma once

#include <string>

#include "shiplap/emit/names.hpp"
#include "shiplap/emit/pipeline_text.hpp"
#include "shiplap/emit/structure.hpp"
#include "shiplap/schedule/schedule.hpp"

namespace shiplap {

struct WayOfRun {
  bool threaded = false;
  bool by_host_clock = false;  ///< timed by the host's clock, because agents perform ops themselves
  bool joined = false;         ///< several streams end, and a further stream waits for all of them
};
WayOfRun way_of_run(const Schedule&, const PipelineText&);

/// Text of the threads that act as agents, and of the graph, if the schedule has them.
std::string threads_and_graph_text(const Schedule&, const Structure&, const Names&, const PipelineText&);
/// Text of the function that makes and times one run, with the clock that shiplap uses.
std::string run_text(const Schedule&, const Names&, const PipelineText&);

}  // namespace shiplap

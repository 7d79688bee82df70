// How a program makes one run: by which threads, as a graph or call by call, and by which clock it is timed.
#pragma once

#include <string>

#include "shiplap/emit/names.hpp"
#include "shiplap/emit/pipeline_text.hpp"
#include "shiplap/emit/structure.hpp"
#include "shiplap/schedule/schedule.hpp"

namespace shiplap {

struct WayOfRun {
  bool threaded = false;
  bool by_host_clock = false;  ///< agents do something themselves, whose end the device's clock does not see
  bool joined = false;         ///< several streams end, in a further one that waits for all
};
WayOfRun way_of_run(const Schedule&, const PipelineText&);

/// Threads that act as the schedule's agents, and the graph, where there are such.
std::string threads_and_graph_text(const Schedule&, const Structure&, const Names&, const PipelineText&);
/// The function that makes one run and takes its time, by the clock of shiplap's own runs.
std::string run_text(const Schedule&, const Names&, const PipelineText&);

}  // namespace shiplap

// Text that is the same in every program that has it at all.
#pragma once

#include <string_view>

namespace shiplap::snippets {

extern const std::string_view check;          ///< ends the program when a call has failed
extern const std::string_view cast;           ///< of untyped memory
extern const std::string_view await;          ///< threads that wait for what others submit
extern const std::string_view together;       ///< copies in batches
extern const std::string_view touch;          ///< pages
extern const std::string_view prefetch;       ///< pages, whatever the version of the runtime
extern const std::string_view pinned;         ///< obtains memory
extern const std::string_view pageable;       ///< obtains memory
extern const std::string_view managed;        ///< obtains memory
extern const std::string_view data;           ///< fills arrays and compares them
extern const std::string_view tolerance;      ///< compares arrays of which values may be off
extern const std::string_view main_function;  ///< warms up, times, verifies

// With names in braces, for `filled`:
extern const std::string_view threads;            ///< that act as the agents, and how they take their turns
extern const std::string_view graph;              ///< the pipeline as one
extern const std::string_view branch;             ///< from the first stream of a graph to the others
extern const std::string_view join;               ///< back to it
extern const std::string_view run_by_events;      ///< a run, and its time
extern const std::string_view join_for_stop;      ///< of streams in a further one
extern const std::string_view run_by_host_clock;  ///< the same where host threads take part

}  // namespace shiplap::snippets

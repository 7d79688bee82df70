// Texts that are the same in every program that contains them.
#pragma once

#include <string_view>

namespace shiplap::snippets {

extern const std::string_view check;          ///< function that ends the program when a call has failed
extern const std::string_view cast;           ///< cast of untyped memory
extern const std::string_view await;          ///< wait of a thread for a submission of another thread
extern const std::string_view together;       ///< copies in batches
extern const std::string_view touch;          ///< touch of pages
extern const std::string_view past_caches;    ///< copy by stores that go past the caches
extern const std::string_view prefetch;       ///< prefetch of pages, for all versions of the runtime
extern const std::string_view prefer_host;    ///< advice that pages stay on the host, for all versions of the runtime
extern const std::string_view pinned;         ///< allocation of pinned memory
extern const std::string_view pageable;       ///< allocation of pageable memory
extern const std::string_view managed;        ///< allocation of managed memory
extern const std::string_view data;           ///< functions that fill and compare arrays
extern const std::string_view tolerance;      ///< function that compares arrays within a tolerance
extern const std::string_view main_function;  ///< main: warm-up, timing, verification

// The next texts contain names in braces, which `filled` replaces.
extern const std::string_view threads;            ///< threads that act as the agents
extern const std::string_view graph;              ///< capture of the pipeline as a graph
extern const std::string_view branch;             ///< the other streams of a graph wait for the first
extern const std::string_view join;               ///< the first stream of a graph waits for the others
extern const std::string_view run_by_events;      ///< a run that is timed by events
extern const std::string_view join_for_stop;      ///< a further stream waits for all others
extern const std::string_view run_by_host_clock;  ///< a run that is timed by the host's clock

}  // namespace shiplap::snippets

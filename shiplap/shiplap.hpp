// All that a program needs to stream its data through its own kernels.
//   auto gpu = shiplap::open("cuda:0");
//   auto node = shiplap::load_or_measure(*gpu);
//   auto job = shiplap::Job{rows}.in("x", x).out("y", y).kernel(enqueue);
//   auto plan = shiplap::plan(node, job);
//   auto report = shiplap::run(*gpu, plan, job);
// The following have headers of their own, because they would double the compile time of this header: endless inputs
// (shiplap/pipeline/adaptive.hpp), runs in a thread of their own (shiplap/pipeline/run_async.hpp), the check of what a
// kernel accesses (shiplap/pipeline/check_reach.hpp), values of JSON, which to_json returns (nlohmann/json.hpp), and
// the members of Profile (shiplap/profile/profile.hpp), Schedule (shiplap/schedule/schedule.hpp), RaceResult
// (shiplap/pipeline/race.hpp) and MemoryChoice (shiplap/plan/memory_choice.hpp).
#pragma once

// The first versions of C++20 called themselves 201709.
#if __cplusplus < 201709L
#error shiplap needs C++20: compile with -std=c++20
#else

#include "shiplap/core/error.hpp"
#include "shiplap/device/open.hpp"
#include "shiplap/device/pinned_vector.hpp"
#include "shiplap/pipeline/plan.hpp"
#include "shiplap/pipeline/run.hpp"
#include "shiplap/version.h"

/// All that the library has. Errors are exceptions: see Error and those derived from it.
namespace shiplap {}

#endif

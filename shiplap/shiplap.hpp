// Everything a program needs that streams its data through its own kernels.
//   auto gpu = shiplap::open("cuda:0");
//   auto node = shiplap::load_or_measure(*gpu);
//   auto job = shiplap::Job{rows}.in("x", x).out("y", y).kernel(enqueue);
//   auto plan = shiplap::plan(node, job);
//   auto report = shiplap::run(*gpu, plan, job);
// What to_json returns is a value of nlohmann::json: who looks into it includes <nlohmann/json.hpp>.
#pragma once

// The first versions of C++20 called themselves 201709.
#if __cplusplus < 201709L
#error shiplap needs C++20: compile with -std=c++20
#else

#include "shiplap/device/open.hpp"
#include "shiplap/device/pinned_vector.hpp"
#include "shiplap/pipeline/adaptive.hpp"
#include "shiplap/pipeline/check_reach.hpp"
#include "shiplap/pipeline/plan.hpp"
#include "shiplap/pipeline/run.hpp"
#include "shiplap/pipeline/run_async.hpp"

/// All that the library has. Errors are exceptions: see Error and those derived from it.
namespace shiplap {}

#endif

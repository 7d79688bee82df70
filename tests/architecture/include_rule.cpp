#include "tests/architecture/include_rule.hpp"

#include <algorithm>
#include <map>
#include <regex>
#include <set>

namespace shiplap {
namespace {

/// What a room may include besides itself and core: rooms ("profile") or single headers ("device/bindings.hpp").
/// docs/architecture.md explains this table.
const std::map<std::string, std::vector<std::string>, std::less<>> rule{
    {"core", {}},
    {"schedule", {}},
    {"profile", {}},
    {"sim", {"schedule", "profile"}},
    {"device", {"sim", "schedule", "profile"}},
    {"device/virtual", {"device", "sim", "schedule", "profile"}},
    {"device/cuda", {"device", "schedule", "profile"}},
    {"measure", {"device", "schedule", "profile"}},
    {"model", {"profile"}},
    {"workload", {"schedule", "profile", "device/bindings.hpp", "workload/built_in/built_in.hpp"}},
    {"workload/built_in", {"workload"}},
    {"strategy", {"model", "profile", "schedule", "workload"}},
    {"plan", {"strategy", "sim", "model", "profile", "schedule", "workload"}},
    {"pipeline", {"device", "plan", "strategy", "workload", "profile", "measure"}},
    {"evaluate", {"device", "pipeline", "plan", "strategy", "workload", "model", "sim", "schedule", "profile"}},
    {"emit", {"strategy", "schedule", "workload"}},
    // Report knows the value types, not what makes them.

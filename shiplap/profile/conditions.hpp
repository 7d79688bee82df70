// Facts about a node as texts: what a profile and a result record beside their figures.
#pragma once

#include <map>
#include <string>

namespace shiplap {

/// Facts about the node at the time of measuring (driver, CPU, clocks) as texts by name.
using Conditions = std::map<std::string, std::string>;
/// The value of a condition that cannot be determined.
inline constexpr const char* unknown_fact = "unknown";
/// The condition with this name, or `unknown_fact` when it was not recorded.
std::string condition(const Conditions&, const std::string& name);

}  // namespace shiplap

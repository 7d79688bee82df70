// The rules that `validate` enforces besides the order of accesses, decided a second time for tests.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "shiplap/schedule/schedule.hpp"

namespace shiplap::testing_orders {

/// The rules that the schedule breaks, by name. Accesses outside of a buffer, a pool or a list are found by listing
/// every byte that an op would access, and dependencies in a circle by ops that can never start.
std::set<std::string> broken_rules(const Schedule&);

/// The rule that a sentence of `problems` says is broken; "order" where two accesses are not ordered. Empty for a
/// sentence that no rule is known for.
std::string_view rule_of(std::string_view problem);

/// The names of all rules.
std::set<std::string> all_rules();

}  // namespace shiplap::testing_orders

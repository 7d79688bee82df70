// JSON as text that is also readable for people.
#pragma once

#include <string>

#include "shiplap/core/json.hpp"

namespace shiplap {

/// Writes a value on one line when it fits on the line, and a list of numbers always on one line.
std::string readable_text(const Json&);

}  // namespace shiplap

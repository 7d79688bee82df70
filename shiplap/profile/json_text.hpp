// JSON as text that people read too.
#pragma once

#include <string>

#include "shiplap/core/json.hpp"

namespace shiplap {

/// What fits on a line stands on one line, and a list of numbers always does.
std::string readable_text(const Json&);

}  // namespace shiplap

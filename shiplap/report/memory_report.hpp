// What it costs to stage pageable arrays, to register them or to have pinned ones, for people.
#pragma once

#include <string>

#include "shiplap/plan/memory_choice.hpp"
#include "shiplap/report/table.hpp"

namespace shiplap {

std::string memory_report(const MemoryChoice&, const TextStyle& = {});

}  // namespace shiplap

// The ways to prepare pageable arrays as a table: what each costs once and in every run.
#pragma once

#include <string>

#include "shiplap/document/table.hpp"
#include "shiplap/plan/memory_choice.hpp"

namespace shiplap {

std::string memory_report(const MemoryChoice&, const TextStyle& = {});

}  // namespace shiplap

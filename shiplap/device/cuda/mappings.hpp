// What host memory is mapped from, as the system lists it.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace shiplap {

/// The first byte, within the memory, of each kind of mapping that it consists of, in the order of addresses: kinds
/// differ in what may be done with them or in the file behind them. Empty where the system does not list its mappings.
std::vector<std::byte*> kinds_of_mapping(std::span<std::byte> memory);

}  // namespace shiplap

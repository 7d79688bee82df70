// What a program spends once before it works: the context of CUDA, modules that are loaded by the first launch, and
// what the driver makes for the first copy.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "shiplap/advise/recording.hpp"
#include "shiplap/core/units.hpp"

namespace shiplap {

/// Times of initialisation.
struct Initialisation {
  Seconds before_work{0};     ///< in calls before the first copy, kernel or fill, which make the context and allocate
  Seconds in_first_calls{0};  ///< in first launches of a kernel and the first copy to each GPU
  std::unordered_map<std::uint64_t, Seconds> of_call;  ///< those first calls, by the number of the call
};

/// The first launch of a kernel has loaded a module for as long as it took more than other launches do, as far as the
/// GPUs were idle then: a launch may also have waited for a place in its stream. The first copy to a GPU has
/// prepared something for as long as its call lasted when the bytes were there.
Initialisation initialisation_of(const Recording&);

}  // namespace shiplap

// A verdict on a node without a baseline: what was measured against what the link's generation and width, the memory
// and the SMs should give.
#pragma once

#include <string>
#include <vector>

#include "shiplap/core/json.hpp"
#include "shiplap/profile/profile.hpp"

namespace shiplap {

enum class Verdict : std::uint8_t {
  good,
  low,      ///< less than such a part gives as a rule
  bad,      ///< so much less that something is wrong
  unknown,  ///< not measured, or nothing to compare with
};
std::string to_string(Verdict);

struct CheckedFigure {
  std::string what;      ///< "copies to the GPU"
  std::string measured;  ///< "55.49 GB/s", or why there is nothing
  std::string limit;     ///< "63.02 GB/s, 32.0 GT/s PCIe x16", or the conditions that are missing for one
  double fraction = 0;   ///< measured over the limit; 0 when unknown
  double expected = 0;   ///< the least share that is good
  Verdict verdict = Verdict::unknown;
  std::string causes;  ///< what to look at, most likely first, when it is low or bad
};

/// For the first GPU of the profile. Limits come from the conditions that were recorded with it (`gpu.link`,
/// `gpu.memory_bus_width`, clocks); what is missing there is unknown, never assumed.
std::vector<CheckedFigure> check(const Profile&);

Json to_json(const std::vector<CheckedFigure>&);

}  // namespace shiplap

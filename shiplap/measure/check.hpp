// A verdict on a node without a baseline. It compares measured figures with what the link's generation and width, the
// memory and the SMs allow.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "shiplap/core/enum_names.hpp"
#include "shiplap/core/json.hpp"
#include "shiplap/profile/profile.hpp"

namespace shiplap {

enum class Verdict : std::uint8_t {
  good,
  low,      ///< below what such hardware normally gives
  bad,      ///< low enough to mean a fault
  unknown,  ///< not measured, or without a limit to compare with
  busy,     ///< not judged, because somebody else used the node
};
EnumNames<Verdict> names_of(Verdict);
std::string to_string(Verdict);

struct CheckedFigure {
  std::string what;           ///< name of the figure: "copies to the GPU"
  std::string measured;       ///< "55.49 GB/s", or the reason why there is no figure
  std::string limit;          ///< "63.02 GB/s, 32.0 GT/s PCIe x16", or the conditions that are missing to compute it
  std::string unit{};         ///< unit of the two values
  double measured_value = 0;  ///< 0 when there is no figure
  double limit_value = 0;     ///< 0 when the limit is unknown
  double fraction = 0;        ///< measured over the limit; 0 when unknown
  double expected = 0;        ///< lowest fraction that is good
  Verdict verdict = Verdict::unknown;
  std::string causes;     ///< possible causes of a low or bad figure, most likely first
  unsigned attempts = 1;  ///< number of times that the figure was measured; 0: the profile was judged as it is
};

/// Checks the first GPU of the profile. Limits are computed from the recorded conditions (`gpu.link`,
/// `gpu.memory_bus_width`, clocks). A figure whose conditions are missing is unknown.
std::vector<CheckedFigure> check(const Profile&);

/// The verdict on the whole node: bad when any figure is bad, else busy when any is busy, else low when any is low,
/// else good when any is good. When nothing could be told it is unknown.
Verdict verdict_of(const std::vector<CheckedFigure>&);

/// One sentence when the condition `host.governor` names a frequency governor other than `performance` (Comm|Scope,
/// Pearson et al. 2019, section 2.2.3): which, what follows, and what to do. "" when all that are known are
/// `performance`, or none is known.
std::string governor_warning(const Conditions&);

/// Names of the primitives that determine the figure of this name (`CheckedFigure::what`), in the order in which they
/// are measured. The figure that counts bytes has the primitives of all figures. Throws Error for an unknown name.
std::vector<std::string> primitives_for(std::string_view figure);
/// Names of all primitives that the figures of a check need, those of copies first.
std::vector<std::string> checked_primitives();

}  // namespace shiplap

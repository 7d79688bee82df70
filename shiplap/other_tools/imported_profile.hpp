// A profile of the figures that another tool has measured.
#pragma once

#include <string>

#include "shiplap/other_tools/tool_output.hpp"
#include "shiplap/profile/profile.hpp"

namespace shiplap {

/// What the output of a tool does not say.
struct ImportOptions {
  std::string name{};  ///< name of the profile; "": the GPU's name and "-imported"
  std::string gpu{};   ///< name of the GPUs; "": as the tool prints it
};

/// A profile of the origin `imported`. It has:
///
/// - for each link with a large copy of pinned memory, G of both directions, and what the tool measures of duplex
/// copies,
///   sizes, pageable and managed memory. Where it measures one direction, the other one is assumed, within a factor of
///   1.5. Costs of a copy apart from its bytes that it does not measure are assumed; their intervals hold what the
///   links of the built-in profiles take;
/// - copies inside GPUs and between them;
/// - the other parameters of the GPU where a built-in profile of it was measured, else what NVIDIA publishes about it,
///   with the interval that published figures have in the built-in profiles.
///
/// `missing` names everything else and all that is assumed. Intervals hold the rounding of the printed digits and the
/// difference between two runs of a sound node.
///
/// Throws UsageError for GPUs whose facts are not known, and for a text that is no name of one.
Profile imported_profile(const ToolOutput&, const ImportOptions& = {});

}  // namespace shiplap

// The verdict of a check in one line for a log.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "shiplap/pipeline/node_check.hpp"

namespace shiplap {

/// The names under which a check is reported.
struct CheckedNode {
  std::string node;          ///< name of the host
  std::string gpu;           ///< name of the device, "cuda:0", or of the profile that was judged
  std::string pci_bus_id{};  ///< "0000:18:00.0"; empty: unknown, or no GPU
};

/// One line without its newline: "BAD node7 cuda:0: copies to the GPU 27.8 GB/s, 44.1 % of the limit, 2 attempts". It
/// begins with OK, LOW, BAD, BUSY or UNKNOWN, and has no "|", which Nagios takes for the start of other data.
std::string check_line(const CheckedNode&, const NodeCheck&);
/// What is said of figures that were not measured on a GPU; nullopt: it is not known where they come from.
std::string why_not_judged(std::optional<Origin>);
/// The line of a check that could not be done: "UNKNOWN node7 cuda:0: …".
std::string failed_check_line(const CheckedNode&, std::string_view reason);

}  // namespace shiplap

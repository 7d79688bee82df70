// shiplap advise: records a program, or reads a recording, and says what another way of moving its data would take.
#pragma once

#include <string>
#include <vector>

#include "cli/cli11.hpp"
#include "cli/node.hpp"

namespace shiplap::cli {

struct AdviseFlags {
  NodeFlags node;
  std::string duration;           ///< a time; empty: to the end
  std::string range;              ///< name of an NVTX range; empty: steps are found
  std::vector<std::string> only;  ///< names of rules; empty: those that gain most
  std::string record;             ///< file that keeps the recording; empty: none
  std::string svg;                ///< file of the picture; empty: none
  std::string trace;              ///< file of the trace; empty: none
  bool all = false;
  bool json = false;
};
/// `program` is what follows "--" on the command line; empty when there is no "--".
void add_advise(CLI::App&, std::vector<std::string> program);

}  // namespace shiplap::cli

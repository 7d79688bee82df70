// shiplap check: compares what a node reaches with the limits of its hardware, without a baseline.
#pragma once

#include <string>

#include "cli/cli11.hpp"
#include "shiplap/core/json_forward.hpp"
#include "shiplap/report/check_line.hpp"

namespace shiplap::cli {

struct CheckFlags {
  std::string device;
  std::string profile;
  std::string budget;  ///< a time; empty: none
  unsigned retries = 1;
  std::string exit_codes = "shiplap";
  bool line = false;
  std::string prometheus;  ///< a file; empty: none
  bool all = false;
  bool json = false;
};
/// The document `shiplap/check` of a node.
Json check_document(const CheckedNode&, const NodeCheck&);
void add_check(CLI::App&);
void run_check(const CheckFlags&);

}  // namespace shiplap::cli

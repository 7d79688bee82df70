// shiplap report: files of shiplap as one HTML page that people look at.
#pragma once

#include <string>
#include <vector>

#include "cli/cli11.hpp"

namespace shiplap::cli {

struct ReportFlags {
  std::vector<std::string> files;
  std::string output;
  std::string title;
  bool no_map = false;
  bool open = false;
};
void add_report(CLI::App&);
void run_report_command(const ReportFlags&);

}  // namespace shiplap::cli

// shiplap measure: measures a device's link and fits a profile.
#pragma once

#include <string>

#include "cli/cli11.hpp"

namespace shiplap::cli {

struct MeasureFlags {
  std::string device;
  bool quick = false;
  bool standard = false;
  bool full = false;
  std::string only = "*";
  std::string smallest;
  std::string largest;
  bool list = false;
  std::string output;
  std::string csv;
  bool resume = false;
  std::string name;
  bool all = false;
  bool json = false;
};
void add_measure(CLI::App&);
void run_measure(const MeasureFlags&);

}  // namespace shiplap::cli

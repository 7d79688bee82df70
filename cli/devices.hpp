// shiplap devices: what schedules can run on here, and why a backend is missing.
#pragma once

#include "cli/cli11.hpp"

namespace shiplap::cli {

struct DevicesOptions {
  bool json = false;
};
void add_devices(CLI::App&);
void run_devices(const DevicesOptions&);

}  // namespace shiplap::cli

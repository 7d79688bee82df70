// shiplap devices: lists the devices of this machine, and the reason when a backend is missing.
#pragma once

#include "cli/cli11.hpp"

namespace shiplap::cli {

struct DevicesOptions {
  bool all = false;
  bool json = false;
};
void add_devices(CLI::App&);
void run_devices(const DevicesOptions&);

}  // namespace shiplap::cli

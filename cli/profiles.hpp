// shiplap profiles: the built-in and the kept profiles, and one of them in full.
#pragma once

#include <string>

#include "cli/cli11.hpp"

namespace shiplap::cli {

struct ProfilesOptions {
  bool json = false;
  std::string show;  ///< name or path; empty lists
};
void add_profiles(CLI::App&);
void run_profiles(const ProfilesOptions&);

}  // namespace shiplap::cli

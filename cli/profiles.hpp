// shiplap profiles: the built-in and the kept profiles, one of them in full, or fitted again.
#pragma once

#include <string>

#include "cli/cli11.hpp"

namespace shiplap::cli {

struct ProfilesOptions {
  bool json = false;
  bool schema = false;  ///< the JSON Schema of profile files instead
  std::string show;     ///< name or path; empty lists
  std::string refit;    ///< likewise, of the one to be fitted again; empty: none
  std::string output;
};
void add_profiles(CLI::App&);
void run_profiles(const ProfilesOptions&);

}  // namespace shiplap::cli

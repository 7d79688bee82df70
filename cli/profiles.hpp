// shiplap profiles: lists the built-in and the cached profiles, shows one in full, fits one again, makes one of the
// output of another tool, or writes its figures for other tools.
#pragma once

#include <string>

#include "cli/cli11.hpp"

namespace shiplap::cli {

struct ProfilesOptions {
  bool json = false;
  bool all = false;
  bool schema = false;  ///< the JSON Schema of profile files instead
  std::string show;     ///< name or path; empty lists
  std::string refit;    ///< name or path of the profile to be fitted again; empty: none
  std::string output;
  std::string import;         ///< file with the output of another tool; empty: none
  std::string name;           ///< name of the imported profile; empty: that of its GPU
  std::string gpu;            ///< GPU of the imported profile; empty: as the tool prints it
  std::string exported;       ///< name or path of the profile whose figures go to another tool; empty: none
  std::string form = "csv";   ///< who reads the figures
  std::string block;          ///< bytes of a block of a key-value cache; empty: none
  std::uint64_t tokens = 16;  ///< tokens of such a block
};
void add_profiles(CLI::App&);
void run_profiles(const ProfilesOptions&);

}  // namespace shiplap::cli

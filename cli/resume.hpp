// What --resume goes on with: results of the same command on the same node.
#pragma once

#include <string>

#include "shiplap/profile/conditions.hpp"

namespace shiplap::cli {

/// What results depend on, besides the hardware.
struct RunIdentity {
  std::string command;  ///< the command line without options that say where results go and how long it may take
  const Conditions& conditions;
};

/// Throws Error that names `file` and what is different, when its results are of another command or were found under
/// another of the conditions that hold `now`.
void require_same_run(const std::string& file, const RunIdentity& before, const RunIdentity& now);

/// Throws Error that names `file` when its predictions are from another profile, by the hashes of the parameters.
void require_same_profile(const std::string& file, const std::string& before, const std::string& now);

}  // namespace shiplap::cli

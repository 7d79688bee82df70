#include "cli/resume.hpp"

#include <fmt/format.h>

#include <string_view>

#include "shiplap/core/error.hpp"
#include "shiplap/core/printable.hpp"

namespace shiplap::cli {

void require_same_run(const std::string& file, const RunIdentity& before, const RunIdentity& now) {
  const auto refuse = [&](std::string_view what, std::string_view was, std::string_view is) {
    throw Error(
        fmt::format("--resume: {} is of another {} ({}, now {}); choose another file with -o, or leave --resume "
                    "out to measure anew",
                    file, what, was, is));
  };
  if (before.command != printable(now.command)) refuse("measurement", before.command, now.command);
  for (const auto& [name, is] : now.conditions)
    if (const std::string was = condition(before.conditions, name); was != printable(is)) refuse(name, was, is);
}

void require_same_profile(const std::string& file, const std::string& before, const std::string& now) {
  if (before == now) return;
  throw Error(
      fmt::format("--resume: {} has predictions from another profile ({}, now {}); choose another file with -o, or "
                  "leave --resume out to evaluate anew",
                  file, before, now));
}

}  // namespace shiplap::cli

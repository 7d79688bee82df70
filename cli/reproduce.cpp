#include "cli/reproduce.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "shiplap/core/error.hpp"

namespace shiplap::cli {
namespace {

[[noreturn]] void become(const std::filesystem::path& program, std::vector<std::string> arguments) {
  std::string name = program.string();
  std::vector<char*> argv{name.data()};
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  execv(name.c_str(), argv.data());  // returns only when it fails
  throw Error(fmt::format("{} cannot be started ({}), so no paper can be reproduced; build and install shiplap again",
                          name, std::strerror(errno)));
}

void start_reproduce(std::vector<std::string> arguments) {
  namespace fs = std::filesystem;
  std::error_code failed;
  const fs::path self = fs::read_symlink("/proc/self/exe", failed);
  if (failed)
    throw Error(
        fmt::format("/proc/self/exe cannot be read ({}), so shiplap-reproduce is not found; start "
                    "shiplap-reproduce by its own name",
                    failed.message()));
  const fs::path sibling = self.parent_path() / "shiplap-reproduce";
  if (!fs::exists(sibling, failed))
    throw Error(
        fmt::format("there is no program {}, so no paper can be reproduced; build shiplap with the CMake option "
                    "SHIPLAP_EXPERIMENTS=ON (./dev build does), which puts it beside shiplap",
                    sibling.string()));
  become(sibling, std::move(arguments));
}

}  // namespace

void add_reproduce(CLI::App& app, std::vector<std::string> arguments) {
  app.add_subcommand("reproduce", "Run the experiments of a paper and say which of its claims hold here")
      ->callback([arguments = std::move(arguments)] { start_reproduce(arguments); });
}

}  // namespace shiplap::cli

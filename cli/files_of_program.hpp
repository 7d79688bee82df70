// Libraries that belong to the program and are found from its own place, so that an installed tree can be moved.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace shiplap::cli {

/// The path of this program.
std::filesystem::path own_program();
/// The library of this file name, beside the program or where it is installed; nullopt when this build has none.
std::optional<std::filesystem::path> library_of_program(const std::string& file_name);

}  // namespace shiplap::cli

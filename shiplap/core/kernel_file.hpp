// Files that the kernel makes while they are read, as those below /proc and /sys.
#pragma once

#include <filesystem>
#include <string>

namespace shiplap {

/// The text of a file. Empty where there is none or it cannot be read, because what such files say is done without on
/// hosts that do not have them.
std::string text_of_kernel_file(const std::filesystem::path& file);

}  // namespace shiplap

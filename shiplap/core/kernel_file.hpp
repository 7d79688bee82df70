// Files that the kernel makes while they are read, as those below /proc and /sys.
#pragma once

#include <filesystem>
#include <string>

namespace shiplap {

/// The text of a file. Empty where it is missing or cannot be read: callers do without it.
std::string text_of_kernel_file(const std::filesystem::path& file);

}  // namespace shiplap

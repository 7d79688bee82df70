// The files that options name. Each option declares what its command does with them, so that no output replaces an
// input or another output.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/cli11.hpp"

namespace shiplap::cli {

/// What a command does with a file.
enum class FileUse {
  read,
  read_and_replace,  ///< reads it, and may write it with another option
  write,             ///< writes it anew; what cannot be written is refused before any work is done
  update             ///< adds to what is in it, or writes it anew; the command says itself when it cannot be written
};

/// The files that a value of an option names. A path that ends with '/' is the folder with all that is in it.
using NamedFiles = std::function<std::vector<std::filesystem::path>(const std::string& value)>;

/// Declares what the command does with the file that the option names, or with those that `named` finds when the
/// command line has been parsed. Returns the option.
CLI::Option* declare_file(CLI::Option*, FileUse, NamedFiles named = {});
/// Declares that the command runs a program with this command line, whose words may be files that it reads.
void declare_program(const CLI::App& command, const std::vector<std::string>& words);
/// The use of the files of an option; nullptr when none is declared.
const FileUse* declared_use(const CLI::Option*);

/// Files of a profile by name or path, of a device (virtual:FILE), and of a workload.
std::vector<std::filesystem::path> files_of_profile(const std::string&);
std::vector<std::filesystem::path> files_of_device(const std::string&);
std::vector<std::filesystem::path> files_of_workload(const std::string&);

/// Looks at all files that the parsed command line names. Throws UsageError when a file that is written is also read,
/// is written twice, or is the one that stdout or stderr go to; Error when a file cannot be written.
void require_separate_files(const CLI::App& program);

/// Throws Error that names the flag when `path` cannot be written. It is called before any work is done.
void require_writable(const std::filesystem::path& path, std::string_view flag);

}  // namespace shiplap::cli

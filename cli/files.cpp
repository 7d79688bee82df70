#include "cli/files.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <string_view>
#include <system_error>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/core/file_system.hpp"
#include "shiplap/core/printable.hpp"
#include "shiplap/core/temporary_file.hpp"
#include "shiplap/device/open.hpp"
#include "shiplap/pipeline/profile_cache.hpp"

namespace shiplap::cli {
namespace {

namespace fs = std::filesystem;

struct Declaration {
  FileUse use;
  NamedFiles named;
};

/// The declarations of the program's options, which live until it ends.
std::map<const CLI::Option*, Declaration>& declarations() {
  static std::map<const CLI::Option*, Declaration> all;
  return all;
}

/// A file of the command line, and the option that names it; "stdout" or "PROGRAM" where no option does.
struct NamedFile {
  std::string flag;
  FileUse use;
  fs::path path;
};

/// The files of recorded programs, by command.
std::map<const CLI::App*, std::vector<NamedFile>>& files_of_programs() {
  static std::map<const CLI::App*, std::vector<NamedFile>> all;
  return all;
}

/// A folder as a user may have written it, without the '/' that means all that is in a folder.
fs::path without_last_slash(fs::path path) {
  return path.has_filename() || !path.has_parent_path() ? path : path.parent_path();
}

void add_named_files(const CLI::App& command, std::vector<NamedFile>& files) {
  for (const CLI::Option* option : command.get_options()) {
    const auto declared = declarations().find(option);
    if (declared == declarations().end()) continue;
    const auto& [use, named] = declared->second;
    for (const std::string& value : option->results())
      for (fs::path& path : named ? named(value) : std::vector{without_last_slash(value)})
        if (!path.empty()) files.push_back({option->get_name(), use, std::move(path)});
  }
  if (const auto of_program = files_of_programs().find(&command); of_program != files_of_programs().end())
    files.insert(files.end(), of_program->second.begin(), of_program->second.end());
  for (const CLI::App* subcommand : command.get_subcommands()) add_named_files(*subcommand, files);
}

bool is_written(const NamedFile& file) { return file.use == FileUse::write || file.use == FileUse::update; }

bool lies_in(const fs::path& file, const fs::path& folder) {
  std::error_code unknown;
  const std::string inner = fs::weakly_canonical(file, unknown).string();
  const std::string outer = fs::weakly_canonical(folder.parent_path(), unknown).string();
  return !outer.empty() && inner.starts_with(outer + "/");
}

bool is_whole_folder(const fs::path& path) { return !path.has_filename(); }

/// Whether writing one file changes the other one.
bool overlap(const fs::path& one, const fs::path& other) {
  if (is_whole_folder(one)) return lies_in(other, one) || are_one_file(one, other);
  return is_whole_folder(other) ? overlap(other, one) : are_one_file(one, other);
}

std::string shown(const NamedFile& file) { return fmt::format("{} {}", file.flag, printable(file.path.string())); }

}  // namespace

CLI::Option* declare_file(CLI::Option* option, FileUse use, NamedFiles named) {
  declarations()[option] = {use, std::move(named)};
  return option;
}

void declare_program(const CLI::App& command, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    std::error_code unknown;
    const bool is_found_in_path = &word == &words.front() && word.find('/') == std::string::npos;
    if (!is_found_in_path && fs::is_regular_file(word, unknown))
      files_of_programs()[&command].push_back({"PROGRAM", FileUse::read, word});
  }
}

const FileUse* declared_use(const CLI::Option* option) {
  const auto found = declarations().find(option);
  return found == declarations().end() ? nullptr : &found->second.use;
}

std::vector<fs::path> files_of_profile(const std::string& name) {
  if (std::ranges::count(built_in_profiles(), name) > 0) return {};
  return {cached_profile(name).value_or(name)};
}

std::vector<fs::path> files_of_device(const std::string& name) {
  const std::string profile = profile_of_virtual_device(name);
  return profile.empty() ? std::vector<fs::path>{} : files_of_profile(profile);
}

std::vector<fs::path> files_of_workload(const std::string& name) {
  return name.ends_with(".json") ? std::vector<fs::path>{name} : std::vector<fs::path>{};
}

void require_separate_files(const CLI::App& program) {
  std::vector<NamedFile> files;
  add_named_files(program, files);
  const std::size_t named = files.size();
  files.push_back({"stdout", FileUse::update, "/dev/stdout"});
  files.push_back({"stderr", FileUse::update, "/dev/stderr"});
  for (std::size_t i = 0; i < named; ++i) {
    const NamedFile& written = files[i];
    if (!is_written(written)) continue;
    for (std::size_t k = 0; k < files.size(); ++k) {
      const NamedFile& other = files[k];
      if (k == i || other.use == FileUse::read_and_replace || !overlap(written.path, other.path)) continue;
      if (other.use == FileUse::read)
        throw UsageError(
            fmt::format("{}: the file of {} would be lost; name another file", shown(written), shown(other)));
      throw UsageError(fmt::format("{}: {} goes into the same file, and one would replace the other; name another file",
                                   shown(written), k < named ? shown(other) : other.flag));
    }
  }
  for (const NamedFile& file : files)
    if (file.use == FileUse::write) require_writable(file.path, file.flag);
}

void require_writable(const fs::path& path, std::string_view flag) {
  std::error_code error;
  const auto refuse = [&](std::string_view why) { throw Error(fmt::format("{} {}: {}", flag, path.string(), why)); };
  const fs::path file = file_behind_links(path);
  const fs::path parent = file.has_parent_path() ? file.parent_path() : fs::path(".");
  const fs::file_status status = fs::status(file, error);
  if (status.type() == fs::file_type::none) refuse(error.message() + "; name another file");
  if (fs::exists(status) && !fs::is_regular_file(status))
    refuse("this is not a regular file; name a file to be written");
  if (!fs::is_directory(parent, error))
    refuse(fmt::format("there is no directory {}; create it or name another file", parent.string()));
  // A file is made, because permissions do not hold for root and a file system can be read-only.
  try {
    const TemporaryFile probe(parent);
  } catch (const std::system_error& why) {
    refuse(fmt::format("cannot write into {} ({}); name a file elsewhere", parent.string(), why.code().message()));
  }
}

}  // namespace shiplap::cli

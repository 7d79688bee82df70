#include "cli/recorded_program.hpp"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string_view>
#include <system_error>

#include "cli/files_of_program.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/core/file_system.hpp"
#include "shiplap/core/printable.hpp"

extern char** environ;

namespace shiplap::cli {
namespace {

constexpr const char* injection = "CUDA_INJECTION64_PATH";
constexpr const char* nvtx_injection = "NVTX_INJECTION64_PATH";

std::filesystem::path recorder() {
  if (const auto found = library_of_program("libshiplap_recorder.so")) return *found;
  throw Unsupported(fmt::format(
      "the recorder libshiplap_recorder.so is neither in the folder of {} nor in ../lib/shiplap from there, "
      "so nothing can be recorded: install it with the program (a build makes it where it finds the CUDA "
      "toolkit with CUPTI), or give a recording that was made elsewhere",
      own_program().string()));
}

/// The environment of the program.
std::vector<std::string> environment(const std::filesystem::path& library, const std::filesystem::path& folder,
                                     unsigned seconds) {
  if (std::getenv(injection) != nullptr)
    throw Unsupported(fmt::format("{} is set, so another tool records this program; unset it", injection));
  std::vector<std::string> variables;
  for (char** one = environ; *one != nullptr; ++one)
    if (!std::string_view(*one).starts_with("SHIPLAP_RECORDING")) variables.emplace_back(*one);
  variables.push_back(fmt::format("{}={}", injection, library.string()));
  if (std::getenv(nvtx_injection) == nullptr)
    variables.push_back(fmt::format("{}={}", nvtx_injection, library.string()));
  variables.push_back(fmt::format("SHIPLAP_RECORDING={}", (folder / "recording").string()));
  if (seconds > 0) variables.push_back(fmt::format("SHIPLAP_RECORDING_SECONDS={}", seconds));
  return variables;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

/// Signals that this process does not ignore have their default effect on the program.
int run(std::vector<std::string> words, std::vector<std::string> variables, HeldSignals& signals) {
  const std::vector<char*> arguments = pointers(words);
  const std::vector<char*> environment = pointers(variables);
  pid_t process = 0;
  const int error =
      posix_spawnp(&process, words.front().c_str(), nullptr, nullptr, arguments.data(), environment.data());
  if (error != 0) throw Error(fmt::format("{} cannot be started: {}", printable(words.front()), std::strerror(error)));
  signals.are_for(process);
  // The process number is free for another process when it has been waited for.
  siginfo_t ended{};
  while (waitid(P_PID, static_cast<id_t>(process), &ended, WEXITED | WNOWAIT) != 0)
    if (errno != EINTR) throw Error(fmt::format("waiting for {}: {}", printable(words.front()), std::strerror(errno)));
  signals.are_for_this_process();
  int status = 0;
  waitpid(process, &status, 0);
  constexpr int signalled = 128;  // as shells report it
  return WIFSIGNALED(status) ? signalled + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

RecordedProgram run_recorded(const std::vector<std::string>& words, const std::filesystem::path& folder,
                             unsigned seconds, HeldSignals& signals) {
  RecordedProgram recorded;
  recorded.exit_code = run(words, environment(recorder(), folder, seconds), signals);
  try {
    for (const std::filesystem::path& entry : entries_of(folder)) {
      std::error_code gone;
      if (!std::filesystem::is_regular_file(entry, gone)) continue;  // the program may make others, which could block
      if (entry.extension() == ".jsonl") recorded.recordings.push_back(entry);
      if (entry.extension() != ".refused") continue;
      std::ifstream file(entry);
      std::getline(file, recorded.refused.emplace_back());
    }
  } catch (const Error& error) {
    recorded.refused.push_back(
        fmt::format("{}; its recordings were there: let nothing remove them while the program runs, or name another "
                    "place in TMPDIR",
                    error.what()));
  }
  return recorded;
}

}  // namespace shiplap::cli

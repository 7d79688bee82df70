#include "cli/own_program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <system_error>

#include "cli/files_of_program.hpp"
#include "cli/pipe.hpp"
#include "shiplap/core/error.hpp"

extern char** environ;

namespace shiplap::cli {
namespace {

/// Time between two looks whether the process has ended.
constexpr int look_at_process_ms = 20;

std::string system_text(int error) { return std::generic_category().message(error); }

pid_t start(std::vector<std::string> words, const Pipe& out, const Pipe& err) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out.write_end(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err.write_end(), STDERR_FILENO);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t process = 0;
  const int error = posix_spawn(&process, arguments.front(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw Error(fmt::format("{} cannot be started: {}", words.front(), system_text(error)));
  return process;
}

/// Kills a process and waits for its end, but not for one that hangs in the kernel.
void kill_process(pid_t process) {
  constexpr int looks = 10;
  kill(process, SIGKILL);
  for (int i = 0; i < looks && waitpid(process, nullptr, WNOHANG) == 0; ++i)
    sleep_for(milliseconds(look_at_process_ms));
}

}  // namespace

ProcessOutput run_own_program(const std::vector<std::string>& arguments, const Deadline& deadline,
                              const std::function<bool()>& stop) {
  std::vector<std::string> words{own_program().string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  Pipe out;
  Pipe err;
  const pid_t process = start(words, out, err);
  out.close_write_end();
  err.close_write_end();
  ProcessOutput output;
  for (;;) {
    std::array<pollfd, 2> waited{out.wait_for(), err.wait_for()};
    poll(waited.data(), waited.size(), look_at_process_ms);
    int status = 0;
    const bool has_ended = waitpid(process, &status, WNOHANG) == process;
    out.take(output.out);
    err.take(output.err);
    if (has_ended && WIFSIGNALED(status))
      throw Error(fmt::format("signal {} ({}) ended shiplap {}", WTERMSIG(status), strsignal(WTERMSIG(status)),
                              fmt::join(arguments, " ")));
    if (has_ended) {
      output.exit_code = WEXITSTATUS(status);
      return output;
    }
    const bool is_stopped = stop && stop();
    if (!is_stopped && !deadline.passed()) continue;
    kill_process(process);
    throw Error(fmt::format("shiplap {} {}", fmt::join(arguments, " "),
                            is_stopped ? "was ended before it had a result"
                                       : "has not ended in time; look for a driver or a GPU that hangs"));
  }
}

std::string message_of(const ProcessOutput& output) {
  std::string text = output.err;
  text.erase(text.find_last_not_of(" \n") + 1);
  text.erase(0, text.rfind('\n') + 1);
  constexpr std::string_view name = "shiplap: ";
  if (text.starts_with(name)) text.erase(0, name.size());
  return text.empty() ? fmt::format("it ended with exit code {}", output.exit_code) : text;
}

}  // namespace shiplap::cli

#include "cli/program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>

#include "cli/common.hpp"
#include "cli/files.hpp"
#include "cli/help.hpp"
#include "cli/output.hpp"
#include "cli/wrong_usage.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/core/printable.hpp"
#include "shiplap/core/what_failed.hpp"
#include "shiplap/document/table.hpp"

namespace shiplap::cli {
namespace {

/// A file that is opened while stdout or stderr is closed would have its number and receive what is meant for it.
void occupy_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
    // What is opened gets the lowest free number. Its use fails, as that of a closed stream does.
    [[maybe_unused]] const int opened = ::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

std::span<char* const> arguments;

/// The message as it is. Where an argument has a line break it becomes one line, so that the argument, which may be the
/// name of a file of others, cannot begin a line of its own.
std::string in_own_lines(std::string message) {
  const auto has_line_break = [](std::string_view argument) { return argument.find('\n') != std::string_view::npos; };
  if (std::ranges::none_of(arguments, has_line_break)) return message;
  message.erase(message.find_last_not_of('\n') + 1);
  return printable(message) + "\n";
}

/// The text with its long lines broken where people read it, on a terminal. Programs read one line of a log.
std::string as_wide_as_terminal(const std::string& text) {
  if (isatty(STDERR_FILENO) != 1) return text;
  std::istringstream lines(text);
  std::string broken;
  for (std::string line; std::getline(lines, line);)
    broken += wrap_if_wider(line, style_of_stdout().width, "  ") + "\n";
  return broken;
}

void complain(const char* name, std::string_view message) noexcept {
  try {
    print_to_stderr(as_wide_as_terminal(in_own_lines(fmt::format("{}: {}\n", name, message))));
  } catch (const std::exception&) {  // there is no memory for the names of flags
    print_error(name);
    print_error(": ");
    print_error(message);
    print_error("\n");
  }
}

void complain_of_output(const char* name, int error) noexcept {
  try {
    complain(name,
             fmt::format("stdout cannot be written ({}), so the output is incomplete; free space on the disk that "
                         "it goes to, or send it elsewhere",
                         std::generic_category().message(error)));
  } catch (const std::exception&) {
    complain(name, "stdout cannot be written, so the output is incomplete");
  }
}

const char* name_of_program = nullptr;
int code_without_memory = 1;

volatile std::sig_atomic_t memory_was_short = 0;

[[noreturn]] void refuse_memory() {
  memory_was_short = 1;
  throw std::bad_alloc();
}

/// Values of JSON ask for memory when they are destroyed, and so do functions of the C++ library that must not throw.
/// C++ lets nobody catch the exception then.
[[noreturn]] void end_without_memory() {
  if (memory_was_short == 0) std::abort();
  complain(name_of_program, what_failed(std::bad_alloc()));
  std::_Exit(code_without_memory);
}

int guarded(const char* name, ExitCodes codes, int (*run)(int, char**), int argc, char** argv) {
  const auto failed = [&](std::string_view message, ExitCode code) {
    complain(name, message);
    return exit_code(codes, code);
  };
  try {
    return run(argc, argv);
  } catch (const Error& e) {
    return failed(e.what(), e.code());
  } catch (const std::exception& e) {
    return failed(what_failed(e), ExitCode::failure);
  }
}

}  // namespace

int run_main(const char* name, ExitCodes codes, int (*run)(int, char**), int argc, char** argv) {
  arguments = std::span<char* const>(argv, static_cast<std::size_t>(argc));
  occupy_closed_streams();
  name_of_program = name;
  code_without_memory = exit_code(codes, ExitCode::failure);
  std::set_new_handler(refuse_memory);
  std::set_terminate(end_without_memory);
  const int code = guarded(name, codes, run, argc, argv);
  const int error = flush_output();
  if (error == 0) return code;
  complain_of_output(name, error);
  return code == static_cast<int>(ExitCode::success) ? exit_code(codes, ExitCode::failure) : code;
}

int run_program(CLI::App& app, int argc, char** argv) {
  prepare_help(app);
  require_known_command(app, argc, argv);
  app.parse_complete_callback([&app] { require_separate_files(app); });  // before any command begins
  try {
    app.parse(argc, argv);
    return static_cast<int>(ExitCode::success);
  } catch (const CLI::ExtrasError&) {
    throw UsageError(message_on_unexpected(app));
  } catch (const CLI::RuntimeError& e) {
    return e.get_exit_code();  // the exit code of a program that was run
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() != 0) throw UsageError(message_on_wrong_usage(app, e));
    std::ostringstream help;
    app.exit(e, help);
    print_verbatim(printable_lines(help.str()));
    return static_cast<int>(ExitCode::success);
  }
}

}  // namespace shiplap::cli

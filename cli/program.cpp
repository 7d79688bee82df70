#include "cli/program.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <new>
#include <string_view>

#include "cli/parameter_names.hpp"
#include "cli/unknown_command.hpp"
#include "shiplap/core/error.hpp"

namespace shiplap::cli {

int run_program(CLI::App& app, int argc, char** argv, ExitCodes codes) {
  const auto complain = [&](std::string_view message, ExitCode code) {
    fmt::print(stderr, "{}: {}\n", app.get_name(), in_flags(message));
    return exit_code(codes, code);
  };
  try {
    require_known_command(app, argc, argv);
    app.parse(argc, argv);
    return static_cast<int>(ExitCode::success);
  } catch (const CLI::ExtrasError&) {
    return complain(message_on_unexpected(app), ExitCode::usage);
  } catch (const CLI::RuntimeError& e) {
    return e.get_exit_code();  // the exit code of a program that was run
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : exit_code(codes, ExitCode::usage);
  } catch (const Error& e) {
    return complain(e.what(), e.code());
  } catch (const std::bad_alloc&) {
    return complain("the host has not enough memory for this; make the workload smaller", ExitCode::failure);
  } catch (const std::exception& e) {
    return complain(e.what(), ExitCode::failure);
  }
}

}  // namespace shiplap::cli

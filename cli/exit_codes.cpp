#include "cli/exit_codes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace shiplap::cli {
namespace {

/// The codes of a scheme. An unknown verdict has the code of a failure.
struct CodeTable {
  std::string_view name;
  ExitCodes codes;
  int good, low, busy, bad, failure, usage;
};

// NVSentinel: preflight-checks/cuda-validation/README.md in github.com/NVIDIA/NVSentinel has 0 (all GPUs passed), 1 (at
// least one failed) and 2 (environment, not a fault of a GPU).
constexpr std::array code_tables{CodeTable{.name = "shiplap",
                                           .codes = ExitCodes::shiplap,
                                           .good = 0,
                                           .low = 0,
                                           .busy = 0,
                                           .bad = 2,
                                           .failure = 1,
                                           .usage = 64},
                                 CodeTable{.name = "nagios",
                                           .codes = ExitCodes::nagios,
                                           .good = 0,
                                           .low = 1,
                                           .busy = 1,
                                           .bad = 2,
                                           .failure = 3,
                                           .usage = 3},
                                 CodeTable{.name = "nvsentinel",
                                           .codes = ExitCodes::nvsentinel,
                                           .good = 0,
                                           .low = 0,
                                           .busy = 0,
                                           .bad = 1,
                                           .failure = 2,
                                           .usage = 2}};

const CodeTable& table_of(ExitCodes codes) { return *std::ranges::find(code_tables, codes, &CodeTable::codes); }

}  // namespace

ExitCodes parse_exit_codes(const std::string& name) {
  std::string names;
  for (const CodeTable& table : code_tables) {
    if (table.name == name) return table.codes;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", table.name);
  }
  throw UsageError(fmt::format("--exit-codes {}: there are {}", name, names));
}

int exit_code(ExitCodes codes, Verdict verdict) {
  const CodeTable& table = table_of(codes);
  switch (verdict) {
    case Verdict::good:
      return table.good;
    case Verdict::low:
      return table.low;
    case Verdict::busy:
      return table.busy;
    case Verdict::bad:
      return table.bad;
    case Verdict::unknown:
      break;
  }
  return table.failure;
}

int exit_code(ExitCodes codes, ExitCode code) {
  const CodeTable& table = table_of(codes);
  switch (code) {
    case ExitCode::success:
      return table.good;
    case ExitCode::check_failed:
      return table.bad;
    case ExitCode::usage:
      return table.usage;
    case ExitCode::failure:
      break;
  }
  return table.failure;
}

ExitCodes asked_exit_codes(int argc, const char* const* argv) {
  constexpr std::string_view flag = "--exit-codes";
  if (argc < 2 || std::string_view(argv[1]) != "check") return ExitCodes::shiplap;
  for (int i = 2; i < argc; ++i) {
    const std::string_view argument = argv[i];
    std::string_view name;
    if (argument == flag && i + 1 < argc) name = argv[i + 1];
    if (argument.starts_with(flag) && argument.substr(flag.size()).starts_with('='))
      name = argument.substr(flag.size() + 1);
    const auto table = std::ranges::find(code_tables, name, &CodeTable::name);
    if (table != code_tables.end()) return table->codes;
  }
  return ExitCodes::shiplap;
}

}  // namespace shiplap::cli

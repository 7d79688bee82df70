#include "shiplap/advise/failed_calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "shiplap/advise/cuda_functions.hpp"
#include "shiplap/core/printable.hpp"

namespace shiplap {
namespace {

/// The errors that programs meet most often. The runtime and the driver number them alike.
constexpr std::array meanings{
    std::pair{1u, "invalid value"},        std::pair{9u, "invalid configuration"},
    std::pair{98u, "invalid function"},    std::pair{209u, "no code for this GPU"},
    std::pair{400u, "invalid handle"},     std::pair{700u, "illegal address"},
    std::pair{701u, "out of resources"},   std::pair{710u, "failed assertion in a kernel"},
    std::pair{716u, "misaligned address"}, std::pair{719u, "failed kernel"},
};

/// Errors of accesses that kernels make.
constexpr std::array errors_of_accesses{700u, 716u, 719u};

std::string error_named(std::uint32_t error) {
  const auto found = std::ranges::find(meanings, error, &std::pair<unsigned, const char*>::first);
  return found == meanings.end() ? fmt::format("error {}", error) : fmt::format("error {} ({})", error, found->second);
}

}  // namespace

std::optional<FailedCalls> failed_calls(const Recording& recording) {
  std::vector<const RecordedCall*> calls;
  for (const Record& record : recording.records) {
    const auto* call = std::get_if<RecordedCall>(&record);
    if (call != nullptr && !manages_memory(call->function) && !is_query(call->function)) calls.push_back(call);
  }
  std::ranges::stable_sort(calls, {}, [](const RecordedCall* call) { return call->time.end; });
  const auto first = std::ranges::find_if(calls, [](const RecordedCall* call) { return call->error != 0; });
  if (first == calls.end()) return std::nullopt;
  FailedCalls found{.function = printable((*first)->function),
                    .error = (*first)->error,
                    .from = between(0, (*first)->time.end),
                    .after = static_cast<std::uint64_t>(calls.end() - first)};
  found.failed = static_cast<std::uint64_t>(
      std::count_if(first, calls.end(), [](const RecordedCall* call) { return call->error != 0; }));
  return found;
}

std::string describe(const FailedCalls& calls) {
  const std::string first =
      fmt::format("{} returns {} after {}", calls.function, error_named(calls.error), to_string(calls.from));
  std::string text = calls.failed == 1        ? first + "."
                     : calls.are_nearly_all() ? fmt::format("{}, and so do {} of {} calls after it.", first,
                                                            calls.failed - 1, calls.after - 1)
                                              : fmt::format("{} calls fail, first {}.", calls.failed, first);
  text += " A program that goes on after an error may not do its work: mend this first";
  const bool is_access = std::ranges::find(errors_of_accesses, calls.error) != errors_of_accesses.end();
  return text + (is_access ? " (compute-sanitizer names the access)." : ".");
}

}  // namespace shiplap

#include "shiplap/strategy/choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/strategy/names.hpp"
#include "shiplap/strategy/relayed.hpp"
#include "shiplap/strategy/strategy.hpp"

namespace shiplap {

std::string to_string(Layout layout, std::uint32_t streams) {
  switch (layout) {
    case Layout::per_chunk:
      return "a stream per chunk";
    case Layout::few:
      return fmt::format("{} streams", streams);
    case Layout::three:
      return "three streams";
    case Layout::one_engine:
      return "one copy stream";
    case Layout::implicit_sync:
      return "one copy stream, results held";
  }
  throw Error("a layout that does not exist");
}

std::string_view name_of(Layout layout) { return enum_name(layout); }

std::string to_string(const Choice& choice) {
  if (choice.mover_h2d || choice.mover_d2h) {
    Choice contiguous = choice;
    contiguous.mover_h2d = contiguous.mover_d2h = std::nullopt;
    return to_string(contiguous) + (choice.mover_h2d ? ", gather by " + to_string(*choice.mover_h2d) : "") +
           (choice.mover_d2h ? ", scatter by " + to_string(*choice.mover_d2h) : "");
  }
  if (!choice.relay.through.empty()) {
    Choice direct = choice;
    direct.relay = {};
    return fmt::format("{}, {}", to_string(direct), to_string(choice.relay));
  }
  if (choice.gpus > 1) {
    Choice one = choice;
    one.gpus = 1;
    return fmt::format("{}, over {} GPUs", to_string(one), choice.gpus);
  }
  const Strategy& strategy = find_strategy(choice.strategy);
  if (strategy.threaded) {
    const std::string cut =
        strategy.chunked ? fmt::format(", {} chunk{}", choice.chunks, choice.chunks == 1 ? "" : "s") : "";
    return fmt::format("{}{}, {} thread{}{}", choice.strategy, cut, choice.threads, choice.threads == 1 ? "" : "s",
                       strategy.chunked ? " each way" : "");
  }
  const std::string grid = choice.max_grid == 0 ? "" : fmt::format(", {} blocks", choice.max_grid);
  const char* calls = choice.graph ? ", as a graph" : choice.batched ? ", copies in batches" : "";
  if (!strategy.chunked) return choice.strategy + grid + calls;
  if (strategy.memory != ArrayMemory::pinned)
    return fmt::format("{}, {} chunk{}", choice.strategy, choice.chunks, choice.chunks == 1 ? "" : "s");
  return fmt::format("{}, {} chunk{}{}, {}, {}-first{}{}", choice.strategy, choice.chunks,
                     choice.chunks == 1 ? "" : "s", choice.ramp.level() ? "" : " in ramp " + to_string(choice.ramp),
                     to_string(choice.layout, choice.streams), choice.order == IssueOrder::depth ? "depth" : "breadth",
                     grid, calls);
}

std::string to_string(const Ramp& ramp) {
  if (ramp.level()) return "none";
  return fmt::format("{:.3g}:{:.3g}:{:.4g}", ramp.first, ramp.last, ramp.growth);
}

Ramp parse_ramp(std::string_view text) {
  if (text == "none") return {};
  Ramp ramp;
  const char* at = text.data();
  const char* const end = at + text.size();
  bool good = true;
  for (double* part : {&ramp.first, &ramp.last, &ramp.growth}) {
    // Unlike strtod, from_chars reads the same in every locale.
    const auto [after, error] = std::from_chars(at, end, *part);
    const bool is_last = part == &ramp.growth;
    good = error == std::errc{} && (is_last ? after == end : after != end && *after == ':');
    if (!good) break;
    at = after + (is_last ? 0 : 1);
  }
  if (!good)
    throw UsageError(
        fmt::format("`ramp` {}: this is no ramp; give none, auto, or FIRST:LAST:GROWTH such as 0.25:1:1.05", text));
  require_valid(ramp);
  return ramp;
}

void parse_layout(std::string_view text, Choice& into) {
  const bool numbered = text.starts_with("few:");
  const auto layout = value_of<Layout>(numbered ? "few" : text);
  if (!layout)
    throw UsageError(fmt::format(
        "`layout` {}: there is no such layout; there are: per-chunk, few, few:N, three, one-engine, implicit-sync",
        text));
  into.layout = *layout;
  if (!numbered) return;
  const std::uint64_t streams = parse_count(text.substr(4), "`layout` few:N");
  if (streams == 0) throw UsageError("`layout` few:0: at least one stream is needed");
  // A chunk is in one stream, so that further ones would be empty.
  if (streams > most_chunks)
    throw UsageError(
        fmt::format("`layout` {}: there are at most {} chunks, so give at most as many streams", text, most_chunks));
  into.streams = static_cast<std::uint32_t>(streams);
}

IssueOrder parse_order(std::string_view text) {
  if (const auto order = value_of<IssueOrder>(text)) return *order;
  throw UsageError(fmt::format("`order` {}: there is no such order; there are: {}", text, all_names<IssueOrder>()));
}

}  // namespace shiplap

#include "cli/movers.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/common.hpp"
#include "cli/effects.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/core/printable.hpp"
#include "shiplap/core/text_file.hpp"
#include "shiplap/plan/mover_table.hpp"
#include "shiplap/report/movers_report.hpp"
#include "shiplap/report/movers_svg.hpp"

namespace shiplap::cli {
namespace {

/// Numbers of blocks whose crossovers are shown when --count names none.
constexpr std::uint64_t most_blocks = 65'536;

std::uint64_t count_of(const std::string& text) {
  const std::uint64_t count = parse_count(text, "--count");
  if (count == 0) throw UsageError("--count 0: give 1 block or more");
  return count;
}

MoverQuestion question_of(const MoversFlags& flags) {
  MoverQuestion question{.pool = parse_array_memory(flags.pool), .regular = flags.regular, .crossover_counts = {}};
  if (flags.memory_bound || !flags.thread_block.empty()) {
    Neighbour& neighbour = question.limits.neighbour.emplace();
    neighbour.memory_bound = flags.memory_bound.value_or(neighbour.memory_bound);
    if (!flags.thread_block.empty()) neighbour.thread_block = parse_seconds(flags.thread_block, "--thread-block");
  }
  if (!flags.max_slowdown.empty()) question.limits.max_slowdown = parse_fraction(flags.max_slowdown, "--max-slowdown");
  if (flags.counts.empty()) {
    for (std::uint64_t count = 1; count <= most_blocks; count *= 4) question.crossover_counts.push_back(count);
    return question;
  }
  question.counts.clear();
  for (const std::string& text : flags.counts) question.counts.push_back(count_of(text));
  return question;
}

}  // namespace

void add_movers(CLI::App& app) {
  auto flags = std::make_shared<MoversFlags>();
  auto* command = app.add_subcommand("movers", "Say what moves scattered blocks fastest");
  add_device_flag(*command, flags->node.device);
  add_profile_flag(*command, flags->node.profile, "show the movers of a profile (name or file)")->excludes("--device");
  command
      ->add_option("--count", flags->counts,
                   "numbers of blocks, as in 64,1Ki (default: 1Ki, crossovers from 1 to 64Ki)")
      ->type_name("N")
      ->delimiter(',');
  command
      ->add_option("--max-slowdown", flags->max_slowdown,
                   "most time that a kernel concurrent with the move may lose, as in 5% (default: no limit)")
      ->type_name("FRACTION");
  command
      ->add_option("--memory-bound", flags->memory_bound,
                   "a kernel runs concurrently with the move; how far device memory limits it, from 0 (it only "
                   "computes) to 1 "
                   "(default: no kernel)")
      ->type_name("X")
      ->check(CLI::Range(0.0, 1.0));
  command
      ->add_option("--thread-block", flags->thread_block,
                   "time of a thread block of that kernel, for which a mover's kernel waits (default: 10us)")
      ->type_name("TIME");
  command->add_option("--pool", flags->pool, "memory of the pool on the host")
      ->type_name("KIND")
      ->check(CLI::IsMember({"pageable", "pinned", "managed"}))
      ->capture_default_str();
  command->add_flag("--regular", flags->regular, "blocks at equal distances, which a strided copy moves too");
  declare_file(command->add_option("--svg", flags->svg,
                                   "draw the rates over the size of a block, for the first count, into this file"),
               FileUse::write)
      ->type_name("FILE");
  add_all_flag(*command, flags->all, "show the times and rates of the two best movers for every size");
  add_json_flag(*command, flags->json);
  command->footer("docs/how-to/scattered-blocks.md shows how a program moves blocks by the best mover.");
  command->callback([flags] { run_movers(*flags); });
}

void run_movers(const MoversFlags& flags) {
  const MoverQuestion question = question_of(flags);
  const document::Detail detail = detail_of(flags.all, flags.json);
  const OpenedNode opened = open_node_or_profile(flags.node);
  const MoverTable table = mover_table(*opened.node.profile, question);
  if (!flags.svg.empty()) write_file_atomically(flags.svg, movers_svg(table, question.counts.front()));
  if (flags.json)
    print_json(to_json(table));
  else
    print(movers_report(table, style_of_stdout(), detail));
  show_simulation(opened, flags.node, flags.json);
  if (!flags.svg.empty() && !flags.json) print(fmt::format("\npicture written to {}\n", printable(flags.svg)));
}

}  // namespace shiplap::cli

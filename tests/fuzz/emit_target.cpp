// Programs written for jobs of any names and shapes. The names come from others, and none may become code: a program
// must have the code of the program for the same job with harmless names, but for the names of variables.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "shiplap/emit/cuda_program.hpp"
#include "shiplap/strategy/strategy.hpp"
#include "tests/fuzz/code_tokens.hpp"
#include "tests/fuzz/input.hpp"
#include "tests/fuzz/target.hpp"

namespace shiplap::fuzz {
namespace {

/// The texts of a job that are names.
struct GivenNames {
  std::string job, command, profile;
  std::vector<std::string> arrays;
};

GivenNames given_names(Input& in, std::size_t arrays) {
  GivenNames names{.job = in.text(), .command = in.text(), .profile = in.text(), .arrays = {}};
  for (std::size_t i = 0; i < arrays; ++i) names.arrays.push_back(in.text());
  return names;
}

GivenNames harmless_names(std::size_t arrays) {
  GivenNames names{.job = "job", .command = "command", .profile = "profile", .arrays = {}};
  for (std::size_t i = 0; i < arrays; ++i) names.arrays.push_back(fmt::format("array{}", i));
  return names;
}

struct Shape {
  std::uint64_t items = 1;
  std::vector<Array> arrays;
  Choice choice;
  bool known_kernel = false;
};

Shape made_shape(Input& in) {
  Shape shape;
  shape.known_kernel = in.byte() > 200;
  shape.items = shape.known_kernel ? 4096 : 1 + in.size() % (1u << 20);
  const std::size_t arrays = shape.known_kernel ? 2 : 1 + in.below(4);
  for (std::size_t i = 0; i < arrays; ++i) {
    const std::uint64_t element = std::uint64_t{1} << in.below(4);
    shape.arrays.push_back({.name = "",
                            .role = i == 0 ? Role::inout : static_cast<Role>(in.below(6)),
                            .size = Bytes{shape.items * element},
                            .element = Bytes{element}});
  }
  const auto all = strategies();
  const Strategy& strategy = all[in.below(static_cast<std::uint32_t>(all.size()))];
  shape.choice = {.strategy = std::string(strategy.name),
                  .chunks = strategy.chunked ? 1 + in.below(12) : 1,
                  .layout = static_cast<Layout>(in.below(5)),
                  .streams = 1 + in.below(5),
                  .order = in.flag() ? IssueOrder::breadth : IssueOrder::depth,
                  .max_grid = strategy.zero_copy ? in.byte() : 0u,
                  .ring = in.below(5),
                  .threads = strategy.threaded ? 1 + in.below(4) : 0,
                  .graph = in.byte() > 220,
                  .batched = in.byte() > 220};
  for (Array& array : shape.arrays)
    array.memory = strategy.memory == ArrayMemory::pageable  ? MemoryKind::pageable
                   : strategy.memory == ArrayMemory::managed ? MemoryKind::managed
                                                             : MemoryKind::pinned;
  return shape;
}

std::string program_of(const Shape& shape, const GivenNames& names) {
  Workload workload = find_workload("saxpy:n=4096");
  if (!shape.known_kernel) {
    workload.real_kernel = false;
    workload.program = {};
    workload.job.arrays = shape.arrays;
    workload.job.items = shape.items;
  }
  workload.job.name = names.job;
  for (std::size_t i = 0; i < workload.job.arrays.size(); ++i) {
    workload.job.arrays[i].name = names.arrays[i];
    workload.job.arrays[i].memory = shape.arrays[i].memory;
  }
  workload.job.cost = {.points = {{workload.job.items, Interval<Seconds>::exact(milliseconds(1))}}, .origin = "stated"};
  require_valid(workload.job);
  const Schedule schedule =
      find_strategy(shape.choice.strategy).schedule(workload.job, shape.choice, {.device_memory = 1_GiB});
  return cuda_program(
      workload, shape.choice, schedule,
      {.command = names.command, .profile = names.profile, .predicted = Interval<Seconds>::exact(milliseconds(1))});
}

/// The program without the lines that include a header of C++ or of the system. Which of them it has may depend on
/// names: an array "atomic" occurs in a comment, and a header that is not needed does no harm.
std::string without_includes(std::string_view program) {
  static const std::set<std::string_view> headers{"algorithm",  "atomic",  "chrono",  "cmath",   "cstdint",
                                                  "cstdio",     "cstdlib", "cstring", "numeric", "random",
                                                  "sys/mman.h", "thread",  "vector"};
  constexpr std::string_view begin = "#include <";
  std::string rest;
  while (!program.empty()) {
    const std::string_view line = program.substr(0, program.find('\n'));
    program.remove_prefix(std::min(program.size(), line.size() + 1));
    const bool includes = line.starts_with(begin) && line.ends_with('>') &&
                          headers.contains(line.substr(begin.size(), line.size() - begin.size() - 1));
    if (!includes) rest.append(line).push_back('\n');
  }
  return rest;
}

bool is_name(const std::string& token) {
  return token[0] == '_' || (token[0] >= 'a' && token[0] <= 'z') || (token[0] >= 'A' && token[0] <= 'Z');
}

/// Compares programs token by token. Variables may have other names, but the same ones at the same places.
void require_same_code(const std::vector<std::string>& given, const std::vector<std::string>& harmless) {
  for (std::size_t i = 0; i < std::min(given.size(), harmless.size()); ++i) {
    const bool same = given[i] == harmless[i] || (is_name(given[i]) && is_name(harmless[i]));
    require(same, fmt::format("token {} is {} as with harmless names, not {}", i, harmless[i], given[i]));
  }
  require(given.size() == harmless.size(), "a program has as many tokens as with harmless names");
}

void emit_any_job(std::string_view bytes) {
  Input in(bytes);
  const Shape shape = made_shape(in);
  const GivenNames names = given_names(in, shape.arrays.size());
  const auto program = read_or_refused([&] { return program_of(shape, names); });
  if (!program) return;
  const auto harmless = read_or_refused([&] { return program_of(shape, harmless_names(shape.arrays.size())); });
  require(harmless.has_value(), "names do not decide whether a program can be written");
  require_same_code(code_tokens(without_includes(*program)), code_tokens(without_includes(*harmless)));
}

}  // namespace

const Target emit_target{"emit", emit_any_job};

}  // namespace shiplap::fuzz

#include "shiplap/emit/cuda_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "shiplap/core/error.hpp"
#include "shiplap/core/printable.hpp"
#include "shiplap/emit/harness_text.hpp"
#include "shiplap/emit/names.hpp"
#include "shiplap/emit/pipeline_text.hpp"
#include "shiplap/emit/structure.hpp"
#include "shiplap/workload/array_place.hpp"

namespace shiplap {
namespace {

// A placeholder kernel that only takes the planned time, for a workload whose kernel has no program text.
ProgramText placeholder(const Job& job, const Schedule& schedule) {
  Seconds work{0};
  std::uint64_t items = 0;
  for (const Op& op : schedule.ops)
    if (const auto* kernel = std::get_if<Kernel>(&op.what)) work += kernel->work, items += kernel->items;
  std::string parameters, arguments;
  for (std::size_t a = 0; a < job.arrays.size(); ++a) {
    parameters += fmt::format("char* /*{}*/, ", identifier(job.arrays[a].name));
    arguments += fmt::format("{{{}}}, ", a);
  }
  ProgramText text;
  text.kernel = fmt::format(
      R"(// >>> PUT YOUR KERNEL HERE. This one only takes about the time that was planned for.
__global__ void your_kernel({}std::uint64_t nanoseconds) {{
  std::uint64_t begin = 0, now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  while (now - begin < nanoseconds);
}}
)",
      parameters);
  text.launch =
      fmt::format("your_kernel<<<{{blocks}}, {}, 0, {{stream}}>>>({}std::uint64_t({{items}} * {}))",
                  job.threads_per_block, arguments, items == 0 ? 0 : work.count() * 1e9 / static_cast<double>(items));
  return text;
}

// The text without what ends a comment: ends of lines, and a backslash, which at the end of a line takes the next line
// into the comment.
std::string in_comment(std::string_view text) {
  std::string safe = printable(text);
  std::ranges::replace(safe, '\\', '/');
  return safe;
}

// The text as comments of at most 120 characters a line.
std::string comment(std::string_view unsafe) {
  constexpr std::size_t width = 117;
  std::string text = in_comment(unsafe);
  std::string out;
  while (text.size() > width) {
    const auto space = text.rfind(' ', width);
    if (space == std::string::npos) break;
    out += "// " + text.substr(0, space) + "\n";
    text.erase(0, space + 1);
  }
  return out + "// " + text + "\n";
}

std::string header(const Workload& workload, const Choice& choice, const Schedule& schedule, const EmitNotes& notes) {
  std::string out = comment(fmt::format("{}: {}", workload.job.name, to_string(choice))) +
                    comment(fmt::format("({}).", find_strategy(choice.strategy).summary));
  if (!notes.command.empty()) out += fmt::format("// Written by {}.\n", in_comment(notes.command));
  if (notes.predicted)
    out += comment(fmt::format("Predicted: {} (from {} to {}){}.", to_string(notes.predicted->value),
                               to_string(notes.predicted->low), to_string(notes.predicted->high),
                               notes.profile.empty() ? "" : " on profile " + notes.profile));
  out += fmt::format("//\n//   nvcc -O3 -arch=native {} -o pipeline && ./pipeline [REPETITIONS]\n//\n",
                     in_comment(notes.file));
  out +=
      "// Prints the median and the fastest time and verifies the result; exits with 2 if it is wrong. For your own "
      "program\n"
      "// copy the section \"pipeline\"; the rest only runs it.\n";
  if (std::ranges::any_of(schedule.agents, [](const Agent& a) { return a.numa_node.has_value(); }))
    out +=
        "// On a host with several NUMA nodes, keep threads and memory on the GPU's (nvidia-smi topo -m names it):\n"
        "// numactl --cpunodebind=NODE --membind=NODE ./pipeline\n";
  return out;
}

}  // namespace

std::string cuda_program(const Workload& workload, const Choice& choice, const Schedule& schedule,
                         const EmitNotes& notes) {
  if (schedule.ops.empty()) throw Unsupported("a CUDA program: there is nothing to do in this plan");
  if (!schedule.kept.empty())
    throw Unsupported(
        "a CUDA program copies all its arrays in each run, and arrays of this plan stay on the GPU: describe them with "
        "`broadcast` or `carried`");
  for (const Array& array : workload.job.arrays)
    if (is_on_gpu(array))
      throw Unsupported(
          fmt::format("a CUDA program: {} is on the GPU already, and a program that stands alone makes its arrays on "
                      "the host: plan "
                      "with all arrays on the host",
                      array.name));
  Workload known = workload;
  if (known.program.kernel.empty()) known.program = placeholder(workload.job, schedule);
  const Structure loops = structure(schedule);
  const Names names(known.job, schedule, loops);
  const PipelineText pipeline = pipeline_text(known.job, schedule, loops, names, known.program.launch);
  const HarnessText harness = harness_text(known, schedule, loops, names, pipeline);
  std::string includes;
  const std::string all = harness.helpers + harness.declarations + pipeline.functions + harness.rest;
  for (const auto& [file, name] : {std::pair{"sys/mman.h", "madvise"},
                                   {"algorithm", "std"},
                                   {"atomic", "atomic"},
                                   {"chrono", "chrono"},
                                   {"cmath", "asin"},
                                   {"cstdint", "std"},
                                   {"cstdio", "std"},
                                   {"cstdlib", "std"},
                                   {"cstring", "mem"},
                                   {"numeric", "iota"},
                                   {"random", "mt19937_64"},
                                   {"thread", "std::thread"},
                                   {"vector", "std"}}) {
    if (file == std::string("cstring") ? all.find("std::mem") == std::string::npos : !mentions(all, name)) continue;
    includes += fmt::format("#include <{}>\n{}", file, file == std::string("sys/mman.h") ? "\n" : "");
  }
  return header(known, choice, schedule, notes) + includes + "\n" + harness.helpers + "\n// --- kernel ---\n\n" +
         wrapped_code(known.program.kernel) + "\n// --- pipeline ---\n\n" + harness.declarations + "\n" +
         pipeline.functions + "\n// --- memory, timing ---\n" + harness.rest;
}

}  // namespace shiplap

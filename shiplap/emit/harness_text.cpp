#include "shiplap/emit/harness_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "shiplap/core/error.hpp"
#include "shiplap/emit/block_text.hpp"
#include "shiplap/emit/run_text.hpp"
#include "shiplap/emit/snippets.hpp"

namespace shiplap {
namespace {

class Harness {
 public:
  Harness(const Workload& workload, const Schedule& schedule, const Structure& structure, const Names& names,
          const PipelineText& pipeline)
      : workload_(workload),
        schedule_(schedule),
        s_(structure),
        names_(names),
        pipeline_(pipeline),
        way_(way_of_run(schedule, pipeline)),
        listed_(listed_arrays(schedule)),
        verified_(!workload.program.arrays.empty()) {
    for (const Op& op : schedule.ops) {
      batches_ = batches_ || op.batched || is_moved_by_batch(op);
      touches_ = touches_ || std::holds_alternative<HostCall>(op.what);
      prefetches_ = prefetches_ || std::holds_alternative<Prefetch>(op.what);
    }
    for (const Buffer& buffer : schedule.buffers) {
      if (buffer.place.is_gpu() && buffer.place.index != 0)
        throw Unsupported("a CUDA program for several GPUs cannot be written yet");
      stays_on_host_ = stays_on_host_ || buffer.advice == MemoryAdvice::prefer_host;
      managed_ = managed_ || buffer.memory == MemoryKind::managed;
      pinned_ = pinned_ || buffer.memory == MemoryKind::pinned || buffer.memory == MemoryKind::mapped;
      pageable_ = pageable_ || buffer.memory == MemoryKind::pageable;
    }
  }

  HarnessText write() const {
    HarnessText out;
    out.helpers = std::string(snippets::check) + std::string(snippets::cast);
    if (way_.threaded) out.helpers += snippets::await;
    if (batches_) out.helpers += snippets::together;
    out.helpers += block_helpers(schedule_, verified_);
    if (touches_ || managed_) out.helpers += snippets::touch;
    if (mentions(pipeline_.functions, "copy_past_caches")) out.helpers += snippets::past_caches;
    if (prefetches_) out.helpers += snippets::prefetch;
    if (stays_on_host_) out.helpers += snippets::prefer_host;
    out.declarations = declarations();
    out.rest = (pinned_ ? std::string(snippets::pinned) : "") + (pageable_ ? std::string(snippets::pageable) : "") +
               (managed_ ? std::string(snippets::managed) : "") +
               threads_and_graph_text(schedule_, s_, names_, pipeline_) + make_ready() +
               run_text(schedule_, names_, pipeline_) + data() +
               filled(snippets::main_function,
                      {{"leave", way_.threaded ? "  leave();\n" : ""},
                       {"verdict", verified_ ? "good ? \"verified\" : \"WRONG\""
                                             : "\"nothing to verify: this program does not know the right results\""}});
    return out;
  }

 private:
  std::string declarations() const {
    std::string out;
    if (mentions(pipeline_.functions, "all_items"))
      out += fmt::format("constexpr std::uint64_t all_items = {};\n", workload_.job.items);
    const std::string users = pipeline_.functions + make_ready() + data();
    for (std::size_t a = 0; a < workload_.job.arrays.size(); ++a) {
      const std::string name = "bytes_" + names_.bare(a);
      if ((is_there(a) && listed(a) == nullptr) || mentions(users, name))
        out += fmt::format("constexpr std::uint64_t {} = {};\n", name, workload_.job.arrays[a].size.count);
    }
    const std::string used =
        fmt::format("{} {} {}", pipeline_.functions, fmt::join(pipeline_.events, " "), fmt::join(pipeline_.flags, " "));
    for (const Expressions::Constant& c : pipeline_.constants) {
      if (c.name.starts_with("bytes_") || !is_used(c.name)) continue;
      out += fmt::format("constexpr {} {} = {};{}\n", is_count(c.name) ? "int" : "std::uint64_t", c.name, c.value,
                         meaning(c.name));
    }
    for (const auto& [name, values] : pipeline_.tables)
      out += wrapped_code(fmt::format("constexpr std::uint64_t {}[] = {{{}}};", name, fmt::join(values, ", ")));
    std::vector<std::string> pointers, streams, stream_arrays;
    for (std::size_t b = 0; b < names_.buffer.size(); ++b)
      if (is_there(b)) pointers.push_back("*" + names_.buffer[b]);
    for (const StreamGroup& group : names_.groups) streams.push_back(declared(group));
    if (way_.joined) streams.emplace_back("all_ended");
    out +=
        wrapped_code(fmt::format("\nchar {};\ncudaStream_t {};", fmt::join(pointers, ", "), fmt::join(streams, ", ")));
    if (!pipeline_.events.empty())
      out += wrapped_code(fmt::format("cudaEvent_t {};", fmt::join(pipeline_.events, ", ")));
    if (!way_.by_host_clock) out += fmt::format("cudaEvent_t start, stop{};\n", way_.joined ? ", end_mark" : "");
    if (!pipeline_.flags.empty())
      out += wrapped_code(fmt::format("std::atomic<int> {};", fmt::join(pipeline_.flags, ", ")));
    return out + list_declarations(schedule_, names_, users);
  }

  bool is_used(const std::string& name) const {
    const auto mentioned = [&](const std::string& text) { return mentions(text, name); };
    return mentioned(pipeline_.functions) || std::ranges::any_of(pipeline_.events, mentioned) ||
           std::ranges::any_of(pipeline_.flags, mentioned);
  }
  static bool is_count(const std::string& name) {
    return name == "chunks" || name == "ring" || name == "places" || name == "workers" || name == "stream_count";
  }

  static std::string meaning(const std::string& name) {
    if (name == "ring") return "  // slots of the ring on the GPU, a chunk each";
    if (name == "places") return "  // slots of a ring on the host";
    if (name.starts_with("item_")) return "  // bytes of an item";
    if (name.starts_with("stride_gpu_") || name.starts_with("stride_ring_")) return "  // bytes of a slot";
    return "";
  }

  // Expression of the size of a buffer, as in "ring * stride_gpu_x".
  std::string size(std::size_t b) const {
    const std::uint64_t bytes = schedule_.buffers[b].size.count;
    if (b < workload_.job.arrays.size()) return (listed(b) != nullptr ? "pool_" : "bytes_") + names_.bare(b);
    const auto stride =
        std::ranges::find(pipeline_.constants, "stride_" + names_.buffer[b], &Expressions::Constant::name);
    for (const Expressions::Constant& count : pipeline_.constants)
      if (stride != pipeline_.constants.end() && is_count(count.name) && is_used(count.name) && is_used(stride->name) &&
          static_cast<std::uint64_t>(count.value * stride->value) == bytes)
        return fmt::format("{} * {}", count.name, stride->name);
    const auto owner = names_.array[b];
    if (owner && workload_.job.arrays[*owner].size.count == bytes) return "bytes_" + names_.bare(*owner);
    return std::to_string(bytes);
  }

  // Scratch arrays and arrays inside other arrays have no host memory of their own.
  bool is_there(std::size_t b) const {
    const auto& arrays = workload_.job.arrays;
    return b >= arrays.size() || listed(b) != nullptr || size_on_host(arrays[b]) == arrays[b].size;
  }

  // The array of this buffer if it is blocks of a pool.
  const ListedArray* listed(std::size_t b) const {
    const auto found = std::ranges::find(listed_, b, &ListedArray::array);
    return found == listed_.end() ? nullptr : &*found;
  }
  static bool is_moved_by_batch(const Op& op) {
    const auto* blocks = std::get_if<BlockCopy>(&op.what);
    return blocks != nullptr && !op.stream.is_none() && blocks->mover.kind == Mover::Kind::batch;
  }

  std::string allocation(std::size_t b) const {
    if (!is_there(b)) return "";
    const Buffer& buffer = schedule_.buffers[b];
    const std::string bytes = size(b);
    const std::string& name = names_.buffer[b];
    switch (buffer.memory) {
      case MemoryKind::device:
        return fmt::format("  check(cudaMalloc(&{}, {}));\n", name, bytes);
      case MemoryKind::pageable:
        return fmt::format("  {} = pageable({});\n", name, bytes);
      case MemoryKind::managed:
        return fmt::format("  {} = managed({});\n", name, bytes) +
               (buffer.advice == MemoryAdvice::prefer_host ? fmt::format("  prefer_host({}, {});\n", name, bytes) : "");
      case MemoryKind::driver_pinned:
        return fmt::format("  check(cudaHostAlloc(&{}, {}, cudaHostAllocPortable | cudaHostAllocMapped));\n", name,
                           bytes);
      case MemoryKind::write_combined:
        return fmt::format(
            "  check(cudaHostAlloc(&{}, {}, cudaHostAllocPortable | cudaHostAllocMapped | "
            "cudaHostAllocWriteCombined));\n",
            name, bytes);
      case MemoryKind::pinned:
      case MemoryKind::mapped:
        break;
    }
    return fmt::format("  {} = pinned({});\n", name, bytes);
  }

  static std::string declared(const StreamGroup& group) {
    return group.count == 1 ? group.name : fmt::format("{}[{}]", group.name, group.count);
  }

  std::string make_ready() const {
    std::string out = "\nvoid make_ready() {\n";
    for (std::size_t b = 0; b < schedule_.buffers.size(); ++b) out += allocation(b);
    const auto each = [&](const std::vector<std::string>& declared, const std::string& type, const std::string& make) {
      std::vector<std::string> single;
      for (const std::string& one : declared) {
        const auto bracket = one.find('[');
        if (bracket == std::string::npos)
          single.push_back("&" + one);
        else
          out += fmt::format("  for ({}& one : {}) check({});\n", type, one.substr(0, bracket),
                             filled(make, {{"one", "&one"}}));
      }
      if (single.size() == 1) out += fmt::format("  check({});\n", filled(make, {{"one", single.front()}}));
      if (single.size() > 1)
        out += fmt::format("  for ({}* one : {{{}}}) check({});\n", type, fmt::join(single, ", "),
                           filled(make, {{"one", "one"}}));
    };
    std::vector<std::string> streams, urgent;
    for (const StreamGroup& group : names_.groups) (group.urgent ? urgent : streams).push_back(declared(group));
    if (way_.joined) streams.emplace_back("all_ended");
    each(streams, "cudaStream_t", "cudaStreamCreateWithFlags({one}, cudaStreamNonBlocking)");
    if (!urgent.empty())
      out += "  int lowest = 0, highest = 0;\n  check(cudaDeviceGetStreamPriorityRange(&lowest, &highest));\n";
    each(urgent, "cudaStream_t", "cudaStreamCreateWithPriority({one}, cudaStreamNonBlocking, highest)");
    each(pipeline_.events, "cudaEvent_t", "cudaEventCreateWithFlags({one}, cudaEventDisableTiming)");
    if (!way_.by_host_clock) each({"start", "stop"}, "cudaEvent_t", "cudaEventCreate({one})");
    if (way_.joined) each({"end_mark"}, "cudaEvent_t", "cudaEventCreateWithFlags({one}, cudaEventDisableTiming)");
    if (schedule_.as_graph) out += "  make_graph();\n";
    if (way_.threaded) out += "  for (int a = 1; a < agents; ++a) helpers.emplace_back(serve, a);\n";
    return wrapped_code(out + "}\n");
  }

  std::string data() const {
    const ProgramText& program = workload_.program;
    if (!verified_) return data_without_reference();
    std::string out = "\n// --- data and reference ---\n\n" + program.data + std::string(snippets::data);
    if (std::ranges::any_of(program.arrays, [](const auto& array) { return !array.tolerance.empty(); }))
      out += snippets::tolerance;
    out += list_data_functions(schedule_, true);
    out += "void fill() {\n";
    for (const ListedArray& one : listed_) out += new_list(one, names_);
    std::vector<std::string> all;
    for (std::size_t a = 0; a < program.arrays.size(); ++a) {
      if (!is_there(a)) continue;
      if (const ListedArray* blocks = listed(a)) {
        out += fill_pool(*blocks, names_, program.arrays[a]);
        all.push_back(pool_holds(*blocks, names_, program.arrays[a]));
        continue;
      }
      out += fmt::format("  fill({0}, bytes_{1}, {2});\n", names_.buffer[a], names_.bare(a), program.arrays[a].initial);
      const std::string& tolerance = program.arrays[a].tolerance;
      all.push_back(fmt::format("holds(\"{1}\", {0}, bytes_{1}, {2}{3}{4})", names_.buffer[a], names_.bare(a),
                                program.arrays[a].expected, tolerance.empty() ? "" : ", ", tolerance));
    }
    return wrapped_code(out +
                        fmt::format("}}\nbool verify() {{\n  return {};\n}}\n", fmt::join(all, " &&\n         ")));
  }

  std::string data_without_reference() const {
    std::string out = list_data_functions(schedule_, false) + "\nvoid fill() {\n";
    for (const ListedArray& one : listed_) out += new_list(one, names_);
    for (std::size_t a = 0; a < workload_.job.arrays.size(); ++a)
      if (is_there(a)) out += fmt::format("  std::memset({}, {}, {});\n", names_.buffer[a], a + 1, size(a));
    return out + "}\nbool verify() { return true; }\n";
  }

  const Workload& workload_;
  const Schedule& schedule_;
  const Structure& s_;
  const Names& names_;
  const PipelineText& pipeline_;
  bool batches_ = false, touches_ = false, prefetches_ = false, managed_ = false, stays_on_host_ = false,
       pinned_ = false, pageable_ = false;
  WayOfRun way_;
  std::vector<ListedArray> listed_;  // arrays that are blocks of a pool
  bool verified_;                    // whether the program knows the right results
};

}  // namespace

HarnessText harness_text(const Workload& workload, const Schedule& schedule, const Structure& structure,
                         const Names& names, const PipelineText& pipeline) {
  return Harness(workload, schedule, structure, names, pipeline).write();
}

}  // namespace shiplap

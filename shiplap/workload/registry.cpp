// Workloads by name or from a file.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "shiplap/core/error.hpp"
#include "shiplap/core/json.hpp"
#include "shiplap/workload/saxpy.hpp"
#include "shiplap/workload/scalar_add.hpp"
#include "shiplap/workload/workload.hpp"

namespace shiplap {
namespace {

constexpr std::string_view schema = "shiplap/workload";
constexpr std::uint64_t schema_version = 1;

// "n=64Mi,a=2" as key and text; each value is taken once, so that a misspelt key can be named.
class Parameters {
 public:
  Parameters(std::string workload, std::string_view text) : workload_(std::move(workload)) {
    while (!text.empty()) {
      const std::string_view item = text.substr(0, text.find(','));
      text.remove_prefix(std::min(text.size(), item.size() + 1));
      const auto equals = item.find('=');
      if (equals == std::string_view::npos || equals == 0)
        throw UsageError(fmt::format("{}: '{}' should be NAME=VALUE", workload_, item));
      if (!values_.emplace(item.substr(0, equals), item.substr(equals + 1)).second)
        throw UsageError(fmt::format("{}: {} is given twice", workload_, item.substr(0, equals)));
    }
  }

  std::string take(const std::string& name, std::string fallback) {
    const auto found = values_.find(name);
    if (found == values_.end()) return fallback;
    std::string value = found->second;
    values_.erase(found);
    return value;
  }
  std::uint64_t count(const std::string& name, const std::string& fallback) {
    return parse_count(take(name, fallback), fmt::format("{}: {}", workload_, name));
  }
  Bytes bytes(const std::string& name, const std::string& fallback) {
    return parse_bytes(take(name, fallback), fmt::format("{}: {}", workload_, name));
  }
  void require_empty(std::string_view known) const {
    if (!values_.empty())
      throw UsageError(fmt::format("{} has no parameter {}; it has: {}", workload_, values_.begin()->first, known));
  }

 private:
  std::string workload_;
  std::map<std::string, std::string> values_;
};

std::uint64_t int32_elements(Bytes size, std::string_view name) {
  if (size.count % 4 != 0)
    throw UsageError(fmt::format("scalar-add: {}={} is not a multiple of 4 bytes (int32)", name, to_string(size)));
  return size.count / 4;
}

Workload built_in(const std::string& name, Parameters parameters, const CudaKernels& cuda) {
  for (const WorkloadHelp& help : built_in_workloads()) {
    if (help.name != name) continue;
    if (name == "saxpy") {
      const std::uint64_t n = parameters.count("n", "64Mi");
      parameters.require_empty(help.parameters);
      return saxpy(n, cuda);
    }
    const Bytes in = parameters.bytes("in", "256MiB");
    const Bytes out = parameters.bytes("out", "256MiB");
    const std::uint64_t iterations = parameters.count("iterations", "1");
    parameters.require_empty(help.parameters);
    if (iterations > 1u << 30) throw UsageError("scalar-add: iterations must be at most 2^30");
    return scalar_add(int32_elements(in, "in"), int32_elements(out, "out"), static_cast<std::uint32_t>(iterations),
                      cuda);
  }
  std::string names;
  for (const WorkloadHelp& help : built_in_workloads())
    names += fmt::format("{}{}", names.empty() ? "" : ", ", help.name);
  throw UsageError(fmt::format(
      "there is no workload '{}'; there are: {}, a .json file, or sizes by --in, --out and --kernel", name, names));
}

Workload from_file(const std::string& path, const CudaKernels& cuda) {
  const Json json = read_json_file(path);
  const JsonReader document(json, path);
  require_schema(document, schema, schema_version);
  document.only_keys({"schema", "version", "workload", "in", "out", "kernel"});
  if (const auto name = document.find("workload")) {
    if (name->string().ends_with(".json")) name->fail("a built-in workload, as on the command line");
    return find_workload(name->string(), cuda);
  }
  return stated_workload({.in = parse_bytes(document.at("in").string(), path + ": in"),
                          .out = parse_bytes(document.at("out").string(), path + ": out"),
                          .kernel = parse_seconds(document.at("kernel").string(), path + ": kernel")},
                         cuda);
}

}  // namespace

std::vector<WorkloadHelp> built_in_workloads() {
  return {{"saxpy", "n=COUNT (64Mi)", "y = a*x + y over n floats"},
          {"scalar-add", "in=SIZE (256MiB), out=SIZE (256MiB), iterations=COUNT (1)",
           "a scalar added iterations times to every int32"}};
}

std::string with_size(std::string_view name, Bytes size_of_each) {
  const std::string base(name.substr(0, name.find(':')));
  const std::vector<WorkloadHelp> known = built_in_workloads();
  if (std::ranges::find(known, base, &WorkloadHelp::name) == known.end()) return std::string(name);
  const std::vector<std::string> keys =
      base == "saxpy" ? std::vector<std::string>{"n"} : std::vector<std::string>{"in", "out"};
  const std::uint64_t value = base == "saxpy" ? size_of_each.count / 4 : size_of_each.count;  // floats, or bytes
  std::string sized(name);
  for (const std::string& key : keys) {
    const bool stated =
        name.find(":" + key + "=") != std::string_view::npos || name.find("," + key + "=") != std::string_view::npos;
    if (stated) return std::string(name);
    sized += fmt::format("{}{}={}", sized.find(':') == std::string::npos ? ":" : ",", key, value);
  }
  return sized;
}

Workload find_workload(std::string_view name, const CudaKernels& cuda) {
  if (name.ends_with(".json")) return from_file(std::string(name), cuda);
  const auto colon = name.find(':');
  const std::string base(name.substr(0, colon));
  return built_in(base, Parameters(base, colon == std::string_view::npos ? std::string_view{} : name.substr(colon + 1)),
                  cuda);
}

KernelCost derived_cost(const Job& job, const Profile& profile) {
  if (profile.gpus.empty()) throw Unsupported(fmt::format("profile {} has no GPU", profile.name));
  const GpuModel& gpu = profile.gpus.front();
  if (!gpu.memory_bandwidth || !gpu.flop_rate)
    throw Unsupported(fmt::format(
        "profile {} has no {}, from which the kernel time of {} could be derived: state it with --kernel TIME",
        profile.name, gpu.memory_bandwidth ? "flop rate" : "memory bandwidth", job.name));
  const auto& bandwidth = *gpu.memory_bandwidth;
  const auto& flops = *gpu.flop_rate;
  const auto at = [&](Bandwidth b, double f) { return std::max(job.device_traffic / b, Seconds{job.flops / f}); };
  const Interval<Seconds> whole{at(bandwidth.value, flops.value), at(bandwidth.high, flops.high),
                                at(bandwidth.low, flops.low)};
  // A block for each multiprocessor is taken to be enough for the full rate.
  return {
      .points = {{job.items, whole}},
      .limited = KernelCost::Limited{.items = job.items, .blocks = std::max(1u, gpu.multiprocessors), .work = whole},
      .origin = fmt::format("derived from bytes and operations over the limits of profile {}", profile.name)};
}

}  // namespace shiplap

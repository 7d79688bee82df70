// Workloads by name or from a file.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/core/formats.hpp"
#include "shiplap/core/json.hpp"
#include "shiplap/core/spelling.hpp"
#include "shiplap/workload/array_place.hpp"
#include "shiplap/workload/built_in/built_in.hpp"
#include "shiplap/workload/workload.hpp"

namespace shiplap {
namespace {

const BuiltInWorkload* const all_built_in[]{
    &saxpy_workload,     &scalar_add_workload,  &matmul_workload,       &histogram_workload,
    &grayscale_workload, &pop_state_workload,   &pop_buoydiff_workload, &arccos_workload,
    &diffusion_workload, &convolution_workload, &spmv_workload,
};

Workload built_in(const std::string& name, Parameters parameters, const CudaKernels& cuda) {
  for (const BuiltInWorkload* one : all_built_in) {
    if (one->help.name != name) continue;
    Workload workload = one->make(parameters, cuda);
    parameters.require_empty(one->help.parameters);
    return workload;
  }
  std::vector<std::string> names;
  for (const BuiltInWorkload* one : all_built_in) names.push_back(one->help.name);
  throw UsageError(fmt::format(
      "there is no workload '{}'; {}there are: {}, a .json file, or sizes stated by hand (`stated_workload`)", name,
      did_you_mean(name, names), fmt::join(names, ", ")));
}

Workload from_file(const std::string& path, const CudaKernels& cuda) {
  const Json json = read_json_file(path);
  const JsonReader document(json, path);
  require_schema(document, formats::workload);
  Workload workload;
  if (const auto name = document.find("workload")) {
    document.only_keys({"schema", "version", "workload", "reads", "memory"});
    if (name->string().ends_with(".json")) name->fail("the name of a built-in workload, as in saxpy:n=64Mi");
    workload = find_workload(name->string(), cuda);
  } else {
    document.only_keys({"schema", "version", "in", "out", "kernel", "access", "item", "halo", "reads", "memory"});
    const auto bytes = [&](std::string_view key) {
      const auto found = document.find(key);
      return found ? parse_bytes(found->string(), fmt::format("{}: {}", path, key)) : Bytes{0};
    };
    StatedJob stated{.in = bytes("in"),
                     .out = bytes("out"),
                     .kernel = parse_seconds(document.at("kernel").string(), path + ": kernel"),
                     .item = bytes("item")};
    if (const auto access = document.find("access"))
      stated.each_byte_once = parse_access(access->string(), path + ": access");
    if (const auto halo = document.find("halo")) {
      halo->only_keys({"before", "after"});
      stated.before = halo->at("before").unsigned_integer();
      stated.after = halo->at("after").unsigned_integer();
    }
    workload = stated_workload(stated, cuda);
  }
  if (const auto memory = document.find("memory")) put_into(workload, parse_array_memory(memory->string()));
  if (const auto times = document.find("reads")) read_inputs(workload, times->number());
  return workload;
}

}  // namespace

std::vector<WorkloadHelp> built_in_workloads() {
  std::vector<WorkloadHelp> help;
  for (const BuiltInWorkload* one : all_built_in) help.push_back(one->help);
  return help;
}

std::string with_size(std::string_view name, Bytes size) {
  const std::string base(name.substr(0, name.find(':')));
  const auto known = std::ranges::find(all_built_in, base, [](const auto* one) { return one->help.name; });
  if (known == std::end(all_built_in)) return std::string(name);
  const std::string sizes = (*known)->sizes(size);
  for (std::string_view rest = sizes; !rest.empty();) {
    const std::string key(rest.substr(0, rest.find('=') + 1));
    for (const char before : {':', ','})
      if (name.find(before + key) != std::string_view::npos) return std::string(name);
    rest.remove_prefix(std::min(rest.size(), rest.find(',')));
    if (!rest.empty()) rest.remove_prefix(1);
  }
  return fmt::format("{}{}{}", name, name.find(':') == std::string_view::npos ? ":" : ",", sizes);
}

void put_into(Workload& workload, MemoryKind memory) {
  for (Array& array : workload.job.arrays)
    if (!stays(array.role) || memory == MemoryKind::managed) array.memory = memory;
}

void read_inputs(Workload& workload, double times) {
  for (Array& array : workload.job.arrays)
    if (is_input(array.role)) array.times_read = times;
}

Bytes bytes_read(const Job& job) {
  double sum = 0;
  for (const Array& array : job.arrays)
    if (is_copied_in(array)) sum += in_bytes(array.size) * array.times_read;
  return Bytes{static_cast<std::uint64_t>(std::min(sum, 0x1p63))};
}

Workload find_workload(std::string_view name, const CudaKernels& cuda) {
  if (name.ends_with(".json")) return from_file(std::string(name), cuda);
  const auto colon = name.find(':');
  const std::string base(name.substr(0, colon));
  return built_in(base, Parameters(base, colon == std::string_view::npos ? std::string_view{} : name.substr(colon + 1)),
                  cuda);
}

std::optional<Workload> with_items(std::string_view name, std::uint64_t items, const CudaKernels& cuda) {
  const std::string base(name.substr(0, name.find(':')));
  const auto known = std::ranges::find(all_built_in, base, [](const auto* one) { return one->help.name; });
  if (known == std::end(all_built_in) || (*known)->items.empty()) return std::nullopt;
  std::string parameters = fmt::format("{}={}", (*known)->items, items);
  std::string_view rest = name.substr(std::min(name.size(), base.size() + 1));
  while (!rest.empty()) {
    const std::string_view one = rest.substr(0, rest.find(','));
    if (one.substr(0, one.find('=')) != (*known)->items) parameters += fmt::format(",{}", one);
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
  }
  return find_workload(fmt::format("{}:{}", base, parameters), cuda);
}

namespace {

/// Bytes that the kernel reads and writes in device memory. A job that does not state them accesses each array once,
/// and `inout` arrays twice.
Bytes device_traffic_of(const Job& job) {
  if (job.device_traffic.count > 0) return job.device_traffic;
  Bytes sum;
  for (const Array& array : job.arrays) sum += array.size * (array.role == Role::inout ? 2 : 1);
  return sum;
}

}  // namespace

KernelCost derived_cost(const Job& job, const Profile& profile) {
  if (profile.gpus.empty()) throw Unsupported(fmt::format("profile {} has no GPU", profile.name));
  const GpuModel& gpu = profile.gpus.front();
  if (!gpu.memory_bandwidth || !gpu.flop_rate)
    throw Unsupported(fmt::format(
        "profile {} has no {}, from which the kernel time of {} could be derived: state it with `.kernel_time`",
        profile.name, gpu.memory_bandwidth ? "flop rate" : "memory bandwidth", job.name));
  const auto& bandwidth = *gpu.memory_bandwidth;
  const auto& flops = *gpu.flop_rate;
  // GPUs with full double-precision arithmetic have half as many units for it as for single precision.
  const double operations = job.flops * (job.double_precision ? 2 : 1);
  const Bytes traffic = device_traffic_of(job);
  const auto at = [&](Bandwidth b, double f) {
    return std::max(traffic / b, Seconds{operations / f}) / job.efficiency;
  };
  const Interval<Seconds> whole{at(bandwidth.value, flops.value), at(bandwidth.high, flops.high),
                                at(bandwidth.low, flops.low)};
  // One block for each SM is assumed to be enough for the full rate.
  return {.points = {{job.items, whole}},
          .limited = {{.items = job.items, .blocks = std::max(1u, gpu.sm_count), .work = whole}},
          .origin =
              fmt::format("derived from {} over {}the limits of profile {}",
                          operations > 0 ? "bytes and operations"
                                         : "bytes alone, because the job states no operations (`.with_flops`),",
                          job.efficiency == 1 ? "" : fmt::format("{:.0f} % of ", 100 * job.efficiency), profile.name)};
}

}  // namespace shiplap

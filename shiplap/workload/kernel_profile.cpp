#include "shiplap/workload/kernel_profile.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "shiplap/core/error.hpp"
#include "shiplap/core/formats.hpp"
#include "shiplap/core/json.hpp"
#include "shiplap/core/printable.hpp"
#include "shiplap/core/record.hpp"
#include "shiplap/core/text_file.hpp"

namespace shiplap {

template <class V, Like<KernelCost::Point> R>
void describe(V& v, R& point) {
  v.field("items", point.items, "number of items of the launch", one_or_more<std::uint64_t>);
  v.field("time", point.work, "time of the launch");
}
template <class V, Like<KernelCost::Limited> R>
void describe(V& v, R& limited) {
  v.field("items", limited.items, "number of items of the launch", one_or_more<std::uint64_t>);
  v.field("time", limited.work, "time of the launch");
  v.field("blocks", limited.blocks, "number of blocks of the launch", one_or_more<std::uint64_t>);
}

namespace {
using LaunchTimes = AscendingBy<&KernelCost::Point::items, KernelCost::Point>;
}  // namespace

template <class V, Like<KernelCost::ZeroCopy> R>
void describe(V& v, R& row) {
  v.field("in", row.in, "whether the `in` arrays are in host memory");
  v.field("out", row.out, "whether the `out` and `inout` arrays are in host memory");
  v.field("blocks", row.blocks, "most blocks of the launch; 0: the kernel's own grid");
  v.field("alone", row.alone, "times while no copy moves", LaunchTimes{{.least = 1}, "items"});
  v.field("beside", row.beside, "times while the remaining arrays are copied", LaunchTimes{{}, "items"});
  v.field("copies_beside", row.copies_beside,
          "factor by which the copies of the remaining arrays take longer meanwhile", Positive{});
}

template <class V, Like<KernelCost> R>
void describe(V& v, R& cost) {
  v.field("origin", cost.origin, "origin of the cost: measured, stated or derived");
  v.added("has_floor", cost.has_floor, "whether no launch is shorter than the first point");
  v.added("cached_items", cost.cached_items,
          "most items whose data stay in the L2 cache from one launch to the next; 0: unknown");
  v.added("resident_blocks", cost.resident_blocks, "number of blocks that the GPU holds at once; 0: unknown");
  v.added("call", cost.call, "host time of a call of the kernel function beyond that of its launches");
  v.field("points", cost.points, "measured, stated or derived launches", LaunchTimes{{}, "items"});
  v.added("limited", cost.limited, "measured launches with few blocks, each of which has an SM to itself",
          AscendingBy<&KernelCost::Limited::items, KernelCost::Limited>{{}, "items"});
  v.added("zero_copy", cost.zero_copy, "measured launches with zero-copy");
}

namespace {

struct KernelProfile {
  std::string workload;
  std::string gpu;
  KernelCost kernel;
};

template <class V, Like<KernelProfile> R>
void describe(V& v, R& profile) {
  v.header(formats::kernel_profile);
  v.field("workload", profile.workload, "the workload of the kernel");
  v.field("gpu", profile.gpu, "name of the GPU on which the cost was measured");
  v.field("kernel", profile.kernel, "cost of the kernel, on which the predictions are based");
}

}  // namespace

Json to_json(const KernelCost& cost) { return write_record(cost); }

void from_json(const JsonReader& json, KernelCost& cost) {
  // Older files do not say whether a cost has a floor. Measured costs had one then.
  cost.has_floor = json.at("origin").string().starts_with("measured");
  read_record(json, cost);
}

Json json_schema(const KernelCost&) { return schema_of<KernelCost>(); }

Json kernel_profile_schema() {
  return document_schema<KernelProfile>("shiplap kernel profile",
                                        "What was measured of a kernel, as `shiplap tune --write-kernel` writes it.");
}

void save_kernel_profile(const std::string& workload, const std::string& device_name, const KernelCost& cost,
                         const std::filesystem::path& path) {
  write_document(path, json_text(write_record(KernelProfile{workload, device_name, cost}), 1) + "\n");
}

KernelCost load_kernel_profile(const std::string& workload, const std::filesystem::path& path) {
  const Json json = read_json_file(path);
  KernelProfile profile;
  read_whole_record(JsonReader(json, path.string()), profile);
  if (profile.workload != workload)
    throw UsageError(
        fmt::format("{} is of {}, not of {}: plan that on a GPU and write its cost with `save_kernel_profile`",
                    printable(path.string()), profile.workload, printable(workload)));
  KernelCost cost = std::move(profile.kernel);
  cost.origin += fmt::format(", on {} ({})", profile.gpu, printable(path.filename().string()));
  return cost;
}

}  // namespace shiplap

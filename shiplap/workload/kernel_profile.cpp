#include "shiplap/workload/kernel_profile.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "shiplap/core/error.hpp"
#include "shiplap/core/formats.hpp"
#include "shiplap/core/json.hpp"
#include "shiplap/core/printable.hpp"
#include "shiplap/core/quantity_json.hpp"
#include "shiplap/core/text_file.hpp"

namespace shiplap {
namespace {

Json points_json(const std::vector<KernelCost::Point>& points) {
  Json json = Json::array();
  for (const KernelCost::Point& p : points) json.push_back({{"items", p.items}, {"time", quantity_json(p.work)}});
  return json;
}

std::uint64_t read_positive(const JsonReader& json) {
  const std::uint64_t value = json.unsigned_integer();
  if (value == 0) json.fail("a number of at least 1");
  return value;
}
std::vector<KernelCost::Point> read_points(const JsonReader& json) {
  std::vector<KernelCost::Point> points;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const std::uint64_t items = read_positive(json.at(i).at("items"));
    if (!points.empty() && items <= points.back().items)
      json.at(i).at("items").fail("more items than the point before");
    points.push_back({items, seconds_interval_from_json(json.at(i).at("time"))});
  }
  return points;
}

std::vector<KernelCost::Limited> read_limited(const JsonReader& json) {
  std::vector<KernelCost::Limited> limited;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const JsonReader one = json.at(i);
    limited.push_back({.items = read_positive(one.at("items")),
                       .blocks = read_positive(one.at("blocks")),
                       .work = seconds_interval_from_json(one.at("time"))});
    if (i > 0 && limited[i].items <= limited[i - 1].items) one.at("items").fail("more items than the point before");
  }
  return limited;
}

KernelCost::ZeroCopy read_zero_copy(const JsonReader& json) {
  KernelCost::ZeroCopy row{.in = json.at("in").boolean(),
                           .out = json.at("out").boolean(),
                           .blocks = json.at("blocks").unsigned_integer(),
                           .alone = read_points(json.at("alone")),
                           .beside = read_points(json.at("beside")),
                           .copies_beside = json.at("copies_beside").positive()};
  if (row.alone.empty()) json.at("alone").fail("at least one point");
  return row;
}

}  // namespace

Json to_json(const KernelCost& cost) {
  Json json{{"origin", cost.origin},
            {"has_floor", cost.has_floor},
            {"cached_items", cost.cached_items},
            {"resident_blocks", cost.resident_blocks},
            {"call", quantity_json(cost.call)},
            {"points", points_json(cost.points)},
            {"limited", Json::array()},
            {"zero_copy", Json::array()}};
  for (const KernelCost::Limited& limited : cost.limited)
    json["limited"].push_back(
        {{"items", limited.items}, {"time", quantity_json(limited.work)}, {"blocks", limited.blocks}});
  for (const KernelCost::ZeroCopy& row : cost.zero_copy)
    json["zero_copy"].push_back({{"in", row.in},
                                 {"out", row.out},
                                 {"blocks", row.blocks},
                                 {"alone", points_json(row.alone)},
                                 {"beside", points_json(row.beside)},
                                 {"copies_beside", row.copies_beside}});
  return json;
}

KernelCost kernel_cost_from_json(const JsonReader& json) {
  KernelCost cost{.points = read_points(json.at("points")), .origin = json.at("origin").string()};
  // Older files do not say whether a cost has a floor. Measured costs had one then.
  const auto has_floor = json.find("has_floor");
  cost.has_floor = has_floor ? has_floor->boolean() : cost.origin.starts_with("measured");
  if (const auto cached = json.find("cached_items")) cost.cached_items = cached->unsigned_integer();
  if (const auto resident = json.find("resident_blocks")) cost.resident_blocks = resident->unsigned_integer();
  if (const auto call = json.find("call")) cost.call = seconds_from_json(*call);
  if (const auto limited = json.find("limited")) cost.limited = read_limited(*limited);
  if (const auto rows = json.find("zero_copy"))
    for (std::size_t i = 0; i < rows->size(); ++i) cost.zero_copy.push_back(read_zero_copy(rows->at(i)));
  return cost;
}

void save_kernel_profile(const std::string& workload, const std::string& device_name, const KernelCost& cost,
                         const std::filesystem::path& path) {
  const Json json{{"schema", formats::kernel_profile.schema},
                  {"version", formats::kernel_profile.version},
                  {"workload", workload},
                  {"gpu", device_name},
                  {"kernel", to_json(cost)}};
  write_document(path, json_text(json, 1) + "\n");
}

KernelCost load_kernel_profile(const std::string& workload, const std::filesystem::path& path) {
  const Json json = read_json_file(path);
  const JsonReader reader(json, path.string());
  require_schema(reader, formats::kernel_profile);
  reader.only_keys({"schema", "version", "workload", "gpu", "kernel"});
  if (const std::string of = reader.at("workload").string(); of != workload)
    throw UsageError(
        fmt::format("{} is of {}, not of {}: plan that on a GPU and write its cost with `save_kernel_profile`",
                    printable(path.string()), of, printable(workload)));
  KernelCost cost = kernel_cost_from_json(reader.at("kernel"));
  cost.origin += fmt::format(", on {} ({})", reader.at("gpu").string(), printable(path.filename().string()));
  return cost;
}

}  // namespace shiplap

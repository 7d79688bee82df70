#include "shiplap/fleet/history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "shiplap/core/file_lock.hpp"
#include "shiplap/core/formats.hpp"
#include "shiplap/core/json.hpp"
#include "shiplap/core/statistics.hpp"
#include "shiplap/core/text_file.hpp"

namespace shiplap {
namespace {

EarlierFigure summary(const std::vector<double>& values, std::size_t least) {
  if (values.size() < std::max<std::size_t>(least, 1)) return {};
  return {.checks = values.size(), .median = median(values), .spread = robust_deviation(values)};
}

std::vector<double> values_from_json(const JsonReader& json) {
  std::vector<double> values;
  if (json.size() > EarlierValues::most_kept) json.fail(fmt::format("at most {} values", EarlierValues::most_kept));
  for (std::size_t i = 0; i < json.size(); ++i) values.push_back(json.at(i).positive());
  return values;
}

}  // namespace

void EarlierValues::add(double value) {
  if (first.size() < most_kept) return first.push_back(value);
  if (last.size() == most_kept) last.erase(last.begin());
  last.push_back(value);
}

std::string History::name_of(const NodeResult& result) {
  return fmt::format("{} {}", result.node, result.pci_bus_id.empty() ? result.gpu : result.pci_bus_id);
}

EarlierFigure History::earlier(const std::string& gpu, const std::string& what, std::size_t least) const {
  const auto figures = values_.find(gpu);
  if (figures == values_.end()) return {};
  const auto values = figures->second.find(what);
  if (values == figures->second.end()) return {};
  const EarlierFigure first = summary(values->second.first, least);
  const EarlierFigure last = summary(values->second.last, least);
  return last.median > first.median ? last : first;
}

void History::add(const NodeResult& result) {
  for (const CheckedFigure& figure : result.figures)
    if (was_measured(figure)) values_[name_of(result)][figure.what].add(figure.measured_value);
}

Json History::to_json() const {
  // Keys are not searched, because a large cluster has very many GPUs.
  Json::object_t gpus;
  Json::object_t::Container& members = gpus;
  for (const auto& [gpu, figures] : values_) {
    Json& member = members.emplace_back(gpu, Json::object()).second;
    for (const auto& [what, values] : figures) member[what] = {{"first", values.first}, {"last", values.last}};
  }
  return {{"schema", formats::fleet_history.schema},
          {"version", formats::fleet_history.version},
          {"gpus", std::move(gpus)}};
}

History History::from_json(const JsonReader& json) {
  require_schema(json, formats::fleet_history);
  History history;
  json.at("gpus").for_each_member([&](const std::string& gpu, const JsonReader& figures) {
    figures.for_each_member([&](const std::string& what, const JsonReader& values) {
      history.values_[gpu][what] = {.first = values_from_json(values.at("first")),
                                    .last = values_from_json(values.at("last"))};
    });
  });
  return history;
}

History read_history(const std::string& file) {
  if (!std::filesystem::exists(file)) return {};
  const Json json = read_json_file(file);
  return History::from_json(JsonReader(json, file));
}

std::string add_to_history(const std::string& file, std::span<const NodeResult> results) {
  const FileLock lock(file);
  History history = read_history(file);
  for (const NodeResult& result : results) history.add(result);
  write_file_atomically(file, json_text(history.to_json()) + "\n");
  return lock.missing();
}

}  // namespace shiplap

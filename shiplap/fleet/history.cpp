#include "shiplap/fleet/history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>

#include "shiplap/core/file_lock.hpp"
#include "shiplap/core/file_system.hpp"
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

void EarlierValues::shorten(std::size_t most) {
  if (first.size() > most) first.resize(most);
  if (last.size() > most) last.erase(last.begin(), last.end() - static_cast<std::ptrdiff_t>(most));
  for (std::vector<double>* values : {&first, &last})
    for (double& value : *values) value = std::stod(fmt::format("{:.5g}", value));
}

std::string History::name_of(const NodeResult& result) {
  return fmt::format("{} {}", result.node, result.pci_bus_id.empty() ? result.gpu : result.pci_bus_id);
}

EarlierFigure History::earlier(const std::string& gpu, const std::string& what, std::size_t least) const {
  const auto found = gpus_.find(gpu);
  if (found == gpus_.end()) return {};
  const auto values = found->second.figures.find(what);
  if (values == found->second.figures.end()) return {};
  const EarlierFigure first = summary(values->second.first, least);
  const EarlierFigure last = summary(values->second.last, least);
  return last.median > first.median ? last : first;
}

void History::add(const NodeResult& result) {
  for (const CheckedFigure& figure : result.figures) {
    if (!was_measured(figure)) continue;
    Gpu& gpu = gpus_[name_of(result)];
    gpu.figures[figure.what].add(figure.measured_value);
    gpu.last_update = updates_;
  }
}

void History::is_present(const std::string& gpu) {
  if (const auto found = gpus_.find(gpu); found != gpus_.end()) found->second.last_update = updates_;
}

void History::shorten_to(std::uint64_t most_bytes) {
  const std::uint64_t all = bytes();
  if (all <= most_bytes) return;
  std::vector<std::map<std::string, Gpu>::const_iterator> oldest;
  for (auto gpu = gpus_.cbegin(); gpu != gpus_.cend(); ++gpu)
    if (gpu->second.last_update < updates_) oldest.push_back(gpu);
  std::ranges::stable_sort(oldest, {}, [](const auto& gpu) { return gpu->second.last_update; });
  std::uint64_t freed = 0;
  for (const auto& gpu : oldest) {
    if (all - freed <= most_bytes) break;
    freed += json_text(to_json(gpu->second)).size();
    gpus_.erase(gpu);
  }
  constexpr std::size_t judged = 5;  // JudgeOptions::least_earlier
  for (const std::size_t most : {EarlierValues::most_kept, EarlierValues::most_kept / 2, judged}) {
    if (bytes() <= most_bytes) return;
    for (auto& [name, gpu] : gpus_)
      for (auto& [what, values] : gpu.figures) values.shorten(most);
  }
}

std::uint64_t History::bytes() const { return json_text(to_json()).size() + 1; }

Json History::to_json(const Gpu& gpu) {
  Json figures = Json::object();
  for (const auto& [what, values] : gpu.figures) figures[what] = {{"first", values.first}, {"last", values.last}};
  return figures;
}

Json History::to_json() const {
  // Keys are not searched, because a large cluster has very many GPUs.
  Json::object_t gpus;
  Json::object_t last_updates;
  Json::object_t::Container& figures = gpus;
  Json::object_t::Container& updates = last_updates;
  for (const auto& [name, gpu] : gpus_) {
    figures.emplace_back(name, to_json(gpu));
    updates.emplace_back(name, gpu.last_update);
  }
  return {{"schema", formats::fleet_history.schema},
          {"version", formats::fleet_history.version},
          {"updates", updates_},
          {"last_updates", std::move(last_updates)},
          {"gpus", std::move(gpus)}};
}

History History::from_json(const JsonReader& json) {
  require_schema(json, formats::fleet_history);
  History history;
  json.at("gpus").for_each_member([&](const std::string& gpu, const JsonReader& figures) {
    figures.for_each_member([&](const std::string& what, const JsonReader& values) {
      history.gpus_[gpu].figures[what] = {.first = values_from_json(values.at("first")),
                                          .last = values_from_json(values.at("last"))};
    });
  });
  // Earlier versions did not count updates.
  if (const auto updates = json.find("updates")) history.updates_ = updates->unsigned_integer();
  if (const auto last_updates = json.find("last_updates"))
    last_updates->for_each_member([&](const std::string& gpu, const JsonReader& update) {
      if (const auto found = history.gpus_.find(gpu); found != history.gpus_.end())
        found->second.last_update = update.unsigned_integer();
    });
  return history;
}

History read_history(const std::string& file) {
  if (!is_there(file)) return {};
  const Json json = parse_json(read_regular_file(file), file);
  return History::from_json(JsonReader(json, file));
}

std::string add_to_history(const std::string& file, std::span<const NodeResult> good,
                           std::span<const NodeResult> present) {
  const FileLock lock(file);
  History history = read_history(file);
  history.begin_update();
  for (const NodeResult& result : good) history.add(result);
  for (const NodeResult& result : present) history.is_present(History::name_of(result));
  history.shorten_to(limits::document_bytes);
  write_document(file, json_text(history.to_json()) + "\n");
  return lock.missing();
}

}  // namespace shiplap

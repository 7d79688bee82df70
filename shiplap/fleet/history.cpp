#include "shiplap/fleet/history.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "shiplap/core/file_lock.hpp"
#include "shiplap/core/file_system.hpp"
#include "shiplap/core/formats.hpp"
#include "shiplap/core/record.hpp"
#include "shiplap/core/statistics.hpp"
#include "shiplap/core/text_file.hpp"

namespace shiplap {
namespace {

EarlierFigure summary(const std::vector<double>& values, std::size_t least) {
  if (values.size() < std::max<std::size_t>(least, 1)) return {};
  return {.checks = values.size(), .median = median(values), .spread = robust_deviation(values)};
}

using Figures = std::map<std::string, EarlierValues>;
using KeptValues = ListOf<double, Positive>;

}  // namespace

template <class V, Like<EarlierValues> R>
void describe(V& v, R& values) {
  v.field("first", values.first, "the oldest values", KeptValues{.most = EarlierValues::most_kept});
  v.field("last", values.last, "the newest values", KeptValues{.most = EarlierValues::most_kept});
}

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
  const auto values = found->second.find(what);
  if (values == found->second.end()) return {};
  const EarlierFigure first = summary(values->second.first, least);
  const EarlierFigure last = summary(values->second.last, least);
  return last.median > first.median ? last : first;
}

void History::add(const NodeResult& result) {
  for (const CheckedFigure& figure : result.figures) {
    if (!was_measured(figure)) continue;
    const std::string gpu = name_of(result);
    gpus_[gpu][figure.what].add(figure.measured_value);
    last_updates_[gpu] = updates_;
  }
}

void History::is_present(const std::string& gpu) {
  if (gpus_.contains(gpu)) last_updates_[gpu] = updates_;
}

void History::shorten_to(std::uint64_t most_bytes) {
  const std::uint64_t all = bytes();
  if (all <= most_bytes) return;
  std::vector<std::pair<std::uint64_t, std::string>> oldest;
  for (const auto& [gpu, last_update] : last_updates_)
    if (last_update < updates_) oldest.emplace_back(last_update, gpu);
  std::ranges::sort(oldest);
  std::uint64_t freed = 0;
  for (const auto& [last_update, gpu] : oldest) {
    if (all - freed <= most_bytes) break;
    freed += json_text(Form<Figures>{}.write(gpus_.at(gpu))).size();
    gpus_.erase(gpu);
    last_updates_.erase(gpu);
  }
  constexpr std::size_t judged = 5;  // JudgeOptions::least_earlier
  for (const std::size_t most : {EarlierValues::most_kept, EarlierValues::most_kept / 2, judged}) {
    if (bytes() <= most_bytes) return;
    for (auto& [name, gpu] : gpus_)
      for (auto& [what, values] : gpu) values.shorten(most);
  }
}

std::uint64_t History::bytes() const { return json_text(to_json()).size() + 1; }

template <class V, Like<History> R>
void describe(V& v, R& history) {
  v.header(formats::fleet_history);
  // Earlier versions did not count updates.
  v.added("updates", history.updates_, "number of updates");
  v.added("last_updates", history.last_updates_, "the last update that a GPU was seen in");
  v.field("gpus", history.gpus_, "earlier values by GPU and figure");
}

Json History::to_json() const { return write_record(*this); }

History History::from_json(const JsonReader& json) {
  History history;
  read_record(json, history);
  std::erase_if(history.last_updates_, [&](const auto& gpu) { return !history.gpus_.contains(gpu.first); });
  for (const auto& [gpu, figures] : history.gpus_) history.last_updates_.try_emplace(gpu, 0);
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

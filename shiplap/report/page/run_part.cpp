#include <fmt/format.h>

#include "shiplap/core/record.hpp"
#include "shiplap/plan/ranking.hpp"
#include "shiplap/report/page/quantity.hpp"
#include "shiplap/report/page/sections.hpp"
#include "shiplap/report/page/timeline_plot.hpp"
#include "shiplap/report/table.hpp"

namespace shiplap::page {
namespace {

struct Times {
  Quantity predicted;
  Quantity observed;
  std::optional<Quantity> bound;
  std::optional<Quantity> ideal_overlap;
};

std::optional<Quantity> positive_if_known(const JsonReader& json, std::string_view key) {
  const auto found = json.find(key);
  return found ? std::optional(positive_quantity_of(*found)) : std::nullopt;
}

DataTable table_of(const Times& times, const std::string& observed_label) {
  DataTable table{.title = "Times",
                  .columns = {"what", "time", fmt::format("beside the {} time", observed_label)},
                  .units = {"", "s", "1"}};
  const auto add = [&](const std::string& what, const Quantity& time) {
    table.rows.push_back({what, time_cell(time), change_cell(time.value / times.observed.value)});
  };
  add("predicted", times.predicted);
  add(observed_label, times.observed);
  if (times.bound) add("the bound, which no strategy is below", *times.bound);
  if (times.ideal_overlap) add("ideal overlap: the longest stage alone", *times.ideal_overlap);
  return table;
}

Plot samples_of(const std::vector<double>& samples, const Times& times, const std::string& observed_label) {
  Series runs{.name = observed_label, .is_line = false};
  for (std::size_t i = 0; i < samples.size(); ++i)
    runs.points.push_back({.x = static_cast<double>(i + 1), .y = samples[i]});
  Plot plot{.title = "Time of each run",
            .x = {.label = "run", .unit = ""},
            .y = {.label = "time", .unit = "s"},
            .series = {std::move(runs)},
            .limits = {{.name = "predicted", .y = times.predicted.value}}};
  if (times.bound) plot.limits.push_back({.name = "bound", .y = times.bound->value});
  return plot;
}

std::optional<TimelinePlot> timelines_of(const JsonReader& json, const std::string& observed_label) {
  TimelinePlot plot{.title = fmt::format("Timeline: predicted above {}", observed_label),
                    .note = "A row for each engine, a bar for each op, one colour for each chunk."};
  if (const auto source = json.find("trace_source"))
    plot.note += fmt::format(
        " Observed is one further run, which takes longer when it is traced; its times are from {}.", source->string());
  if (const auto predicted = json.find("predicted_timeline")) plot.panels.push_back(panel_of(*predicted, "predicted"));
  if (const auto observed = json.find("timeline")) plot.panels.push_back(panel_of(*observed, observed_label));
  return plot.panels.empty() ? std::nullopt : std::optional(std::move(plot));
}

std::string result_of(const JsonReader& json) {
  const auto verified = json.find("verified");
  if (!verified) return "The result was not verified.";
  return verified->boolean() ? "Every byte of the result was verified."
                             : fmt::format("The result is wrong: {}.", json.at("difference").string());
}

}  // namespace

Part run_part(const JsonReader& json, const std::string& source) {
  const std::string job = json.at("workload").string();
  const std::string label = json.at("simulated").boolean() ? "simulated" : "observed";
  const Times times{.predicted = positive_quantity_of(json.at("predicted").at("predicted")),
                    .observed = positive_quantity_of(json.at("observed")),
                    .bound = positive_if_known(json, "bound"),
                    .ideal_overlap = positive_if_known(json, "ideal_overlap")};
  Part part{.section = {.title = fmt::format("Run of {} by {}", job, json.at("choice").at("strategy").string()),
                        .source = source}};
  std::string summary =
      fmt::format("{} on {} with {}: {} {}, predicted {} ({})", job, json.at("device").string(),
                  to_string(Form<Choice>::read(json.at("choice"))), label, time_cell(times.observed).text,
                  time_cell(times.predicted).text, signed_percent(times.predicted.value / times.observed.value - 1));
  if (times.bound) summary += fmt::format("; {:.3f} times the bound", times.observed.value / times.bound->value);
  if (json.at("simulated").boolean()) summary += " (simulated, not observed)";
  const auto verified = json.find("verified");
  const bool is_wrong = verified && !verified->boolean();
  part.summary.push_back(is_wrong ? fmt::format("WRONG RESULT: {}. {}", json.at("difference").string(), summary)
                                  : summary + ".");
  part.section.sentences.push_back(summary + ". " + result_of(json));
  part.section.figures.emplace_back(table_of(times, label));
  if (const std::vector<double> samples = values_of(json.at("samples")); samples.size() > 1)
    part.section.figures.emplace_back(samples_of(samples, times, label));
  if (auto timelines = timelines_of(json, label))
    part.section.figures.emplace_back(std::move(*timelines));
  else
    part.section.sentences.emplace_back(
        "The run has no timeline: `shiplap run --json --gantt` writes predicted and observed times of every op.");
  return part;
}

}  // namespace shiplap::page

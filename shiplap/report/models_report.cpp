#include "shiplap/report/models_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "shiplap/report/choice_name.hpp"

namespace shiplap {
namespace {

std::string time_or_dash(Seconds t) { return t > Seconds{0} ? to_string(t) : "–"; }

/// The number with four digits and its unit, "" where there is none.
std::string number(std::optional<double> value, const std::string& unit) {
  if (!value) return "";
  if (unit == "ms") return to_string(Seconds{*value / 1e3});
  if (unit == "GB/s") return to_string(gigabytes_per_second(*value));
  if (unit == "GFLOP/s") return rate_of_operations(*value);
  return fmt::format("{:.4g}", *value);
}

}  // namespace

std::string paper_answers_report(std::span<const PaperAnswer> answers, const TextStyle& style) {
  std::string out;
  for (auto first = answers.begin(); first != answers.end();) {
    const auto end = std::find_if(first, answers.end(), [&](const PaperAnswer& a) { return a.paper != first->paper; });
    Table table{.columns = {{"question"}, {"answer"}, {"as printed"}, {"source"}}};
    std::string missing;
    for (const PaperAnswer& a : std::span(first, end)) {
      const std::string value = number(a.value, a.unit);
      if (a.is_missing)
        missing += "  " + wrap(fmt::format("{}: {}", a.question, a.words), style.width - 2, "    ") + "\n";
      else
        table.add({a.question, value + (value.empty() || a.words.empty() ? "" : ", ") + a.words,
                   a.printed ? number(a.printed, a.unit) : "–", a.source});
    }
    out += fmt::format("{}\n{}{}", bold(first->paper, style), table.empty() ? "" : table.text(style, "  "), missing);
    first = end;
  }
  return out;
}

std::string below_the_bound(std::span<const ModelComparison> comparisons, Seconds bound, const TextStyle& style) {
  std::vector<std::string> models;
  std::string text;
  for (const ModelComparison& comparison : comparisons)
    for (const ModelPrediction& m : comparison.models) {
      constexpr double rounding = 1e-9;
      if (!m.time || *m.time >= bound * (1 - rounding) || std::ranges::find(models, m.model) != models.end()) continue;
      models.push_back(m.model);
      text += wrap(fmt::format("{} gives {}, less than the bound of {}, which no run can be below{}.", m.model,
                               to_string(*m.time), to_string(bound),
                               m.assumption.empty() ? "" : ": it assumes that " + m.assumption),
                   style.width, "  ") +
              "\n";
    }
  return text;
}

Table models_table(std::span<const ModelComparison> comparisons) {
  Table table{.columns = {{"choice"}}};
  std::vector<std::string> models;
  for (const ModelComparison& comparison : comparisons)
    for (const ModelPrediction& m : comparison.models)
      if (m.time && std::ranges::find(models, m.model) == models.end()) models.push_back(m.model);
  for (const std::string& model : models) {
    std::string title = model;
    std::ranges::replace(title, '-', ' ');  // so that it may be broken
    table.columns.push_back({title, Align::right});
  }
  for (const ModelComparison& comparison : comparisons) {
    std::vector<Cell> cells{document::short_name(comparison.choice)};
    for (const std::string& model : models) {
      const auto found = std::ranges::find(comparison.models, model, &ModelPrediction::model);
      cells.emplace_back(found != comparison.models.end() && found->time ? to_string(*found->time) : "–");
    }
    table.add(std::move(cells));
  }
  return table;
}

std::string models_report(std::span<const ModelComparison> comparisons, const TextStyle& style) {
  std::string out;
  for (const ModelComparison& comparison : comparisons) {
    out += out.empty() ? "" : "\n";
    out += bold_lines(wrap(to_string(comparison.choice), style.width, "  "), style);
    Table table{.columns = {{"model"},
                            {"form"},
                            {"predicted", Align::right},
                            {"against simulation", Align::right},
                            {"in", Align::right},
                            {"kernel", Align::right},
                            {"out", Align::right},
                            {"fixed", Align::right},
                            {"submission", Align::right}}};
    std::string assumptions;
    const bool lacks_simulation = std::ranges::any_of(
        comparison.models, [](const ModelPrediction& m) { return m.model == "simulation" && !m.time; });
    std::string missing;
    for (const ModelPrediction& m : comparison.models) {
      if (!m.time) {
        missing += "  " + wrap(fmt::format("{}: {}", m.model, m.why_not), style.width - 2, "    ") + "\n";
        continue;
      }
      if (!m.assumption.empty())
        assumptions +=
            "  " +
            wrap(fmt::format("{}, {}: assumes that {}", m.model, m.form, m.assumption), style.width - 2, "    ") + "\n";
      const double off = *m.time / comparison.simulation.value - 1;
      table.add({m.model, m.form, to_string(*m.time),
                 lacks_simulation || &m == &comparison.models.front() ? "–" : signed_percent(off),
                 time_or_dash(m.parts.in), time_or_dash(m.parts.kernel), time_or_dash(m.parts.out),
                 time_or_dash(m.parts.fixed), time_or_dash(m.parts.submission)});
    }
    out += table.text(style, "  ") + assumptions + missing;
    Table sensitivities{.columns = {{"1 % more of"}, {"makes it longer by", Align::right}}};
    for (const Elasticity& e : comparison.elasticities)
      if (std::abs(e.value) >= 0.005) sensitivities.add({e.quantity, signed_percent(e.value / 100)});
    if (!sensitivities.empty()) out += "\n" + sensitivities.text(style, "  ");
  }
  return out;
}

}  // namespace shiplap

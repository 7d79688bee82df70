#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "shiplap/report/quantity.hpp"
#include "shiplap/report/sections.hpp"

namespace shiplap::document {
namespace {

/// Whether the figure was compared with its limit while nobody else used the node.
bool is_judged(const CheckedFigure& f) { return f.verdict != Verdict::unknown && f.verdict != Verdict::busy; }

Judgement judgement_of(Verdict verdict) {
  return verdict == Verdict::good                              ? Judgement::good
         : verdict == Verdict::low || verdict == Verdict::busy ? Judgement::warn
         : verdict == Verdict::bad                             ? Judgement::bad
                                                               : Judgement::none;
}

std::string attempts_of(const NodeResult& check) {
  std::string names;
  for (const CheckedFigure& f : check.figures)
    if (f.attempts > 1) names += fmt::format("{}{} ({})", names.empty() ? "" : "; ", f.what, to_string(f.verdict));
  return fmt::format("Measured in {} attempts, because figures were bad in the first: {}.", check.attempts, names);
}

}  // namespace

Table verdict_table(const std::vector<CheckedFigure>& figures) {
  Table table{.columns = {{"figure", Align::left}, {"measured", Align::right}, {"of limit", Align::right, "1"}, {""}}};
  for (const CheckedFigure& f : figures)
    table.add({f.what, f.measured, f.fraction > 0 ? percent_cell(f.fraction) : Cell("–"),
               Cell(to_string(f.verdict), judgement_of(f.verdict))});
  return table;
}

Table check_table(const std::vector<CheckedFigure>& figures) {
  Table table{.title = "Each figure and its limit",
              .notes = {"Each figure against what such hardware allows. \"Good from\" is what sound nodes reach."},
              .columns = {{"figure", Align::left},
                          {"measured", Align::right},
                          {"limit", Align::left},
                          {"of limit", Align::right, "1"},
                          {"good from", Align::right, "1"},
                          {"", Align::left}}};
  for (const CheckedFigure& f : figures) {
    const auto fraction = [&](double of_limit) { return f.fraction > 0 ? percent_cell(of_limit) : Cell("–"); };
    table.add({f.what, f.measured, f.limit, fraction(f.fraction), fraction(f.expected),
               Cell(to_string(f.verdict), judgement_of(f.verdict))});
  }
  return table;
}

std::string health_sentence(const std::string& node, const std::vector<CheckedFigure>& figures) {
  const auto count = [&](Verdict verdict) { return std::ranges::count(figures, verdict, &CheckedFigure::verdict); };
  const auto known = std::ranges::count_if(figures, is_judged);
  if (known == 0) return "";
  const Verdict worst = count(Verdict::bad) > 0 ? Verdict::bad : count(Verdict::low) > 0 ? Verdict::low : Verdict::good;
  std::string sentence = fmt::format("{} {}: {} of {} figures good",
                                     worst == Verdict::bad   ? "BAD"
                                     : worst == Verdict::low ? "LOW"
                                                             : "GOOD",
                                     node, count(Verdict::good), figures.size());
  if (const auto unknown = std::ssize(figures) - known; unknown > 0)
    sentence += fmt::format(", {} could not be judged", unknown);
  sentence += ".";
  for (const CheckedFigure& f : figures)
    if (worst != Verdict::good && f.verdict == worst)
      sentence += fmt::format(" \"{}\": {}, {} of its limit, where {} is good.", f.what, f.measured,
                              percent(f.fraction), percent(f.expected));
  for (const CheckedFigure& f : figures)
    if (worst == Verdict::good && f.fraction > 0 && f.what.ends_with("GPU") && f.what.starts_with("copies"))
      sentence += fmt::format(" {}{}: {}, {} of {}.", static_cast<char>(std::toupper(f.what.front())), f.what.substr(1),
                              f.measured, percent(f.fraction), f.limit);
  return sentence;
}

Section check_section(const NodeResult& check, const std::string& source) {
  Section section{.title = fmt::format("Check of {} on {}", check.gpu, check.node), .source = source};
  if (check.verdict == Verdict::busy)
    section.headlines.push_back(fmt::format("{} was busy, so it was not judged.", check.node));
  const std::string health = health_sentence(
      check.node == check.gpu ? check.node : fmt::format("{} {}", check.node, check.gpu), check.figures);
  if (check.origin == Origin::measured && !health.empty())
    section.headlines.push_back(health);
  else if (check.verdict != Verdict::busy)
    section.headlines.push_back(
        check.origin == Origin::measured
            ? fmt::format("UNKNOWN {}: no figure could be judged.", check.node)
            : fmt::format("NOT JUDGED {}: its figures are {}, so that they say nothing about a node today.", check.gpu,
                          check.origin ? to_string(*check.origin) : "of an unknown origin"));
  if (!check.busy.empty())
    section.sentences.push_back(fmt::format("The node is busy, so {}: {}. Check it again when it is idle.",
                                            check.attempts == 0 ? "it was not measured" : "bad figures are not judged",
                                            fmt::join(check.busy, "; ")));
  if (check.attempts > 1) section.sentences.push_back(attempts_of(check));
  for (const CheckedFigure& f : check.figures)
    if (!f.causes.empty()) section.sentences.push_back(fmt::format("{}: {}.", f.what, f.causes));
  section.brief.emplace_back(verdict_table(check.figures));
  section.figures.emplace_back(check_table(check.figures));
  return section;
}

}  // namespace shiplap::document

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "shiplap/report/check_line.hpp"
#include "shiplap/report/quantity.hpp"
#include "shiplap/report/sections.hpp"

namespace shiplap::document {
namespace {

/// The most numbers that a page shows large for one headline.
constexpr std::size_t most_numbers = 4;

/// Whether the figure was compared with its limit while nobody else used the node.
bool is_judged(const CheckedFigure& f) { return f.verdict != Verdict::unknown && f.verdict != Verdict::busy; }

std::string attempts_of(const NodeResult& check) {
  std::string names;
  for (const CheckedFigure& f : check.figures)
    if (f.attempts > 1) names += fmt::format("{}{} ({})", names.empty() ? "" : "; ", f.what, to_string(f.verdict));
  return fmt::format("Measured in {} attempts, because figures were bad in the first: {}.", check.attempts, names);
}

}  // namespace

Judgement judgement_of(Verdict verdict) {
  return verdict == Verdict::good                              ? Judgement::good
         : verdict == Verdict::low || verdict == Verdict::busy ? Judgement::warn
         : verdict == Verdict::bad                             ? Judgement::bad
                                                               : Judgement::none;
}

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

Headline health_headline(const std::string& node, const std::vector<CheckedFigure>& figures) {
  const auto count = [&](Verdict verdict) { return std::ranges::count(figures, verdict, &CheckedFigure::verdict); };
  const auto known = std::ranges::count_if(figures, is_judged);
  if (known == 0) return {};
  const Verdict worst = count(Verdict::bad) > 0 ? Verdict::bad : count(Verdict::low) > 0 ? Verdict::low : Verdict::good;
  const std::string good = fmt::format("{} of {}", count(Verdict::good), figures.size());
  Headline headline{.verdict = fmt::format("{} {}",
                                           worst == Verdict::bad   ? "BAD"
                                           : worst == Verdict::low ? "LOW"
                                                                   : "GOOD",
                                           node),
                    .judgement = judgement_of(worst),
                    .numbers = {{good, "figures good"}}};
  std::string& sentence = headline.sentence;
  sentence = fmt::format("{}: {} figures good", headline.verdict, good);
  if (const auto unknown = std::ssize(figures) - known; unknown > 0)
    sentence += fmt::format(", {} could not be judged", unknown);
  sentence += ".";
  const auto add = [&](const CheckedFigure& f, const std::string& of) {
    for (const KeyNumber& number : {KeyNumber{f.measured, f.what}, KeyNumber{percent(f.fraction), of}})
      if (headline.numbers.size() < most_numbers) headline.numbers.push_back(number);
  };
  for (const CheckedFigure& f : figures)
    if (worst != Verdict::good && f.verdict == worst) {
      sentence += fmt::format(" \"{}\": {}, {} of its limit, where {} is good.", f.what, f.measured,
                              percent(f.fraction), percent(f.expected));
      add(f, fmt::format("of its limit, good from {}", percent(f.expected)));
    }
  for (const CheckedFigure& f : figures)
    if (worst == Verdict::good && f.fraction > 0 && f.what.ends_with("GPU") && f.what.starts_with("copies")) {
      sentence += fmt::format(" {}{}: {}, {} of {}.", static_cast<char>(std::toupper(f.what.front())), f.what.substr(1),
                              f.measured, percent(f.fraction), f.limit);
      add(f, "of what the link allows");
    }
  return headline;
}

Section check_section(const NodeResult& check, const std::string& source) {
  // Neither a profile nor a simulated GPU is this host.
  const bool is_profile = check.node == check.gpu;
  const bool is_simulated = check.gpu.starts_with("virtual:");
  const std::string subject = is_profile     ? "profile " + check.gpu
                              : is_simulated ? check.gpu + " (simulated)"
                                             : fmt::format("{} {}", check.node, check.gpu);
  Section section{.title = fmt::format("Check of {}", subject), .source = source};
  if (check.verdict == Verdict::busy)
    section.headlines.push_back(
        {.sentence = fmt::format("{} was busy, so it was not judged.", check.node), .judgement = Judgement::warn});
  const Headline health = health_headline(subject, check.figures);
  if (is_of_a_node(check.origin) && !health.sentence.empty())
    section.headlines.push_back(health);
  else if (check.verdict != Verdict::busy)
    section.headlines.push_back(
        {.sentence = is_of_a_node(check.origin)
                         ? fmt::format("UNKNOWN {}: no figure could be judged.", subject)
                         : fmt::format("UNKNOWN {}: {}.", subject, why_not_judged(check.origin))});
  if (is_profile) section.sentences.push_back("These figures were read from the profile; nothing was measured now.");
  if (is_simulated)
    section.sentences.push_back(
        fmt::format("{} is a virtual device: this is about profile {}, which it simulates, and not about {}.",
                    check.gpu, check.kind, check.node));
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

#include <fmt/format.h>

#include <utility>

#include "shiplap/document/table.hpp"
#include "shiplap/measure/check.hpp"
#include "shiplap/measure/figures.hpp"
#include "shiplap/measure/node_result.hpp"
#include "shiplap/profile/topology.hpp"
#include "shiplap/report/profile_report.hpp"
#include "shiplap/report/quantity.hpp"
#include "shiplap/report/rate_curves.hpp"
#include "shiplap/report/sections.hpp"

namespace shiplap::document {
namespace {

// Colours tell directions apart, and dashes the memory or whether the other direction is busy.
const std::string pageable_dashes = "8 4";
const std::string prefetch_dashes = "2 3";
const std::string demand_dashes = "8 3 2 3";
const std::string duplex_dashes = "8 4";
const std::vector<NamedPrimitive> rates_over_size{{"pinned H2D", "copy.pinned.h2d", "h2d"},
                                                  {"pinned D2H", "copy.pinned.d2h", "d2h"},
                                                  {"pinned, both directions together", "copy.pinned.both", "both"},
                                                  {"pageable H2D", "copy.pageable.h2d", "h2d", pageable_dashes},
                                                  {"pageable D2H", "copy.pageable.d2h", "d2h", pageable_dashes},
                                                  {"managed, prefetch H2D", "prefetch.h2d", "h2d", prefetch_dashes},
                                                  {"managed, prefetch D2H", "prefetch.d2h", "d2h", prefetch_dashes},
                                                  {"managed, on demand H2D", "demand.h2d", "h2d", demand_dashes}};
const std::vector<NamedPrimitive> bursts{{"H2D alone", "burst.pinned.h2d", "h2d"},
                                         {"D2H alone", "burst.pinned.d2h", "d2h"},
                                         {"H2D while D2H runs", "duplex.pinned.h2d", "h2d", duplex_dashes},
                                         {"D2H while H2D runs", "duplex.pinned.d2h", "d2h", duplex_dashes}};
const std::vector<NamedPrimitive> zero_copy{
    {"reads", "mapped.read", "h2d"}, {"writes", "mapped.write", "d2h"}, {"both together", "mapped.both", "both"}};
const std::vector<NamedPrimitive> staging{
    {"H2D", "staged.h2d", "h2d"}, {"D2H", "staged.d2h", "d2h"}, {"both together", "staged.both", "both"}};

/// Adds the plot unless nothing in it was measured.
void add(Section& section, Plot plot) {
  if (!plot.series.empty()) section.figures.emplace_back(std::move(plot));
}

Table all_figures(std::span<const shiplap::Figure> figures) {
  Table table{.title = "All measured figures",
              .columns = {{"figure"},
                          {"time", Align::automatic, "s"},
                          {"rate", Align::automatic, "B/s"},
                          {"of the limit", Align::automatic, "1"},
                          {"clock"}}};
  for (const shiplap::Figure& figure : figures) {
    const double seconds = figure.time.value.count();
    const bool has_rate = figure.bytes && seconds > 0;
    const double rate = has_rate ? in_bytes(*figure.bytes) / seconds : 0;
    table.add({name_of(figure), time_cell({Seconds{seconds}, figure.time.low, figure.time.high}),
               has_rate ? Cell(to_string(Bandwidth{rate}), rate) : Cell("–"),
               has_rate && figure.limit ? percent_cell(rate / *figure.limit) : Cell("–"), figure.clock});
  }
  return table;
}

Table conditions_of(const Profile& profile) {
  Table table{.title = "Conditions of the measurement", .columns = {{"condition"}, {"value"}}};
  for (const auto& [name, value] : profile.conditions) table.add({name, value});
  return table;
}

std::string rate_with_fraction(PerByte cost, double limit) {
  const Bandwidth rate = bandwidth(cost);
  return limit > 0 ? fmt::format("{} ({} of the link's limit)", to_string(rate), percent(rate.bytes_per_second / limit))
                   : to_string(rate);
}

/// How fast large copies of pinned memory run.
Headline speed_headline(const Profile& profile, const std::string& gpu) {
  const LinkModel* const of_gpu = profile.find_link(0);
  if (of_gpu == nullptr || !(of_gpu->h2d.per_byte.value.seconds > 0) || !(of_gpu->d2h.per_byte.value.seconds > 0))
    return {.sentence = gpu + ": the rates of large copies are not known."};
  const LinkModel& link = *of_gpu;
  const double limit = pcie_link_rate(condition(profile.conditions, "gpu.link"));
  Headline headline{
      .verdict = gpu,
      .sentence = fmt::format("{}: large copies from pinned memory run at {} to the GPU and at {} to the host", gpu,
                              rate_with_fraction(link.h2d.per_byte.value, limit),
                              rate_with_fraction(link.d2h.per_byte.value, limit)),
      .numbers = {{to_string(bandwidth(link.h2d.per_byte.value)), "to the GPU"},
                  {to_string(bandwidth(link.d2h.per_byte.value)), "to the host"}}};
  if (link.h2d.duplex && link.d2h.duplex && link.h2d.duplex->per_byte.value.seconds > 0 &&
      link.d2h.duplex->per_byte.value.seconds > 0)
    headline.sentence += fmt::format("; duplex, at {} and {}", to_string(bandwidth(link.h2d.duplex->per_byte.value)),
                                     to_string(bandwidth(link.d2h.duplex->per_byte.value)));
  headline.sentence += ".";
  return headline;
}

}  // namespace

Section profile_section(const Profile& profile, const std::string& source) {
  const std::string gpu = profile.gpus.empty() ? "a GPU without a name" : profile.gpus.front().name;
  const bool is_measured = profile.origin == Origin::measured;
  const std::string name = fmt::format("{} (profile {}{})", gpu, profile.name,
                                       is_measured ? "" : fmt::format(", {}", to_string(profile.origin)));
  Section section{.title = "Node: " + name, .source = source};
  section.sentences.push_back(
      fmt::format("{}, parameters {}. {}", to_string(profile.origin), parameter_hash(profile), profile.source));
  if (const std::string note = simulation_note(profile); !note.empty()) section.sentences.push_back(note);

  const std::vector<shiplap::Figure> measured = figures(profile.measurements, profile.conditions);
  const std::vector<CheckedFigure> checked = check(profile);
  section.headlines.push_back(speed_headline(profile, name));
  if (Headline health = health_headline(fmt::format("profile {}", profile.name), checked);
      is_of_a_node(profile.origin) && !health.sentence.empty()) {
    if (health.judgement == Judgement::good)  // the rates are in the other sentence
      health.sentence.erase(health.sentence.find('.', health.verdict.size()) + 1);
    section.headlines.front().numbers.clear();  // a page shows them with the verdict
    section.headlines.push_back(std::move(health));
  }

  section.brief.emplace_back(verdict_table(checked));
  section.figures.push_back(check_table(checked));

  const Axis size{.label = "size of the copy", .unit = "B", .logarithmic = true};
  const Axis rate{.label = "rate", .unit = "B/s"};
  add(section, {.title = "Rate of one copy over its size",
                .note = "One copy at a time, with its latency. Bands are 95 % intervals.",
                .x = size,
                .y = rate,
                .series = rate_curves(measured, rates_over_size, "bytes"),
                .limits = link_limits(profile)});
  add(section, {.title = "Time of one copy over its size",
                .note = "Small copies take their latency, large ones their bytes over the rate.",
                .x = size,
                .y = {.label = "time", .unit = "s", .logarithmic = true},
                .series = time_curves(measured, rates_over_size, "bytes")});
  add(section, {.title = "Copies in a row, alone and while the other direction runs",
                .note = "The rate of further copies of this size, alone and while the other direction is busy.",
                .x = size,
                .y = rate,
                .series = rate_curves(measured, bursts, "bytes"),
                .limits = link_limits(profile)});
  add(section, {.title = "Zero-copy: kernels that access pinned host memory",
                .note = "The best rate of any access width for each number of thread blocks.",
                .x = {.label = "thread blocks", .unit = "", .logarithmic = true},
                .y = rate,
                .series = rate_curves(measured, zero_copy, "blocks")});
  add(section, {.title = "Pageable memory through pinned rings",
                .note = "Host threads copy pageable bytes into pinned rings.",
                .x = {.label = "host threads", .unit = "", .logarithmic = true},
                .y = rate,
                .series = rate_curves(measured, staging, "threads")});
  if (!measured.empty()) section.figures.emplace_back(all_figures(measured));
  if (!profile.conditions.empty()) section.figures.emplace_back(conditions_of(profile));
  return section;
}

}  // namespace shiplap::document

#include "experiments/werkhoven2014/tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/core/statistics.hpp"
#include "shiplap/measure/measure.hpp"

namespace shiplap::experiments::werkhoven {
namespace {

using van_werkhoven_2014::UnderLoad;
using van_werkhoven_2014::Work;

// Size of the copies of a transfer, where parameters come from the profile.
constexpr Bytes copy_size_of_profile = 4_MiB;

double number_in(const Figure& figure, const std::vector<Cell>& row, std::string_view column) {
  const auto found = std::ranges::find(figure.columns, column, &Column::name);
  if (found == figure.columns.end()) throw Error(fmt::format("{} has no column '{}'", figure.id, column));
  const auto* number = std::get_if<double>(&row.at(static_cast<std::size_t>(found - figure.columns.begin())));
  if (number == nullptr) throw Error(fmt::format("{} has no number under '{}'", figure.id, column));
  return *number;
}

const std::string* text_at(const std::vector<Cell>& row, std::size_t column) {
  return column < row.size() ? std::get_if<std::string>(&row[column]) : nullptr;
}

/// Parameters of both directions, if the figure has them.
std::optional<std::pair<loggp::Parameters, loggp::Parameters>> parameters_in(const Figure& table1) {
  std::vector<loggp::Parameters> found;
  for (const auto& row : table1.rows) {
    const auto column = std::ranges::find(table1.columns, "G here", &Column::name);
    if (column == table1.columns.end() ||
        std::holds_alternative<std::monostate>(row.at(static_cast<std::size_t>(column - table1.columns.begin()))))
      return std::nullopt;
    found.push_back({.latency_overhead = microseconds(number_in(table1, row, "L+o here")),
                     .per_byte = {number_in(table1, row, "G here") * 1e-9},
                     .gap = microseconds(number_in(table1, row, "g here"))});
  }
  if (found.size() != 2) return std::nullopt;
  return std::pair{found[0], found[1]};  // H2D, D2H
}

TableTwo rows_in(const Figure& figure) {
  TableTwo found;
  for (const auto& row : figure.rows) {
    const std::string* link = text_at(row, 0);
    const std::string* mode = text_at(row, 1);
    if (link == nullptr || mode == nullptr || *link != here) continue;
    const UnderLoad load{{number_in(figure, row, "G host to device") * 1e-9},
                         {number_in(figure, row, "G device to host") * 1e-9}};
    if (*mode == mode_copies) found.copies = load;
    if (mode->starts_with(mode_mapped)) found.mapped.push_back({.grid = *mode, .per_byte = load});
  }
  return found;
}

loggp::Parameters of_profile(const DirectionModel& direction, Bytes piece) {
  const CostAt cost = cost_at(direction, piece);
  return {cost.latency_overhead, direction.per_byte.value, cost.gap};
}

}  // namespace

TableTwo table2_of(const Profile& profile) {
  TableTwo found;
  if (profile.links.empty()) return found;
  const LinkModel& link = profile.links.front();
  if (link.h2d.duplex && link.d2h.duplex)
    found.copies = UnderLoad{link.h2d.duplex->per_byte.value, link.d2h.duplex->per_byte.value};
  if (!link.zero_copy) return found;
  const auto& gap = profile.gpus.front().kernel_gap;
  for (const ZeroCopyBeside& row : link.zero_copy->write_beside_h2d)
    found.mapped.push_back(
        {.grid = to_string(row.in_flight) + " in flight",
         .per_byte = over_kernels_and_pauses(row, of_profile(link.h2d, table2_launch), gap ? gap->value : Seconds{0})});
  return found;
}

PaperLink paper_link(const Bench& bench) {
  const auto made = [&](std::string_view id) { return bench.made_before ? bench.made_before(id) : nullptr; };
  PaperLink link;
  const Figure* one = made("table1");
  if (const auto both = one != nullptr ? parameters_in(*one) : std::nullopt) {
    std::tie(link.h2d, link.d2h) = *both;
    link.origin = "L+o, G and g are Table I of this run";
  } else {
    const LinkModel& model = bench.profile.links.front();
    link.h2d = of_profile(model.h2d, copy_size_of_profile);
    link.d2h = of_profile(model.d2h, copy_size_of_profile);
    link.origin = "Table I was not made in this run: L+o, G and g are the profile's";
  }
  const Figure* two = made("table2");
  const TableTwo loaded = two != nullptr ? rows_in(*two) : table2_of(bench.profile);
  link.copies = loaded.copies;
  if (!loaded.mapped.empty()) link.mapped = loaded.mapped.back().per_byte;
  link.origin += two != nullptr ? ", G under load its Table II"
                                : "; Table II was not made in this run: G under load follows from the profile's rates";
  if (link.mapped)
    link.origin += fmt::format(" (copies concurrent with mapped writes {} and {})",
                               to_string(bandwidth(link.mapped->h2d)), to_string(bandwidth(link.mapped->d2h)));
  link.origin += ".";
  return link;
}

std::optional<Seconds> measured_time(const Bench& bench, const std::string& primitive) {
  const auto found = measure(bench.device, {.effort = Effort::quick, .only = primitive, .progress = bench.progress});
  if (found.measurements.empty()) return std::nullopt;
  return microseconds(median(figure_samples(found.measurements.front())));
}

Seconds summed_kernels(const Job& job, std::uint32_t chunks) {
  return job.cost.launch_time((job.items + chunks - 1) / chunks) * chunks;
}

Work work_of(const PaperLink& link, const Job& job, std::uint32_t chunks) {
  return {.h2d = link.h2d,
          .d2h = link.d2h,
          .in = bytes_in(job),
          .out = bytes_out(job),
          .kernel = summed_kernels(job, chunks)};
}

}  // namespace shiplap::experiments::werkhoven

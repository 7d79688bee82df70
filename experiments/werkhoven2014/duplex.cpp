// Table II: G of each direction in duplex, with copies and with kernels that write host memory.
#include <fmt/format.h>

#include <algorithm>

#include "experiments/werkhoven2014/judge.hpp"
#include "experiments/werkhoven2014/steps.hpp"
#include "experiments/werkhoven2014/tables.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/core/statistics.hpp"
#include "shiplap/measure/measure.hpp"

namespace shiplap::experiments::werkhoven {
namespace {

using van_werkhoven_2014::UnderLoad;

constexpr std::array<std::string_view, 2> duplex_ids{"table2", "contention"};

/// Time per byte of one op more, by the argument that distinguishes the points of a primitive. Where that is the grid,
/// kernels access 8 MiB; where it is the size, copies have 16 MiB or more.
std::map<double, PerByte> rates(const Bench& bench, const std::string& primitive, const char* argument,
                                const char* count) {
  std::map<double, std::map<double, double>> times;  // seconds by argument and total bytes
  const bool by_size = std::string_view(argument) == "bytes";
  const MeasureOptions options{.effort = bench.quick ? Effort::quick : Effort::standard,
                               .largest = !by_size      ? table2_launch
                                          : bench.quick ? 64_MiB
                                                        : 256_MiB,
                               .smallest = by_size ? 16_MiB : table2_launch,
                               .only = primitive,
                               .progress = bench.progress};
  for (const Measurement& m : measure(bench.device, options).measurements) {
    const double size = m.arguments.at("bytes");
    if (!m.verified || (!by_size && size != static_cast<double>(table2_launch.count))) continue;
    const double moved =
        m.arguments.contains("copy") && primitive.starts_with("copies.") ? m.arguments.at("copy") : size;
    times[m.arguments.at(argument)][moved * m.arguments.at(count)] = median(figure_samples(m)) * 1e-6;
  }
  std::map<double, PerByte> result;
  for (const auto& [key, by_bytes] : times) {
    if (by_bytes.size() < 2) continue;
    const auto [few, first] = *by_bytes.begin();
    const auto [many, last] = *by_bytes.rbegin();
    result.emplace(key, PerByte{(last - first) / (many - few)});
  }
  return result;
}

TableTwo of_measurement(const Bench& bench) {
  TableTwo found;
  const auto in = rates(bench, "duplex.pinned.h2d", "bytes", "copies");
  const auto out = rates(bench, "duplex.pinned.d2h", "bytes", "copies");
  if (!in.empty() && !out.empty()) found.copies = UnderLoad{in.rbegin()->second, out.rbegin()->second};
  const auto copies = rates(bench, "copies.h2d.beside.write", "blocks", "count");
  const auto writes = rates(bench, "mapped.write.beside.h2d", "blocks", "count");
  for (const auto& [blocks, per] : copies) {
    const auto kernel = writes.find(blocks);
    if (kernel != writes.end())
      found.mapped.push_back({.grid = fmt::format("{} blocks", blocks), .per_byte = {per, kernel->second}});
  }
  return found;
}

std::vector<Cell> row_of(std::string link, std::string mode, std::string gpu, const UnderLoad& l) {
  return {std::move(link),
          std::move(mode),
          std::move(gpu),
          l.h2d.seconds * 1e9,
          l.d2h.seconds * 1e9,
          in_gigabytes_per_second(bandwidth(l.h2d)),
          in_gigabytes_per_second(bandwidth(l.d2h))};
}

Figure table2_figure(const Bench& bench, const TableTwo& found, const std::optional<UnderLoad>& alone) {
  Figure f{
      .id = "table2",
      .where = "Table II",
      .title = "a byte while the other direction is busy",
      .columns = {{"link", ""},
                  {"mode", ""},
                  {"GPU", ""},
                  {"G host to device", "ns/byte"},
                  {"G device to host", "ns/byte"},
                  {"host to device", "GB/s"},
                  {"device to host", "GB/s"}},
      .rows = {},
      .note = fmt::format("Explicit-mapped: results are written by a kernel into host memory, in launches of 8 MiB "
                          "here. {} The paper does not say with which grid.",
                          bench.info.is_virtual ? "Rows of this device are the parameters of its profile: nothing "
                                                  "was run."
                                                : "By the number of blocks of 256 threads with 16-byte writes.")};
  for (const LoadedLink& row : table2())
    f.rows.push_back(
        row_of(fmt::format("{} (published)", row.link), std::string(row.mode), std::string(row.gpu), row.per_byte));
  f.rows.push_back(
      row_of("PCIe 3.0 (published, Table I)", "one way", "GTX Titan", {table1(true).per_byte, table1(false).per_byte}));
  if (alone) f.rows.push_back(row_of(std::string(here), "one way", bench.info.name, *alone));
  if (found.copies)
    f.rows.push_back(row_of(std::string(here), std::string(mode_copies), bench.info.name, *found.copies));
  for (const MappedRow& row : found.mapped)
    f.rows.push_back(
        row_of(std::string(here), fmt::format("{}, {}", mode_mapped, row.grid), bench.info.name, row.per_byte));
  if (!found.copies) f.note += " No row for duplex copies: the device has one copy engine, or its rates are not known.";
  if (found.mapped.empty()) f.note += " No row for mapped writes: their rates on this device are not known.";
  return f;
}

}  // namespace

StepResult run_duplex(const Bench& bench) {
  StepResult result;
  if (bench.profile.links.empty()) {
    cannot_check(result, duplex_ids, fmt::format("profile {} has no link to copy over", bench.profile.name));
    result.figures.push_back(table2_figure(bench, {}, std::nullopt));
    return result;
  }
  const PaperLink link = paper_link(bench);
  const UnderLoad alone{link.h2d.per_byte, link.d2h.per_byte};
  const TableTwo found = bench.info.is_virtual ? table2_of(bench.profile) : of_measurement(bench);
  DuplexRates judged{.alone = alone, .copies = found.copies, .mapped = std::nullopt};
  if (!found.mapped.empty()) judged.mapped = found.mapped.back().per_byte;
  result.figures.push_back(table2_figure(bench, found, alone));
  result.findings = judge_duplex(judged);
  return result;
}

}  // namespace shiplap::experiments::werkhoven

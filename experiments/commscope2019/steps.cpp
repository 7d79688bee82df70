// The steps of the reproduction of Comm|Scope: its tables and figures.
#include <fmt/format.h>

#include <algorithm>

#include "experiments/commscope2019/judge.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/measure/measure.hpp"
#include "shiplap/profile/topology.hpp"

namespace shiplap::experiments::commscope {
namespace {

Cell named(const std::string& text) {
  if (text.empty()) return std::monostate{};
  return text;
}

std::string fact(const Bench& bench, const std::string& name) {
  for (const Conditions* conditions : {&bench.info.conditions, &bench.profile.conditions})
    if (const auto found = conditions->find(name); found != conditions->end()) return found->second;
  return "";
}

std::optional<Bandwidth> link_of(const Bench& bench) {
  const double limit = pcie_link_rate(fact(bench, "gpu.link"));
  if (limit <= 0) return std::nullopt;
  return Bandwidth{limit};
}

Figure machines(const Bench& bench) {
  const auto words = [](const char* text) { return Cell{std::string(text)}; };
  const auto known = [&](const std::string& name) { return named(fact(bench, name)); };
  Figure figure{.id = "table2",
                .where = "Table 2; Figs 3 to 5",
                .title = "the machines of the paper and this one",
                .columns = {{"machine", ""},
                            {"CPU", ""},
                            {"GPU", ""},
                            {"CPU to CPU", ""},
                            {"CPU to GPU", ""},
                            {"GPU to GPU", ""},
                            {"kernel", ""},
                            {"CUDA", ""},
                            {"driver", ""},
                            {"page", ""}},
                .rows = {},
                .note =
                    "Of this machine what the device or its profile tells. The CPU-to-CPU link of the AC922 cannot "
                    "be 64 GB/s in both directions together: one direction alone carried 41."};
  figure.rows.push_back({words("AC922, published"), words("2x POWER9"), words("4x V100 32 GB"), words("x-bus, 64 GB/s"),
                         words("NVLink 2.0 x3"), words("NVLink 2.0 x3"), words("4.15.0"), words("9.2"), words("396.26"),
                         words("64 KiB")});
  figure.rows.push_back({words("S822LC, published"), words("2x POWER8"), words("4x P100"), words("x-bus, 38.4 GB/s"),
                         words("NVLink 1.0 x2"), words("NVLink 1.0 x2"), words("4.4.0"), words("9.2"), words("396.26"),
                         words("64 KiB")});
  figure.rows.push_back({words("4029GP, published"), words("2x Xeon Gold 6148"), words("8x V100 16 GB"),
                         words("UPI x3, 62.4 GB/s"), words("PCIe 3.0"), words("NVLink 2.0 x1 or x2"), words("4.15.0"),
                         words("9.1"), words("396.26"), words("4 KiB")});
  const Cell cpu = known(fact(bench, "host.cpu").empty() ? "cpu" : "host.cpu");
  const Cell link = known(fact(bench, "gpu.link").empty() ? "link" : "gpu.link");
  figure.rows.push_back({bench.info.id, cpu, fmt::format("{}x {}", bench.info.gpus, bench.info.name), Cell{}, link,
                         Cell{}, known("host.kernel"), known("cuda.runtime_version"), known("gpu.driver"),
                         known("host.page_size")});
  return figure;
}

/// A table of every number that the paper prints, beside ours.
Figure numbers(const Rates& rates, const Bench& bench) {
  Figure figure{
      .id = "numbers",
      .where = "Sections 4.1 and 4.2",
      .title = "what the paper prints as numbers",
      .columns = {{"what", ""}, {"published on", ""}, {"published", "GB/s"}, {"here", "GB/s"}},
      .rows = {},
      .note = fmt::format("Rates {}. The paper's other figures are pictures without numbers.", rates.source())};
  const auto largest = [&](const std::string& primitive) -> std::optional<Bandwidth> {
    const auto sizes = rates.sizes(primitive);
    return sizes.empty() ? std::nullopt : rates.rate(primitive, sizes.back());
  };
  figure.rows.push_back({std::string("pinned memory of the near node to the GPU"), std::string("AC922"),
                         published_local_gb, gb(largest("copy.pinned.h2d"))});
  figure.rows.push_back(
      {std::string("pinned memory of the far node to the GPU"), std::string("AC922"), published_far_gb, Cell{}});
  figure.rows.push_back(
      {std::string("the link, one way"), std::string("AC922"), published_link_gb, gb(link_of(bench))});
  return figure;
}

Figure ratios(const Rates& rates) {
  Figure figure{.id = "fig7_ratio",
                .where = "Fig. 7",
                .title = "duplex rate over the mean of both directions alone",
                .columns = {{"size each way", ""}, {"pinned", "times"}, {"pageable", "times"}},
                .rows = {},
                .note = "Published in words: about twice for pinned, hardly more than once for pageable memory."};
  for (const Bytes size : rates.sizes("copy.pinned.both")) {
    std::vector<Cell> row{to_string(size)};
    for (const std::string kind : {"pinned", "pageable"}) {
      const auto there = rates.common({"copy." + kind + ".both", "copy." + kind + ".h2d", "copy." + kind + ".d2h"});
      const bool has = std::ranges::find(there, size) != there.end();
      row.emplace_back();
      if (has) row.back() = both_over_one(rates, kind, size);
    }
    figure.rows.push_back(std::move(row));
  }
  return figure;
}

Figure zero_copy_figure(const std::vector<ZeroCopy>& all, const Bench& bench, const std::string& why_not) {
  Figure figure{.id = "fig9",
                .where = "Fig. 9",
                .title = "copies and kernels that access host memory, 256 blocks of 256 threads",
                .columns = {{"size", ""},
                            {"copy to GPU", "GB/s"},
                            {"read, 4 B an access", "GB/s"},
                            {"read, 16 B an access", "GB/s"},
                            {"copy to host", "GB/s"},
                            {"write, 4 B an access", "GB/s"},
                            {"write, 16 B an access", "GB/s"},
                            {"steady", ""}},
                .rows = {},
                .note = bench.info.is_virtual
                            ? "Simulated on the profile, at the published sizes; no bytes are moved. "
                            : "Measured, bytes compared: one launch or copy of each in turn, medians of two visits and "
                              "more, with host memory out of the caches of the CPU. Not steady: visits "
                              "differ or samples scatter, which no verdict is based on. "};
  figure.note += "Published with 4 bytes an access, as a picture.";
  if (!why_not.empty()) figure.note += fmt::format(" Nothing beyond the rows: {}.", why_not);
  for (const ZeroCopy& one : all)
    figure.rows.push_back({to_string(one.size), gb(one.to_gpu), gb(one.read), gb(one.read16), gb(one.from_gpu),
                           gb(one.write), gb(one.write16), std::string(one.steady ? "yes" : "no, disturbed")});
  return figure;
}

Figure grids(const Rates& rates) {
  Figure figure{.id = "grids",
                .where = "Section 4.4",
                .title = "kernels that access host memory, by their grid, 16 bytes an access",
                .columns = {{"blocks of 256 threads", ""}, {"read", "GB/s"}, {"write", "GB/s"}},
                .rows = {},
                .note = fmt::format("Rates {}.", rates.source())};
  for (const double blocks : rates.values("mapped.read", "blocks")) {
    std::vector<Cell> row{blocks};
    for (const char* primitive : {"mapped.read", "mapped.write"}) {
      const Arguments grid{{"blocks", blocks}, {"width", 16}};
      const auto sizes = rates.sizes(primitive, grid);
      row.emplace_back();
      if (!sizes.empty()) row.back() = gb(rates.rate(primitive, sizes.back(), grid));
    }
    figure.rows.push_back(std::move(row));
  }
  if (figure.rows.empty()) figure.note += fmt::format(" No rows: {}.", rates.why_not("mapped.read"));
  return figure;
}

}  // namespace

StepResult run_table1(const Bench& bench) {
  Figure figure{.id = "table1",
                .where = "Table 1",
                .title = "the benchmarks and what they are here",
                .columns = {{"no.", ""},
                            {"host memory", ""},
                            {"transfer", ""},
                            {"direction", ""},
                            {"primitive here", ""},
                            {"clock here", ""},
                            {"GPUs on this device", ""}},
                .rows = {},
                .note =
                    "Nos 1 to 29 are the rows of the table, 25 is of section 3.4, 31 of Fig. 6. With a choice of the "
                    "NUMA node and without is one primitive: the node is always stated."};
  std::vector<std::string> names;
  for (const Primitive& primitive : primitives()) names.emplace_back(primitive.name);
  for (const Benchmark& b : benchmarks()) {
    const auto found = std::ranges::find(primitives(), b.primitive, &Primitive::name);
    const bool enough = !b.two_gpus || bench.info.gpus > 1;
    figure.rows.push_back({double(b.number), std::string(b.memory), std::string(b.transfer), std::string(b.direction),
                           named(found == primitives().end() ? "" : std::string(b.primitive)),
                           named(found == primitives().end() ? "" : std::string(found->clock)),
                           std::string(enough ? "enough" : "needs two GPUs")});
  }
  return {.figures = {figure, machines(bench)},
          .findings = {judge_benchmarks(benchmarks(), names),
                       unknown("fig1",
                               "the share of copies in the training of networks with MXNet is of an "
                               "application, with programs and data that the paper does not give")}};
}

StepResult run_copies(const Bench& bench) {
  const Rates rates = Rates::collect(bench, {"copy.pageable.*", "copy.pinned.*", "host.copy"});
  return {.figures = {table_of(rates, "fig2", "Fig. 2", "copies with the caches of the CPU flushed and not",
                               {{"pageable to GPU", "copy.pageable.h2d", {}, false},
                                {"pageable to GPU, flushed", "copy.pageable.h2d.flushed"},
                                {"pageable to host", "copy.pageable.d2h", {}, false},
                                {"pageable to host, flushed", "copy.pageable.d2h.flushed"},
                                {"pinned to GPU", "copy.pinned.h2d", {}, false},
                                {"pinned to GPU, flushed", "copy.pinned.h2d.flushed"},
                                {"pinned to host", "copy.pinned.d2h", {}, false},
                                {"pinned to host, flushed", "copy.pinned.d2h.flushed"}}),
                      table_of(rates, "fig6", "Fig. 6", "pageable memory to the GPU and the two phases it consists of",
                               {{"pageable to GPU", "copy.pageable.h2d"},
                                {"pageable to pinned by one thread", "host.copy", {{"threads", 1}}},
                                {"pinned to GPU", "copy.pinned.h2d"}}),
                      table_of(rates, "fig7", "Fig. 7", "one direction and duplex",
                               {{"pinned to GPU", "copy.pinned.h2d", {}, false},
                                {"pinned to host", "copy.pinned.d2h", {}, false},
                                {"pinned both", "copy.pinned.both"},
                                {"pageable to GPU", "copy.pageable.h2d", {}, false},
                                {"pageable to host", "copy.pageable.d2h", {}, false},
                                {"pageable both", "copy.pageable.both"}}),
                      ratios(rates), numbers(rates, bench)},
          .findings = {judge_flush(rates), judge_pageable(rates), judge_staging(rates),
                       judge_link(rates, link_of(bench)), judge_pinned_both(rates), judge_pageable_both(rates)}};
}

StepResult run_nodes(const Bench& bench) {
  const Rates rates = Rates::collect(bench, {"numa.copy.pinned.h2d", "numa.copy.pageable.h2d"});
  std::vector<Series> series;
  for (const double node : rates.values("numa.copy.pinned.h2d", "node")) {
    series.push_back({fmt::format("pinned, node {:.0f}", node), "numa.copy.pinned.h2d", {{"node", node}}});
    series.push_back({fmt::format("pageable, node {:.0f}", node), "numa.copy.pageable.h2d", {{"node", node}}});
  }
  if (series.empty()) series.push_back({"pinned, by node", "numa.copy.pinned.h2d"});
  return {.figures = {table_of(rates, "fig6_nodes", "Figs 6 and 10", "memory of each NUMA node to the GPU", series)},
          .findings = {judge_near_and_far(rates)}};
}

StepResult run_peers(const Bench& bench) {
  const Rates rates = Rates::collect(bench, {"peer.copy*", "peer.staged*", "copy.pinned.h2d"});
  return {.figures = {table_of(rates, "fig8", "Fig. 8", "copies between two GPUs with and without peer access",
                               {{"with peer access", "peer.copy"},
                                {"with it, duplex", "peer.copy.both"},
                                {"without peer access", "peer.staged"},
                                {"without it, duplex", "peer.staged.both"}})},
          .findings = {judge_gpu_links(rates), judge_peer_access(rates), judge_without_peer(rates)}};
}

StepResult run_zero_copy(const Bench& bench) {
  std::vector<ZeroCopy> all;
  std::string why_not;
  // The paper has 2^10 to 2^33 bytes. A GPU is measured up to 4 GiB.
  const Bytes most = bench.quick && !bench.info.is_virtual ? 256_MiB : 4_GiB;
  try {
    all = sweep_zero_copy(bench, 1_KiB, std::min(most, bench.limits.device_memory / 2));
  } catch (const Unsupported& reason) {
    why_not = reason.what();
  }
  const Rates rates = Rates::collect(bench, {"mapped.read", "mapped.write"});
  StepResult result{.figures = {zero_copy_figure(all, bench, why_not), grids(rates)},
                    .findings = {judge_zero_copy(all), judge_zero_copy_read(all),
                                 judge_zero_copy_drop(all, bench.info.is_virtual), judge_resources(rates)}};
  for (Finding& finding : result.findings)
    if (all.empty() && finding.claim.starts_with("zero_copy")) finding.why = why_not;
  return result;
}

StepResult run_managed(const Bench& bench) {
  const Rates rates =
      Rates::collect(bench, {"demand.*", "prefetch.*", "copy.pinned.h2d", "copy.pinned.d2h", "copy.pageable.h2d",
                             "copy.pageable.d2h", "copy.pageable.h2d.flushed", "copy.pageable.d2h.flushed"});
  std::vector<Series> by_threads;
  for (const double threads : rates.values("demand.d2h", "threads"))
    by_threads.push_back({fmt::format("{:.0f} thread(s)", threads), "demand.d2h", {{"threads", threads}}});
  if (by_threads.empty()) by_threads.push_back({"by threads", "demand.d2h"});
  by_threads.push_back({"copy of pageable memory", "copy.pageable.d2h", {}, false});
  by_threads.push_back({"copy, flushed", "copy.pageable.d2h.flushed", {}, false});
  return {.figures = {table_of(rates, "fig10_h2d", "Fig. 10 (a, c, e)", "pages that a kernel brings to the GPU",
                               {{"on demand", "demand.h2d"},
                                {"from another GPU", "demand.peer"},
                                {"copy of pageable memory", "copy.pageable.h2d", {}, false},
                                {"copy, flushed", "copy.pageable.h2d.flushed"}}),
                      table_of(rates, "fig10_d2h", "Fig. 10 (b, d, f)", "pages that host threads bring to the host",
                               by_threads),
                      table_of(rates, "fig11", "Fig. 11", "prefetches and copies of pinned memory",
                               {{"prefetch to GPU", "prefetch.h2d"},
                                {"copy to GPU", "copy.pinned.h2d", {}, false},
                                {"prefetch to host", "prefetch.d2h"},
                                {"copy to host", "copy.pinned.d2h", {}, false},
                                {"prefetch, duplex", "prefetch.both"}})},
          .findings = {judge_demand_to_gpu(rates), judge_demand_to_host(rates), judge_threads(rates),
                       judge_demand_locality(rates), judge_demand_limit(rates), judge_prefetch_large(rates),
                       judge_prefetch_middle(rates)}};
}

}  // namespace shiplap::experiments::commscope

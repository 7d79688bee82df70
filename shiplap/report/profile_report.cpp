#include "shiplap/report/profile_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <concepts>
#include <map>
#include <set>
#include <type_traits>

#include "shiplap/measure/limits.hpp"
#include "shiplap/profile/parameter_table.hpp"
#include "shiplap/report/topology_report.hpp"
#include "shiplap/report/transfers_report.hpp"

namespace shiplap {
namespace {

std::string heading(std::string_view text, const TextStyle& style) { return "\n" + bold(text, style) + "\n"; }

/// The low end of the per-byte time is the high end of the bandwidth.
Interval<Bandwidth> bandwidth_of(const Interval<PerByte>& g) {
  return {bandwidth(g.value), bandwidth(g.high), bandwidth(g.low)};
}

const char* text_of(ImplicitSync rule) {
  switch (rule) {
    case ImplicitSync::none:
      return "none";
    case ImplicitSync::until_started:
      return "until the last kernel has started";
    case ImplicitSync::until_ended:
      return "until the last kernel has ended";
  }
  return "";
}

/// The measured value relative to its limit, as in " (82 % of 4815 GB/s)"; "" without a limit.
std::string fraction_of_limit(double measured, double limit, const std::string& limit_text) {
  return limit > 0 ? fmt::format(" ({:.0f} % of {})", 100 * measured / limit, limit_text) : "";
}

/// The key with spaces: "launch latency" for "launch_latency".
std::string text_of(std::string_view key) {
  std::string text(key);
  std::ranges::replace(text, '_', ' ');
  return text;
}

const char* text_of(EngineOrder order) { return order == EngineOrder::submission ? "submission" : "readiness"; }
const char* text_of(std::same_as<bool> auto yes) { return yes ? "yes" : "no"; }
std::string text_of(Bytes size) { return to_string(size); }
std::string text_of(unsigned count) { return std::to_string(count); }

std::string value_text(const Interval<Seconds>& time, const Quantity<Seconds>&) { return with_interval(time); }
std::string value_text(const Interval<Bandwidth>& rate, const Quantity<Bandwidth>&) { return with_interval(rate); }
std::string teraflops(double flops) { return fmt::format("{:.4g} Tflop/s", flops * 1e-12); }
std::string value_text(const Interval<double>& number, const Quantity<double>& quantity) {
  return quantity.unit == flop_rate_quantity.unit ? teraflops(number.value) : fmt::format("{:.0f}", number.value);
}

/// A visitor of the parameter table (`describe`), which writes a line for each fact and parameter with a value.
class Lines {
 public:
  std::string text;

  /// `remarks` are printed after the values of parameters, by key.
  explicit Lines(std::map<std::string_view, std::string> remarks = {}) : remarks_(std::move(remarks)) {}

  template <class T, class... Rules>
  void fact(std::string_view name, const T& member, std::string_view, Rules...) {
    if (name != "name") line(name, text_of(member));
  }
  void optional_fact(std::string_view name, const std::optional<unsigned>& member, unsigned, std::string_view) {
    if (member) line(name, text_of(*member));
  }
  template <class T>
  void value(const ParameterInfo& info, const Interval<T>& interval, const Quantity<T>& quantity) {
    line(info.name, value_text(interval, quantity));
  }
  template <class T>
  void optional_value(const ParameterInfo& info, const Parameter<T>& parameter, const Quantity<T>& quantity) {
    if (parameter) value(info, *parameter, quantity);
  }
  template <class Part>
  void optional_part(std::string_view name, const std::optional<Part>& part, std::string_view) {
    if (!part) return;
    Lines inside;
    inside.prefix_ = prefix_ + text_of(name) + ", ";
    describe(inside, *part);
    text += inside.text;
  }
  template <class Part>
  void part(std::string_view, const Part&, std::string_view) {}

 private:
  void line(std::string_view name, std::string_view value) {
    const auto remark = remarks_.find(name);
    text +=
        fmt::format("  {:<27} {}{}\n", prefix_ + text_of(name), value, remark == remarks_.end() ? "" : remark->second);
  }

  std::map<std::string_view, std::string> remarks_;
  std::string prefix_;
};

/// Remarks by the keys of parameters: which fraction of the hardware's limit was measured, and shared copy engines.
std::map<std::string_view, std::string> remarks_on(const GpuModel& gpu, const Conditions& conditions) {
  std::map<std::string_view, std::string> remarks;
  const Bandwidth memory{device_memory_limit(conditions)};
  if (gpu.memory_bandwidth)
    remarks["memory_bandwidth"] =
        fraction_of_limit(gpu.memory_bandwidth->value.bytes_per_second, memory.bytes_per_second, to_string(memory));
  const double peak = arithmetic_limit(conditions, gpu.sm_count);
  if (gpu.flop_rate) remarks["flop_rate"] = fraction_of_limit(gpu.flop_rate->value, peak, teraflops(peak));
  if (gpu.copy_engines == 1) remarks["copy_engines"] = ", shared by both directions";
  return remarks;
}

std::string gpu_table(const GpuModel& gpu, const Conditions& conditions, const TextStyle& style) {
  Lines lines(remarks_on(gpu, conditions));
  describe(lines, gpu);
  return heading(gpu.name, style) + lines.text;
}

std::string zero_copy_tables(const ZeroCopyModel& model, const TextStyle& style) {
  const auto at = [](const std::vector<ZeroCopyRate>& rows, Bytes in_flight) -> std::string {
    const auto row = std::ranges::find(rows, in_flight, &ZeroCopyRate::in_flight);
    return row == rows.end() ? "–" : with_interval(row->rate);
  };
  Table alone{.columns = {{"in flight", Align::right},
                          {"read", Align::right},
                          {"write", Align::right},
                          {"duplex, each", Align::right}}};
  for (const ZeroCopyRate& row : model.read)
    alone.add({to_string(row.in_flight), with_interval(row.rate), at(model.write, row.in_flight),
               at(model.both, row.in_flight)});
  std::string out = alone.empty() ? "" : "\n  zero-copy kernels, by bytes in flight\n" + alone.text(style, "  ");

  out += "\n  zero-copy kernels concurrent with copies, GB/s of the kernel / of the copy\n";
  Table beside{.columns = {{"in flight", Align::right}, {"read, D2H", Align::right}, {"write, H2D", Align::right}}};
  for (const ZeroCopyBeside& row : model.write_beside_h2d) {
    std::vector<Cell> cells{to_string(row.in_flight)};
    for (const auto& [name, table] : zero_copy_beside_names) {
      const auto found = std::ranges::find(model.*table, row.in_flight, &ZeroCopyBeside::in_flight);
      cells.push_back(found == (model.*table).end()
                          ? "–"
                          : fmt::format("{:.1f} / {:.1f}", in_gigabytes_per_second(found->kernel.value),
                                        in_gigabytes_per_second(found->copy.value)));
    }
    beside.add(std::move(cells));
  }
  return out + beside.text(style, "  ");
}

struct TimesColumn {
  std::string name;
  const std::vector<TimeAt>* rows;
};
std::string times_table(std::string_view first, const std::vector<TimesColumn>& columns, const TextStyle& style) {
  std::vector<Column> heads{{std::string(first), Align::right}};
  std::set<Bytes> sizes;
  for (const TimesColumn& column : columns) {
    heads.push_back({column.name, Align::right});
    for (const TimeAt& row : *column.rows) sizes.insert(row.size);
  }
  Table table{.columns = std::move(heads)};
  for (const Bytes size : sizes) {
    std::vector<Cell> cells{to_string(size)};
    for (const TimesColumn& column : columns) {
      const auto row = std::ranges::find(*column.rows, size, &TimeAt::size);
      cells.push_back(row == column.rows->end() ? "–" : with_interval(row->time));
    }
    table.add(std::move(cells));
  }
  return table.empty() ? "" : table.text(style, "  ");
}

std::string threads_table(std::string_view what, const std::vector<RateOfThreads>& rows, const TextStyle& style) {
  if (rows.empty()) return "";
  Table table{.columns = {{"threads", Align::right}, {std::string(what), Align::right}}};
  for (const RateOfThreads& row : rows) table.add({std::to_string(row.threads), with_interval(row.rate)});
  return "\n" + table.text(style, "  ");
}

std::string host_tables(const HostModel& host, const TextStyle& style) {
  std::string out = heading("host threads", style);
  if (const auto pin = host.calls.find("pin"), unpin = host.calls.find("unpin");
      pin != host.calls.end() && unpin != host.calls.end())
    out += times_table("of", {{"pin", &pin->second}, {"unpin", &unpin->second}}, style);
  std::vector<TimesColumn> allocations;
  for (const auto& [name, rows] : host.calls)
    if (name.starts_with("allocate ")) allocations.push_back({name, &rows});
  if (!allocations.empty()) out += "\n" + times_table("of", allocations, style);
  out += threads_table("copying together", host.copy, style);
  if (host.staging.empty()) return out;
  Table staging{
      .columns = {{"threads", Align::right}, {"rings", Align::right}, {"copying through rings", Align::right}}};
  for (const RateThroughRings& row : host.staging)
    staging.add({std::to_string(row.threads), to_string(row.rings), with_interval(row.rate)});
  out += "\n" + staging.text(style, "  ");
  if (host.written.empty()) return out;
  Table written{
      .columns = {{"copy to the GPU of", Align::right}, {"longer where a thread has just written it", Align::right}}};
  for (const GapAt& row : host.written) written.add({to_string(row.size), with_interval(row.gap)});
  return out + "\n" + written.text(style, "  ");
}

std::string rates_table(const LinkModel& link, const TextStyle& style) {
  Table rates{.columns = {{"direction"}, {"large copies", Align::right}, {"duplex", Align::right}}};
  const auto row = [&](const char* name, const DirectionModel& d) {
    rates.add({name, with_interval(bandwidth_of(d.per_byte)),
               d.duplex ? with_interval(bandwidth_of(d.duplex->per_byte)) : "–"});
  };
  row("H2D", link.h2d);
  row("D2H", link.d2h);
  return rates.text(style, "  ") + "\n";
}

std::string waiting_streams_table(const WaitingStreams& model, const TextStyle& style) {
  Table slowdowns{.columns = {{"added while kernels of several streams wait"},
                              {"to a copy", Align::right},
                              {"to a MiB", Align::right}}};
  const auto mebibyte = [](PerByte g) { return (1_MiB) * g; };
  for (const auto& [name, member] : waiting_streams_names) {
    const Slowdown& slowdown = model.*member;
    slowdowns.add({name == "duplex" ? "duplex, each direction"
                   : name == "h2d"  ? "H2D alone"
                                    : "D2H alone",
                   with_interval(slowdown.gap),
                   with_interval(Interval<Seconds>{mebibyte(slowdown.per_byte.value), mebibyte(slowdown.per_byte.low),
                                                   mebibyte(slowdown.per_byte.high)})});
  }
  return slowdowns.text(style, "  ") + "\n";
}

std::string costs_table(const LinkModel& link, const TextStyle& style) {
  Table costs{.columns = {{"copy of", Align::right},
                          {"H2D latency (L+o)", Align::right},
                          {"H2D gap (g)", Align::right},
                          {"g, duplex", Align::right},
                          {"D2H latency (L+o)", Align::right},
                          {"D2H gap (g)", Align::right},
                          {"g, duplex", Align::right}}};
  std::set<Bytes> sizes;
  for (const DirectionModel* d : {&link.h2d, &link.d2h}) {
    for (const CopyCost& c : d->costs) sizes.insert(c.size);
    if (d->duplex)
      for (const GapAt& g : d->duplex->gaps) sizes.insert(g.size);
  }
  for (const Bytes size : sizes) {
    std::vector<Cell> cells{to_string(size)};
    for (const DirectionModel* d : {&link.h2d, &link.d2h}) {
      const auto cost = std::ranges::find(d->costs, size, &CopyCost::size);
      const bool known = cost != d->costs.end();
      cells.push_back(known ? with_interval(cost->latency_overhead) : "–");
      cells.push_back(known ? with_interval(cost->gap) : "–");
      std::string duplex = "–";
      if (d->duplex)
        for (const GapAt& g : d->duplex->gaps)
          if (g.size == size) duplex = with_interval(g.gap);
      cells.push_back(duplex);
    }
    costs.add(std::move(cells));
  }
  return costs.text(style, "  ");
}

std::string link_tables(const LinkModel& link, const TextStyle& style) {
  std::string out =
      heading(fmt::format("link: NUMA node {} to GPU {}, pinned memory", link.numa_node, link.gpu), style);
  out += rates_table(link, style);
  if (link.waiting_streams) out += waiting_streams_table(*link.waiting_streams, style);
  out += costs_table(link, style);
  if (link.zero_copy) out += zero_copy_tables(*link.zero_copy, style);
  if (link.pageable)
    out += "\n  pageable memory\n" +
           times_table("copy of",
                       {{"H2D", &link.pageable->h2d}, {"D2H", &link.pageable->d2h}, {"duplex", &link.pageable->both}},
                       style);
  if (link.managed) {
    out += "\n  managed memory\n" + times_table("of",
                                                {{"prefetch H2D", &link.managed->prefetch_h2d},
                                                 {"prefetch D2H", &link.managed->prefetch_d2h},
                                                 {"touched by a kernel", &link.managed->demand_h2d}},
                                                style);
    out += threads_table("touched by the host", link.managed->demand_d2h, style);
  }
  return out;
}

std::string submission_lines(const SubmissionModel& model, const TextStyle& style) {
  Lines lines;
  describe(lines, model);
  return lines.text.empty() ? "" : heading("host time of one call", style) + lines.text;
}

std::string shared_table(const std::vector<SharedRates>& shared, const TextStyle& style) {
  Table table{.columns = {{"GPUs", Align::left}, {"to them"}, {"from them"}, {"both directions"}}};
  for (const SharedRates& rates : shared)
    table.add({fmt::format("{}", fmt::join(rates.gpus, ", ")), with_interval(rates.h2d), with_interval(rates.d2h),
               with_interval(rates.both)});
  return heading("what several GPUs reach together", style) + table.text(style, "  ");
}

}  // namespace

std::string simulation_note(const Profile& profile) {
  if (profile.origin != Origin::simulated) return "";
  return fmt::format(
      "Profile {} was measured on a simulated device ({}): its figures describe the simulation, and no "
      "hardware.",
      profile.name, condition(profile.conditions, "simulated.profile"));
}

std::string profile_report(const Profile& profile, std::span<const Figure> figures, const TextStyle& style) {
  std::string out =
      fmt::format("{} ({}, hash {})\n", bold(profile.name, style), to_string(profile.origin), parameter_hash(profile));
  if (!profile.source.empty()) out += wrap(profile.source, style.width) + "\n";
  if (const std::string simulated = simulation_note(profile); !simulated.empty())
    out += wrap(simulated, style.width) + "\n";
  out += topology_report(profile, style);
  for (const GpuModel& gpu : profile.gpus) out += gpu_table(gpu, profile.conditions, style);
  out += transfers_report(figures, style);
  for (const LinkModel& link : profile.links) out += link_tables(link, style);
  for (const PeerModel& peer : profile.peers)
    out += heading(fmt::format("copies from GPU {} to GPU {}", peer.from, peer.to), style) +
           times_table("one more copy of", {{"direct", &peer.direct}, {"through the host", &peer.staged}}, style);
  if (!profile.shared.empty()) out += shared_table(profile.shared, style);
  if (profile.host) out += host_tables(*profile.host, style);
  out += submission_lines(profile.submission, style);

  if (!profile.missing.empty()) {
    out += heading("not known", style);
    for (const Missing& m : profile.missing)
      out += fmt::format("  {}\n", wrap(m.parameter + ": " + m.reason, style.width - 2, "    "));
  }
  if (!profile.residuals.empty()) {
    Table table{.columns = {{"parameter"}, {"worst residual", Align::right}, {"at", Align::left}}};
    for (const Residual& r : profile.residuals) table.add({r.parameter, percent(r.worst), r.at});
    out += heading("what the fit does not explain", style) + table.text(style, "  ");
  }
  if (!profile.conditions.empty()) {
    out += heading("conditions", style);
    for (const auto& [name, value] : profile.conditions)
      out += wrap_if_wider(fmt::format("  {:<24} {}", name, value), style.width, "    ") + "\n";
  }
  if (!profile.measurements.empty()) {
    const auto verified = std::count_if(profile.measurements.begin(), profile.measurements.end(),
                                        [](const Measurement& m) { return m.verified; });
    out += "\n" +
           wrap(fmt::format("{} measured points, {} with every byte compared; raw samples in the file",
                            profile.measurements.size(), verified),
                style.width) +
           "\n";
    const auto visited_twice = std::count_if(profile.measurements.begin(), profile.measurements.end(),
                                             [](const Measurement& m) { return m.visits > 1; });
    const auto disturbed =
        std::count_if(profile.measurements.begin(), profile.measurements.end(),
                      [](const Measurement& m) { return figure_samples(m).size() < m.samples_us.size(); });
    if (visited_twice > 0)
      out += wrap(fmt::format("{} points visited twice; in {} one of the visits was slower by more than both intervals "
                              "and is set aside",
                              visited_twice, disturbed),
                  style.width) +
             "\n";
  }
  return out;
}

}  // namespace shiplap

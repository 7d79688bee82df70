// The JSON form of a profile: docs/schema/profile.schema.json.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "shiplap/profile/profile.hpp"
#include "shiplap/profile/quantity.hpp"
#include "shiplap/profile/reading.hpp"

namespace shiplap {
namespace {

constexpr EnumNames<EngineOrder, 2> engine_order_names{
    {{EngineOrder::submission, "submission"}, {EngineOrder::readiness, "readiness"}}};
constexpr EnumNames<ImplicitSync, 3> implicit_sync_names{{{ImplicitSync::none, "none"},
                                                          {ImplicitSync::until_started, "until_started"},
                                                          {ImplicitSync::until_ended, "until_ended"}}};
constexpr EnumNames<Origin, 4> origin_names{{{Origin::measured, "measured"},
                                             {Origin::published, "published"},
                                             {Origin::derived, "derived"},
                                             {Origin::planted, "planted"}}};

template <class T>
Json parameter_json(const Parameter<T>& parameter, const Quantity<T>& quantity) {
  return parameter ? interval_json(*parameter, quantity) : Json(nullptr);
}

Json handovers_json(const HandoverModel& model) {
  Json json = Json::object();
  for (const auto& [name, member] : handover_names) {
    const Handover& handover = model.*member;
    json[std::string(name)] = {{"idle", interval_json(handover.idle, time_quantity)},
                               {"busy", interval_json(handover.busy, time_quantity)}};
  }
  return json;
}

std::optional<HandoverModel> read_handovers(const JsonReader& in, const std::string& path,
                                            const Explanations& missing) {
  if (missing.absent(in, path, in.value().is_null())) return std::nullopt;
  in.only_keys({"h2d_same_queue", "h2d_other_queue", "d2h_same_queue", "d2h_other_queue", "kernels"});
  HandoverModel model;
  for (const auto& [name, member] : handover_names) {
    const JsonReader one = in.at(name);
    one.only_keys({"idle", "busy"});
    model.*member = {.idle = read_interval(one.at("idle"), time_quantity),
                     .busy = read_interval(one.at("busy"), time_quantity)};
  }
  return model;
}

Json event_gap_json(const EventGap& gap) {
  Json json = Json::object();
  for (const auto& [name, member] : event_gap_names)
    json[std::string(name)] = interval_json(gap.*member, time_quantity);
  return json;
}

/// Files from before it was measured do not have it, and need not say why.
std::optional<EventGap> read_event_gap(const JsonReader& gpu) {
  const auto in = gpu.find("event_gap");
  if (!in) return std::nullopt;
  in->only_keys({"idle", "busy"});
  EventGap gap;
  for (const auto& [name, member] : event_gap_names) gap.*member = read_interval(in->at(name), time_quantity);
  return gap;
}

Json gpu_json(const GpuModel& gpu) {
  Json json{{"name", gpu.name},
            {"memory", gpu.memory.count},
            {"multiprocessors", gpu.multiprocessors},
            {"copy_engines", gpu.copy_engines},
            {"engine_order", name_of(gpu.engine_order, engine_order_names)},
            {"implicit_sync", name_of(gpu.implicit_sync, implicit_sync_names)},
            {"concurrent_kernels", gpu.concurrent_kernels},
            {"launch_latency", parameter_json(gpu.launch_latency, time_quantity)},
            {"kernel_gap", parameter_json(gpu.kernel_gap, time_quantity)},
            {"handovers", gpu.handovers ? handovers_json(*gpu.handovers) : Json(nullptr)},
            {"resident_threads", parameter_json(gpu.resident_threads, threads_quantity)},
            {"memory_bandwidth", parameter_json(gpu.memory_bandwidth, bandwidth_quantity)},
            {"copy_bandwidth", parameter_json(gpu.copy_bandwidth, bandwidth_quantity)},
            {"flop_rate", parameter_json(gpu.flop_rate, flop_rate_quantity)}};
  if (gpu.event_gap) json["event_gap"] = event_gap_json(*gpu.event_gap);
  if (gpu.queue_groups) json["queue_groups"] = *gpu.queue_groups;
  return json;
}

/// Files from before it was measured do not have it, and need not say why.
std::optional<unsigned> read_queue_groups(const JsonReader& gpu) {
  const auto groups = gpu.find("queue_groups");
  return groups ? std::optional(read_count<unsigned>(*groups, 1)) : std::nullopt;
}

GpuModel read_gpu(const JsonReader& in, const std::string& path, const Explanations& missing) {
  in.only_keys({"name", "memory", "multiprocessors", "copy_engines", "engine_order", "queue_groups", "implicit_sync",
                "concurrent_kernels", "launch_latency", "kernel_gap", "event_gap", "handovers", "resident_threads",
                "memory_bandwidth", "copy_bandwidth", "flop_rate"});
  return {.name = read_text(in.at("name")),
          .memory = read_bytes(in.at("memory")),
          .multiprocessors = read_count<unsigned>(in.at("multiprocessors"), 1),
          .copy_engines = read_count<unsigned>(in.at("copy_engines"), 1, 2),
          .engine_order = read_enum(in.at("engine_order"), engine_order_names),
          .queue_groups = read_queue_groups(in),
          .implicit_sync = read_enum(in.at("implicit_sync"), implicit_sync_names),
          .concurrent_kernels = in.at("concurrent_kernels").boolean(),
          .launch_latency = read_parameter(in, path, "launch_latency", time_quantity, missing),
          .kernel_gap = read_parameter(in, path, "kernel_gap", time_quantity, missing),
          .event_gap = read_event_gap(in),
          .handovers = read_handovers(in.at("handovers"), path + ".handovers", missing),
          .resident_threads = read_parameter(in, path, "resident_threads", threads_quantity, missing),
          .memory_bandwidth = read_parameter(in, path, "memory_bandwidth", bandwidth_quantity, missing),
          .copy_bandwidth = read_parameter(in, path, "copy_bandwidth", bandwidth_quantity, missing),
          .flop_rate = read_parameter(in, path, "flop_rate", flop_rate_quantity, missing)};
}

template <class T>
Json list_json(const std::vector<T>& items, Json (*one)(const T&)) {
  Json list = Json::array();
  for (const T& item : items) list.push_back(one(item));
  return list;
}

Json gaps_json(const std::vector<GapAt>& rows) {
  Json list = Json::array();
  for (const GapAt& row : rows)
    list.push_back({{"size", row.size.count}, {"gap", interval_json(row.gap, time_quantity)}});
  return list;
}

Json direction_json(const DirectionModel& direction) {
  Json costs = Json::array();
  for (const CopyCost& row : direction.costs) {
    costs.push_back({{"size", row.size.count},
                     {"latency_overhead", interval_json(row.latency_overhead, time_quantity)},
                     {"gap", interval_json(row.gap, time_quantity)}});
  }
  Json duplex = nullptr;
  if (direction.duplex)
    duplex = {{"per_byte", interval_json(direction.duplex->per_byte, per_byte_quantity)},
              {"gaps", gaps_json(direction.duplex->gaps)}};
  return {{"per_byte", interval_json(direction.per_byte, per_byte_quantity)},
          {"costs", std::move(costs)},
          {"duplex", std::move(duplex)},
          {"batched", gaps_json(direction.batched)}};
}

/// May be empty where `missing` says why.
std::vector<GapAt> read_gaps(const JsonReader& in, const std::string& path, const Explanations& missing) {
  std::vector<GapAt> gaps = read_list(in, [](const JsonReader& row, std::size_t) -> GapAt {
    row.only_keys({"size", "gap"});
    return {.size = read_bytes(row.at("size")), .gap = read_interval(row.at("gap"), time_quantity)};
  });
  missing.absent(in, path, gaps.empty());
  require_increasing_sizes(in, gaps);
  return gaps;
}

DuplexModel read_duplex(const JsonReader& in, const std::string& path, const Explanations& missing) {
  in.only_keys({"per_byte", "gaps"});
  return {.per_byte = read_interval(in.at("per_byte"), per_byte_quantity),
          .gaps = read_gaps(in.at("gaps"), path + ".gaps", missing)};
}

DirectionModel read_direction(const JsonReader& in, const std::string& path, const Explanations& missing) {
  in.only_keys({"per_byte", "costs", "duplex", "batched"});
  DirectionModel direction;
  direction.per_byte = read_interval(in.at("per_byte"), per_byte_quantity);
  const JsonReader costs = in.at("costs");
  direction.costs = read_list(costs, [](const JsonReader& row, std::size_t) -> CopyCost {
    row.only_keys({"size", "latency_overhead", "gap"});
    return {.size = read_bytes(row.at("size")),
            .latency_overhead = read_interval(row.at("latency_overhead"), time_quantity),
            .gap = read_interval(row.at("gap"), time_quantity)};
  });
  if (direction.costs.empty()) costs.fail("at least one row");
  require_increasing_sizes(costs, direction.costs);
  const JsonReader duplex = in.at("duplex");
  if (!missing.absent(duplex, path + ".duplex", duplex.value().is_null()))
    direction.duplex = read_duplex(duplex, path + ".duplex", missing);
  direction.batched = read_gaps(in.at("batched"), path + ".batched", missing);
  return direction;
}

Json waiting_queues_json(const WaitingQueues& model) {
  Json json = Json::object();
  for (const auto& [name, member] : waiting_queues_names)
    json[std::string(name)] = {{"gap", interval_json((model.*member).gap, time_quantity)},
                               {"per_byte", interval_json((model.*member).per_byte, more_per_byte_quantity)}};
  return json;
}

std::optional<WaitingQueues> read_waiting_queues(const JsonReader& in, const std::string& path,
                                                 const Explanations& missing) {
  if (missing.absent(in, path, in.value().is_null())) return std::nullopt;
  in.only_keys({"h2d", "d2h", "duplex"});
  WaitingQueues model;
  for (const auto& [name, member] : waiting_queues_names) {
    const JsonReader slowdown = in.at(name);
    slowdown.only_keys({"gap", "per_byte"});
    model.*member = {.gap = read_interval(slowdown.at("gap"), time_quantity),
                     .per_byte = read_interval(slowdown.at("per_byte"), more_per_byte_quantity)};
  }
  return model;
}

Json mapped_rates_json(const std::vector<MappedRate>& table) {
  Json rows = Json::array();
  for (const MappedRate& row : table)
    rows.push_back({{"in_flight", row.in_flight.count}, {"rate", interval_json(row.rate, bandwidth_quantity)}});
  return rows;
}

Json zero_copy_json(const ZeroCopyModel& model) {
  Json json = Json::object();
  for (const auto& [name, table] : mapped_rate_names) json[std::string(name)] = mapped_rates_json(model.*table);
  for (const auto& [name, table] : mapped_beside_names) {
    Json& rows = json[std::string(name)] = Json::array();
    for (const MappedBeside& row : model.*table) {
      rows.push_back({{"in_flight", row.in_flight.count},
                      {"kernel", interval_json(row.kernel, bandwidth_quantity)},
                      {"copy", interval_json(row.copy, bandwidth_quantity)}});
    }
  }
  return json;
}

/// What comes first in a row counts first.
template <class Row, class Key>
void require_increasing(const JsonReader& in, const std::vector<Row>& rows, const Key& key) {
  if (rows.empty()) in.fail("at least one row");
  for (std::size_t i = 1; i < rows.size(); ++i)
    if (!(key(rows[i - 1]) < key(rows[i]))) in.at(i).fail("a row behind the one before it in size");
}

std::vector<MappedRate> read_mapped_rates(const JsonReader& in) {
  auto table = read_list(in, [](const JsonReader& row, std::size_t) -> MappedRate {
    row.only_keys({"in_flight", "rate"});
    return {.in_flight = read_bytes(row.at("in_flight")), .rate = read_interval(row.at("rate"), bandwidth_quantity)};
  });
  require_increasing(in, table, [](const MappedRate& row) { return row.in_flight; });
  return table;
}

std::optional<ZeroCopyModel> read_zero_copy(const JsonReader& in, const std::string& path,
                                            const Explanations& missing) {
  if (missing.absent(in, path, in.value().is_null())) return std::nullopt;
  in.only_keys({"read", "write", "both", "read_beside_d2h", "write_beside_h2d"});
  ZeroCopyModel model;
  for (const auto& [name, table] : mapped_rate_names) model.*table = read_mapped_rates(in.at(name));
  for (const auto& [name, table] : mapped_beside_names) {
    model.*table = read_list(in.at(name), [](const JsonReader& row, std::size_t) -> MappedBeside {
      row.only_keys({"in_flight", "kernel", "copy"});
      return {.in_flight = read_bytes(row.at("in_flight")),
              .kernel = read_interval(row.at("kernel"), bandwidth_quantity),
              .copy = read_interval(row.at("copy"), bandwidth_quantity)};
    });
    require_increasing(in.at(name), model.*table, [](const MappedBeside& row) { return row.in_flight; });
  }
  return model;
}

Json times_json(const std::vector<TimeAt>& rows) {
  Json list = Json::array();
  for (const TimeAt& row : rows)
    list.push_back({{"size", row.size.count}, {"time", interval_json(row.time, time_quantity)}});
  return list;
}
Json rates_json(const std::vector<RateOfThreads>& rows) {
  Json list = Json::array();
  for (const RateOfThreads& row : rows)
    list.push_back({{"threads", row.threads}, {"rate", interval_json(row.rate, bandwidth_quantity)}});
  return list;
}

/// May be empty where `missing` says why.
std::vector<TimeAt> read_times(const JsonReader& in, const std::string& path, const Explanations& missing) {
  std::vector<TimeAt> rows = read_list(in, [](const JsonReader& row, std::size_t) -> TimeAt {
    row.only_keys({"size", "time"});
    return {.size = read_bytes(row.at("size")), .time = read_interval(row.at("time"), time_quantity)};
  });
  if (!missing.absent(in, path, rows.empty())) require_increasing(in, rows, [](const TimeAt& row) { return row.size; });
  return rows;
}
std::vector<RateOfThreads> read_rates(const JsonReader& in, const std::string& path, const Explanations& missing) {
  std::vector<RateOfThreads> rows = read_list(in, [](const JsonReader& row, std::size_t) -> RateOfThreads {
    row.only_keys({"threads", "rate"});
    return {.threads = read_count<unsigned>(row.at("threads"), 1),
            .rate = read_interval(row.at("rate"), bandwidth_quantity)};
  });
  if (!missing.absent(in, path, rows.empty()))
    require_increasing(in, rows, [](const RateOfThreads& row) { return row.threads; });
  return rows;
}

Json pageable_json(const PageableModel& model) {
  return {{"h2d", times_json(model.h2d)}, {"d2h", times_json(model.d2h)}, {"both", times_json(model.both)}};
}
std::optional<PageableModel> read_pageable(const JsonReader& in, const std::string& path, const Explanations& missing) {
  if (missing.absent(in, path, in.value().is_null())) return std::nullopt;
  in.only_keys({"h2d", "d2h", "both"});
  return PageableModel{.h2d = read_times(in.at("h2d"), path + ".h2d", missing),
                       .d2h = read_times(in.at("d2h"), path + ".d2h", missing),
                       .both = read_times(in.at("both"), path + ".both", missing)};
}

Json managed_json(const ManagedModel& model) {
  return {{"prefetch_h2d", times_json(model.prefetch_h2d)},
          {"prefetch_d2h", times_json(model.prefetch_d2h)},
          {"demand_h2d", times_json(model.demand_h2d)},
          {"demand_d2h", rates_json(model.demand_d2h)}};
}
std::optional<ManagedModel> read_managed(const JsonReader& in, const std::string& path, const Explanations& missing) {
  if (missing.absent(in, path, in.value().is_null())) return std::nullopt;
  in.only_keys({"prefetch_h2d", "prefetch_d2h", "demand_h2d", "demand_d2h"});
  return ManagedModel{.prefetch_h2d = read_times(in.at("prefetch_h2d"), path + ".prefetch_h2d", missing),
                      .prefetch_d2h = read_times(in.at("prefetch_d2h"), path + ".prefetch_d2h", missing),
                      .demand_h2d = read_times(in.at("demand_h2d"), path + ".demand_h2d", missing),
                      .demand_d2h = read_rates(in.at("demand_d2h"), path + ".demand_d2h", missing)};
}

Json host_json(const HostModel& model) {
  Json calls = Json::object();
  for (const auto& [name, rows] : model.calls) calls[name] = times_json(rows);
  Json staging = Json::array();
  for (const RateThroughRings& row : model.staging)
    staging.push_back(
        {{"threads", row.threads}, {"rings", row.rings.count}, {"rate", interval_json(row.rate, bandwidth_quantity)}});
  return {{"copy", rates_json(model.copy)},
          {"staging", std::move(staging)},
          {"written", gaps_json(model.written)},
          {"calls", std::move(calls)}};
}
std::vector<RateThroughRings> read_staging(const JsonReader& in, const Explanations& missing) {
  std::vector<RateThroughRings> rows = read_list(in, [](const JsonReader& row, std::size_t) -> RateThroughRings {
    row.only_keys({"threads", "rings", "rate"});
    return {.threads = read_count<unsigned>(row.at("threads"), 1),
            .rings = read_bytes(row.at("rings")),
            .rate = read_interval(row.at("rate"), bandwidth_quantity)};
  });
  if (!missing.absent(in, "host.staging", rows.empty()))
    require_increasing(in, rows, [](const RateThroughRings& row) { return std::pair{row.threads, row.rings}; });
  return rows;
}
std::optional<HostModel> read_host(const JsonReader& in, const Explanations& missing) {
  if (missing.absent(in, "host", in.value().is_null())) return std::nullopt;
  in.only_keys({"copy", "staging", "written", "calls"});
  return HostModel{.copy = read_rates(in.at("copy"), "host.copy", missing),
                   .staging = read_staging(in.at("staging"), missing),
                   .written = read_gaps(in.at("written"), "host.written", missing),
                   .calls = read_map<std::vector<TimeAt>>(in.at("calls"), [&](const JsonReader& rows) {
                     return read_times(rows, "host.calls", missing);
                   })};
}

Json peer_json(const PeerModel& peer) {
  return {
      {"from", peer.from}, {"to", peer.to}, {"direct", times_json(peer.direct)}, {"staged", times_json(peer.staged)}};
}
PeerModel read_peer(const JsonReader& in, const std::string& path, std::size_t gpus, const Explanations& missing) {
  in.only_keys({"from", "to", "direct", "staged"});
  PeerModel peer{.from = read_count<std::uint16_t>(in.at("from"), 0),
                 .to = read_count<std::uint16_t>(in.at("to"), 0),
                 .direct = read_times(in.at("direct"), path + ".direct", missing),
                 .staged = read_times(in.at("staged"), path + ".staged", missing)};
  for (const char* end : {"from", "to"})
    if (in.at(end).value() >= gpus)
      in.at(end).fail(fmt::format("the index of one of the {} entries of \"gpus\"", gpus));
  if (peer.from == peer.to) in.at("to").fail("another GPU than \"from\"");
  return peer;
}

Json link_json(const LinkModel& link) {
  return {{"numa_node", link.numa_node},
          {"gpu", link.gpu},
          {"h2d", direction_json(link.h2d)},
          {"d2h", direction_json(link.d2h)},
          {"waiting_queues", link.waiting_queues ? waiting_queues_json(*link.waiting_queues) : Json(nullptr)},
          {"zero_copy", link.zero_copy ? zero_copy_json(*link.zero_copy) : Json(nullptr)},
          {"pageable", link.pageable ? pageable_json(*link.pageable) : Json(nullptr)},
          {"managed", link.managed ? managed_json(*link.managed) : Json(nullptr)}};
}

LinkModel read_link(const JsonReader& in, const std::string& path, const Explanations& missing) {
  in.only_keys({"numa_node", "gpu", "h2d", "d2h", "waiting_queues", "zero_copy", "pageable", "managed"});
  return {.numa_node = read_count<std::uint16_t>(in.at("numa_node"), 0),
          .gpu = read_count<std::uint16_t>(in.at("gpu"), 0),
          .h2d = read_direction(in.at("h2d"), path + ".h2d", missing),
          .d2h = read_direction(in.at("d2h"), path + ".d2h", missing),
          .waiting_queues = read_waiting_queues(in.at("waiting_queues"), path + ".waiting_queues", missing),
          .zero_copy = read_zero_copy(in.at("zero_copy"), path + ".zero_copy", missing),
          .pageable = read_pageable(in.at("pageable"), path + ".pageable", missing),
          .managed = read_managed(in.at("managed"), path + ".managed", missing)};
}

void check_link_ends(const JsonReader& in, const Profile& profile) {
  for (std::size_t i = 0; i < profile.links.size(); ++i) {
    const LinkModel& link = profile.links[i];
    if (link.gpu >= profile.gpus.size())
      in.at(i).at("gpu").fail(fmt::format("the index of one of the {} entries of \"gpus\"", profile.gpus.size()));
    for (std::size_t k = 0; k < i; ++k)
      if (profile.links[k].gpu == link.gpu && profile.links[k].numa_node == link.numa_node)
        in.at(i).fail(fmt::format("one link for each pair of NUMA node and GPU, and links[{}] is this one too", k));
  }
}

Json submission_json(const SubmissionModel& submission) {
  return {{"copy", parameter_json(submission.copy, time_quantity)},
          {"launch", parameter_json(submission.launch, time_quantity)},
          {"event_record", parameter_json(submission.event_record, time_quantity)},
          {"event_wait", parameter_json(submission.event_wait, time_quantity)},
          {"batched_copy", parameter_json(submission.batched_copy, time_quantity)},
          {"graph_launch", parameter_json(submission.graph_launch, time_quantity)},
          {"graph_op", parameter_json(submission.graph_op, time_quantity)}};
}

SubmissionModel read_submission(const JsonReader& in, const Explanations& missing) {
  in.only_keys({"copy", "launch", "event_record", "event_wait", "batched_copy", "graph_launch", "graph_op"});
  return {.copy = read_parameter(in, "submission", "copy", time_quantity, missing),
          .launch = read_parameter(in, "submission", "launch", time_quantity, missing),
          .event_record = read_parameter(in, "submission", "event_record", time_quantity, missing),
          .event_wait = read_parameter(in, "submission", "event_wait", time_quantity, missing),
          .batched_copy = read_parameter(in, "submission", "batched_copy", time_quantity, missing),
          .graph_launch = read_parameter(in, "submission", "graph_launch", time_quantity, missing),
          .graph_op = read_parameter(in, "submission", "graph_op", time_quantity, missing)};
}

Json measurement_json(const Measurement& measurement) {
  Json samples = Json::array();
  // A tenth of a nanosecond: below the resolution of every clock in use, and a file of reasonable size.
  for (const double us : measurement.samples_us) samples.push_back(std::round(us * 1e4) / 1e4);
  Json json{{"primitive", measurement.primitive}, {"arguments", Json(measurement.arguments)},
            {"clock", measurement.clock},         {"visits", measurement.visits},
            {"verified", measurement.verified},   {"samples_us", std::move(samples)}};
  if (!measurement.held_by.empty()) json["held_by"] = measurement.held_by;
  return json;
}

Measurement read_measurement(const JsonReader& in, std::size_t) {
  in.only_keys({"primitive", "arguments", "clock", "visits", "verified", "held_by", "samples_us"});
  Measurement measurement{
      .primitive = read_text(in.at("primitive")),
      .arguments = read_map<double>(in.at("arguments"), [](const JsonReader& value) { return value.number(); }),
      .clock = in.at("clock").string(),
      .samples_us = read_list(in.at("samples_us"), [](const JsonReader& us, std::size_t) { return us.non_negative(); }),
      .verified = in.at("verified").boolean(),
      .held_by = in.find("held_by") ? read_text(in.at("held_by")) : "",
      .visits = read_count<unsigned>(in.at("visits"), 1, 2)};
  if (measurement.clock != "events" && measurement.clock != "host") in.at("clock").fail("one of events, host");
  if (measurement.samples_us.empty()) in.at("samples_us").fail("at least one sample");
  return measurement;
}

/// Text for people too: what fits on a line stands on one line, and a list of numbers always does.
void write_text(const Json& json, const std::string& indent, std::string& out) {
  constexpr std::size_t line_width = 110;
  const bool numbers =
      json.is_array() && std::all_of(json.begin(), json.end(), [](const Json& item) { return item.is_number(); });
  const std::string compact = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (!json.is_structured() || json.empty() || numbers || indent.size() + compact.size() <= line_width) {
    out += compact;
    return;
  }
  const std::string deeper = indent + "  ";
  const char* separator = "\n";
  out += json.is_object() ? '{' : '[';
  for (const auto& member : json.items()) {
    out += separator + deeper;
    if (json.is_object()) out += Json(member.key()).dump(-1, ' ', false, Json::error_handler_t::replace) + ": ";
    write_text(member.value(), deeper, out);
    separator = ",\n";
  }
  out += '\n' + indent + (json.is_object() ? '}' : ']');
}

}  // namespace

Json to_json(const Profile& profile) {
  return {{"schema", Profile::schema},
          {"version", Profile::version},
          {"name", profile.name},
          {"origin", to_string(profile.origin)},
          {"source", profile.source},
          {"conditions", Json(profile.conditions)},
          {"gpus", list_json(profile.gpus, gpu_json)},
          {"links", list_json(profile.links, link_json)},
          {"peers", list_json(profile.peers, peer_json)},
          {"host", profile.host ? host_json(*profile.host) : Json(nullptr)},
          {"submission", submission_json(profile.submission)},
          {"missing", list_json<Missing>(profile.missing,
                                         [](const Missing& m) -> Json {
                                           return {{"parameter", m.parameter}, {"reason", m.reason}};
                                         })},
          {"residuals", list_json<Residual>(profile.residuals,
                                            [](const Residual& r) -> Json {
                                              return {{"parameter", r.parameter}, {"worst", r.worst}, {"at", r.at}};
                                            })},
          {"measurements", list_json(profile.measurements, measurement_json)}};
}

Profile profile_from_json(const Json& json, const std::string& source) {
  const JsonReader in(json, source);
  require_schema(in, Profile::schema, Profile::version);
  in.only_keys({"schema", "version", "name", "origin", "source", "conditions", "gpus", "links", "peers", "host",
                "submission", "missing", "residuals", "measurements"});
  Profile profile;
  profile.name = read_text(in.at("name"));
  profile.origin = read_enum(in.at("origin"), origin_names);
  profile.source = read_text(in.at("source"));
  profile.conditions = read_map<std::string>(in.at("conditions"), [](const JsonReader& fact) { return fact.string(); });
  profile.missing = read_list(in.at("missing"), [](const JsonReader& item, std::size_t) -> Missing {
    item.only_keys({"parameter", "reason"});
    return {.parameter = read_text(item.at("parameter")), .reason = read_text(item.at("reason"))};
  });
  const Explanations missing(profile.missing);
  profile.gpus = read_list(in.at("gpus"), [&](const JsonReader& gpu, std::size_t i) {
    return read_gpu(gpu, fmt::format("gpus[{}]", i), missing);
  });
  if (profile.gpus.empty()) in.at("gpus").fail("at least one GPU");
  profile.links = read_list(in.at("links"), [&](const JsonReader& link, std::size_t i) {
    return read_link(link, fmt::format("links[{}]", i), missing);
  });
  missing.absent(in.at("links"), "links", profile.links.empty());
  check_link_ends(in.at("links"), profile);
  profile.peers = read_list(in.at("peers"), [&](const JsonReader& peer, std::size_t i) {
    return read_peer(peer, fmt::format("peers[{}]", i), profile.gpus.size(), missing);
  });
  for (std::size_t i = 0; i < profile.peers.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      if (profile.peers[k].from == profile.peers[i].from && profile.peers[k].to == profile.peers[i].to)
        in.at("peers").at(i).fail(fmt::format("one entry for each pair of GPUs, and peers[{}] is this one too", k));
  profile.host = read_host(in.at("host"), missing);
  profile.submission = read_submission(in.at("submission"), missing);
  profile.residuals = read_list(in.at("residuals"), [](const JsonReader& item, std::size_t) -> Residual {
    item.only_keys({"parameter", "worst", "at"});
    return {.parameter = read_text(item.at("parameter")),
            .worst = item.at("worst").non_negative(),
            .at = item.at("at").string()};
  });
  profile.measurements = read_list(in.at("measurements"), read_measurement);
  return profile;
}

Profile load_profile(const std::filesystem::path& path) {
  return profile_from_json(read_json_file(path), path.string());
}

void save_profile(const Profile& profile, const std::filesystem::path& path) {
  const Json json = to_json(profile);
  // What could not be read back is refused now, by its key, instead of being found broken later.
  profile_from_json(json, path.string());
  std::string text;
  write_text(json, "", text);
  write_file_atomically(path, text + '\n');
}

std::string parameter_hash(const Profile& profile) {
  Json gpus = list_json(profile.gpus, gpu_json);
  for (Json& gpu : gpus) gpu.erase("name");  // says nothing about time
  return content_hash(Json{{"gpus", std::move(gpus)},
                           {"links", list_json(profile.links, link_json)},
                           {"peers", list_json(profile.peers, peer_json)},
                           {"host", profile.host ? host_json(*profile.host) : Json(nullptr)},
                           {"submission", submission_json(profile.submission)}}
                          .dump());
}

}  // namespace shiplap

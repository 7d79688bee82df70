// The JSON form of a profile: docs/schema/profile.schema.json.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

#include "shiplap/profile/parameter_table.hpp"
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

/// Words of an enumeration in files.
constexpr const auto& names_of(EngineOrder) { return engine_order_names; }
constexpr const auto& names_of(ImplicitSync) { return implicit_sync_names; }

template <class T>
constexpr bool is_number = std::is_unsigned_v<T> && !std::is_same_v<T, bool>;

/// Writes an object of the table of parameters.
class Writer {
 public:
  Json json = Json::object();

  template <class T, class... Rules>
  void fact(std::string_view name, const T& member, std::string_view, Rules...) {
    Json& out = json[std::string(name)];
    if constexpr (std::is_enum_v<T>)
      out = name_of(member, names_of(member));
    else if constexpr (std::is_same_v<T, Bytes>)
      out = member.count;
    else
      out = member;
  }
  void optional_fact(std::string_view name, const std::optional<unsigned>& member, unsigned, std::string_view) {
    json[std::string(name)] = member ? Json(*member) : Json(nullptr);
  }
  template <class T>
  void value(const ParameterInfo& info, const Interval<T>& interval, const Quantity<T>& quantity) {
    json[std::string(info.name)] = interval_json(interval, quantity);
  }
  template <class T>
  void optional_value(const ParameterInfo& info, const Parameter<T>& parameter, const Quantity<T>& quantity) {
    json[std::string(info.name)] = parameter ? interval_json(*parameter, quantity) : Json(nullptr);
  }
  template <class Row>
  void rows(const RowsInfo& info, const std::vector<Row>& rows, Tag tag) {
    json[std::string(info.name)] = list(rows, tag);
  }
  template <class Part, class... More>
  void part(std::string_view name, const Part& part, std::string_view, More... more) {
    json[std::string(name)] = object(part, more...);
  }
  template <class Part, class... More>
  void optional_part(std::string_view name, const std::optional<Part>& part, std::string_view, More... more) {
    json[std::string(name)] = part ? object(*part, more...) : Json(nullptr);
  }
  void lists(std::string_view name, const std::map<std::string, std::vector<TimeAt>>& lists, Tag tag,
             std::string_view) {
    Json& out = json[std::string(name)] = Json::object();
    for (const auto& [key, rows] : lists) out[key] = list(rows, tag);
  }

  template <class Part, class... More>
  static Json object(const Part& part, More... more) {
    Writer writer;
    describe(writer, part, more...);
    return std::move(writer.json);
  }

 private:
  template <class Row>
  static Json list(const std::vector<Row>& rows, Tag tag) {
    Json list = Json::array();
    for (const Row& row : rows) list.push_back(object(row, tag));
    return list;
  }
};

/// The keys of an object of the table.
class Keys {
 public:
  std::vector<std::string_view> names;

  template <class... Anything>
  void fact(std::string_view name, Anything&&...) {
    names.push_back(name);
  }
  template <class... Anything>
  void optional_fact(std::string_view name, Anything&&...) {
    names.push_back(name);
  }
  template <class... Anything>
  void value(const ParameterInfo& info, Anything&&...) {
    names.push_back(info.name);
  }
  template <class... Anything>
  void optional_value(const ParameterInfo& info, Anything&&...) {
    names.push_back(info.name);
  }
  template <class... Anything>
  void rows(const RowsInfo& info, Anything&&...) {
    names.push_back(info.name);
  }
  template <class... Anything>
  void part(std::string_view name, Anything&&...) {
    names.push_back(name);
  }
  template <class... Anything>
  void optional_part(std::string_view name, Anything&&...) {
    names.push_back(name);
  }
  template <class... Anything>
  void lists(std::string_view name, Anything&&...) {
    names.push_back(name);
  }
};

/// What rows of a list increase by.
template <class Row>
auto order_of(const Row& row) {
  if constexpr (requires { row.rings; })
    return std::pair{row.threads, row.rings};
  else if constexpr (requires { row.threads; })
    return row.threads;
  else if constexpr (requires { row.in_flight; })
    return row.in_flight;
  else
    return row.size;
}

/// Reads an object of the table. `path` is where it stands in the file.
class Reader {
 public:
  Reader(const JsonReader& in, std::string path, const Explanations& missing)
      : in_(in), path_(std::move(path)), missing_(missing) {}

  template <class T>
  void fact(std::string_view name, T& member, std::string_view, std::uint64_t least = 0,
            std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) {
    const JsonReader in = in_.at(name);
    if constexpr (std::is_enum_v<T>)
      member = read_enum(in, names_of(T{}));
    else if constexpr (std::is_same_v<T, Bytes>)
      member = read_bytes(in);
    else if constexpr (std::is_same_v<T, bool>)
      member = in.boolean();
    else if constexpr (is_number<T>)
      member = read_count<T>(in, least, std::min<std::uint64_t>(most, std::numeric_limits<T>::max()));
    else
      member = read_text(in);
  }
  void optional_fact(std::string_view name, std::optional<unsigned>& member, unsigned least, std::string_view) {
    member.reset();
    if (const JsonReader in = in_.at(name); !is_absent(in, name)) member = read_count<unsigned>(in, least);
  }
  template <class T>
  void value(const ParameterInfo& info, Interval<T>& interval, const Quantity<T>& quantity) {
    interval = read_interval(in_.at(info.name), quantity);
  }
  template <class T>
  void optional_value(const ParameterInfo& info, Parameter<T>& parameter, const Quantity<T>& quantity) {
    parameter.reset();
    if (const JsonReader in = in_.at(info.name); !is_absent(in, info.name)) parameter = read_interval(in, quantity);
  }
  template <class Row>
  void rows(const RowsInfo& info, std::vector<Row>& rows, Tag tag) {
    rows = list<Row>(in_.at(info.name), path_of(info.name), tag, info.may_be_empty);
  }
  template <class Part, class... More>
  void part(std::string_view name, Part& part, std::string_view, More... more) {
    read_object(in_.at(name), path_of(name), missing_, part, more...);
  }
  template <class Part, class... More>
  void optional_part(std::string_view name, std::optional<Part>& part, std::string_view, More... more) {
    part.reset();
    if (const JsonReader in = in_.at(name); !is_absent(in, name))
      read_object(in, path_of(name), missing_, part.emplace(), more...);
  }
  void lists(std::string_view name, std::map<std::string, std::vector<TimeAt>>& lists, Tag tag, std::string_view) {
    lists = read_map<std::vector<TimeAt>>(
        in_.at(name), [&](const JsonReader& rows) { return list<TimeAt>(rows, path_of(name), tag, true); });
  }

  template <class Part, class... More>
  static void read_object(const JsonReader& in, const std::string& path, const Explanations& missing, Part& into,
                          More... more) {
    Keys keys;
    describe(keys, into, more...);
    in.only_keys(keys.names);
    Reader reader(in, path, missing);
    describe(reader, into, more...);
  }

 private:
  std::string path_of(std::string_view name) const { return path_ + "." + std::string(name); }
  bool is_absent(const JsonReader& in, std::string_view name) const {
    return missing_.absent(in, path_of(name), in.value().is_null());
  }
  template <class Row>
  std::vector<Row> list(const JsonReader& in, const std::string& path, Tag tag, bool may_be_empty) const {
    auto rows = read_list(in, [&](const JsonReader& item, std::size_t) {
      Row row{};
      read_object(item, path, missing_, row, tag);
      return row;
    });
    if (may_be_empty) missing_.absent(in, path, rows.empty());
    if (!may_be_empty && rows.empty()) in.fail("at least one row");
    for (std::size_t i = 1; i < rows.size(); ++i)
      if (!(order_of(rows[i - 1]) < order_of(rows[i]))) in.at(i).fail("a row behind the one before it in size");
    return rows;
  }

  const JsonReader& in_;
  std::string path_;
  const Explanations& missing_;
};

void check_peer(const JsonReader& in, const PeerModel& peer, std::size_t gpus) {
  for (const char* end : {"from", "to"})
    if (in.at(end).value() >= gpus)
      in.at(end).fail(fmt::format("the index of one of the {} entries of \"gpus\"", gpus));
  if (peer.from == peer.to) in.at("to").fail("another GPU than \"from\"");
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

template <class T>
Json list_json(const std::vector<T>& items, Json (*one)(const T&)) {
  Json list = Json::array();
  for (const T& item : items) list.push_back(one(item));
  return list;
}

/// What predictions depend on.
Json parameters_json(const Profile& profile) {
  return {{"gpus", list_json<GpuModel>(profile.gpus, [](const GpuModel& gpu) { return Writer::object(gpu); })},
          {"links", list_json<LinkModel>(profile.links, [](const LinkModel& link) { return Writer::object(link); })},
          {"peers", list_json<PeerModel>(profile.peers, [](const PeerModel& peer) { return Writer::object(peer); })},
          {"host", profile.host ? Writer::object(*profile.host) : Json(nullptr)},
          {"submission", Writer::object(profile.submission)}};
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
  Json json{{"schema", Profile::schema}, {"version", Profile::version},
            {"name", profile.name},      {"origin", to_string(profile.origin)},
            {"source", profile.source},  {"conditions", Json(profile.conditions)}};
  json.update(parameters_json(profile));
  json["missing"] = list_json<Missing>(profile.missing, [](const Missing& m) -> Json {
    return {{"parameter", m.parameter}, {"reason", m.reason}};
  });
  json["residuals"] = list_json<Residual>(profile.residuals, [](const Residual& r) -> Json {
    return {{"parameter", r.parameter}, {"worst", r.worst}, {"at", r.at}};
  });
  json["measurements"] = list_json(profile.measurements, measurement_json);
  return json;
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
  const auto objects = [&]<class T>(const char* name, std::vector<T>& into) {
    into = read_list(in.at(name), [&](const JsonReader& item, std::size_t i) {
      T object{};
      Reader::read_object(item, fmt::format("{}[{}]", name, i), missing, object);
      return object;
    });
  };
  objects("gpus", profile.gpus);
  if (profile.gpus.empty()) in.at("gpus").fail("at least one GPU");
  objects("links", profile.links);
  missing.absent(in.at("links"), "links", profile.links.empty());
  check_link_ends(in.at("links"), profile);
  objects("peers", profile.peers);
  for (std::size_t i = 0; i < profile.peers.size(); ++i) {
    check_peer(in.at("peers").at(i), profile.peers[i], profile.gpus.size());
    for (std::size_t k = 0; k < i; ++k)
      if (profile.peers[k].from == profile.peers[i].from && profile.peers[k].to == profile.peers[i].to)
        in.at("peers").at(i).fail(fmt::format("one entry for each pair of GPUs, and peers[{}] is this one too", k));
  }
  if (const JsonReader host = in.at("host"); !missing.absent(host, "host", host.value().is_null()))
    Reader::read_object(host, "host", missing, profile.host.emplace());
  Reader::read_object(in.at("submission"), "submission", missing, profile.submission);
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
  Json json = parameters_json(profile);
  for (Json& gpu : json["gpus"]) gpu.erase("name");  // says nothing about time
  return content_hash(json.dump());
}

}  // namespace shiplap

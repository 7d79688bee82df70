#include "shiplap/fleet/rank_message.hpp"

#include "shiplap/core/deadline.hpp"
#include "shiplap/core/formats.hpp"
#include "shiplap/core/record.hpp"

namespace shiplap {
namespace {

constexpr std::array task_names{std::pair{Task::check, "check"sv}, std::pair{Task::copy_at_once, "copy_at_once"sv}};

/// The time of a clock in seconds, without a unit.
struct ClockTime {
  static Json write(Seconds time) { return time.count(); }
  static Seconds read(const JsonReader& json) { return Seconds{json.number()}; }
};

}  // namespace

EnumNames<Task> names_of(Task) { return task_names; }

template <class V, Like<Hello> R>
void describe(V& v, R& hello) {
  v.field("node", hello.node, "");
  v.field("program", hello.program, "");
}
template <class V, Like<RankDevice> R>
void describe(V& v, R& device) {
  v.field("name", device.name, "");
  v.field("pci_bus_id", device.pci_bus_id, "");
}
template <class V, Like<DeviceList> R>
void describe(V& v, R& list) {
  v.field("devices", list.devices, "");
  v.field("failure", list.failure, "");
}
template <class V, Like<Answer> R>
void describe(V& v, R& answer) {
  v.field("task", answer.task, "");
  v.field("device", answer.device, "");
  v.only_if(!answer.failure.empty(), "failure", answer.failure, "");
  v.field_if(answer.failure.empty(), "check", answer.result, "");
}
template <class V, Like<Order> R>
void describe(V& v, R& order) {
  v.field("end", order.end, "");
  v.field("all_answered", order.all_answered, "");
  v.field("task", order.task, "");
  v.field("devices", order.devices, "");
  v.field("begin", order.begin, "", ClockTime{});
}

namespace {

/// The text of a message, and what it is about.
std::string message(const char* kind, const Json& what) {
  Json json{{"schema", formats::rank_message.schema},
            {"version", formats::rank_message.version},
            {"kind", kind},
            {"clock", time_since_1970().count()}};
  json.update(what);
  return json_text(json);
}

}  // namespace

std::string to_text(const Hello& hello) { return message("hello", write_record(hello)); }
std::string to_text(const DeviceList& list) { return message("devices", write_record(list)); }
std::string to_text(const Order& order) { return message("order", write_record(order)); }
std::string to_text(Task task, const std::string& device, const Json& check) {
  return message("answer", {{"task", enum_name(task)}, {"device", device}, {"check", check}});
}
std::string failure_text(Task task, const std::string& device, const std::string& why) {
  return message("answer", {{"task", enum_name(task)}, {"device", device}, {"failure", why}});
}

RankReport report_from_text(std::string_view text, const std::string& source) {
  const Json json = parse_json(text, source);
  const JsonReader reader(json, source);
  require_schema(reader, formats::rank_message);
  RankReport report{.clock = ClockTime::read(reader.at("clock"))};
  const std::string kind = reader.at("kind").string();
  if (kind == "hello")
    read_record(reader, report.what.emplace<Hello>());
  else if (kind == "devices")
    read_record(reader, report.what.emplace<DeviceList>());
  else if (kind == "answer")
    read_record(reader, report.what.emplace<Answer>());
  else
    reader.at("kind").fail("hello, devices or answer");
  return report;
}

Order order_from_text(std::string_view text, const std::string& source) {
  const Json json = parse_json(text, source);
  const JsonReader reader(json, source);
  require_schema(reader, formats::rank_message);
  Order order;
  read_record(reader, order);
  return order;
}

}  // namespace shiplap

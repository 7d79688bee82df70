#include "shiplap/fleet/rank_message.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "shiplap/core/deadline.hpp"
#include "shiplap/core/formats.hpp"
#include "shiplap/core/json.hpp"

namespace shiplap {
namespace {

Json message(const char* kind) {
  return {{"schema", formats::rank_message.schema},
          {"version", formats::rank_message.version},
          {"kind", kind},
          {"clock", time_since_1970().count()}};
}

std::string text_of(const Json& json) { return json_text(json); }

const char* name_of(Task task) { return task == Task::check ? "check" : "copy_at_once"; }

Task task_from_json(const JsonReader& json) {
  for (const Task task : {Task::check, Task::copy_at_once})
    if (json.string() == name_of(task)) return task;
  json.fail("check or copy_at_once");
}

DeviceList devices_from_json(const JsonReader& json) {
  DeviceList list{.devices = {}, .failure = json.at("failure").string()};
  const JsonReader devices = json.at("devices");
  for (std::size_t i = 0; i < devices.size(); ++i)
    list.devices.push_back({devices.at(i).at("name").string(), devices.at(i).at("pci_bus_id").string()});
  return list;
}

Answer answer_from_json(const JsonReader& json) {
  Answer answer{.task = task_from_json(json.at("task")), .device = json.at("device").string()};
  if (const auto failure = json.find("failure"))
    answer.failure = failure->string();
  else
    from_json(json.at("check"), answer.result);
  return answer;
}

}  // namespace

std::string to_text(const Hello& hello) {
  Json json = message("hello");
  json["node"] = hello.node;
  json["program"] = hello.program;
  return text_of(json);
}

std::string to_text(const DeviceList& list) {
  Json json = message("devices");
  json["devices"] = Json::array();
  for (const RankDevice& device : list.devices)
    json["devices"].push_back({{"name", device.name}, {"pci_bus_id", device.pci_bus_id}});
  json["failure"] = list.failure;
  return text_of(json);
}

std::string to_text(Task task, const std::string& device, const Json& check) {
  Json json = message("answer");
  json["task"] = name_of(task);
  json["device"] = device;
  json["check"] = check;
  return text_of(json);
}

std::string failure_text(Task task, const std::string& device, const std::string& why) {
  Json json = message("answer");
  json["task"] = name_of(task);
  json["device"] = device;
  json["failure"] = why;
  return text_of(json);
}

std::string to_text(const Order& order) {
  Json json = message("order");
  json["end"] = order.end;
  json["all_answered"] = order.all_answered;
  json["task"] = name_of(order.task);
  json["devices"] = order.devices;
  json["begin"] = order.begin.count();
  return text_of(json);
}

RankReport report_from_text(std::string_view text, const std::string& source) {
  const Json json = parse_json(text, source);
  const JsonReader reader(json, source);
  require_schema(reader, formats::rank_message);
  RankReport report{.clock = Seconds{reader.at("clock").number()}};
  const std::string kind = reader.at("kind").string();
  if (kind == "hello")
    report.what = Hello{.node = reader.at("node").string(), .program = reader.at("program").string()};
  else if (kind == "devices")
    report.what = devices_from_json(reader);
  else if (kind == "answer")
    report.what = answer_from_json(reader);
  else
    reader.at("kind").fail("hello, devices or answer");
  return report;
}

Order order_from_text(std::string_view text, const std::string& source) {
  const Json json = parse_json(text, source);
  const JsonReader reader(json, source);
  require_schema(reader, formats::rank_message);
  Order order{.end = reader.at("end").boolean(),
              .all_answered = reader.at("all_answered").boolean(),
              .task = task_from_json(reader.at("task")),
              .devices = {},
              .begin = Seconds{reader.at("begin").number()}};
  const JsonReader devices = reader.at("devices");
  for (std::size_t i = 0; i < devices.size(); ++i) order.devices.push_back(devices.at(i).string());
  return order;
}

}  // namespace shiplap

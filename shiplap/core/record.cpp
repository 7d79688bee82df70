#include "shiplap/core/record.hpp"

#include <algorithm>

namespace shiplap {

double InUnit::read(const JsonReader& json) const {
  if (json.at("unit").string() != unit) json.at("unit").fail(fmt::format("\"{}\"", unit));
  return json.at("value").number();
}

Bandwidth Form<Bandwidth>::read(const JsonReader& json) {
  return gigabytes_per_second(InUnit{"GB/s"}.read(json));
}

namespace detail {

Json object_schema(Json properties, const std::vector<std::string>& optional) {
  Json required = Json::array();
  for (const auto& property : properties.items())
    if (std::ranges::find(optional, property.key()) == optional.end()) required.push_back(property.key());
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"required", std::move(required)},
          {"additionalProperties", false}};
}

Json quantity_schema(std::initializer_list<const char*> numbers, std::string_view unit) {
  Json properties = Json::object();
  for (const char* number : numbers) properties[number] = {{"type", "number"}};
  properties["unit"] = {{"const", unit}};
  return object_schema(std::move(properties));
}

Json quantities_schema(std::string_view unit) {
  return object_schema({{"values", {{"type", "array"}, {"items", {{"type", "number"}}}}}, {"unit", {{"const", unit}}}});
}

Json or_null_schema(Json schema) {
  if (schema.contains("enum")) schema["enum"].push_back(nullptr);
  if (schema.contains("type")) schema["type"] = {schema["type"], "null"};
  return schema;
}

}  // namespace detail
}  // namespace shiplap

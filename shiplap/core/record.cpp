#include "shiplap/core/record.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace shiplap {

namespace {

void require_unit(const JsonReader& json, std::string_view unit) {
  if (json.at("unit").string() != unit) json.at("unit").fail(fmt::format("\"{}\"", unit));
}

}  // namespace

Seconds SignedSeconds::read(const JsonReader& json) {
  require_unit(json, "ms");
  return Seconds{json.at("value").number() / 1e3};
}

double InUnit::read(const JsonReader& json) const {
  require_unit(json, unit);
  return json.at("value").number();
}

Estimate EstimateInUnit::read(const JsonReader& json) const {
  require_unit(json, unit);
  return {json.at("value").number(), json.at("low").number(), json.at("high").number()};
}

Bandwidth Form<Bandwidth>::read(const JsonReader& json) { return gigabytes_per_second(InUnit{"GB/s"}.read(json)); }

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

namespace {

/// Moves what occurs several times to definitions, each under the name of the key that it first has.
class Definitions {
 public:
  explicit Definitions(const Json& schema) { count(schema); }

  void use_in(Json& schema) {
    for_each_part(schema, "", [&](const std::string& key, Json& part) { replace(key, part); });
    if (!definitions_.empty()) schema["$defs"] = std::move(definitions_);
  }

 private:
  /// The part without its own description, which depends on the place.
  static std::string body_of(Json part) {
    part.erase("description");
    return part.dump();
  }
  template <class Visit>
  static void for_each_part(auto& schema, const std::string& key, const Visit& visit) {
    if (const auto properties = schema.find("properties"); properties != schema.end())
      for (const auto& property : properties->items()) visit(property.key(), property.value());
    for (const char* one : {"items", "additionalProperties"})
      if (const auto part = schema.find(one); part != schema.end() && part->is_object()) visit(key, *part);
  }

  void count(const Json& schema) {
    for_each_part(schema, "", [&](const std::string&, const Json& part) {
      // What is already counted has no new parts.
      if (!part.contains("properties") || ++times_[body_of(part)] == 1) count(part);
    });
  }

  void replace(const std::string& key, Json& part) {
    const std::string body = part.contains("properties") ? body_of(part) : "";
    if (body.empty() || times_.at(body) < 2)
      return for_each_part(part, key, [&](const std::string& inner, Json& one) { replace(inner, one); });
    auto [named, is_new] = names_.emplace(body, key);
    if (is_new) {
      for (int i = 2; definitions_.contains(named->second); ++i) named->second = fmt::format("{}_{}", key, i);
      const std::string name = named->second;
      definitions_[name] = nullptr;  // so that the definitions inside have other names
      Json definition = part;
      definition.erase("description");
      for_each_part(definition, key, [&](const std::string& inner, Json& one) { replace(inner, one); });
      definitions_[name] = std::move(definition);
    }
    Json reference{{"$ref", "#/$defs/" + names_.at(body)}};
    if (const auto description = part.find("description"); description != part.end())
      reference["description"] = *description;
    part = std::move(reference);
  }

  std::map<std::string, int> times_;
  std::map<std::string, std::string> names_;
  Json definitions_ = Json::object();
};

}  // namespace

Json with_definitions(Json schema) {
  Definitions(schema).use_in(schema);
  return schema;
}

}  // namespace detail
}  // namespace shiplap

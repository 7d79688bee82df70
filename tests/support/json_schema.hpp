// Checks a document against one of docs/schema: the keywords that these use, and no others.
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "shiplap/core/json.hpp"

namespace shiplap {

/// What does not fit, a line each with its place. A keyword that is not known here is a complaint too, so that no rule
/// of a schema passes unread.
class JsonSchema {
 public:
  explicit JsonSchema(Json schema) : root_(std::move(schema)) {}

  std::vector<std::string> problems(const Json& document) const {
    std::vector<std::string> out;
    check(document, root_, "$", out);
    return out;
  }

 private:
  static bool is(const Json& value, const std::string& type) {
    if (type == "object") return value.is_object();
    if (type == "array") return value.is_array();
    if (type == "string") return value.is_string();
    if (type == "boolean") return value.is_boolean();
    if (type == "integer") return value.is_number_integer();
    if (type == "number") return value.is_number();
    return type == "null" && value.is_null();
  }

  void check(const Json& value, const Json& schema, const std::string& at, std::vector<std::string>& out) const {
    static const std::set<std::string> known{"$schema",  "$defs",
                                             "$ref",     "title",
                                             "type",     "properties",
                                             "required", "description",
                                             "items",    "const",
                                             "enum",     "additionalProperties",
                                             "minimum",  "exclusiveMinimum",
                                             "maximum",  "minItems",
                                             "minLength"};
    for (const auto& [key, rule] : schema.items())
      if (!known.contains(key)) out.push_back(at + ": this checker does not know " + key);
    if (schema.contains("$ref")) {
      const std::string ref = schema.at("$ref");
      check(value, root_.at("$defs").at(ref.substr(ref.rfind('/') + 1)), at, out);
    }
    if (schema.contains("const") && value != schema.at("const")) out.push_back(at + ": " + value.dump());
    if (schema.contains("enum")) {
      bool found = false;
      for (const Json& allowed : schema.at("enum")) found = found || allowed == value;
      if (!found) out.push_back(at + ": " + value.dump());
    }
    if (schema.contains("minimum") && value.is_number() && value.get<double>() < schema.at("minimum").get<double>())
      out.push_back(at + ": less than its minimum");
    if (schema.contains("maximum") && value.is_number() && value.get<double>() > schema.at("maximum").get<double>())
      out.push_back(at + ": more than its maximum");
    if (schema.contains("exclusiveMinimum") && value.is_number() &&
        value.get<double>() <= schema.at("exclusiveMinimum").get<double>())
      out.push_back(at + ": not more than its minimum");
    if (schema.contains("minItems") && value.is_array() && value.size() < schema.at("minItems").get<std::size_t>())
      out.push_back(at + ": fewer items than its minimum");
    if (schema.contains("minLength") && value.is_string() &&
        value.get_ref<const std::string&>().size() < schema.at("minLength").get<std::size_t>())
      out.push_back(at + ": shorter than its minimum");
    if (schema.contains("type")) {
      bool right = false;
      const Json& type = schema.at("type");
      for (const Json& one : type.is_array() ? type : Json::array({type})) right = right || is(value, one);
      if (!right) return out.push_back(at + ": not " + type.dump());
    }
    if (value.is_array() && schema.contains("items"))
      for (std::size_t i = 0; i < value.size(); ++i)
        check(value[i], schema.at("items"), at + "[" + std::to_string(i) + "]", out);
    if (!value.is_object()) return;
    if (schema.contains("required"))
      for (const Json& key : schema.at("required"))
        if (!value.contains(key.get<std::string>())) out.push_back(at + ": lacks " + key.dump());
    for (const auto& [key, member] : value.items()) {
      const std::string place = at + "." + key;
      if (schema.contains("properties") && schema.at("properties").contains(key))
        check(member, schema.at("properties").at(key), place, out);
      else if (schema.contains("additionalProperties") && schema.at("additionalProperties").is_object())
        check(member, schema.at("additionalProperties"), place, out);
      else if (schema.contains("additionalProperties") && !schema.at("additionalProperties").get<bool>())
        out.push_back(place + ": not in the schema");
    }
  }

  Json root_;
};

}  // namespace shiplap

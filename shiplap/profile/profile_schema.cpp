// The JSON Schema of profile files, made from the table of parameters.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "shiplap/core/formats.hpp"
#include "shiplap/profile/enum_names.hpp"
#include "shiplap/profile/evidence.hpp"
#include "shiplap/profile/parameter_table.hpp"

namespace shiplap {
namespace {

Json text_schema(std::string_view meaning) { return {{"type", "string"}, {"minLength", 1}, {"description", meaning}}; }
Json list_schema(Json items, std::string_view meaning) {
  return {{"type", "array"}, {"description", meaning}, {"items", std::move(items)}};
}
Json reference(std::string_view name) { return {{"$ref", fmt::format("#/$defs/{}", name)}}; }

/// The end of the description of a list that may be empty or left out.
constexpr std::string_view empty_when_missing = " Empty or left out only when \"missing\" says why.";

/// The end of the description of a list that is left out without a reason.
constexpr std::string_view unless_measured = " Left out where they were not measured.";

bool may_be_left_out(const Json& schema) {
  const auto description = schema.find("description");
  if (description == schema.end() || !description->is_string()) return false;
  const auto& text = description->get_ref<const std::string&>();
  return text.ends_with(empty_when_missing) || text.ends_with(unless_measured);
}

Json or_null(Json schema, std::string_view meaning) {
  return {{"description", fmt::format("{} Null or left out when unknown; then \"missing\" says why.", meaning)},
          {"oneOf", Json::array({std::move(schema), {{"type", "null"}}})}};
}

/// The schema of an object. Properties that may be null or empty are not required.
Json object_schema(Json properties) {
  Json required = Json::array();
  for (const auto& property : properties.items())
    if (!property.value().contains("oneOf") && !may_be_left_out(property.value())) required.push_back(property.key());
  return {{"type", "object"},
          {"required", std::move(required)},
          {"additionalProperties", false},
          {"properties", std::move(properties)}};
}

/// Makes the schema of an object's properties. It is a visitor of `describe`; callers use `schema_of`.
class SchemaWriter {
 public:
  Json properties = Json::object();

  template <class T>
  void fact(std::string_view name, const T&, std::string_view meaning, std::uint64_t least = 0,
            std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) {
    Json& out = properties[std::string(name)];
    if constexpr (std::is_enum_v<T>)
      out = Form<T>::schema();
    else if constexpr (std::is_same_v<T, Bytes>)
      out = reference("size");
    else if constexpr (std::is_same_v<T, bool>)
      out = Form<bool>::schema();
    else if constexpr (std::is_same_v<T, std::vector<std::uint16_t>>)
      out = Form<T>{}.schema();
    else if constexpr (std::is_unsigned_v<T>)
      out = {{"type", "integer"},
             {"minimum", least},
             {"maximum", std::min<std::uint64_t>(most, std::numeric_limits<T>::max())}};
    else
      out = text_schema(meaning);
    out["description"] = meaning;
  }
  void optional_fact(std::string_view name, const std::optional<unsigned>&, unsigned least, std::string_view meaning) {
    properties[std::string(name)] = or_null({{"type", "integer"}, {"minimum", least}}, meaning);
  }
  template <class T>
  void value(const ParameterInfo& info, const Interval<T>&, const Quantity<T>& quantity) {
    Json out = reference(name_of(quantity));
    out["description"] = info.meaning;
    properties[std::string(info.name)] = std::move(out);
  }
  template <class T>
  void optional_value(const ParameterInfo& info, const Parameter<T>&, const Quantity<T>& quantity) {
    properties[std::string(info.name)] = or_null(reference(name_of(quantity)), info.meaning);
  }
  template <class Row>
  void rows(const RowsInfo& info, const std::vector<Row>&, Tag tag) {
    Json out = list_schema(schema_of(Row{}, tag), fmt::format("{} Rows increase.{}", info.meaning,
                                                              info.may_be_empty ? empty_when_missing : ""));
    if (!info.may_be_empty) out["minItems"] = 1;
    properties[std::string(info.name)] = std::move(out);
  }
  template <class Part, class... More>
  void part(std::string_view name, const Part& part, std::string_view meaning, More... more) {
    Json out = schema_of(part, more...);
    out["description"] = meaning;
    properties[std::string(name)] = std::move(out);
  }
  template <class Part, class... More>
  void optional_part(std::string_view name, const std::optional<Part>&, std::string_view meaning, More... more) {
    properties[std::string(name)] = or_null(schema_of(Part{}, more...), meaning);
  }
  template <class Row>
  void lists(std::string_view name, const std::map<std::string, std::vector<Row>>&, Tag tag, std::string_view meaning) {
    properties[std::string(name)] = {
        {"type", "object"},
        {"description", meaning},
        {"additionalProperties",
         list_schema(schema_of(Row{}, tag), "Rows increase. Empty only when \"missing\" names all of them.")}};
  }

  template <class Part, class... More>
  static Json schema_of(const Part& part, More... more) {
    SchemaWriter writer;
    describe(writer, part, more...);
    return object_schema(std::move(writer.properties));
  }

  template <class T>
  static std::string name_of(const Quantity<T>& quantity) {
    std::string name = quantity.unit == "1" ? "fraction" : "";
    for (const char c : quantity.unit == "1" ? "" : quantity.unit) name += c == '/' ? "_per_" : std::string(1, c);
    return name + (quantity.may_be_zero() ? "" : "_above_0");
  }
};

template <class T>
void define(Json& definitions, const Quantity<T>& quantity) {
  const auto number = [&](std::string_view meaning) -> Json {
    return {{"type", "number"},
            {"minimum", quantity.least},
            {"maximum", quantity.most},
            {"description", fmt::format("{}, in {}.", meaning, quantity.unit)}};
  };
  Json schema = object_schema({{"value", number("The fitted value")},
                               {"low", number("Lower end of the 95 % interval; absent: the value")},
                               {"high", number("Upper end of the 95 % interval; absent: the value")},
                               {"unit", {{"const", quantity.unit}}}});
  schema["required"] = {"value", "unit"};
  definitions[SchemaWriter::name_of(quantity)] = std::move(schema);
}

/// The definitions of values to which the schemas of objects refer.
Json definitions() {
  Json kinds{{"size",
              {{"type", "integer"},
               {"minimum", 1},
               {"maximum", std::numeric_limits<std::uint64_t>::max()},
               {"description", "A number of bytes."}}}};
  define(kinds, time_quantity);
  define(kinds, per_byte_quantity);
  define(kinds, added_per_byte_quantity);
  define(kinds, bandwidth_quantity);
  define(kinds, fraction_quantity);
  define(kinds, threads_quantity);
  define(kinds, flop_rate_quantity);
  return kinds;
}

/// The members that identify the profile and its origin.
Json identity_properties() {
  Json origin = Form<Origin>::schema();
  origin["description"] =
      "Origin of the figures. simulated: measured on a virtual device. imported: measured by another tool. planted: "
      "chosen by a test.";
  return {{"schema", {{"const", formats::profile.schema}}},
          {"version",
           {{"const", formats::profile.version}, {"description", "Version of this format. Readers refuse any other."}}},
          {"name", text_schema("Name of the profile.")},
          {"origin", std::move(origin)},
          {"source", text_schema("How the figures were obtained: the command, or the publication and its tables.")},
          {"conditions",
           {{"type", "object"},
            {"additionalProperties", {{"type", "string"}}},
            {"description", "Facts about the node at the time of measuring: driver, CPU, clocks."}}}};
}

/// The members on which predictions depend.
Json parameter_properties() {
  Json gpus = list_schema(SchemaWriter::schema_of(GpuModel{}), "The GPUs in the order of the device's numbers.");
  gpus["minItems"] = 1;
  Json submission = SchemaWriter::schema_of(SubmissionModel{});
  submission["description"] = "Host time of one call, per kind of call.";
  Json shared = list_schema(SchemaWriter::schema_of(SharedRates{}),
                            fmt::format("Rates that several GPUs reach together.{}", unless_measured));
  return {{"gpus", std::move(gpus)},
          {"links",
           list_schema(SchemaWriter::schema_of(LinkModel{}),
                       "The links between host NUMA nodes and GPUs. Empty only when \"missing\" names \"links\".")},
          {"peers", list_schema(SchemaWriter::schema_of(PeerModel{}), "Copies between the GPUs of a node.")},
          {"shared", std::move(shared)},
          {"host",
           or_null(SchemaWriter::schema_of(HostModel{}), "Times and rates of work that host threads do themselves.")},
          {"submission", std::move(submission)}};
}

/// The members with the evidence for the parameters.
Json evidence_properties() {
  return {{"missing", list_schema(schema_of<Missing>(), "Parameters without a value, each with the reason.")},
          {"residuals", list_schema(schema_of<Residual>(), "Errors of the fits.")},
          {"measurements",
           list_schema(schema_of<Measurement>(), "Raw samples, so that every figure can be fitted again.")}};
}

}  // namespace

Json profile_schema() {
  Json properties = identity_properties();
  properties.update(parameter_properties());
  properties.update(evidence_properties());
  Json schema{
      {"$schema", "https://json-schema.org/draft/2020-12/schema"},
      {"$id", fmt::format("urn:{}:{}", formats::profile.schema, formats::profile.version)},
      {"title", "shiplap profile"},
      {"description",
       "The parameters of one node: its GPUs and the links to them, as fitted values with 95 % intervals, and the raw "
       "measurements behind them. The reader checks some rules that a schema cannot state: rows of a list increase, "
       "low <= value <= high, a link names an existing GPU and no pair of NUMA node and GPU has two links, every value "
       "that is null, empty or left out is named in \"missing\", by its path or by that of an object around it, where "
       "its description says so, and nothing named there by its own path has a value. Paths are written like "
       "links[0].h2d.duplex."}};
  schema.update(object_schema(std::move(properties)));
  schema["$defs"] = definitions();
  return schema;
}

}  // namespace shiplap

#include "shiplap/measure/node_result.hpp"

#include <algorithm>

#include "shiplap/core/record.hpp"
#include "shiplap/profile/enum_names.hpp"

namespace shiplap {

namespace {

constexpr std::array verdict_names{std::pair{Verdict::good, "good"sv}, std::pair{Verdict::low, "low"sv},
                                   std::pair{Verdict::bad, "bad"sv}, std::pair{Verdict::busy, "busy"sv},
                                   std::pair{Verdict::unknown, "unknown"sv}};

/// A number of attempts; more than a million are read as a million.
struct Attempts : Form<unsigned> {
  static unsigned read(const JsonReader& json) {
    return static_cast<unsigned>(std::min<std::uint64_t>(json.unsigned_integer(), 1'000'000));
  }
};

}  // namespace

EnumNames<Verdict> names_of(Verdict) { return verdict_names; }
std::string to_string(Verdict verdict) { return std::string(enum_name(verdict)); }

template <class V, Like<CheckedFigure> R>
void describe(V& v, R& figure) {
  const NullIfEmpty<double, decltype(InUnitOfRecord{figure.unit})> in_its_unit{{figure.unit}};
  v.field("what", figure.what, "name of the figure");
  v.field("verdict", figure.verdict, "the verdict on the figure");
  v.field("measured", figure.measured_value, "the measured value", in_its_unit);
  v.field("limit", figure.limit_value, "what such hardware allows", in_its_unit);
  v.field("measured_text", figure.measured, "the measured value for people, or why there is none");
  v.field("limit_text", figure.limit, "the limit for people, or what is missing to compute it");
  v.field("attempts", figure.attempts, "number of times that the figure was measured; the best attempt counts",
          Attempts{});
  v.only_if(figure.fraction > 0, "fraction", figure.fraction, "measured over limit", NonNegative{});
  v.only_if(figure.fraction > 0, "expected", figure.expected, "least fraction that is good", NonNegative{});
  v.only_if(!figure.causes.empty(), "causes", figure.causes,
            "possible causes of a low or bad figure, or who used the node");
}

template <class V, Like<NodeResult> R>
void describe(V& v, R& result) {
  v.header(formats::check);
  v.field("verdict", result.verdict, "the verdict on the node");
  v.added("attempts", result.attempts,
          "number of times that the node was measured; 0: it was busy, or a profile was judged as it is", Attempts{});
  v.field("busy", result.busy,
          "what others did on the node, so that bad figures were not judged; empty: nothing, or it is unknown");
  v.field("profile", result.kind, "name of the profile with the figures");
  v.field("origin", result.origin, "where the figures come from");
  v.field("figures", result.figures, "the figures");
  v.field("node", result.node, "name of the host");
  v.field("gpu", result.gpu, "the device, as in cuda:0, or the profile that was judged");
  v.added("pci_bus_id", result.pci_bus_id,
          "as in 0000:18:00.0, which tells GPUs of a node apart; empty: unknown, or no GPU");
}

Json to_json(const NodeResult& result) { return write_record(result); }
void from_json(const JsonReader& json, NodeResult& result) { read_record(json, result); }
Json json_schema(const NodeResult&) {
  return document_schema<NodeResult>(
      "shiplap check", "Whether a node gives what its hardware should, as `shiplap check --json` prints it.");
}

}  // namespace shiplap

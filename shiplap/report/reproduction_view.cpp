#include "shiplap/report/reproduction_view.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "shiplap/core/formats.hpp"
#include "shiplap/core/record.hpp"
#include "shiplap/document/figure_json.hpp"

namespace shiplap {
namespace {

constexpr std::array claim_verdict_names{std::pair{ClaimVerdict::holds, "holds"sv},
                                         std::pair{ClaimVerdict::holds_with_a_change, "holds with a change"sv},
                                         std::pair{ClaimVerdict::does_not_hold, "does not hold on this hardware"sv},
                                         std::pair{ClaimVerdict::consistent_with_model, "consistent with the model"sv},
                                         std::pair{ClaimVerdict::contradicts_model, "contradicts the model"sv},
                                         std::pair{ClaimVerdict::cannot_be_checked, "cannot be checked"sv}};

struct PaperCellForm {
  static Json write(const PaperCell& cell) {
    if (const auto* number = std::get_if<double>(&cell)) return *number;
    if (const auto* text = std::get_if<std::string>(&cell)) return *text;
    return nullptr;
  }
  static PaperCell read(const JsonReader& json) {
    if (json.value().is_null()) return {};
    if (json.value().is_string()) return json.string();
    return json.number();
  }
  static Json schema() { return {{"type", {"number", "string", "null"}}}; }
};

/// Rows that have a cell for each column.
struct RowsOfColumns : ListOf<std::vector<PaperCell>, ListOf<PaperCell, PaperCellForm>> {
  const std::vector<PaperColumn>& columns;
  explicit RowsOfColumns(const std::vector<PaperColumn>& of) : columns(of) {}
  std::vector<std::vector<PaperCell>> read(const JsonReader& json) const {
    std::vector<std::vector<PaperCell>> rows = ListOf::read(json);
    for (std::size_t r = 0; r < rows.size(); ++r)
      if (rows[r].size() != columns.size()) json.at(r).fail("a cell for each column");
    return rows;
  }
};

/// Records without any key that their description lacks.
template <class T>
using WholeRecords = ListOf<T, WholeRecord<T>>;

}  // namespace

EnumNames<ClaimVerdict> names_of(ClaimVerdict) { return claim_verdict_names; }

std::string verdict_text(const std::optional<ClaimVerdict>& verdict) {
  return verdict ? to_string(*verdict) : "not run yet";
}

std::string count_of_verdicts(const std::vector<ClaimView>& claims) {
  std::vector<std::string> parts;
  const auto add = [&](const std::optional<ClaimVerdict>& verdict) {
    if (const auto count = std::ranges::count(claims, verdict, &ClaimView::verdict); count > 0)
      parts.push_back(fmt::format("{} {}", verdict_text(verdict), count));
  };
  for (const auto& named : claim_verdict_names) add(named.first);
  add(std::nullopt);
  return fmt::format("{} claims: {}", claims.size(), fmt::join(parts, ", "));
}

template <class V, Like<PaperColumn> R>
void describe(V& v, R& column) {
  v.field("name", column.name, "name of the column");
  v.field("unit", column.unit, "unit of its numbers; empty for names and counts");
}
template <class V, Like<PaperFigure> R>
void describe(V& v, R& figure) {
  v.field("id", figure.id, "name of its CSV file");
  v.field("where", figure.where, "place in the paper");
  v.field("title", figure.title, "title of the table");
  v.field("columns", figure.columns, "columns of the table");
  v.field("rows", figure.rows, "rows with a value for each column", RowsOfColumns(figure.columns));
  v.field("note", figure.note, "changes, and what is missing with the reason");
}
template <class V, Like<StepView> R>
void describe(V& v, R& step) {
  v.field("seconds", step.seconds, "time of the step, in seconds", NonNegative{});
  v.field("figures", step.figures, "tables and figures of the step", WholeRecords<PaperFigure>{});
}
namespace {

/// Steps as an object with a key for each.
struct StepsById {
  static Json write(const std::vector<StepView>& steps) {
    Json all = Json::object();
    for (const StepView& step : steps) all[step.id] = Form<StepView>::write(step);
    return all;
  }
  static std::vector<StepView> read(const JsonReader& json) {
    std::vector<StepView> steps;
    json.for_each_member([&](const std::string& id, const JsonReader& step) {
      steps.push_back(WholeRecord<StepView>::read(step));
      steps.back().id = id;
    });
    return steps;
  }
  static Json schema() { return {{"type", "object"}, {"additionalProperties", Form<StepView>::schema()}}; }
};

}  // namespace

template <class V, Like<FindingView> R>
void describe(V& v, R& finding) {
  v.field("step", finding.step, "id of the step that found it");
  v.field("verdict", finding.verdict, "verdict of this step");
  v.field("observed", finding.observed, "observed figure with its unit");
  v.field("why", finding.why, "why it does not hold or cannot be checked, or the change");
}
template <class V, Like<ClaimView> R>
void describe(V& v, R& claim) {
  v.field("id", claim.id, "id of the claim");
  v.field("where", claim.where, "place in the paper");
  v.field("text", claim.text, "the claim in one sentence");
  v.field(
      "verdict", claim.verdict,
      "worst verdict of the findings that could be checked, an observed one before a simulated one; null: no step of "
      "the claim was run. A virtual device, and a step that only evaluates equations, give \"consistent with the "
      "model\", \"contradicts the model\" or \"cannot be checked\" only");
  v.field("findings", claim.findings, "findings in the order of the steps", WholeRecords<FindingView>{});
}
template <class V, Like<ReproductionView> R>
void describe(V& v, R& view) {
  v.header(formats::reproduction);
  v.field("paper", view.paper, "id of the paper, as on the command line");
  v.field("device", view.device, "id of the device");
  v.field("device_name", view.device_name, "name of the device");
  v.field("simulated", view.simulated, "whether the device is virtual, so that all times are simulated");
  v.field("quick", view.quick, "whether fewer points and repeats were run");
  v.field("conditions", view.conditions, "facts about the node");
  v.field("profile", view.profile, "name of the profile");
  v.field("profile_hash", view.profile_hash, "hash of the profile's parameters, which were fixed before anything ran");
  v.field("claims", view.claims, "claims of the paper", WholeRecords<ClaimView>{});
  v.field("plots", view.plots,
          "figures of the paper that are curves, drawn from the tables of the steps: lines are figures of this "
          "reproduction, points are published ones; values are in base units");
  v.field("steps", view.steps, "steps that were run, by id", StepsById{});
}

Json to_json(const ReproductionView& view) { return write_record(view); }

void from_json(const JsonReader& json, ReproductionView& view) {
  read_whole_record(json, view);
  for (std::size_t c = 0; c < view.claims.size(); ++c)
    for (std::size_t f = 0; f < view.claims[c].findings.size(); ++f)
      if (std::ranges::find(view.steps, view.claims[c].findings[f].step, &StepView::id) == view.steps.end())
        json.at("claims").at(c).at("findings").at(f).at("step").fail("a step that is done");
}

Json json_schema(const ReproductionView&) {
  return document_schema<ReproductionView>("shiplap reproduction",
                                           "What `shiplap reproduce` found about the claims of a paper, with every "
                                           "table and figure as data. Each column has "
                                           "its unit.");
}

}  // namespace shiplap

// The reproduction of a paper as files have it and people see it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "shiplap/core/enum_names.hpp"
#include "shiplap/core/json_forward.hpp"
#include "shiplap/document/document.hpp"
#include "shiplap/profile/profile.hpp"

namespace shiplap {

/// Verdict on a claim of a paper on this hardware.
enum class ClaimVerdict : std::uint8_t {
  holds,
  holds_with_a_change,
  does_not_hold,
  /// A virtual device or the paper's equations gave the figures, and they agree with the claim. Nothing was observed,
  /// so the claim may still be wrong.
  consistent_with_model,
  /// A virtual device or the paper's equations gave the figures, and they disagree with the claim, so the claim or the
  /// model is wrong.
  contradicts_model,
  cannot_be_checked
};
EnumNames<ClaimVerdict> names_of(ClaimVerdict);  ///< in the order in which verdicts are counted
inline std::string to_string(ClaimVerdict verdict) { return std::string(enum_name(verdict)); }

/// Name and unit of a column of a table.
struct PaperColumn {
  std::string name;  ///< name: "bandwidth"
  std::string unit;  ///< unit: "GB/s"; "" for names and counts
};
/// A cell of a table; empty without a value.
using PaperCell = std::variant<std::monostate, double, std::string>;

/// A table or figure of the paper as data: our values, with the published ones in separate columns.
struct PaperFigure {
  std::string id;       ///< id, unique in its paper, and name of its CSV file: "fig9"
  std::string where{};  ///< "Fig. 9"
  std::string title{};
  std::vector<PaperColumn> columns{};
  std::vector<std::vector<PaperCell>> rows{};  ///< rows, each as long as `columns`
  std::string note{};  ///< facts that a reader needs: changes, and what is missing with the reason
};

/// The finding of a step about a claim.
struct FindingView {
  std::string step;                                        ///< id of the step
  ClaimVerdict verdict = ClaimVerdict::cannot_be_checked;  ///< verdict of this step
  std::string observed;                                    ///< observed figure with its unit
  std::string why;  ///< reason why it does not hold or cannot be checked, or the change; "" where it holds
};

/// A claim with all that was found about it.
struct ClaimView {
  std::string id;                         ///< "table2"
  std::string where;                      ///< "Table II"
  std::string text;                       ///< the claim in one sentence
  std::optional<ClaimVerdict> verdict{};  ///< nullopt: no step of the claim was run
  std::vector<FindingView> findings{};    ///< in the order of the steps
};

/// A step that was run.
struct StepView {
  std::string id;                      ///< "fig9"
  double seconds = 0;                  ///< time of the step
  std::vector<PaperFigure> figures{};  ///< what it made
};

/// What was reproduced where.
struct ReproductionSetting {
  std::string paper;        ///< name of the experiment
  std::string device;       ///< id of the device: "cuda:0"
  std::string device_name;  ///< name of the device: "NVIDIA H200"
  bool simulated = false;   ///< times are simulated
  bool quick = false;       ///< fewer points and repeats
  Conditions conditions;
  std::string profile;       ///< name of the profile
  std::string profile_hash;  ///< hash of the profile's parameters, fixed before the steps ran
};

/// The reproduction of a paper.
struct ReproductionView : ReproductionSetting {
  std::vector<ClaimView> claims{};
  std::vector<document::Plot> plots{};  ///< figures of the paper that are curves
  std::vector<StepView> steps{};        ///< steps that were run, in their order
};

/// "6 claims: holds 4, contradicts the model 2, not run yet 1", without verdicts that no claim has.
std::string count_of_verdicts(const std::vector<ClaimView>&);
/// The verdict on a claim, or "not run yet".
std::string verdict_text(const std::optional<ClaimVerdict>&);

/// Writes the document `shiplap/reproduction`.
Json to_json(const ReproductionView&);
/// Reads the document. Throws Error that names source and key.
void from_json(const JsonReader&, ReproductionView&);
/// The JSON Schema of the document.
Json json_schema(const ReproductionView&);

}  // namespace shiplap

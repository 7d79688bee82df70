// The check of one GPU of one node, as `shiplap check --json` prints it, and fleets and pages read it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "shiplap/core/json_forward.hpp"
#include "shiplap/measure/check.hpp"

namespace shiplap {

/// One check.
struct NodeResult {
  std::string node;                    ///< name of the host
  std::string gpu;                     ///< "cuda:0"
  std::string pci_bus_id{};            ///< "0000:18:00.0"; empty: unknown. It tells GPUs of a node apart
  std::string kind{};                  ///< name of the profile, as in "nvidia-h200": peers are of one kind
  Verdict verdict = Verdict::unknown;  ///< the verdict of the check itself
  std::vector<std::string> busy{};     ///< what others did on the node
  std::vector<CheckedFigure> figures{};
  unsigned attempts = 0;           ///< number of times that the node was measured; 0: it was busy, or a profile
  std::optional<Origin> origin{};  ///< where the figures come from; nullopt: the document does not say it
};

/// Whether a figure has a value that says something about the node.
inline bool was_measured(const CheckedFigure& figure) {
  return figure.measured_value > 0 && figure.verdict != Verdict::busy;
}

/// Whether figures of this origin were taken of a node, by shiplap or by another tool.
inline bool is_of_a_node(std::optional<Origin> origin) {
  return origin == Origin::measured || origin == Origin::imported;
}

/// Writes the document `shiplap/check`.
Json to_json(const NodeResult&);
/// Reads the document. Throws Error that names source and key.
void from_json(const JsonReader&, NodeResult&);
/// The JSON Schema of the document.
Json json_schema(const NodeResult&);

}  // namespace shiplap

// What the nodes of a fleet gave in earlier checks: a file of bounded size.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "shiplap/core/json.hpp"
#include "shiplap/fleet/node_result.hpp"

namespace shiplap {

/// Earlier values of one figure of one GPU.
struct EarlierValues {
  std::vector<double> first{};  ///< the oldest values, at most `most_kept`
  std::vector<double> last{};   ///< those of the time after, at most `most_kept`, the newest last
  /// Number of values that are kept of each.
  static constexpr std::size_t most_kept = 16;

  void add(double value);
};

/// Earlier values of a figure in short.
struct EarlierFigure {
  std::size_t checks = 0;
  double median = 0;
  double spread = 0;  ///< robust standard deviation
};

/// Earlier values of all figures of all GPUs.
class History {
 public:
  /// The name of a GPU in a history: node and PCI bus id, or node and device where that is unknown.
  static std::string name_of(const NodeResult&);

  /// What the GPU gave earlier: of its first and of its newest values, those with the higher median, so that neither a
  /// slow decline nor a fall after an upgrade is missed. Either must have `least` values; `checks` is 0 when neither
  /// has.
  EarlierFigure earlier(const std::string& gpu, const std::string& what, std::size_t least = 1) const;
  /// Adds the figures of a check that were measured and not busy.
  void add(const NodeResult&);

  /// The document `shiplap/fleet-history`.
  Json to_json() const;
  /// Reads what to_json wrote. Throws Error that names source and key.
  static History from_json(const JsonReader&);

 private:
  std::map<std::string, std::map<std::string, EarlierValues>> values_;  // by GPU, by figure
};

/// The history in a file; an empty one when there is no such file. Throws Error when it cannot be read.
History read_history(const std::string& file);
/// Adds checks to the history in a file, which is made when there is none. Processes that do so at the same time lose
/// nothing. Returns why they could, where the file system has no locks, as a clause for a message; otherwise an empty
/// text. Throws Error when the file cannot be locked, read or written.
std::string add_to_history(const std::string& file, std::span<const NodeResult>);

}  // namespace shiplap

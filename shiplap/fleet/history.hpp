// What the nodes of a fleet gave in earlier checks: a file of bounded size, from which GPUs that are gone leave.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "shiplap/core/json.hpp"
#include "shiplap/core/like.hpp"
#include "shiplap/measure/node_result.hpp"

namespace shiplap {

/// Earlier values of one figure of one GPU.
struct EarlierValues {
  std::vector<double> first{};  ///< the oldest values, at most `most_kept`
  std::vector<double> last{};   ///< those of the time after, at most `most_kept`, the newest last
  /// Number of values that are kept of each.
  static constexpr std::size_t most_kept = 16;

  void add(double value);
  /// Leaves `most` of the first and of the last values, in five significant digits, which is more than checks repeat.
  void shorten(std::size_t most);
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
  /// Begins the next update: what is added from now on is newer than what is there.
  void begin_update() { ++updates_; }
  /// Says that the GPU is not gone, whatever its check said.
  void is_present(const std::string& gpu);
  /// Makes the document no longer than this number of bytes: the GPUs that were added longest ago leave, but none of
  /// the last update. Where these alone are too many, fewer values of each are kept, and no fewer than a judgement
  /// needs.
  void shorten_to(std::uint64_t most_bytes);

  /// The document `shiplap/fleet-history`.
  Json to_json() const;
  /// Reads what to_json wrote. Throws Error that names source and key.
  static History from_json(const JsonReader&);

 private:
  template <class V, Like<History> R>
  friend void describe(V& v, R& history);
  std::uint64_t bytes() const;

  std::uint64_t updates_ = 0;
  std::map<std::string, std::uint64_t> last_updates_;                 ///< by GPU
  std::map<std::string, std::map<std::string, EarlierValues>> gpus_;  ///< by GPU and figure
};

/// The history in a file; an empty one when there is no such file. Throws Error when it cannot be read.
History read_history(const std::string& file);
/// Adds checks of good GPUs to the history in a file, which is made when there is none, and shortens it to what is read
/// of such a file (`limits::document_bytes`). GPUs that are `present` count as seen now, even if their check was bad.
/// Processes that do so at the same time lose nothing. Returns why they could, where the file system has no locks, as a
/// clause for a message; otherwise an empty text. Throws Error when the file cannot be locked, read or written.
std::string add_to_history(const std::string& file, std::span<const NodeResult> good,
                           std::span<const NodeResult> present = {});

}  // namespace shiplap

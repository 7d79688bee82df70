// What the peers of a GPU give, and what the GPU itself gave earlier: what its figures are compared with.
#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "shiplap/fleet/judge.hpp"

namespace shiplap {

/// All results of one GPU, at least one.
using ResultsOfGpu = std::vector<const NodeResult*>;

/// The figures of all GPUs, by kind and name, with their median and spread. A GPU that was checked several times counts
/// once, with the median of its values, so that repetitions of sick ones do not make them normal.
class Peers {
 public:
  /// `history` may be null. It and the options must outlive this.
  Peers(std::span<const ResultsOfGpu>, const JudgeOptions&, const History*);

  /// The peers of a figure; null when nobody has measured it.
  const PeerFigure* of(const std::string& kind, const std::string& what) const;
  /// The value over the median of the GPU's earlier checks; 0 when there are too few of them.
  double over_earlier(const NodeResult&, const CheckedFigure&) const;
  /// Whether the value fell against the GPU's earlier checks, by more than those of its peers did.
  bool fell(const NodeResult&, const CheckedFigure&) const;

  /// Whether a figure that is bad by its own check is so while most peers are not.
  bool is_bad_among_good(const NodeResult&, const CheckedFigure&) const;

  /// All figures, in the order of the results.
  const std::vector<PeerFigure>& figures() const { return figures_; }

 private:
  using Key = std::pair<std::string, std::string>;  // kind, name of the figure
  struct Values {
    std::vector<double> measured;
    std::vector<double> over_earlier;
    std::vector<double> of_limit;
    std::vector<double> earlier_spreads;  ///< relative, of each GPU's earlier checks
    std::size_t bad = 0;                  ///< number of GPUs whose own check says so
  };
  void take(const ResultsOfGpu&, std::vector<Values>&);
  PeerFigure summary(const Key&, const std::string& unit, const Values&) const;
  EarlierFigure earlier(const NodeResult&, const CheckedFigure&) const;
  double allowed(std::size_t values, double median, double spread) const;

  const JudgeOptions& options_;
  const History* history_;
  std::map<Key, std::size_t> index_;
  std::vector<PeerFigure> figures_;
  std::vector<std::size_t> bad_;         ///< by figure: number of GPUs whose own check says so
  std::vector<double> earlier_spreads_;  ///< by figure: how a typical GPU varied in its earlier checks, relative
};

}  // namespace shiplap

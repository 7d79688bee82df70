// Comm|Scope: rates of its primitives, where they come from, and what is concluded from them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiments/experiment.hpp"
#include "shiplap/core/units.hpp"
#include "shiplap/measure/figures.hpp"

namespace shiplap::experiments::commscope {

inline constexpr double published_local_gb = 72;      ///< AC922, pinned memory of the near socket to the GPU
inline constexpr double published_far_gb = 41;        ///< AC922, of the far socket
inline constexpr double published_link_gb = 75;       ///< AC922, NVLink 2.0 of three lanes, one way
inline constexpr double published_peer_gain_gb = 10;  ///< what peer access adds
inline constexpr double published_read_loss_gb = 10;  ///< S822LC, kernels that read host memory beside copies
inline constexpr unsigned published_count = 27;       ///< benchmarks, as the text has it

/// Arguments beside the size: {"threads": 1}.
using Arguments = std::map<std::string, double>;

/// Rates of primitives, and where they come from.
class Rates {
 public:
  Rates() = default;
  explicit Rates(std::vector<shiplap::Figure> figures) : figures_(std::move(figures)) {}

  /// Measured now on a GPU; on a virtual device what was recorded when its profile was measured, else simulated at
  /// small sizes. `globs`: of names of primitives.
  static Rates collect(const Bench&, const std::vector<std::string>& globs);

  /// Of so many bytes (each way) with these arguments among others; nullopt where there is none.
  std::optional<Bandwidth> rate(const std::string& primitive, Bytes, const Arguments& = {}) const;
  /// By increasing size.
  std::vector<Bytes> sizes(const std::string& primitive, const Arguments& = {}) const;
  /// The sizes that all of these have.
  std::vector<Bytes> common(const std::vector<std::string>& primitives) const;
  /// All values of an argument, increasing.
  std::vector<double> values(const std::string& primitive, const std::string& argument) const;
  /// In words: "measured", "recorded in profile h200", "simulated".
  const std::string& source() const { return source_; }
  /// Why there is nothing of a primitive.
  std::string why_not(const std::string& primitive) const;

 private:
  const shiplap::Figure* find(const std::string& primitive, Bytes, const Arguments&) const;
  std::vector<shiplap::Figure> figures_;
  std::map<std::string, std::string> reasons_;
  std::string source_ = "measured";
};

/// A column of rates.
struct Series {
  std::string name;
  std::string primitive;
  Arguments arguments{};
  bool leads = true;  ///< its sizes have rows
};
/// A row for each size that one of the leading series has. What none of a series' rows has is said in the note.
Figure table_of(const Rates&, std::string id, std::string where, std::string title, const std::vector<Series>&);

/// One size of Fig. 9.
struct ZeroCopy {
  Bytes size;
  std::optional<Bandwidth> to_gpu;    ///< copies
  std::optional<Bandwidth> read;      ///< by kernels, 4 bytes an access in 256 blocks, as published
  std::optional<Bandwidth> read16;    ///< 16 bytes an access
  std::optional<Bandwidth> from_gpu;  ///< copies
  std::optional<Bandwidth> write;     ///< by kernels, 4 bytes
  std::optional<Bandwidth> write16;   ///< 16 bytes
  bool steady = true;                 ///< else the rates differed from visit to visit, or scattered
};
/// Every second power of two from `least` to `most`. On a GPU the six of a size are timed in turn, medians of two
/// visits or more (experiments/in_turn.hpp), with host memory that is in no cache of the CPU. Throws Unsupported.
std::vector<ZeroCopy> sweep_zero_copy(const Bench&, Bytes least, Bytes most);

// Verdicts, from rates alone.
Finding judge_flush(const Rates&);
Finding judge_pageable(const Rates&);
Finding judge_staging(const Rates&);
Finding judge_link(const Rates&, std::optional<Bandwidth> link);
Finding judge_pinned_both(const Rates&);
Finding judge_pageable_both(const Rates&);
Finding judge_near_and_far(const Rates&);
Finding judge_gpu_links(const Rates&);
Finding judge_peer_access(const Rates&);
Finding judge_without_peer(const Rates&);
Finding judge_zero_copy(const std::vector<ZeroCopy>&);
Finding judge_zero_copy_read(const std::vector<ZeroCopy>&);
Finding judge_zero_copy_drop(const std::vector<ZeroCopy>&, bool simulated);
Finding judge_resources(const Rates&);
Finding judge_demand_to_gpu(const Rates&);
Finding judge_demand_to_host(const Rates&);
Finding judge_threads(const Rates&);
Finding judge_demand_locality(const Rates&);
Finding judge_demand_limit(const Rates&);
Finding judge_prefetch_large(const Rates&);
Finding judge_prefetch_middle(const Rates&);

/// A benchmark of Table 1 (as its rows, its section 3.4 and its code have them) and what it is here.
struct Benchmark {
  int number;
  std::string_view memory;
  std::string_view transfer;
  std::string_view direction;
  std::string_view primitive;
  bool two_gpus;
};
/// All 31.
std::vector<Benchmark> benchmarks();
/// Whether each has a primitive here.
Finding judge_benchmarks(const std::vector<Benchmark>&, const std::vector<std::string>& primitives);

// The steps.
StepResult run_table1(const Bench&);
StepResult run_copies(const Bench&);
StepResult run_nodes(const Bench&);
StepResult run_peers(const Bench&);
StepResult run_zero_copy(const Bench&);
StepResult run_managed(const Bench&);

}  // namespace shiplap::experiments::commscope

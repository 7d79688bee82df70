// Comm|Scope: rates of its primitives, their origin, and verdicts on its conclusions.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiments/experiment.hpp"
#include "shiplap/core/units.hpp"
#include "shiplap/measure/figures.hpp"

namespace shiplap::experiments::commscope {

inline constexpr double published_local_gb = 72;      ///< GB/s on an AC922, from pinned memory of the near socket to
                                                      ///< the GPU
inline constexpr double published_far_gb = 41;        ///< GB/s on an AC922, from pinned memory of the far socket
inline constexpr double published_link_gb = 75;       ///< GB/s on an AC922, NVLink 2.0 of three lanes in one direction
inline constexpr double published_peer_gain_gb = 10;  ///< GB/s that peer access adds
inline constexpr double published_read_loss_gb = 10;  ///< GB/s on an S822LC by which kernels that read host memory are
                                                      ///< slower than copies
inline constexpr unsigned published_count = 27;       ///< number of benchmarks by the text

/// Arguments besides the size: {"threads": 1}.
using Arguments = std::map<std::string, double>;

/// Rates of primitives, and their origin.
class Rates {
 public:
  Rates() = default;
  explicit Rates(std::vector<shiplap::Figure> figures) : figures_(std::move(figures)) {}

  /// Collects the rates of the primitives whose names match `globs`. They are measured on a GPU. On a virtual device
  /// they are those recorded with its profile, else simulated at small sizes.
  static Rates collect(const Bench&, const std::vector<std::string>& globs);

  /// The rate of a point with this size (in each direction) and these arguments; nullopt where there is none.
  std::optional<Bandwidth> rate(const std::string& primitive, Bytes, const Arguments& = {}) const;
  /// Sizes of a primitive with these arguments, in increasing order.
  std::vector<Bytes> sizes(const std::string& primitive, const Arguments& = {}) const;
  /// Sizes that all of these primitives have.
  std::vector<Bytes> common(const std::vector<std::string>& primitives) const;
  /// All values of an argument, in increasing order.
  std::vector<double> values(const std::string& primitive, const std::string& argument) const;
  /// Origin in words: "measured", "recorded in profile h200", "simulated".
  const std::string& source() const { return source_; }
  /// Reason why a primitive has no rates.
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
  bool leads = true;  ///< whether each of its sizes has a row
};
/// A table with a row for each size of the leading series. The note names series without values.
Figure table_of(const Rates&, std::string id, std::string where, std::string title, const std::vector<Series>&);

/// Rates of one size of Fig. 9.
struct ZeroCopy {
  Bytes size;
  std::optional<Bandwidth> to_gpu;    ///< copies
  std::optional<Bandwidth> read;      ///< by kernels with 4 bytes per access in 256 blocks, as published
  std::optional<Bandwidth> read16;    ///< by kernels with 16 bytes per access
  std::optional<Bandwidth> from_gpu;  ///< copies
  std::optional<Bandwidth> write;     ///< by kernels with 4 bytes per access
  std::optional<Bandwidth> write16;   ///< 16 bytes
  bool steady = true;                 ///< false when rates differed between visits, or scattered
};
/// Rates at every second power of two from `least` to `most`. On a GPU the six of a size alternate and the results are
/// medians of at least two visits (experiments/in_turn.hpp), with host memory flushed from the CPU caches. Throws
/// Unsupported where the device cannot run them.
std::vector<ZeroCopy> sweep_zero_copy(const Bench&, Bytes least, Bytes most);

// The next functions judge rates.
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

/// A benchmark of Table 1, its section 3.4 or its code, and the corresponding primitive.
struct Benchmark {
  int number;
  std::string_view memory;
  std::string_view transfer;
  std::string_view direction;
  std::string_view primitive;
  bool two_gpus;
};
/// All 31 benchmarks.
std::vector<Benchmark> benchmarks();
/// Judges whether each benchmark has a primitive.
Finding judge_benchmarks(const std::vector<Benchmark>&, const std::vector<std::string>& primitives);

// The next functions are the steps.
StepResult run_table1(const Bench&);
StepResult run_copies(const Bench&);
StepResult run_nodes(const Bench&);
StepResult run_peers(const Bench&);
StepResult run_zero_copy(const Bench&);
StepResult run_managed(const Bench&);

}  // namespace shiplap::experiments::commscope

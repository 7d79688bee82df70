// Measured or simulated times of the paper's program on a device, and of the stages of its job.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "experiments/cells.hpp"
#include "experiments/experiment.hpp"
#include "experiments/gomezluna2012/judge.hpp"
#include "shiplap/model/gomez_luna_2012.hpp"

namespace shiplap::experiments::gomez_luna {

/// Layouts of the paper: one copy engine without implicit synchronisation (GTX 280), the same with it (GTX 480), and
/// the paper's listing on the device's own engines.
inline constexpr Layout as_280 = Layout::one_engine;
inline constexpr Layout as_480 = Layout::implicit_sync;
inline constexpr Layout today = Layout::per_chunk;
inline constexpr std::array<Layout, 3> all_layouts{as_280, as_480, today};
/// Text of a layout: "one copy engine", "implicit synchronisation", "today's engines".
std::string_view words(Layout);
gomez_luna_2012::Architecture architecture_of(Layout);

/// The choice of the paper's listing: all copies in, all kernels, all copies out.
Choice streams(Layout, std::uint32_t count, IssueOrder = IssueOrder::breadth);
Choice unstreamed();
/// The choices that `streams` gives for each layout and each number of streams.
std::vector<Choice> sweep(std::span<const Layout>, std::span<const std::uint32_t> counts);

/// Time of one choice.
struct ChoiceTime {
  Choice choice;
  Seconds time{0};
  double noise = 0;    ///< half of the 95 % interval of the median, as a fraction of it
  bool steady = true;  ///< false when visits differ or samples scatter (experiments/in_turn.hpp)
};

/// Times of one workload.
struct Found {
  /// Times of each stage of the job without streams. On a GPU they are measured alternately with the runs, on the same
  /// arrays.
  StageTimes stages;
  bool stages_steady = true;
  KernelCost cost;  ///< cost of the kernel on resident data
  std::uint64_t items = 1;
  /// Time of copies before the first stream begins (the matrix B). It is part of all runs and subtracted from all
  /// times.
  Seconds before{0};
  /// Time of a run without streams for submission and handovers besides its stages, by simulation.
  Seconds handing_over{0};
  std::optional<ChoiceTime> alone{};  ///< time without streams
  std::vector<ChoiceTime> runs{};
  std::vector<std::string> skipped{};  ///< choices that could not run, with the reason

  std::optional<Seconds> unstreamed() const;
  const ChoiceTime* run(Layout, std::uint32_t streams, IssueOrder = IssueOrder::breadth) const;
  std::optional<Seconds> time(Layout, std::uint32_t streams, IssueOrder = IssueOrder::breadth) const;
  /// Times by number of streams, with breadth-first submission.
  std::vector<Timed> times(Layout) const;
  /// Times that were steady.
  std::vector<Timed> steady_times(Layout) const;
  /// The time without streams, as one stream, and all times.
  std::vector<Timed> times_with_none(Layout) const;
  /// Inputs of the paper's equations.
  gomez_luna_2012::Work work(Seconds per_stream) const { return {stages, per_stream}; }
  /// Inputs with t_E as the sum of the kernel times of `streams` streams, which can differ from the time of one launch.
  gomez_luna_2012::Work work_in(std::uint32_t streams, Seconds per_stream) const;
  /// Relative noise of the least certain time.
  double noise() const;
  /// Whether all times are steady.
  bool steady() const;
  /// Gain of streams over no streams; nullopt where either did not run.
  std::optional<Gain> gain(Layout) const;
};

/// A workload and its choices to compare.
struct Asked {
  Workload workload;
  std::vector<Choice> choices;
};

/// Runs workloads, and keeps measurements that several of them need.
class Runner {
 public:
  explicit Runner(const Bench& bench) : bench_(bench) {}

  /// Measures on a GPU and verifies every result, or simulates at full size on a virtual device without moving bytes.
  /// Throws Unsupported where the device or its profile cannot run it.
  Found run(const Workload&, const std::vector<Choice>&);
  /// Runs several workloads. On a GPU each is visited twice, with the others between, and again while it is not steady.
  std::vector<Found> run(const std::vector<Asked>&);
  /// Time of a single copy.
  Seconds transfer(bool to_device, Bytes);
  /// Measures copies of these sizes together.
  void measure_transfers(const std::vector<Bytes>&);
  /// The workload scalar-add with a number of iterations for which the kernel takes about this time. On a virtual
  /// device the time is stated instead.
  Workload scalar_add(Bytes in, Bytes out, Seconds kernel);
  /// The paper's t_sc: time that each further stream adds to a job whose kernel takes a tenth of the copies' time, by a
  /// straight line over 2 to 64 streams.
  Seconds per_stream(Layout);
  /// States the kernel's time on a virtual device, if the job has no cost and the profile lacks the rates to derive it.
  void state_kernel(Workload&, Seconds whole) const;
  /// On a virtual device, runs a small workload with its bytes and verifies the result. Throws CheckFailed.
  void verify_small(const std::string& workload);

  const Bench& bench() const { return bench_; }
  bool simulated() const { return bench_.info.is_virtual; }
  /// Origin of the times: "simulated" or "measured".
  std::string_view how() const { return simulated() ? "simulated" : "measured"; }

 private:
  StageTimes stages_of(const Job&, Seconds kernel);
  Found simulated_run(const Workload&, const std::vector<Choice>&);
  std::vector<Found> observed_runs(const std::vector<Asked>&);
  void complete(Found&, const Job&);

  const Bench& bench_;
  std::map<std::pair<bool, std::uint64_t>, Seconds> transfers_{};
  std::map<Layout, Seconds> per_stream_{};
  /// Kernel time of scalar-add by its sizes: without iterations, and for each iteration.
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::pair<double, double>> iterations_{};
};

/// The finding "cannot be checked" for each claim, with the reason.
std::vector<Finding> unchecked(std::span<const std::string_view> claims, const std::string& why);

}  // namespace shiplap::experiments::gomez_luna

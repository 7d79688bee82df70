// Times of the paper's program on the device at hand, or what is simulated of them, and the stages of the job alone.
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

/// One copy engine without implicit synchronisation (GTX 280), with it (GTX 480), and a stream for each stream on
/// whatever engines the device has: the paper's listing as it is.
inline constexpr Layout as_280 = Layout::one_engine;
inline constexpr Layout as_480 = Layout::implicit_sync;
inline constexpr Layout today = Layout::per_chunk;
inline constexpr std::array<Layout, 3> all_layouts{as_280, as_480, today};
/// "one copy engine", "implicit synchronisation", "today's engines"
std::string_view words(Layout);
gomez_luna_2012::Architecture architecture_of(Layout);

/// The listing of the paper: all copies in, all kernels, all copies out.
Choice streams(Layout, std::uint32_t count, IssueOrder = IssueOrder::breadth);
Choice unstreamed();
/// `streams` for each layout and number.
std::vector<Choice> sweep(std::span<const Layout>, std::span<const std::uint32_t> counts);

/// One choice, timed.
struct ChoiceTime {
  Choice choice;
  Seconds time{0};
  double noise = 0;    ///< half of the 95 % interval of the median, as a share of it
  bool steady = true;  ///< false: visits differ or samples scatter (experiments/in_turn.hpp)
};

/// What was found of one workload.
struct Found {
  /// Of the job without streams, each stage alone; on a GPU in turn with the runs below, on the same arrays.
  StageTimes stages;
  bool stages_steady = true;
  KernelCost cost;  ///< of the kernel on resident data
  std::uint64_t items = 1;
  /// What is copied before the first stream begins (the matrix B): part of all runs, taken off all times below.
  Seconds before{0};
  /// What a run without streams takes beyond its stages for submitting and handing over, by simulation.
  Seconds handing_over{0};
  std::optional<ChoiceTime> alone{};  ///< without streams
  std::vector<ChoiceTime> runs{};
  std::vector<std::string> skipped{};  ///< choices that could not run, with the reason

  std::optional<Seconds> unstreamed() const;
  const ChoiceTime* run(Layout, std::uint32_t streams, IssueOrder = IssueOrder::breadth) const;
  std::optional<Seconds> time(Layout, std::uint32_t streams, IssueOrder = IssueOrder::breadth) const;
  /// By number of streams, breadth-first.
  std::vector<Timed> times(Layout) const;
  /// Those that were steady.
  std::vector<Timed> steady_times(Layout) const;
  /// All behind the time without streams, as one.
  std::vector<Timed> times_with_none(Layout) const;
  /// For the paper's equations.
  gomez_luna_2012::Work work(Seconds per_stream) const { return {stages, per_stream}; }
  /// With t_E as the sum over the kernels of so many streams, which need not be that of one launch.
  gomez_luna_2012::Work work_in(std::uint32_t streams, Seconds per_stream) const;
  /// Of the least certain of all times, as a share.
  double noise() const;
  /// All times.
  bool steady() const;
  /// What streams gain over none; nullopt where one of both did not run.
  std::optional<Gain> gain(Layout) const;
};

/// A workload and the choices that are compared on it.
struct Asked {
  Workload workload;
  std::vector<Choice> choices;
};

/// Runs workloads; keeps what does not change.
class Runner {
 public:
  explicit Runner(const Bench& bench) : bench_(bench) {}

  /// Observed on a GPU, every result verified; simulated at full size on a virtual device, which moves no bytes.
  /// Throws Unsupported where the device or its profile cannot say.
  Found run(const Workload&, const std::vector<Choice>&);
  /// The same of several. On a GPU each is visited twice, with the others between, and again while it is not steady.
  std::vector<Found> run(const std::vector<Asked>&);
  /// One copy alone.
  Seconds transfer(bool to_device, Bytes);
  /// All of them in one go.
  void measure_transfers(const std::vector<Bytes>&);
  /// scalar-add with as many iterations as make the kernel take about that long; where nothing is really computed its
  /// time is stated instead.
  Workload scalar_add(Bytes in, Bytes out, Seconds kernel);
  /// t_sc: what each further stream costs a job whose kernel takes a tenth of the copies, by a straight line over 2 to
  /// 64 streams.
  Seconds per_stream(Layout);
  /// Without a cost, and with a profile that has no rates to derive one from: stated. Not on a GPU, which is measured.
  void state_kernel(Workload&, Seconds whole) const;
  /// On a virtual device: runs a small workload with its bytes and compares the result. Throws CheckFailed.
  void verify_small(const std::string& workload);

  const Bench& bench() const { return bench_; }
  bool simulated() const { return bench_.info.is_virtual; }
  /// "simulated" or "measured"
  std::string_view how() const { return simulated() ? "simulated" : "measured"; }

 private:
  StageTimes stages_of(const Job&, Seconds kernel);
  Found simulated_run(const Workload&, const std::vector<Choice>&);
  std::vector<Found> observed_runs(const std::vector<Asked>&);
  void complete(Found&, const Job&);

  const Bench& bench_;
  std::map<std::pair<bool, std::uint64_t>, Seconds> transfers_{};
  std::map<Layout, Seconds> per_stream_{};
  /// Of scalar-add by its sizes: time without iterations and for each.
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::pair<double, double>> iterations_{};
};

/// A finding for each claim: cannot be checked, because.
std::vector<Finding> unchecked(std::span<const std::string_view> claims, const std::string& why);

}  // namespace shiplap::experiments::gomez_luna

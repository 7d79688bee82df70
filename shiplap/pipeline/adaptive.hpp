// Endless runs: batches of an endless input go through one pipeline, and how each is cut adapts to what was observed of
// the batches before.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "shiplap/pipeline/plan.hpp"
#include "shiplap/pipeline/prepared.hpp"
#include "shiplap/plan/adaptation.hpp"
#include "shiplap/plan/adaptation_log.hpp"

namespace shiplap {

/// What an endless run may use, and how it adapts.
struct AdaptiveOptions {
  std::uint32_t in_flight = 3;  ///< batches submitted and not ended, 1 to 64; 1: each is waited for before the next
  /// Number of slots, each a set of host arrays for one batch with device memory for any choice; 0: `in_flight`.
  std::uint32_t slots = 0;
  std::vector<Choice> choices{};  ///< the choices for a batch; empty: `steady_choices`
  /// Fills the arrays of a batch with typical data. The kernel is timed once on these data. Without `sample` the kernel
  /// is timed on zeros, which may take far longer or shorter if its time depends on the data.
  std::function<void(std::span<const std::span<std::byte>>)> sample{};
  AdaptationOptions adaptation{};  ///< when and how the choice changes
};

/// One batch, and the host arrays that hold it.
struct Batch {
  std::uint64_t number = 0;  ///< counted from 0
  /// Index of the slot. A source may choose another one that is free (`Adaptive::is_free`).
  std::size_t slot = 0;
  std::span<const std::span<std::byte>> arrays{};  ///< the arrays of the slot, in the order of the job's arrays
};

/// What was counted and timed in an endless run.
struct AdaptiveReport {
  std::uint64_t batches = 0;  ///< number of batches that ended
  std::uint64_t items = 0;    ///< number of their items
  Seconds elapsed{0};         ///< from the first submission to the last end, by the device's host clock
  std::uint64_t changes = 0;  ///< how often the choice changed
  std::vector<std::uint64_t> batches_of_choice;  ///< number of batches, by choice
  /// Items each second.
  double rate() const { return elapsed > Seconds{0} ? static_cast<double>(items) / elapsed.count() : 0; }
};

/// A job over one batch, ready to run on batch after batch in pinned memory that the object owns. The constructor
/// prepares every choice for every slot (schedules, events and device memory), so that changing the choice costs
/// nothing except, the first time, events around its kernels. One thread at a time may use the object.
class Adaptive {
 public:
  /// `batch` says what a batch is; where its arrays are does not matter. Its kernel's cost is measured unless it is
  /// stated. Throws Unsupported for arrays that stay on the GPU from one batch to the next (resident, carried),
  /// UsageError for more batches than fit into the memory of host and GPU, and as `steady_table` and `prepare` do.
  Adaptive(const Node&, Job batch, AdaptiveOptions = {});

  /// Number of sets of host arrays.
  std::size_t slots() const { return slots_.size(); }
  /// The arrays of a slot. The caller may use them while no batch in the slot is in flight.
  std::span<const std::span<std::byte>> arrays(std::size_t slot) const { return slots_.at(slot).arrays; }
  /// Whether no batch in the slot is in flight.
  bool is_free(std::size_t slot) const { return !slots_.at(slot).busy; }
  /// The choices with their predicted times.
  const SteadyTable& table() const { return table_; }
  /// The job over one batch, with the cost of its kernel.
  const Job& batch() const { return batch_; }

  /// Fills the inputs of a batch, or sets `Batch::slot` to the slot that holds them. Returns false when the input has
  /// ended.
  using Source = std::function<bool(Batch&)>;
  /// Receives each batch when its outputs are complete, in the order of the batches. May be empty.
  using Sink = std::function<void(const Batch&)>;
  /// A batch that has ended, and the decision that followed.
  struct Progress {
    const BatchObservation& seen;             ///< what was observed of the batch
    const BatchDecision* decision = nullptr;  ///< null when there was no decision
    Seconds ended{0};                         ///< end of the batch after the start of the run, by the host's clock
  };
  /// Receives what was observed of every batch. May be empty.
  using Watch = std::function<void(const Progress&)>;

  /// Runs batches until `source` returns false or `stop` is requested; batches in flight are then finished. All
  /// functions are called in the calling thread while other batches are in flight. Throws what they throw, and as
  /// Execution::run does; nothing is in flight then.
  AdaptiveReport run(const Source& source, const Sink& sink = {}, const Watch& watch = {}, std::stop_token stop = {});
  /// Runs batches with the given policy instead of the adaptation.
  AdaptiveReport run(Policy&, const Source& source, const Sink& sink = {}, const Watch& watch = {},
                     std::stop_token stop = {});
  /// Writes the observations and decisions of later runs to `sink`, line by line, and begins the adaptation anew. The
  /// function `replay` reads such a log.
  void log_to(LineSink sink);

 private:
  /// The memory of a batch: host arrays, device memory for any choice, and every choice ready to run on them.
  struct Slot {
    std::vector<Memory> host;
    std::vector<std::span<std::byte>> arrays;
    std::vector<Memory> device;
    std::vector<std::unique_ptr<Prepared>> choices;
    bool busy = false;
  };
  struct InFlight {
    Batch batch;
    std::uint32_t choice = 0;
    TraceLevel trace_level = TraceLevel::span;
  };

  void allocate(Device&);
  void make_ready(Device&);
  void submit(Policy&, std::deque<InFlight>&, Batch);
  BatchObservation seen_of(const InFlight&, const RunResult&) const;

  Job batch_;
  AdaptiveOptions options_;
  Limits limits_;  ///< limits of one slot
  std::string profile_hash_;
  SteadyTable table_;
  std::vector<Slot> slots_;
  std::unique_ptr<Adaptation> adaptation_;  ///< keeps its state from run to run
  Seconds mark_{0};                         ///< time that the events around a kernel add to its observed time
  LineSink log_;
};

}  // namespace shiplap

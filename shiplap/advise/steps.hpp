// Finds the steps that a recorded program repeats: batches, frames, iterations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "shiplap/advise/submitted_ops.hpp"

namespace shiplap {

/// A level of nested steps, such as epochs, batches or layers.
struct StepLevel {
  std::size_t steps = 0;   ///< how many there are
  std::size_t ops = 0;     ///< ops of one, in the mean
  bool is_chosen = false;  ///< whether the steps of the recording are these
  friend bool operator==(const StepLevel&, const StepLevel&) = default;
};

/// A step that repeats, or the whole program.
struct Steps {
  /// Positions in the submitted order at which a step begins, in ascending order, and the end of the last one.
  std::vector<std::size_t> bounds;
  std::size_t ops = 0;            ///< number of ops in the typical step
  double coverage = 0;            ///< fraction of the time of all ops on the GPU that is in steps
  double of_ops = 0;              ///< fraction of all ops that are in steps
  std::size_t typical{};          ///< index of the step of median time on the GPU among those of the usual size
  bool once = false;              ///< whether there is one step only
  std::vector<StepLevel> levels;  ///< nested steps from the largest to the smallest; empty for a range
};

/// The steps of a recording, or nullopt when nothing repeats at least three times, covers half of the ops or of their
/// time, and is alike.
///
/// Steps are cut at an anchor: they begin with the ops of one kind, such as a kernel after a wait. Each kind of op that
/// occurs at least three times is tried as the anchor, and how alike its steps are is measured. An op is alike when
/// the step before has an op of its kind after one of the same kind as well, where the kind is name, direction, memory
/// and stream; without the stream where nothing is found with it, because a program may make its streams anew. Sizes
/// and grids may differ, which counts for a twentieth, so that steps of several sizes in turn are found where they
/// repeat exactly. How often a step does something may differ by a factor of two. Like ops in a row count as one, and
/// waits of the host count as well.
///
/// Steps may nest: epochs, batches, layers. The smallest ones are taken that are nearly as alike as the most alike, and
/// that exchange something with the host where any do. Among anchors of the same steps, it is the most natural one: a
/// step begins after the host has waited for results, if it ever does. A step may lack some ops or have further ones.
/// All of it takes time proportional to the number of ops, because at most 256 anchors are tried. An alignment of the
/// steps op by op would tell more, and take the square of that time.
///
/// With `range` a step is instead what was submitted within each NVTX range of this name; nullopt when there is none.
std::optional<Steps> find_steps(const Recording&, std::string_view range = {});

/// The whole program as one step, or nullopt when it gave a GPU no work.
std::optional<Steps> whole_program(const Recording&);

/// Which steps count as ones of the same kind, by their numbers of ops: those of the commonest number where half of
/// them have it, or else those with between half and twice the median. `sizes` is not empty.
std::vector<bool> of_usual_size(const std::vector<std::size_t>& sizes);

}  // namespace shiplap

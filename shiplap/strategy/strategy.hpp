// Strategies: ways to get the data of a job to its kernel and back. A strategy makes a schedule from a job and a
// choice, and predicts its time by the closed form of a paper where one exists.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "shiplap/core/units.hpp"
#include "shiplap/strategy/choice.hpp"
#include "shiplap/strategy/limits.hpp"
#include "shiplap/workload/job.hpp"

namespace shiplap {

struct Profile;
struct Schedule;

/// The kind of memory of the arrays that a strategy is for. Arrays that stay on the GPU and scratch are excepted.
enum class ArrayMemory : std::uint8_t { pinned, pageable, managed };
/// The kind of memory of the job's arrays, by the first array that neither stays on the GPU nor is scratch. It is
/// pinned without such an array.
ArrayMemory array_memory(const Job&);

/// The time of a choice by the closed form of a paper.
struct ClosedForm {
  Seconds time{0};  ///< by the equation, with the copies of arrays that stay on the GPU
  /// The assumption of the form that does not hold for the job on this GPU, as a clause such as "no array is copied
  /// once"; several are separated by semicolons. It is "" when the form covers the job. A time with an assumption can
  /// be below the lower bound (see bound.hpp), so it is shown with the assumption, and ranked only
  /// where nothing can be simulated and it is not below the bound.
  std::string assumption{};
};

/// An entry in the table of strategies.
struct Strategy {
  std::string_view name;     ///< name in choices, parameters and files, such as "streams"
  std::string_view summary;  ///< one line for the help
  bool chunked = false;      ///< whether it uses Choice::chunks, ramp, layout and order
  bool zero_copy = false;    ///< whether its kernels access host memory, so that it uses Choice::max_grid
  bool threaded = false;     ///< whether host threads copy or touch data, so that it uses Choice::threads
  ArrayMemory memory = ArrayMemory::pinned;  ///< kind of memory of the arrays that it is for
  /// Relative error of the simulated time below which about nine of ten pipelines of the strategy stay. It is part of
  /// the prediction interval. See model_error.hpp.
  double model_error = 0;
  /// Largest relative error of the closed form that a paper observed on its GPUs. It is the prediction interval of
  /// candidates that the form ranks. nullopt: no paper has the strategy, so its form ranks none. See model_error.hpp.
  std::optional<double> form_error{};

  /// The schedule of a job. Its buffers are the job's arrays in their order and then those on the GPUs. It is sound
  /// (`validate`), and every dependency in it is needed, with two exceptions. The first copy of a batch has the
  /// dependencies of all its copies. When kernels access other arrays in host memory, a slot of a ring is reused as a
  /// whole (see DeviceRing::Alignment). Throws UsageError for an invalid choice, Unsupported for a kind of memory that
  /// the strategy is not for, and Error when the device memory does not suffice.
  Schedule (*schedule)(const Job&, const Choice&, const Limits&);
  /// The time by the closed form of a paper; nullopt when no paper has a form for these parameters.
  std::optional<ClosedForm> (*closed_form)(const Job&, const Choice&, const Profile&);
};

/// All strategies.
std::span<const Strategy> strategies();
/// The strategy with this name. Throws UsageError that lists the names.
const Strategy& find_strategy(std::string_view name);

}  // namespace shiplap

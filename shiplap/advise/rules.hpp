// Rules of advice. Each makes of a step the step that a change of the program would have.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shiplap/advise/program_step.hpp"
#include "shiplap/core/units.hpp"
#include "shiplap/profile/profile.hpp"

namespace shiplap {

/// The size up to which a copy is small, and the least number of small copies that batch_copies makes one of.
constexpr Bytes small_copy{256 * 1024};
constexpr std::size_t fewest_batched = 8;

/// A change of a program.
struct ChangedStep {
  ProgramStep step;         ///< the step afterwards
  std::string what;         ///< what to change, as a sentence
  std::string allowed_if;   ///< what must hold, which no recording can tell, as a sentence
  Seconds once{0};          ///< time that the change costs once
  Seconds once_at_most{0};  ///< the same on a slow host; 0: as `once`
  bool bound = false;       ///< whether the step takes at least as long as predicted, because something is unknown
  bool is_likely = false;   ///< whether the recording speaks for a bound, so that it may be the first advice
};

/// How a change is made in a language or library.
struct HowTo {
  std::string language;  ///< "CUDA C++", "PyTorch", "CuPy", "JAX", "OpenMP and OpenACC"
  std::string text;      ///< in one or two sentences
};

/// A rule.
struct Rule {
  std::string_view name;                                                     ///< such as "pin"
  std::optional<ChangedStep> (*change)(const ProgramStep&, const Profile&);  ///< nullopt where it does not apply
  std::span<const HowTo> how;                                                ///< how it is done
  bool spans_steps = false;  ///< whether it gains only where another step follows
  /// Whether it must apply to the recorded step too. What it looks for may also come from other advice: chunks that are
  /// copied back, arrays that were pinned, pages that are prefetched.
  bool of_recording = false;
  /// Whether other rules may apply only after it, so that it is tried together with each of them where none gains
  /// alone.
  bool enables_others = false;
};

/// All rules, in the order in which equally good ones are preferred.
std::span<const Rule> rules();

/// Copies whose bytes were the same in all recorded steps are made once.
std::optional<ChangedStep> keep_on_gpu(const ProgramStep&, const Profile&);
/// Arrays that come back to the host and are sent again, in the same step or in the next one, stay on the GPU. They are
/// known by size, and by address where this is recorded. Whether the host changes them is unknown, so this is a bound.
std::optional<ChangedStep> keep_results_on_gpu(const ProgramStep&, const Profile&);
/// Weights of layers, which are copied before the kernels of each layer, stay on the GPU as far as they fit; the others
/// are pinned and copied while earlier layers run. Where it is unknown whether the bytes change, this is a bound.
std::optional<ChangedStep> stream_layers(const ProgramStep&, const Profile&);
/// Memory is allocated once.
std::optional<ChangedStep> allocate_once(const ProgramStep&, const Profile&);
/// Pageable arrays that are copied become pinned. Copies that returned when they had ended still do.
std::optional<ChangedStep> pin(const ProgramStep&, const Profile&);
/// Arrays that the host copies into pinned memory before they are copied to the GPU are written there at once. The
/// recording shows only that the host had time for it, so this is a bound.
std::optional<ChangedStep> write_into_pinned_memory(const ProgramStep&, const Profile&);
/// Managed memory moves by prefetches instead of by page faults. The time of the kernels alone is that of their bytes
/// in device memory, so this is a bound.
std::optional<ChangedStep> prefetch_managed(const ProgramStep&, const Profile&);
/// Small copies of one direction that follow each other become one copy, for which the host gathers the bytes.
std::optional<ChangedStep> batch_copies(const ProgramStep&, const Profile&);
/// The host does not wait for copies to the GPU.
std::optional<ChangedStep> copy_asynchronously(const ProgramStep&, const Profile&);
/// The host does not wait where no copy to the host is on its way.
std::optional<ChangedStep> drop_waits(const ProgramStep&, const Profile&);
/// The input of the next step is copied while this step computes, and the results of a step are awaited in the next.
std::optional<ChangedStep> overlap_steps(const ProgramStep&, const Profile&);
/// Copies and kernels of a step are cut into chunks, which overlap.
std::optional<ChangedStep> cut_into_chunks_on_streams(const ProgramStep&, const Profile&);

/// The first kernel of a step reads its inputs from host memory while it runs, and the last one writes the results
/// there. How often they access each byte is unknown, so this is a bound.
std::optional<ChangedStep> access_host_memory(const ProgramStep&, const Profile&);

}  // namespace shiplap

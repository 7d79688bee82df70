// Arrays of a prepared schedule that stay on the GPU from one run to the next.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shiplap/device/device.hpp"

namespace shiplap {

struct Schedule;

/// Copies the kept arrays of a schedule (`Schedule::kept`) to their GPUs before a run that needs it, and back on
/// request. Arrays are named as in the job.
class KeptArrays {
 public:
  KeptArrays() = default;
  /// `buffers` are the addresses of the schedule's buffers. Throws as Device::prepare does.
  KeptArrays(Device&, const Schedule&, const std::vector<std::byte*>& buffers);

  /// See Prepared::changed.
  void changed(std::string_view array) { find(array).mark_changed(); }
  void changed();
  /// See Prepared::fetch.
  void fetch(std::string_view array, const RunOptions&);
  void fetch(const RunOptions&);
  /// See Prepared::check_kept.
  void check(bool on) { checks_ = on; }
  /// Copies what has changed and waits, within the limit of the options. Returns the options with what is left of the
  /// limit. Throws Error for an array that a failed run has left undefined, and one that has changed in silence if that
  /// is checked.
  RunOptions copy(const RunOptions&);
  /// Says that a run has failed: what kernels write is undefined until the caller has changed it.
  void run_failed();
  /// Whether a copy is to be made before the next run.
  bool any_outdated() const;
  /// Whether a copy has passed its time limit and still uses the memory.
  bool overdue() const;

 private:
  /// One array, on all GPUs that need it.
  struct Kept {
    std::string name;
    std::string_view host;               ///< the caller's memory, as bytes
    std::unique_ptr<Execution> to_gpu;   ///< copies the array to its GPUs
    std::unique_ptr<Execution> to_host;  ///< copies it back; null for an array that kernels only read
    bool outdated = true;                ///< whether the next run must copy the array
    bool undefined = false;              ///< whether a failed run may have written a part of it
    std::optional<std::size_t> hash{};   ///< hash of the caller's memory when it was copied, if that is checked

    void mark_changed();
    void require_defined() const;
    void require_unchanged();
  };
  Kept& find(std::string_view array);
  void fetch(Kept&, const RunOptions&);

  std::vector<Kept> arrays_;
  bool checks_ = false;
};

}  // namespace shiplap

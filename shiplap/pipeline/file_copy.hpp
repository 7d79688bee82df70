// Copies from files to a GPU, through pinned rings that several threads fill.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "shiplap/core/units.hpp"
#include "shiplap/device/bindings.hpp"
#include "shiplap/device/execution.hpp"

namespace shiplap {

class Device;

/// Bytes of a file, and where they go.
struct FilePart {
  FileBytes from;  ///< the file, which stays open until the copy has ended
  Bytes size;      ///< number of bytes
  Bytes to{};      ///< position in the destination
};

/// Copies parts of files to memory of a GPU. Each of several threads reads pieces of 1 MiB into a pinned ring of its
/// own and copies them to the GPU in a stream of its own, so that a piece is still in the caches of the CPU when its
/// copy begins. No page of a file is mapped. It keeps what it has prepared for the sizes of parts that were copied
/// last. It must not be used by several threads at once.
class FileCopier {
 public:
  /// Uses at most `threads` threads; 0: one for each CPU of the process, and at most 16. Shares the ownership of the
  /// device.
  explicit FileCopier(Device&, unsigned threads = 0);
  ~FileCopier();
  FileCopier(FileCopier&&) noexcept;
  FileCopier& operator=(FileCopier&&) noexcept;

  /// Copies and waits for the end. The destination is memory of a GPU of the device. Parts must not overlap there, and
  /// bytes of it that no part has stay as they are. Throws Error with path and position where a file cannot be read or
  /// is too short, UsageError for a destination that is not on a GPU of the device or too small for a part; parts of
  /// the destination may be written then.
  RunResult copy(std::span<const FilePart>, std::byte* destination, Bytes size);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace shiplap

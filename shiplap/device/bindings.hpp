// Memory and functions that the ids of a schedule stand for when it is executed: memory for buffers, functions for
// kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "shiplap/device/kernel_binding.hpp"

namespace shiplap {

/// Bytes of an open file that stand for a buffer of the host.
struct FileBytes {
  int descriptor = -1;       ///< an open file; the caller owns it, and it outlives the execution; -1: none
  std::uint64_t offset = 0;  ///< position in the file of the first byte
  std::string path{};        ///< name in messages
};

/// Memory and functions for a schedule. `buffers[i]` is the memory of buffer i, at least as long as the schedule says,
/// and `kernels[i]` has the functions of kernel i.
struct Bindings {
  std::vector<std::byte*> buffers;     ///< memory by BufferId; the caller owns it, and it outlives the execution
  std::vector<KernelBinding> kernels;  ///< functions by KernelId
  /// Indices by BlockListId, one for each block of the list; empty for a regular list. The caller owns them, and they
  /// outlive the execution. They are read while a run is submitted, so they may change between runs.
  std::vector<std::span<const std::uint32_t>> lists{};
  /// Files by BufferId; it may be shorter than `buffers`. A buffer with a file needs no memory: host copies, the only
  /// ops that may access it, read the file.
  std::vector<FileBytes> files{};

  /// The file of the buffer; null for one in memory.
  const FileBytes* file_of(std::size_t buffer) const {
    return buffer < files.size() && files[buffer].descriptor >= 0 ? &files[buffer] : nullptr;
  }
};

}  // namespace shiplap

// A hash of samples of a large array, which tells arrays that have changed from arrays that probably have not.
#pragma once

#include <cstddef>
#include <cstdint>

namespace shiplap::recorder {

/// Hashes 64 lines of 64 bytes at equal distances, the first and the last among them, or all bytes of an array of at
/// most 4 KiB. 0 when the memory cannot be read, else never 0. The kernel copies the samples, so that a wrong address
/// is the error of the program's own call. Takes a few microseconds, because every line is a miss of the caches.
std::uint64_t sampled_hash(const void* data, std::size_t size);

}  // namespace shiplap::recorder

// Pages of host memory, made by several threads. The system clears a page when it is first written, which takes most of
// the time of an allocation and of a copy into memory that nobody has written, and several threads clear more in the
// same time.
#pragma once

#include <cstddef>
#include <span>

#include "shiplap/schedule/place.hpp"

namespace shiplap {

constexpr std::size_t huge_page = 2 << 20;  ///< bytes in a huge page on x86-64 and on 64-bit Arm with pages of 4 KiB

/// Makes the pages of new memory, on the NUMA node `place` or where the calling thread runs. With a node, the calling
/// thread must be on it (OnNode).
void make_pages(Place place, std::span<std::byte>);

/// Makes the pages that memory of the caller lacks, where the calling thread runs, with huge pages where the system
/// gives them to those who ask. Its content stays. A few pages are looked at; when all of them exist, nothing is done.
/// Nothing is done either for memory that cannot be written or is larger than what is available, and on systems older
/// than Linux 5.14.
void make_missing_pages(std::span<std::byte>);

}  // namespace shiplap

// Operations on host memory: query its size, touch its pages, flush it from the CPU caches.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "shiplap/core/units.hpp"

namespace shiplap {

/// Page size in bytes, from `sysconf`.
std::size_t page_size();

/// An amount of host memory, and what allows no more.
struct HostMemory {
  Bytes size;
  std::string limit{};  ///< "the memory limit of the cgroup" or "`ulimit -v`"; "": the host has no more
};
/// "1.5 GiB", or "1.5 GiB under the memory limit of the cgroup".
std::string to_string(const HostMemory&);

/// Memory that can be allocated without swapping, by the estimate of the operating system and the limits of this
/// process; nullopt where the system gives no estimate.
std::optional<HostMemory> available_host_memory();
/// All memory of this host, or what the limits of this process allow; nullopt where the system does not tell.
std::optional<HostMemory> total_host_memory();

/// Reads one byte of every page and writes it back. The content does not change, and every page is mapped for this
/// thread.
void touch_pages(std::span<std::byte>);

/// Copies memory that does not overlap, for a destination that nobody reads soon: the stores go past the caches, which
/// spares reading the destination first. As std::memcpy where the build has no such stores.
void copy_past_caches(std::byte* to, const std::byte* from, Bytes);

/// Returns after this time, in which the calling thread computes.
void be_busy(Seconds);

/// Fraction of the memory's pages, from 0 to 1, that the page table of this process maps (/proc/self/pagemap); nullopt
/// where the system does not say.
std::optional<double> fraction_of_pages_present(std::span<const std::byte>);

/// Whether this build can flush caches: it can on x86-64, 64-bit Arm and 64-bit POWER.
bool can_flush_caches();
/// Writes every cache line of the memory back and evicts it from all CPU caches, with a fence before and after. Throws
/// Unsupported where the build has no instruction for it.
void flush_caches(std::span<const std::byte>);

}  // namespace shiplap

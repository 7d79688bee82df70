// The host's memory: how much there is, touching its pages, dropping it from the caches of the CPU.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "shiplap/core/units.hpp"

namespace shiplap {

/// Bytes in a page of the system, as `sysconf` says.
std::size_t page_size();

/// Memory that can be had without swapping, by the estimate of the system's kernel; nullopt where it does not say.
std::optional<Bytes> available_host_memory();

/// Reads one byte of every page and writes it back: what the memory holds stays, and its pages come to this thread.
void touch_pages(std::span<std::byte>);

/// Which share of the memory's pages is in this process's page table (/proc/self/pagemap); nullopt where the system
/// does not say.
std::optional<double> fraction_of_pages_present(std::span<const std::byte>);

/// Whether this build can flush caches: it can on x86-64, 64-bit Arm and 64-bit POWER.
bool can_flush_caches();
/// Writes every cache line of the memory back and drops it from all caches of the CPU; fenced before and after. Throws
/// Unsupported where the build has no instruction for it.
void flush_caches(std::span<const std::byte>);

}  // namespace shiplap

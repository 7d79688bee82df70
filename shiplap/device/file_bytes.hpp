// Files that stand for buffers of the host.
#pragma once

#include <cstddef>

#include "shiplap/core/units.hpp"
#include "shiplap/device/bindings.hpp"

namespace shiplap {

struct Schedule;

/// Reads bytes of a file, of which `begin` is the position from the offset on. Throws Error with the path and the
/// position where the file cannot be read or ends before.
void read_file(const FileBytes&, Bytes begin, std::byte* to, Bytes length);

/// Throws Error unless all accesses to buffers that files stand for are reads by host copies.
void require_read_by_host(const Schedule&, const Bindings&);

}  // namespace shiplap

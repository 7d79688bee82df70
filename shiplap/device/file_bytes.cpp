#include "shiplap/device/file_bytes.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <variant>

#include "shiplap/core/error.hpp"
#include "shiplap/schedule/schedule.hpp"

namespace shiplap {

void read_file(const FileBytes& file, Bytes begin, std::byte* to, Bytes length) {
  const std::uint64_t first = file.offset + begin.count;
  for (std::uint64_t done = 0; done < length.count;) {
    const ssize_t count = pread(file.descriptor, to + done, length.count - done, static_cast<off_t>(first + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0)
      throw Error(fmt::format("{} cannot be read at byte {}: {}", file.path, first + done, std::strerror(errno)));
    if (count == 0)
      throw Error(fmt::format("{} ends at byte {}, and its bytes up to {} are needed: somebody has cut it since",
                              file.path, first + done, first + length.count));
    done += static_cast<std::uint64_t>(count);
  }
}

void require_read_by_host(const Schedule& schedule, const Bindings& bindings) {
  if (bindings.files.empty()) return;
  for (std::uint32_t i = 0; i < schedule.ops.size(); ++i)
    for_each_access(schedule.ops[i], [&](const Region& region, AccessMode mode) {
      if (bindings.file_of(region.buffer.index()) == nullptr) return;
      if (mode == AccessMode::write || !std::holds_alternative<HostCopy>(schedule.ops[i].what))
        throw Error(fmt::format("{} accesses buffer {}, which is a file: only host copies read files",
                                describe(schedule, OpId{i}), schedule.buffers[region.buffer.index()].name));
    });
}

}  // namespace shiplap

#include "shiplap/pipeline/file_copy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/core/host_limits.hpp"
#include "shiplap/device/bindings.hpp"
#include "shiplap/device/device.hpp"
#include "shiplap/schedule/schedule.hpp"

namespace shiplap {

/// The sizes of the pieces, and the GPU: copies that differ in nothing else use one execution.
struct FileLayout {
  std::uint16_t gpu = 0;
  std::uint64_t whole = 0;               ///< number of pieces of `piece_size`, which come first
  std::vector<std::uint64_t> smaller{};  ///< sizes of the others
  friend auto operator<=>(const FileLayout&, const FileLayout&) = default;
};

namespace {

constexpr Bytes piece_size = 1_MiB;
/// Pieces in the ring of a thread: one is read while others are copied.
constexpr std::uint32_t reader_slots = 3;
/// More threads read no faster from the page cache of hosts with one or two H200s.
constexpr unsigned most_readers = 16;
constexpr std::size_t most_kept_layouts = 8;

/// What is read at once, and where it goes.
struct FilePiece {
  FileBytes from;
  std::byte* to = nullptr;
  Bytes size;
};

/// The pieces of a part. The last one of several is as large as the others, and begins before the end of the one
/// before.
void add_pieces(const FilePart& part, std::byte* destination, std::vector<FilePiece>& whole,
                std::vector<FilePiece>& smaller) {
  const auto piece = [&](std::uint64_t at, Bytes size) {
    FilePiece result{.from = part.from, .to = destination + part.to.count + at, .size = size};
    result.from.offset += at;
    return result;
  };
  if (part.size < piece_size) return smaller.push_back(piece(0, part.size));
  for (std::uint64_t at = 0; at < part.size.count; at += piece_size.count)
    whole.push_back(piece(std::min(at, part.size.count - piece_size.count), piece_size));
}

/// The file and the destination of each piece follow each other in the table of buffers, and the rings come last.
Schedule schedule_of_files(const FileLayout& layout, unsigned threads) {
  Schedule schedule;
  schedule.agents.clear();
  std::vector<Bytes> sizes(layout.whole, piece_size);
  for (const std::uint64_t size : layout.smaller) sizes.push_back(Bytes{size});
  for (const Bytes size : sizes) {
    schedule.add_buffer({.name = "file", .place = Place::host(), .memory = MemoryKind::pageable, .size = size});
    schedule.add_buffer(
        {.name = "destination", .place = Place::gpu(layout.gpu), .memory = MemoryKind::device, .size = size});
  }
  struct Thread {
    BufferId ring;
    StreamId stream;
    std::vector<OpId> copies{};
  };
  std::vector<Thread> all;
  for (unsigned t = 0; t < threads; ++t) {
    schedule.agents.push_back({.name = fmt::format("reader {}", t), .numa_node = {}});
    all.push_back({.ring = schedule.add_buffer({.name = fmt::format("ring {}", t),
                                                .place = Place::host(),
                                                .memory = MemoryKind::pinned,
                                                .size = piece_size * reader_slots}),
                   .stream = schedule.add_stream(fmt::format("from reader {}", t), Place::gpu(layout.gpu))});
  }
  for (std::uint32_t number = 0; number < sizes.size(); ++number) {
    Thread& thread = all[number % threads];
    const AgentId agent{number % threads};
    const Bytes size = sizes[number];
    const Region slot{thread.ring, piece_size * (thread.copies.size() % reader_slots), size};
    const bool is_reused = thread.copies.size() >= reader_slots;
    const OpId read = schedule.add(
        {.what = HostCopy{{BufferId{2 * number}, Bytes{}, size}, slot},
         .stream = {},
         .agent = agent,
         .after = is_reused ? std::vector{thread.copies[thread.copies.size() - reader_slots]} : std::vector<OpId>{},
         .chunk = number});
    thread.copies.push_back(schedule.add({.what = Copy{slot, {BufferId{2 * number + 1}, Bytes{}, size}},
                                          .stream = thread.stream,
                                          .agent = agent,
                                          .after = {read},
                                          .chunk = number}));
  }
  return schedule;
}

}  // namespace

struct FileCopier::Parts {
  struct Kept {
    std::unique_ptr<Execution> execution;
    std::uint64_t last_use = 0;
  };
  std::shared_ptr<Device> device;
  unsigned threads = 1;
  std::vector<Memory> rings;
  std::map<FileLayout, Kept> kept;
  std::uint64_t uses = 0;
};

FileCopier::FileCopier(Device& device, unsigned threads) : parts_(std::make_unique<Parts>()) {
  parts_->device = shared_device(device);
  parts_->threads = threads > 0 ? threads : std::clamp(usable_cpus(), 1u, most_readers);
  for (unsigned t = 0; t < parts_->threads; ++t)
    parts_->rings.push_back(device.allocate(Place::host(), MemoryKind::pinned, piece_size * reader_slots));
}
FileCopier::~FileCopier() = default;
FileCopier::FileCopier(FileCopier&&) noexcept = default;
FileCopier& FileCopier::operator=(FileCopier&&) noexcept = default;

RunResult FileCopier::copy(std::span<const FilePart> files, std::byte* destination, Bytes size) {
  Parts& p = *parts_;
  const std::optional<std::uint16_t> gpu = p.device->gpu_of(destination);
  if (!gpu)
    throw UsageError(
        fmt::format("a copy from files goes to memory of a GPU of {}, and this is other memory", p.device->info().id));
  std::vector<FilePiece> pieces;
  std::vector<FilePiece> smaller;
  for (const FilePart& part : files) {
    if (part.size > size || part.to > size - part.size)
      throw UsageError(fmt::format("{} of {} from position {} on are beyond a destination of {}", to_string(part.size),
                                   part.from.path, part.to.count, to_string(size)));
    if (part.size.count > 0) add_pieces(part, destination, pieces, smaller);
  }
  FileLayout layout{.gpu = *gpu, .whole = pieces.size()};
  for (FilePiece& piece : smaller) {
    layout.smaller.push_back(piece.size.count);
    pieces.push_back(std::move(piece));
  }
  if (pieces.empty()) return {};
  Bindings bindings;
  for (FilePiece& piece : pieces) {
    bindings.files.push_back(std::move(piece.from));
    bindings.files.emplace_back();
    bindings.buffers.insert(bindings.buffers.end(), {nullptr, piece.to});
  }
  for (const Memory& ring : p.rings) bindings.buffers.push_back(ring.data());
  auto found = p.kept.find(layout);
  if (found == p.kept.end()) {
    if (p.kept.size() == most_kept_layouts)
      p.kept.erase(std::ranges::min_element(p.kept, {}, [](const auto& one) { return one.second.last_use; }));
    auto execution = p.device->prepare(schedule_of_files(layout, p.threads), bindings);
    found = p.kept.emplace(std::move(layout), Parts::Kept{.execution = std::move(execution)}).first;
  } else {
    found->second.execution->rebind(bindings);
  }
  found->second.last_use = ++p.uses;
  return found->second.execution->run();
}

}  // namespace shiplap

#include "recorder/activities.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "shiplap/device/cuda/activity_records.hpp"
#include "shiplap/device/cuda/cupti.hpp"

namespace shiplap::recorder {
namespace {

constexpr std::size_t buffer_size = 4u << 20;
constexpr std::size_t buffer_alignment = 8;  // bytes; CUPTI requires this alignment
constexpr std::size_t most_buffers = 32;     // 128 MiB
constexpr CUpti_ActivityKind needed_kinds[] = {CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                               CUPTI_ACTIVITY_KIND_MEMSET};
constexpr auto ranges = CUPTI_ACTIVITY_KIND_MARKER;
constexpr auto migrations = CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER;

struct FilledBuffer {
  std::uint8_t* data;
  std::size_t valid;
};
struct Buffers {
  std::mutex mutex;
  std::vector<FilledBuffer> filled;
  std::atomic<std::size_t> in_use = 0;
  std::atomic<std::uint64_t> refused = 0;
};
Buffers& buffers() {
  static Buffers* const state = new Buffers;  // is never deleted, because CUPTI's threads may outlive static objects
  return *state;
}

void CUPTIAPI give_buffer(std::uint8_t** data, std::size_t* size, std::size_t* most_records) {
  const bool may = buffers().in_use.fetch_add(1) < most_buffers;
  *data = may ? static_cast<std::uint8_t*>(std::aligned_alloc(buffer_alignment, buffer_size)) : nullptr;
  if (*data == nullptr) {
    --buffers().in_use;
    ++buffers().refused;
  }
  *size = *data == nullptr ? 0 : buffer_size;
  *most_records = 0;
}

void CUPTIAPI take_buffer(CUcontext, std::uint32_t, std::uint8_t* data, std::size_t, std::size_t valid) {
  const std::lock_guard lock(buffers().mutex);
  buffers().filled.push_back({data, valid});
}

MemoryKind memory_kind(std::uint8_t kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMORY_KIND_PINNED:
      return MemoryKind::pinned;
    case CUPTI_ACTIVITY_MEMORY_KIND_MANAGED:
    case CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC:
      return MemoryKind::managed;
    case CUPTI_ACTIVITY_MEMORY_KIND_DEVICE:
    case CUPTI_ACTIVITY_MEMORY_KIND_ARRAY:
    case CUPTI_ACTIVITY_MEMORY_KIND_DEVICE_STATIC:
      return MemoryKind::device;
    default:
      return MemoryKind::pageable;
  }
}

/// Turns CUPTI's records into those of a recording.
class Translator {
 public:
  void add(const CUpti_Activity* record) {
    switch (record->kind) {
      case CUPTI_ACTIVITY_KIND_MEMCPY:
        return add_copy(*reinterpret_cast<const CopyActivity*>(record));
      case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
        return add_kernel(*reinterpret_cast<const KernelActivity*>(record));
      case CUPTI_ACTIVITY_KIND_MEMSET:
        return add_fill(*reinterpret_cast<const FillActivity*>(record));
      case CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER:
        return add_migration(*reinterpret_cast<const MigrationActivity*>(record));
      case CUPTI_ACTIVITY_KIND_MARKER:
        return add_marker(*reinterpret_cast<const CUpti_ActivityMarker2*>(record));
      default:
        return;
    }
  }
  std::vector<Record> take(bool all) {
    if (all) {
      close_migration(to_device_);
      close_migration(to_host_);
    }
    return std::exchange(records_, {});
  }

 private:
  void add_copy(const CopyActivity& copy) {
    records_.push_back(RecordedCopy{.call = copy.correlationId,
                                    .stream = copy.streamId,
                                    .time = {copy.start, copy.end},
                                    .size = Bytes{copy.bytes},
                                    .from = memory_kind(copy.srcKind),
                                    .to = memory_kind(copy.dstKind),
                                    .from_address = 0,
                                    .to_address = 0,
                                    .content = 0,
                                    .gpu = copy.deviceId});
  }
  void add_kernel(const KernelActivity& kernel) {
    const auto number = [](std::int32_t n) { return static_cast<std::uint64_t>(n); };
    records_.push_back(
        RecordedKernel{.call = kernel.correlationId,
                       .stream = kernel.streamId,
                       .time = {kernel.start, kernel.end},
                       .name = kernel.name == nullptr ? "" : kernel.name,
                       .blocks = number(kernel.gridX) * number(kernel.gridY) * number(kernel.gridZ),
                       .threads = static_cast<std::uint32_t>(kernel.blockX * kernel.blockY * kernel.blockZ),
                       .gpu = kernel.deviceId});
  }
  void add_fill(const FillActivity& fill) {
    records_.push_back(RecordedFill{.call = fill.correlationId,
                                    .stream = fill.streamId,
                                    .time = {fill.start, fill.end},
                                    .size = Bytes{fill.bytes},
                                    .gpu = fill.deviceId});
  }
  void add_migration(const MigrationActivity& moved) {
    const bool to_device = moved.counterKind == CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD;
    if (!to_device && moved.counterKind != CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH) return;
    if (moved.flags == CUPTI_ACTIVITY_UNIFIED_MEMORY_MIGRATION_CAUSE_USER) return;  // prefetched: nobody waits for it
    const RecordedMigration one{.time = {moved.start, moved.end},
                                .size = Bytes{moved.value},
                                .to_device = to_device,
                                .gpu = to_device ? moved.dstId : moved.srcId};
    RecordedMigration& open = to_device ? to_device_ : to_host_;
    if (open.size.count > 0 && open.gpu == one.gpu && one.time.start < open.time.end + one_migration) {
      open.time = {std::min(open.time.start, one.time.start), std::max(open.time.end, one.time.end)};
      open.size += one.size;
    } else {
      close_migration(open);
      open = one;
    }
  }
  void close_migration(RecordedMigration& open) {
    if (open.size.count > 0) records_.push_back(std::exchange(open, {}));
  }
  void add_marker(const CUpti_ActivityMarker2& marker) {
    if ((marker.flags & CUPTI_ACTIVITY_FLAG_MARKER_START) != 0) {
      open_[marker.id] = {marker.timestamp, marker.name == nullptr ? "" : marker.name};
    } else if ((marker.flags & CUPTI_ACTIVITY_FLAG_MARKER_END) != 0) {
      const auto begin = open_.extract(marker.id);
      if (begin.empty()) return;
      records_.push_back(RecordedRange{
          .thread = 0, .time = {begin.mapped().first, marker.timestamp}, .name = std::move(begin.mapped().second)});
    }
  }

  /// Pages that follow each other within this time, in ns, are one migration. A kernel that touches much moves
  /// thousands.
  static constexpr std::uint64_t one_migration = 100'000;

  std::vector<Record> records_;
  RecordedMigration to_device_;
  RecordedMigration to_host_;
  std::unordered_map<std::uint32_t, std::pair<std::uint64_t, std::string>> open_;  ///< begin and name, by id
};

std::string enable(CUpti_ActivityKind kind, bool on) {
  const CUptiResult result = on ? cupti().enable(kind) : cupti().disable(kind);
  return result == CUPTI_SUCCESS ? "" : message(result);
}

}  // namespace

std::string watch_activities() {
  if (const CUptiResult result = cupti().register_callbacks(give_buffer, take_buffer); result != CUPTI_SUCCESS)
    return message(result);
  for (const CUpti_ActivityKind kind : needed_kinds)
    if (std::string refused = enable(kind, true); !refused.empty()) return refused;
  static_cast<void>(enable(ranges, true));
  return "";
}

bool watch_migrations() {
  CUpti_ActivityUnifiedMemoryCounterConfig moves[] = {
      {CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_SINGLE_DEVICE,
       CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD, 0, 1},
      {CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_SINGLE_DEVICE,
       CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH, 0, 1}};
  return cupti().configure_migrations(moves, 2) == CUPTI_SUCCESS && enable(migrations, true).empty();
}

void record_activities(bool on) {
  for (const CUpti_ActivityKind kind : needed_kinds) static_cast<void>(enable(kind, on));
  static_cast<void>(enable(ranges, on));
  static_cast<void>(enable(migrations, on));
}

std::vector<Record> take_activities(bool all) {
  static Translator& translator = *new Translator;  // the last records are taken after static objects are gone
  static_cast<void>(cupti().flush(all ? 1 : 0));
  std::vector<FilledBuffer> filled;
  {
    const std::lock_guard lock(buffers().mutex);
    filled.swap(buffers().filled);
  }
  for (const FilledBuffer& buffer : filled) {
    CUpti_Activity* record = nullptr;
    while (cupti().next(buffer.data, buffer.valid, &record) == CUPTI_SUCCESS) translator.add(record);
    std::free(buffer.data);
    --buffers().in_use;
  }
  return translator.take(all);
}

std::uint64_t lost_buffers() { return buffers().refused; }

}  // namespace shiplap::recorder

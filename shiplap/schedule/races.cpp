#include "shiplap/schedule/races.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <utility>

#include "shiplap/schedule/happens_before.hpp"

namespace shiplap {
namespace {

// The last accesses to a range of bytes: the op that wrote it last, and the ops that have read it since. An op that
// writes blocks of a pool through a list (BlockCopy) does not replace accesses to other blocks of the range.
struct Segment {
  std::uint64_t end = 0;
  OpId writer;
  std::vector<OpId> readers{};
  std::vector<OpId> other_writers{};
};

// The segments of one buffer by first byte. Bytes without an access so far have no segment.
class SegmentMap {
 public:
  SegmentMap(const Schedule& schedule, BufferId buffer) : schedule_(&schedule), buffer_(buffer) {}

  struct Conflict {
    OpId earlier;
    AccessMode mode;  // how `earlier` accessed the bytes
    std::uint64_t begin;
    std::uint64_t end;
  };

  // Records an access. Returns the conflicting earlier accesses that are not ordered before it.
  std::vector<Conflict> access(OpId op, std::uint64_t begin, std::uint64_t end, AccessMode mode,
                               const HappensBefore& before) {
    split(begin);
    split(end);
    std::vector<Conflict> conflicts;
    const auto check = [&](OpId earlier, AccessMode earlier_mode, std::uint64_t from, std::uint64_t to) {
      if (earlier.is_none() || earlier == op || before(earlier, op) || are_apart(earlier, op, from)) return;
      for (Conflict& known : conflicts)
        if (known.earlier == earlier && known.mode == earlier_mode && known.end == from) {
          known.end = to;
          return;
        }
      conflicts.push_back({earlier, earlier_mode, from, to});
    };
    for (auto s = segments_.lower_bound(begin); s != segments_.end() && s->first < end; ++s) {
      check(s->second.writer, AccessMode::write, s->first, s->second.end);
      for (OpId writer : s->second.other_writers) check(writer, AccessMode::write, s->first, s->second.end);
      if (mode == AccessMode::write)
        for (OpId reader : s->second.readers) check(reader, AccessMode::read, s->first, s->second.end);
    }
    if (mode == AccessMode::write)
      write(op, begin, end);
    else
      read(op, begin, end, before);
    return conflicts;
  }

 private:
  // Splits the segment that contains `at`, so that a segment starts at `at`.
  void split(std::uint64_t at) {
    auto it = segments_.upper_bound(at);
    if (it == segments_.begin()) return;
    --it;
    if (it->first == at || it->second.end <= at) return;
    Segment tail = it->second;
    it->second.end = at;
    segments_.emplace(at, std::move(tail));
  }

  // The op if it accesses the byte `at` as part of its pool, or null.
  const BlockCopy* through_list(OpId op, std::uint64_t at) const {
    const auto* blocks = std::get_if<BlockCopy>(&schedule_->ops[op.index()].what);
    if (blocks == nullptr || blocks->pool.buffer != buffer_) return nullptr;
    return at >= blocks->pool.offset.count && at - blocks->pool.offset.count < blocks->pool.length.count ? blocks
                                                                                                         : nullptr;
  }

  // Whether the ops access different blocks at `at`. Their contiguous memory may overlap elsewhere.
  bool are_apart(OpId first, OpId second, std::uint64_t at) const {
    return through_list(first, at) != nullptr && shiplap::are_apart(*schedule_, first, second);
  }

  // Whether every later op that conflicts with `earlier` at `at` also conflicts with a write of `op` there, so that
  // `earlier` need not be remembered. A later op may be apart from an op that accesses only some blocks of a list.
  bool replaces(OpId op, OpId earlier, std::uint64_t at) const {
    const BlockCopy* blocks = through_list(op, at);
    if (blocks == nullptr || blocks->count == schedule_->lists[blocks->list.index()].count) return true;
    const BlockCopy* other = through_list(earlier, at);
    return other != nullptr && other->list == blocks->list && other->pool == blocks->pool &&
           other->first >= blocks->first && other->first + other->count <= blocks->first + blocks->count;
  }

  // What is remembered of a segment after a write of the op to all of it.
  Segment written(const Segment& segment, OpId op, std::uint64_t at) const {
    Segment result{.end = segment.end, .writer = op};
    const auto keep = [&](OpId earlier, std::vector<OpId>& kept) {
      if (!earlier.is_none() && !replaces(op, earlier, at)) kept.push_back(earlier);
    };
    for (OpId writer : segment.other_writers) keep(writer, result.other_writers);
    keep(segment.writer, result.other_writers);
    for (OpId reader : segment.readers) keep(reader, result.readers);
    return result;
  }

  void write(OpId op, std::uint64_t begin, std::uint64_t end) {
    std::vector<std::pair<std::uint64_t, Segment>> parts;
    const auto add = [&](std::uint64_t from, Segment part) {
      if (!parts.empty() && parts.back().second.readers == part.readers &&
          parts.back().second.other_writers == part.other_writers)
        parts.back().second.end = part.end;
      else
        parts.emplace_back(from, std::move(part));
    };
    std::uint64_t at = begin;
    auto it = segments_.lower_bound(begin);
    for (; it != segments_.end() && it->first < end; it = segments_.erase(it)) {
      if (at < it->first) add(at, {.end = it->first, .writer = op});
      at = it->second.end;
      add(it->first, written(it->second, op, it->first));
    }
    if (at < end) add(at, {.end = end, .writer = op});
    for (auto& [from, part] : parts) segments_.emplace_hint(it, from, std::move(part));
  }

  void read(OpId op, std::uint64_t begin, std::uint64_t end, const HappensBefore& before) {
    std::uint64_t at = begin;
    auto it = segments_.lower_bound(begin);
    while (at < end) {
      if (it == segments_.end() || it->first > at) {
        const std::uint64_t gap_end = it == segments_.end() ? end : std::min(end, it->first);
        it = std::next(segments_.emplace_hint(it, at, Segment{.end = gap_end, .writer = {}, .readers = {op}}));
        at = gap_end;
        continue;
      }
      // A write that is ordered after this read is also ordered after the reads before it, so those are dropped.
      auto& readers = it->second.readers;
      std::erase_if(readers,
                    [&](OpId reader) { return reader == op || (before(reader, op) && replaces(op, reader, at)); });
      readers.push_back(op);
      at = it->second.end;
      ++it;
    }
  }

  const Schedule* schedule_;
  BufferId buffer_;
  std::map<std::uint64_t, Segment> segments_;
};

std::vector<SegmentMap> segments_of(const Schedule& schedule) {
  std::vector<SegmentMap> buffers;
  for (std::uint32_t i = 0; i < schedule.buffers.size(); ++i) buffers.emplace_back(schedule, BufferId{i});
  return buffers;
}

}  // namespace

std::vector<std::string> race_problems(const Schedule& schedule, std::size_t limit) {
  std::vector<std::string> found;
  HappensBefore before(schedule);
  std::vector<SegmentMap> buffers = segments_of(schedule);
  const auto verb = [](AccessMode mode) { return mode == AccessMode::read ? "reads" : "writes"; };
  for (std::uint32_t i = 0; i < schedule.ops.size(); ++i) {
    const OpId op{i};
    before.visit(op);
    for_each_access(schedule.ops[i], [&](const Region& region, AccessMode mode) {
      const std::uint64_t begin = region.offset.count;
      const std::uint64_t end = begin + region.length.count;
      for (const auto& conflict : buffers[region.buffer.index()].access(op, begin, end, mode, before)) {
        if (found.size() >= limit) return;
        found.push_back(fmt::format(
            "{} {} bytes [{}, {}) of buffer {}, which {} {}, and nothing orders the two; let op {} wait for op {} or "
            "for an op after it",
            describe(schedule, op), verb(mode), conflict.begin, conflict.end,
            schedule.buffers[region.buffer.index()].name, describe(schedule, conflict.earlier), verb(conflict.mode),
            op.value, conflict.earlier.value));
      }
    });
    if (found.size() >= limit) return found;
  }
  return found;
}

void order_conflicts(Schedule& schedule, OpId from) {
  HappensBefore before(schedule);
  std::vector<SegmentMap> buffers = segments_of(schedule);
  for (std::uint32_t i = 0; i < schedule.ops.size(); ++i) {
    const OpId op{i};
    before.visit(op);
    std::vector<OpId> unordered;
    for_each_access(schedule.ops[i], [&](const Region& region, AccessMode mode) {
      const std::uint64_t begin = region.offset.count;
      for (const auto& conflict :
           buffers[region.buffer.index()].access(op, begin, begin + region.length.count, mode, before))
        unordered.push_back(conflict.earlier);
    });
    if (op < from) continue;
    std::sort(unordered.begin(), unordered.end(), std::greater<>());
    for (const OpId earlier : unordered) {
      if (before(earlier, op)) continue;
      // Only the first op of a batch may have dependencies.
      schedule.ops[first_of_batch(schedule, op).index()].after.push_back(earlier);
      before.add(op, earlier);
    }
  }
}

}  // namespace shiplap

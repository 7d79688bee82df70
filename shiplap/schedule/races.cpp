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

// The last accesses to a range of bytes: the op that wrote it last, and the ops that have read it since.
struct Segment {
  std::uint64_t end = 0;
  OpId writer;
  std::vector<OpId> readers;
  std::vector<OpId> other_writers{};  // earlier writers of other blocks of the range (`are_apart`)
};

// The segments of one buffer by first byte. Bytes without an access so far have no segment.
class SegmentMap {
 public:
  explicit SegmentMap(const Schedule& schedule) : schedule_(&schedule) {}

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
      if (earlier.is_none() || earlier == op || before(earlier, op) || are_apart(*schedule_, earlier, op)) return;
      for (Conflict& known : conflicts)
        if (known.earlier == earlier && known.mode == earlier_mode && known.end == from) {
          known.end = to;
          return;
        }
      conflicts.push_back({earlier, earlier_mode, from, to});
    };
    auto it = segments_.lower_bound(begin);
    for (auto s = it; s != segments_.end() && s->first < end; ++s) {
      check(s->second.writer, AccessMode::write, s->first, s->second.end);
      for (OpId writer : s->second.other_writers) check(writer, AccessMode::write, s->first, s->second.end);
      if (mode == AccessMode::write)
        for (OpId reader : s->second.readers) check(reader, AccessMode::read, s->first, s->second.end);
    }
    if (mode == AccessMode::write) {
      Segment written{.end = end, .writer = op, .readers = {}};
      for (; it != segments_.end() && it->first < end; it = segments_.erase(it))
        keep_apart(it->second, op, before, written);
      segments_.emplace_hint(it, begin, std::move(written));
    } else {
      read(op, begin, end, before);
    }
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

  // Keeps the accesses to other blocks that the write is not ordered after, because a later op may conflict with them.
  void keep_apart(const Segment& segment, OpId op, const HappensBefore& before, Segment& written) const {
    const auto keep = [&](OpId earlier, std::vector<OpId>& kept) {
      if (!earlier.is_none() && !before(earlier, op) && are_apart(*schedule_, earlier, op) &&
          std::ranges::find(kept, earlier) == kept.end())
        kept.push_back(earlier);
    };
    keep(segment.writer, written.other_writers);
    for (OpId writer : segment.other_writers) keep(writer, written.other_writers);
    for (OpId reader : segment.readers) keep(reader, written.readers);
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
      // An op that is ordered after this read is also ordered after the reads before it, so those are dropped.
      auto& readers = it->second.readers;
      std::erase_if(readers, [&](OpId reader) { return reader == op || before(reader, op); });
      readers.push_back(op);
      at = it->second.end;
      ++it;
    }
  }

  const Schedule* schedule_;
  std::map<std::uint64_t, Segment> segments_;
};

}  // namespace

std::vector<std::string> race_problems(const Schedule& schedule, std::size_t limit) {
  std::vector<std::string> found;
  HappensBefore before(schedule);
  std::vector<SegmentMap> buffers(schedule.buffers.size(), SegmentMap(schedule));
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
  std::vector<SegmentMap> buffers(schedule.buffers.size(), SegmentMap(schedule));
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

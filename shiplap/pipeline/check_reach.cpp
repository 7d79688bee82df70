#include "shiplap/pipeline/check_reach.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/pipeline/gpu_array.hpp"
#include "shiplap/pipeline/learn.hpp"
#include "shiplap/pipeline/prepared.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "shiplap/workload/array_place.hpp"

namespace shiplap {
namespace {

constexpr std::uint64_t guard = 4096;  // bytes on either side of an array
// The poison of arrays that are written. As a float or double it is huge or tiny, and the two bytes differ in every
// bit.
constexpr std::byte poison{0x6b};
constexpr std::byte other_poison{0x94};
// The poison of arrays that are only read differs, so that a result copied from there does not look unwritten.
constexpr std::byte poison_of_inputs{0x6c};
constexpr std::byte other_poison_of_inputs{0x93};

/// Copies of the arrays of a job on the host, each between guards, before and after a launch.
class Surroundings {
 public:
  Surroundings(Device& device, const Job& job) : device_(device), job_(job), data_(data_of(job)) {
    for (const Array& array : job.arrays) {
      host_.push_back(device.allocate(Place::host(), MemoryKind::pinned, padded(array)));
      if (!is_on_gpu(array) || array.prefix_of) continue;
      from_gpu_.push_back(copy_on_host(device, array));
      data_[host_.size() - 1] = from_gpu_.back().data();
    }
  }

  using Bytewise = std::vector<std::vector<std::byte>>;  // the bytes of each array

  /// The arrays after the kernel of a chunk. Before it, all bytes of array a outside of the reach are poisons[a].
  Bytewise after(ItemRange chunk, const std::vector<std::byte>& poisons) {
    for (std::size_t a = 0; a < job_.arrays.size(); ++a)
      std::ranges::copy(before(a, chunk, poisons[a]), host_[a].data());
    Prepared(device_, schedule(chunk), addresses(), job_.binding).run();
    Bytewise result;
    for (const Memory& memory : host_) result.emplace_back(memory.bytes().begin(), memory.bytes().end());
    return result;
  }

  std::vector<std::byte> before(std::size_t array, ItemRange chunk, std::byte around) const {
    const Array& a = job_.arrays[array];
    std::vector<std::byte> bytes(padded(a).count, around);
    const ByteRange part = reach_of(job_, a, chunk);
    const std::byte* data = data_[a.prefix_of.value_or(array)];
    if (a.role != Role::out && a.role != Role::scratch && part.length.count > 0)
      std::memcpy(bytes.data() + guard + part.offset.count, data + part.offset.count, part.length.count);
    return bytes;
  }

 private:
  static Bytes padded(const Array& array) { return array.size + Bytes{2 * guard}; }
  std::vector<std::byte*> addresses() const {
    std::vector<std::byte*> result;
    for (const Memory& memory : host_) result.push_back(memory.data());
    return result;
  }

  Schedule schedule(ItemRange chunk) const {
    Schedule schedule;
    const StreamId stream = schedule.add_stream("one by one");
    const KernelId kernel = schedule.add_kernel(job_.name);
    const auto add = [&](auto what) {
      schedule.add({.what = std::move(what), .stream = stream, .agent = AgentId{0}, .after = {}, .chunk = 0});
    };
    for (const Array& array : job_.arrays)
      schedule.add_buffer(
          {.name = array.name, .place = Place::host(), .memory = MemoryKind::pinned, .size = padded(array)});
    Kernel launch{.kernel = kernel, .first_item = chunk.first, .items = chunk.count, .operands = {}, .flows = {}};
    std::vector<std::pair<Region, Region>> copies;
    for (std::uint32_t a = 0; a < job_.arrays.size(); ++a) {
      const Array& array = job_.arrays[a];
      const BufferId on_gpu = schedule.add_buffer({.name = array.name + " on the GPU",
                                                   .place = Place::gpu(),
                                                   .memory = MemoryKind::device,
                                                   .size = padded(array)});
      copies.push_back({{BufferId{a}, Bytes{0}, padded(array)}, {on_gpu, Bytes{0}, padded(array)}});
      const ByteRange part = reach_of(job_, array, chunk);
      launch.operands.push_back(
          {{on_gpu, part.offset + Bytes{guard}, part.length}, access_mode(array.role), part.offset});
    }
    for (const auto& [host, gpu] : copies) add(Copy{host, gpu});
    add(std::move(launch));
    for (const auto& [host, gpu] : copies) add(Copy{gpu, host});
    return schedule;
  }

  Device& device_;
  const Job& job_;
  std::vector<std::byte*> data_;
  std::vector<Memory> host_;
  std::vector<Memory> from_gpu_;  ///< what the arrays on the GPU contain
};

std::int64_t element_at(const Array& array, std::size_t byte) {
  const auto position = static_cast<std::int64_t>(byte) - static_cast<std::int64_t>(guard);
  const auto size = static_cast<std::int64_t>(array.element.count);
  return position >= 0 ? position / size : -((-position + size - 1) / size);
}

class ReachCheck {
 public:
  ReachCheck(Device& device, const Job& job) : job_(job), surroundings_(device, job) {}

  void look_at(ItemRange chunk) {
    std::vector<std::byte> all;
    std::vector<std::byte> others;
    for (const Array& a : job_.arrays) {
      all.push_back(is_written(a.role) ? poison : poison_of_inputs);
      others.push_back(is_written(a.role) ? other_poison : other_poison_of_inputs);
    }
    const Surroundings::Bytewise first = surroundings_.after(chunk, all);
    const Surroundings::Bytewise second = surroundings_.after(chunk, others);
    for (std::size_t a = 0; a < job_.arrays.size(); ++a) {
      find_writes(chunk, a, first[a]);
      find_unwritten(chunk, a, first[a], second[a]);
    }
    const auto result = first_difference(chunk, first, second);
    if (!result) return;
    // Further runs change the poison of one array at a time, to find the array on which the result depends.
    for (std::size_t a = 0; a < job_.arrays.size(); ++a) {
      std::vector<std::byte> one = all;
      one[a] = others[a];
      if (const auto other = first_difference(chunk, first, surroundings_.after(chunk, one)))
        add(job_.arrays[a].role == Role::scratch ? Undeclared::Kind::uninitialised : Undeclared::Kind::read, a, chunk,
            other->second, job_.arrays[other->first].name);
    }
  }

  std::vector<Undeclared> found;

 private:
  void add(Undeclared::Kind kind, std::size_t array, ItemRange chunk, std::int64_t element, std::string result = {}) {
    found.push_back({kind, job_.arrays[array].name, chunk, element, std::move(result)});
  }

  void find_writes(ItemRange chunk, std::size_t array, const std::vector<std::byte>& after) {
    const Array& a = job_.arrays[array];
    const std::vector<std::byte> before =
        surroundings_.before(array, chunk, is_written(a.role) ? poison : poison_of_inputs);
    const ByteRange part = reach_of(job_, a, chunk);
    for (std::size_t i = 0; i < after.size(); ++i) {
      const bool inside = i >= guard + part.offset.count && i < guard + (part.offset + part.length).count;
      if (after[i] == before[i] || (inside && is_written(a.role))) continue;
      return add(Undeclared::Kind::write, array, chunk, element_at(a, i));
    }
  }

  /// Whether the element of an output that begins at byte i still has the poison after both runs.
  static bool is_left(const Array& array, const std::vector<std::byte>& first, const std::vector<std::byte>& second,
                      std::size_t i) {
    if (array.role != Role::out) return false;
    for (std::size_t b = i; b < i + array.element.count; ++b)
      if (first[b] != poison || second[b] != other_poison) return false;
    return true;
  }

  void find_unwritten(ItemRange chunk, std::size_t array, const std::vector<std::byte>& first,
                      const std::vector<std::byte>& second) {
    const Array& a = job_.arrays[array];
    const ByteRange part = reach_of(job_, a, chunk);
    for (std::size_t i = guard + part.offset.count; i < guard + (part.offset + part.length).count; i += a.element.count)
      if (is_left(a, first, second, i)) return add(Undeclared::Kind::unwritten, array, chunk, element_at(a, i));
  }

  /// Array and element of the first result that differs. Elements that were left unwritten do not count.
  std::optional<std::pair<std::size_t, std::int64_t>> first_difference(ItemRange chunk,
                                                                       const Surroundings::Bytewise& one,
                                                                       const Surroundings::Bytewise& other) const {
    for (std::size_t a = 0; a < job_.arrays.size(); ++a) {
      if (!is_written(job_.arrays[a].role) || job_.arrays[a].role == Role::scratch) continue;
      const ByteRange part = reach_of(job_, job_.arrays[a], chunk);
      const std::uint64_t size = job_.arrays[a].element.count;
      for (std::size_t i = guard + part.offset.count; i < guard + (part.offset + part.length).count; i += size) {
        // Padding between the members of an element is not written and still has the poison, so it does not count.
        bool differs = false;
        for (std::size_t b = i; b < i + size; ++b)
          differs = differs || (one[a][b] != other[a][b] && !(one[a][b] == poison && other[a][b] == other_poison));
        if (differs && !is_left(job_.arrays[a], one[a], other[a], i))
          return std::pair{a, element_at(job_.arrays[a], i)};
      }
    }
    return std::nullopt;
  }

  const Job& job_;
  Surroundings surroundings_;
};

}  // namespace

std::string to_string(const Undeclared& u) {
  const std::string chunk = fmt::format("the chunk of items [{}, {})", u.chunk.first, u.chunk.first + u.chunk.count);
  switch (u.kind) {
    case Undeclared::Kind::uninitialised:
      return fmt::format(
          "{}: {}[{}] depends on what was in the scratch {} before the kernel: write scratch before "
          "reading it",
          chunk, u.result, u.element, u.array);
    case Undeclared::Kind::read:
      return fmt::format(
          "{}: {}[{}] depends on elements of {} that it does not reach: describe them with `halo`, "
          "`mapped_by` or `.broadcast`",
          chunk, u.result, u.element, u.array);
    case Undeclared::Kind::write:
      return fmt::format(
          "{} writes {}[{}], which is outside of what it may write: describe the element with the array's "
          "role and reach, or do not write it",
          chunk, u.array, u.element);
    case Undeclared::Kind::unwritten:
      return fmt::format(
          "{} leaves {}[{}] unwritten: write every element of an output, or make it an inout; an output whose size "
          "depends on the data needs a segment for each item, and a second output with counts",
          chunk, u.array, u.element);
  }
  throw Error("a kind of undeclared access that does not exist");
}

std::vector<Undeclared> check_reach(Device& device, const Job& given, std::uint32_t chunks) {
  const Job job = with_memory_kinds(&device, given);
  ReachCheck check(device, job);
  for (const ItemRange& chunk :
       cut_into_chunks(job, static_cast<std::uint32_t>(std::min<std::uint64_t>(chunks, job.items))))
    check.look_at(chunk);
  return check.found;
}

void require_declared_reach(Device& device, const Job& job, std::uint32_t chunks) {
  const std::vector<Undeclared> found = check_reach(device, job, chunks);
  if (found.empty()) return;
  std::string list;
  for (const Undeclared& one : found) list += "\n  " + to_string(one);
  throw CheckFailed(fmt::format("{}: the kernel accesses elements that the job does not declare:{}", job.name, list));
}

}  // namespace shiplap

#include "tests/fuzz/made_schedule.hpp"

#include <fmt/format.h>

namespace shiplap::fuzz {
namespace {

constexpr std::uint32_t most_ops = 40;

/// Makes the parts of a schedule one after the other.
class Maker {
 public:
  explicit Maker(Input& input) : in_(input) {}

  Schedule schedule() {
    made_.agents.clear();
    const std::uint8_t shape = in_.byte();
    made_.peer_access = (shape & 1u) != 0;
    made_.as_graph = (shape & 6u) == 6;
    for (std::uint32_t n = 1 + in_.below(8); n > 0; --n) made_.add_buffer(buffer());
    for (std::uint32_t n = in_.below(6); n > 0; --n)
      made_.streams.push_back({.name = "stream", .place = gpu(), .urgent = in_.flag()});
    for (std::uint32_t n = 1 + in_.below(3); n > 0; --n) made_.agents.push_back({.name = fmt::format("agent {}", n)});
    for (std::uint32_t n = in_.below(3); n > 0; --n) made_.add_list(list());
    made_.add_kernel("kernel");
    while (!in_.ended() && made_.ops.size() < most_ops) made_.add(op());
    return std::move(made_);
  }

 private:
  Place gpu() { return Place::gpu(static_cast<std::uint16_t>(in_.byte() < 240 ? 0 : 1)); }

  Buffer buffer() {
    const auto memory = static_cast<MemoryKind>(in_.below(7));
    const Place place =
        memory == MemoryKind::device || (memory == MemoryKind::managed && in_.flag()) ? gpu() : Place::host();
    return {.name = fmt::format("buffer {}", made_.buffers.size()),
            .place = place,
            .memory = memory,
            .size = Bytes{in_.size()}};
  }

  BlockList list() {
    BlockList made{.name = "list",
                   .block = Bytes{in_.size()},
                   .pitch = Bytes{in_.size()},
                   .count = in_.size(),
                   .regular = in_.flag()};
    if (in_.flag()) made.pitch = made.block;
    return made;
  }

  /// An index that is mostly below `count`, and sometimes equal to it or none.
  std::uint32_t index(std::size_t count) {
    const std::uint8_t value = in_.byte();
    if (value == 0xff) return ~std::uint32_t{0};
    if (value == 0xfe || count == 0) return static_cast<std::uint32_t>(count);
    return value % static_cast<std::uint32_t>(count);
  }

  Bytes size_of(BufferId buffer) const {
    return buffer.index() < made_.buffers.size() ? made_.buffers[buffer.index()].size : 1_B;
  }

  /// Mostly some eighths of a buffer.
  Region region(BufferId buffer) {
    const std::uint8_t where = in_.byte();
    if (where == 0xff) return {buffer, Bytes{in_.number()}, Bytes{in_.number()}};
    const Bytes size = size_of(buffer);
    const std::uint64_t first = where & 7u;
    const std::uint64_t eighths = 1 + (where >> 3) % (8 - first);
    return {buffer, size / 8 * first, where < 16 ? size : size / 8 * eighths};
  }
  Region region() { return region(BufferId{index(made_.buffers.size())}); }
  /// A region that is as long as another one.
  Region region_like(const Region& other) {
    Region made = region();
    if (in_.byte() != 0xff) made.length = other.length;
    return made;
  }

  Seconds time() { return microseconds(in_.byte() == 0xff ? static_cast<double>(in_.number()) : in_.byte()); }

  Copy copy() {
    Copy made;
    made.from = region();
    made.to = region_like(made.from);
    if (in_.byte() > 230) made.measured = time();
    return made;
  }
  HostCopy host_copy() {
    HostCopy made;
    made.from = region();
    made.to = region_like(made.from);
    return made;
  }
  Kernel kernel() {
    Kernel made;
    made.kernel = {index(made_.kernels.size())};
    made.items = in_.size();
    made.work = time();
    if (in_.byte() > 200) made.launches = in_.size();
    made.call = time();
    made.waits = in_.byte() > 240;
    made.blocks = in_.size();
    made.resident_blocks = in_.size();
    made.full_rate_blocks = in_.size();
    for (std::uint32_t n = in_.below(4); n > 0; --n)
      made.operands.push_back({.region = region(), .mode = in_.flag() ? AccessMode::write : AccessMode::read});
    for (std::uint32_t n = in_.below(8); n > 5; --n)
      made.flows.push_back({.buffer = {index(made_.buffers.size())},
                            .mode = in_.flag() ? AccessMode::write : AccessMode::read,
                            .bytes = Bytes{in_.size()},
                            .in_flight = Bytes{in_.size()}});
    if (in_.byte() > 240)
      made.measured = MeasuredFlow{.alone = time(), .beside_copies = time(), .copies_beside = 1.0 + in_.byte()};
    made.memory_bound = in_.byte() / 255.0;
    return made;
  }
  HostCall host_call() {
    HostCall made;
    made.kind = static_cast<HostCall::Kind>(in_.below(9));
    if (has_region(made.kind)) made.region = region();
    made.work = time();
    return made;
  }
  BlockCopy block_copy() {
    BlockCopy made;
    made.list = {index(made_.lists.size())};
    const bool known = made.list.index() < made_.lists.size();
    made.count = known ? made_.lists[made.list.index()].count : in_.size();
    if (in_.byte() > 128) made.count = in_.size();
    made.gather = in_.flag();
    made.pool = region();
    made.packed = region();
    if (known && in_.byte() != 0xff) made.packed.length = made_.lists[made.list.index()].block * made.count;
    made.mover = {.kind = static_cast<Mover::Kind>(in_.below(4)), .grid = in_.byte()};
    return made;
  }

  decltype(Op::what) what() {
    switch (in_.below(8)) {
      case 0:
      case 1:
        return copy();
      case 2:
      case 3:
        return kernel();
      case 4:
        return host_copy();
      case 5:
        return host_call();
      case 6:
        return Prefetch{.region = region(), .to = in_.flag() ? gpu() : Place::host()};
      default:
        return block_copy();
    }
  }

  static bool needs_stream(const Op& op) {
    return std::holds_alternative<Copy>(op.what) || std::holds_alternative<Kernel>(op.what) ||
           std::holds_alternative<Prefetch>(op.what);
  }

  Op op() {
    Op made;
    made.what = what();
    const bool streamed = std::holds_alternative<BlockCopy>(made.what) ? in_.flag() : needs_stream(made);
    if (streamed != (in_.byte() > 250)) made.stream = {index(made_.streams.size())};
    made.agent = {index(made_.agents.size())};
    for (std::uint32_t n = in_.below(4); n > 0; --n) made.after.push_back({index(made_.ops.size())});
    // Most ops wait for the one before, because nearly all other schedules have races.
    if (!made_.ops.empty() && in_.byte() < 160)
      made.after.push_back({static_cast<std::uint32_t>(made_.ops.size() - 1)});
    made.chunk = in_.byte();
    made.batched = in_.byte() > 240;
    if (made.batched) made.after.clear();
    return made;
  }

  Input& in_;
  Schedule made_;
};

}  // namespace

Schedule made_schedule(Input& input) { return Maker(input).schedule(); }

}  // namespace shiplap::fuzz

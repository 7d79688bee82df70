#include "shiplap/pipeline/probe_zero_copy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/core/statistics.hpp"
#include "shiplap/device/bindings.hpp"
#include "shiplap/pipeline/ideal_overlap.hpp"
#include "shiplap/pipeline/probe.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "shiplap/workload/launches.hpp"

namespace shiplap {
namespace {

constexpr Bytes chunk_bytes = 32_MiB;  // several waves of threads with 16-byte accesses
constexpr std::uint64_t steps = 4;     // factor between two launch sizes
constexpr std::size_t launch_sizes = 3;
constexpr Bytes copy_size = 4_MiB;
constexpr std::uint32_t copies_timed = 4;
constexpr unsigned positions_written = 8;  // the number of places where launches write arrays of the caller
constexpr double hopeless = 2;             // no plan chooses a kernel that takes longer than copying by this factor

/// Which arrays are in host memory.
struct Mode {
  bool in = false;
  bool out = false;
  bool covers(Role role) const { return role == Role::in ? in : is_output(role) && out; }
};

/// The directions of the copies that remain when the kernel accesses the arrays of a mode in host memory.
struct CopyDirections {
  bool to_device = false;
  bool from_device = false;
  bool any() const { return to_device || from_device; }
};

bool has(const Job& job, bool (*of)(Role)) {
  return std::ranges::any_of(job.arrays, [&](const Array& a) { return of(a.role) && a.size.count > 0; });
}

std::vector<Mode> modes_of(const Job& job) {
  const bool in = has(job, [](Role role) { return role == Role::in; });
  const bool out = has(job, is_output);
  if (in && out) return {{.in = true, .out = true}, {.out = true}, {.in = true}};
  return {{.in = in, .out = out}};
}

/// The content of memory before launches wrote to it. The destructor writes it back.
class WrittenParts {
 public:
  WrittenParts() = default;
  WrittenParts(const WrittenParts&) = delete;
  WrittenParts& operator=(const WrittenParts&) = delete;
  // Parts may overlap, so the one that was kept first is written last.
  ~WrittenParts() {
    for (auto part = parts_.rbegin(); part != parts_.rend(); ++part)
      std::memcpy(part->data, part->bytes.data(), part->bytes.size());
  }
  /// Keeps the bytes unless the same part is kept already.
  void keep(std::byte* data, Bytes size) {
    const auto same = [&](const Part& part) { return part.data == data && part.bytes.size() == size.count; };
    if (size.count > 0 && std::ranges::none_of(parts_, same)) parts_.push_back({data, {data, data + size.count}});
  }

 private:
  struct Part {
    std::byte* data;
    std::vector<std::byte> bytes;
  };
  std::vector<Part> parts_;
};

class Probe {
 public:
  Probe(MeasurableDevice& device, const Job& job, const Limits& limits, Seconds budget)
      : device_(device), job_(job), limits_(limits), budget_(budget) {
    choose_chunk();
    base_ = prepare_launch(device_, job_, chunk_, limits_, 0, aligned);
    host_.resize(job_.arrays.size());
    const std::vector<Access>& operands = std::get<Kernel>(base_->schedule().ops.front().what).operands;
    for (std::size_t a = 0; a < job_.arrays.size(); ++a) {
      const Array& array = job_.arrays[a];
      if (array.role != Role::inout) continue;
      const Region& region = operands[a].region;
      host_[a] = device_.allocate(Place::host(), MemoryKind::pinned, base_->schedule().buffers[a].size);
      std::memcpy(host_[a].data() + region.offset.count, array.data + operands[a].origin.count, region.length.count);
    }
    host_copy_ = device_.allocate(Place::host(), MemoryKind::pinned, copy_size * 2);
    device_copy_ = device_.allocate(Place::gpu(), MemoryKind::device, copy_size * 2);
    device_.fill(host_copy_, 1);
    device_.fill(device_copy_, 2);
    bring_to_host();
    empty_ = prepare_empty_launch(device_);
    launch_latency_ = median_of([&] { return empty_->run({.hold = true}).timeline.makespan; }, few_runs);
    for (const bool to_device : {false, true}) {
      Prepared copies = ready(copies_alone({.to_device = to_device, .from_device = !to_device}));
      copies_alone_[to_device] = median_of([&] { return run(copies); }, few_runs);
    }
  }

  std::vector<KernelCost::ZeroCopy> rows() {
    std::vector<KernelCost::ZeroCopy> rows;
    const std::uint64_t sm_count = std::max(1u, device_.info().sm_count);
    const std::uint64_t own = blocks_of(job_, chunk_);
    std::vector<std::uint64_t> grids{0};
    if (job_.any_grid)
      for (const std::uint64_t part : {4, 12})
        if (const std::uint64_t blocks = sm_count / part; blocks > 0 && blocks < own) grids.push_back(blocks);
    for (const Mode& mode : modes_of(job_))
      for (const std::uint64_t blocks : grids) {
        rows.push_back(measured(mode, blocks));
        // The own grid may be slow because it has too many bytes in flight, so smaller grids are tried all the same.
        if (blocks > 0 && is_hopeless(rows.back())) break;
      }
    return rows;
  }

 private:
  static constexpr unsigned few_runs = 5;
  // The alignment is that of strategies with zero-copy, because a kernel may take another path with another alignment.
  static constexpr DeviceRing::Alignment aligned = DeviceRing::Alignment::in_array;

  /// Moves the pages of managed arrays to the host, which the zero-copy kernels access there.
  void bring_to_host() {
    Schedule schedule;
    std::vector<std::byte*> data;
    const StreamId stream = schedule.add_stream("to the host");
    for (const Array& array : job_.arrays) {
      if (array.memory != MemoryKind::managed || array.data == nullptr) continue;
      const Bytes size = size_on_host(array);
      const BufferId buffer =
          schedule.add_buffer({.name = array.name, .place = Place::gpu(), .memory = MemoryKind::managed, .size = size});
      data.push_back(array.data);
      if (size.count > 0)
        schedule.add({.what = Prefetch{{buffer, Bytes{0}, size}, Place::host()}, .stream = stream, .after = {}});
    }
    if (!schedule.ops.empty()) device_.prepare(schedule, {.buffers = data, .kernels = {}})->run();
  }

  // Sets the items of the largest launch, by the bytes of the largest array that is cut.
  void choose_chunk() {
    Bytes most;
    for (const Array& array : job_.arrays)
      if (is_input(array.role) || is_output(array.role)) most = std::max(most, array.size);
    const auto items_of_bytes = [&](Bytes size) {
      const double items = static_cast<double>(job_.items) * in_bytes(size) / std::max(1.0, in_bytes(most));
      const auto whole = static_cast<std::uint64_t>(std::clamp(items, 1.0, static_cast<double>(job_.items)));
      return whole <= job_.items_per_block || whole == job_.items ? whole : whole - whole % job_.items_per_block;
    };
    chunk_ = items_of_bytes(chunk_bytes);
    while (chunk_ > 1 && resident_size(job_, chunk_) > limits_.device_memory / 2) chunk_ = (chunk_ + 1) / 2;
  }

  /// Whether launches may use any chunk of the job: not if an input was copied for the middle chunk only.
  bool can_move(const Mode& mode) const {
    return mode.in && std::ranges::none_of(job_.arrays, [](const Array& a) { return a.role == Role::inout; });
  }

  /// The items of a launch. What it writes in the caller's arrays is kept first.
  ItemRange place(const Mode& mode, std::uint64_t items, unsigned run) {
    const ItemRange range = place_of(mode, items, run);
    for (const Array& array : job_.arrays) {
      if (!mode.covers(array.role) || array.role != Role::out) continue;
      const ByteRange part = reach_of(job_, array, range);
      written_.keep(array.data + part.offset.count, part.length);
    }
    return range;
  }

  ItemRange place_of(const Mode& mode, std::uint64_t items, unsigned run) const {
    const ItemRange middle{launched_items(job_, chunk_).first, items};
    if (!can_move(mode)) return middle;
    constexpr double golden = 0.618033988749895;
    double whole = 0;
    if (mode.out) run %= positions_written;
    const double position = std::modf(0.5 + run * golden, &whole);
    const auto first = static_cast<std::uint64_t>(position * static_cast<double>(job_.items - items));
    const ItemRange anywhere{first - first % job_.items_per_block, items};
    // The buffers on the GPU must be large enough for the chunk.
    for (std::size_t a = 0; a < job_.arrays.size(); ++a)
      if (!mode.covers(job_.arrays[a].role) &&
          probe_offset(a, reach_of(job_, job_.arrays[a], anywhere)) + reach_of(job_, job_.arrays[a], anywhere).length >
              base_->schedule().buffers[a].size)
        return middle;
    return anywhere;
  }

  /// One launch over `range`. The buffers are the job's arrays in their order, then the two of the copies.
  Schedule launch(const Mode& mode, std::uint64_t blocks, ItemRange range) const {
    Schedule schedule;
    const KernelId id = schedule.add_kernel(job_.name);
    const StreamId stream = schedule.add_stream("compute");
    Kernel kernel{.kernel = id,
                  .first_item = range.first,
                  .items = range.count,
                  .work = kernel_time(job_, average_items(job_, range), blocks),
                  .launches = launches_of(job_, range.count),
                  .blocks = blocks_of(job_, range.count),
                  .operands = {},
                  .flows = {}};
    if (blocks > 0) kernel.blocks = std::min(kernel.blocks, blocks);
    for (std::size_t a = 0; a < job_.arrays.size(); ++a) {
      const Array& array = job_.arrays[a];
      const ByteRange part = reach_of(job_, array, range);
      const bool where_it_is = mode.covers(array.role) && array.role != Role::inout;
      const Buffer& resident = base_->schedule().buffers[a];
      Buffer buffer = resident;
      if (mode.covers(array.role))
        buffer = {.name = array.name,
                  .place = Place::host(),
                  .memory = where_it_is ? array.memory : MemoryKind::pinned,
                  .size = where_it_is ? array.size : resident.size};
      if (buffer.memory == MemoryKind::managed && mode.covers(array.role)) buffer.advice = MemoryAdvice::prefer_host;
      const BufferId of = schedule.add_buffer(std::move(buffer));
      kernel.operands.push_back(
          {{of, where_it_is ? part.offset : probe_offset(a, part), part.length}, access_mode(array.role), part.offset});
      if (!mode.covers(array.role)) continue;
      if (is_input(array.role))
        kernel.flows.push_back(
            {.buffer = of, .mode = AccessMode::read, .bytes = part.length, .in_flight = in_flight(kernel)});
      if (is_output(array.role))
        kernel.flows.push_back(
            {.buffer = of, .mode = AccessMode::write, .bytes = part.length, .in_flight = in_flight(kernel)});
    }
    schedule.add({.what = std::move(kernel), .stream = stream, .agent = AgentId{0}, .after = {}, .chunk = 0});
    add_copy_buffers(schedule);
    return schedule;
  }

  /// Offset of a part of an array in the probe's buffer, which holds the middle chunk of an input.
  Bytes probe_offset(std::size_t a, const ByteRange& part) const {
    const Role role = job_.arrays[a].role;
    if (part.length.count == 0) return Bytes{0};
    if (!is_input(role) && !stays(role)) return DeviceRing::offset_in_slot(part.offset, aligned);
    const Access& middle = std::get<Kernel>(base_->schedule().ops.front().what).operands[a];
    if (part.offset < middle.origin || part.offset + part.length > middle.origin + middle.region.length)
      throw Unsupported(fmt::format(
          "{}: a smaller chunk reaches beyond the middle one, so zero-copy cannot be measured", job_.arrays[a].name));
    return part.offset - middle.origin + middle.region.offset;
  }

  /// Bytes in flight with one 16-byte access per resident thread. Only virtual devices use them.
  Bytes in_flight(const Kernel& kernel) const {
    return 16_B * (std::min(kernel.blocks, wave_of(job_, limits_.resident_threads)) * job_.threads_per_block);
  }

  static void add_copy_buffers(Schedule& schedule) {
    schedule.add_buffer(
        {.name = "host side of copies", .place = Place::host(), .memory = MemoryKind::pinned, .size = copy_size * 2});
    schedule.add_buffer(
        {.name = "GPU side of copies", .place = Place::gpu(), .memory = MemoryKind::device, .size = copy_size * 2});
  }
  /// Adds `count` copies for each direction, each direction in its own stream, H2D first.
  static void add_copies(Schedule& schedule, const CopyDirections& directions, std::uint32_t count) {
    const auto last = static_cast<std::uint32_t>(schedule.buffers.size()) - 1;
    for (const bool to_device : {true, false}) {
      if (!(to_device ? directions.to_device : directions.from_device)) continue;
      const StreamId stream = schedule.add_stream(to_device ? "copies in" : "copies out");
      // Each direction has its own half of the buffers, so that none is read while it is written.
      const Bytes offset = to_device ? Bytes{0} : copy_size;
      const Region host{BufferId{last - 1}, offset, copy_size};
      const Region device{BufferId{last}, offset, copy_size};
      for (std::uint32_t c = 0; c < count; ++c)
        schedule.add({.what = to_device ? Copy{host, device} : Copy{device, host},
                      .stream = stream,
                      .agent = AgentId{0},
                      .after = {},
                      .chunk = c});
    }
  }
  static Schedule copies_alone(const CopyDirections& directions) {
    Schedule schedule;
    add_copy_buffers(schedule);
    add_copies(schedule, directions, copies_timed);
    return schedule;
  }
  CopyDirections copies_left(const Mode& mode) const {
    CopyDirections directions;
    for (const Array& array : job_.arrays) {
      if (array.size.count == 0 || mode.covers(array.role)) continue;
      directions.to_device = directions.to_device || is_input(array.role);
      directions.from_device = directions.from_device || is_output(array.role);
    }
    return directions;
  }

  Prepared ready(Schedule schedule, const Mode& mode = {}) {
    std::vector<std::byte*> data;
    if (schedule.buffers.size() > 2)
      for (std::size_t a = 0; a < job_.arrays.size(); ++a) {
        const Array& array = job_.arrays[a];
        data.push_back(!mode.covers(array.role)    ? base_->own(BufferId{static_cast<std::uint32_t>(a)}).data()
                       : array.role == Role::inout ? host_[a].data()
                                                   : array.data);
      }
    data.push_back(host_copy_.data());
    data.push_back(device_copy_.data());
    Prepared prepared(device_, std::move(schedule), std::move(data), job_.binding);
    prepared.run();  // may allocate or load code, which a GPU that is held cannot do
    return prepared;
  }

  template <class Sample>
  Seconds median_of(const Sample& sample, unsigned runs) {
    std::vector<double> seconds;
    sample();  // warm-up
    for (unsigned i = 0; i < runs; ++i) seconds.push_back(sample().count());
    return Seconds{median(seconds)};
  }
  /// Runs once and charges the makespan to the budget.
  Seconds run(Prepared& prepared, const RunOptions& options = {.hold = true}) {
    const Seconds makespan = prepared.run(options).timeline.makespan;
    spent_ += makespan;
    return makespan;
  }
  /// Number of timed runs: odd, fewer for long launches, one when the budget is spent.
  unsigned runs_for(std::uint64_t items) const {
    if (spent_ > budget_) return 1;
    return items * steps > chunk_ && chunk_ < job_.items ? 3 : 7;
  }

  /// Time per item of average density without the launch latency. Each run uses another chunk if possible, so that, as
  /// in the whole job, its data are in no cache and its addresses in no TLB.
  Seconds time_alone(const Mode& mode, std::uint64_t blocks, std::uint64_t items) {
    struct Place {
      Prepared launch;
      double per_average_item;
    };
    std::vector<Place> places;
    const unsigned runs = runs_for(items);
    const unsigned most = can_move(mode) && items < job_.items ? runs + 1 : 1;
    for (unsigned p = 0; p < most; ++p) {
      const ItemRange range = place(mode, items, ranges_used_++);
      places.push_back(
          {ready(launch(mode, blocks, range), mode), 1.0 / static_cast<double>(average_items(job_, range))});
    }
    unsigned next = 0;
    const auto sample = [&] {
      Place& at = places[next++ % most];
      const Seconds time = run(at.launch);
      return std::max(Seconds{1e-9}, time - launch_latency_) * at.per_average_item;
    };
    return median_of(sample, runs);
  }

  Seconds time_beside_copies(const Mode& mode, std::uint64_t blocks, std::uint64_t items, Seconds alone) {
    const ItemRange range = place(mode, items, ranges_used_++);
    Schedule schedule = launch(mode, blocks, range);
    const double copy = copies_alone_[0].count() / copies_timed;
    add_copies(schedule, copies_left(mode), 3 + static_cast<std::uint32_t>(std::min(60.0, 2.5 * alone.count() / copy)));
    Prepared both = ready(std::move(schedule), mode);
    const RunOptions options{.hold = true, .timed = StreamId{0}};
    const Seconds beside = median_of([&] { return run(both, options); }, runs_for(items));
    return std::max(Seconds{1e-9}, beside - launch_latency_) / static_cast<double>(average_items(job_, range));
  }

  double slowdown_of_copies(const Mode& mode, std::uint64_t blocks, Seconds alone) {
    const CopyDirections directions = copies_left(mode);
    const auto time_of = [&](Prepared& prepared, StreamId stream) {
      const RunOptions options{.hold = true, .timed = stream};
      return median_of([&] { return run(prepared, options); }, runs_for(chunk_));
    };
    Prepared copies = ready(copies_alone(directions));
    std::vector<Seconds> without{time_of(copies, StreamId{0})};
    if (directions.to_device && directions.from_device) without.push_back(time_of(copies, StreamId{1}));
    Schedule schedule = launch(mode, blocks, place(mode, chunk_, ranges_used_++));
    const Op kernel = schedule.ops.front();
    const double launches = std::clamp(3 * without.front().count() / alone.count(), 2.0, 60.0);
    for (unsigned i = 1; i < static_cast<unsigned>(launches); ++i) schedule.add(kernel);
    add_copies(schedule, directions, copies_timed);
    Prepared both = ready(std::move(schedule), mode);
    double longest = 1;
    for (std::uint32_t direction = 0; direction < without.size(); ++direction)  // stream 0 holds the kernels
      longest = std::max(longest, time_of(both, StreamId{1 + direction}) / without[direction]);
    return longest;
  }

  KernelCost::ZeroCopy measured(const Mode& mode, std::uint64_t blocks) {
    KernelCost::ZeroCopy row{.in = mode.in, .out = mode.out, .blocks = blocks, .alone = {}, .beside = {}};
    std::vector<std::uint64_t> items;
    for (std::uint64_t size = chunk_; items.size() < launch_sizes && size > 0; size /= steps)
      items.insert(items.begin(),
                   size < chunk_ && size > job_.items_per_block ? size - size % job_.items_per_block : size);
    const auto add = [&](std::vector<KernelCost::Point>& points, std::uint64_t size, Seconds of_item) {
      const std::uint64_t on_average = average_items(job_, launched_items(job_, size));
      if (points.empty() || on_average > points.back().items)
        points.push_back({on_average, Interval<Seconds>::exact(of_item * static_cast<double>(on_average))});
    };
    for (const std::uint64_t size : items) {
      const Seconds alone = time_alone(mode, blocks, size);
      add(row.alone, size, std::max(alone, least_link_time(mode)));
      if (size == chunk_ && is_hopeless(row))
        return {.in = mode.in, .out = mode.out, .blocks = blocks, .alone = row.alone, .beside = {}};
      if (copies_left(mode).any())
        add(row.beside, size, time_beside_copies(mode, blocks, size, alone * static_cast<double>(size)));
    }
    if (copies_left(mode).any()) row.copies_beside = slowdown_of_copies(mode, blocks, row.alone.back().work.value);
    return row;
  }

  /// Least time per item at the rate of the copy engines. A launch may end while its writes are still in the L2 cache.
  Seconds least_link_time(const Mode& mode) const {
    double longest = 0;
    for (const bool to_device : {false, true}) {
      double bytes = 0;
      for (const Array& array : job_.arrays)
        if (mode.covers(array.role) && (to_device ? is_input(array.role) : is_output(array.role)))
          bytes += in_bytes(array.size);
      longest = std::max(longest, bytes * per_byte(to_device));
    }
    return Seconds{chunk_ < job_.items ? longest / static_cast<double>(job_.items) : 0.0};
  }
  double per_byte(bool h2d) const { return copies_alone_[h2d].count() / in_bytes(copy_size) / copies_timed; }

  bool is_hopeless(const KernelCost::ZeroCopy& row) const {
    Bytes directions[2];
    for (const Array& array : job_.arrays) {
      if (stays(array.role) || array.role == Role::scratch) continue;
      if (is_input(array.role)) directions[1] += array.size;
      if (is_output(array.role)) directions[0] += array.size;
    }
    const double fraction = static_cast<double>(chunk_) / static_cast<double>(job_.items);
    double best = job_.cost.launch_time(average_items(job_, launched_items(job_, chunk_))).count();
    for (const bool h2d : {false, true}) best = std::max(best, in_bytes(directions[h2d]) * fraction * per_byte(h2d));
    return chunk_ < job_.items && row.alone.back().work.value.count() > hopeless * best;
  }

  WrittenParts written_;  ///< destroyed last, when no launch is in flight
  MeasurableDevice& device_;
  const Job& job_;
  const Limits& limits_;
  Seconds budget_;
  Seconds spent_{0};
  std::uint64_t chunk_ = 1;       ///< items of the largest launch
  std::optional<Prepared> base_;  ///< the middle chunk in device memory
  std::vector<Memory> host_;      ///< pinned copies of the `inout` arrays
  Memory host_copy_;
  Memory device_copy_;
  std::unique_ptr<Execution> empty_;
  Seconds launch_latency_{0};
  Seconds copies_alone_[2] = {};  ///< time of `copies_timed` copies, [0] D2H and [1] H2D
  unsigned ranges_used_ = 0;
};

}  // namespace

std::vector<KernelCost::ZeroCopy> probe_zero_copy(MeasurableDevice& device, const Job& job, const Limits& limits,
                                                  Seconds budget) {
  const bool cut = has(job, [](Role role) { return is_input(role) || is_output(role); });
  if (!job.each_byte_once.value_or(true) || !cut || array_memory(job) == ArrayMemory::pageable) return {};
  if (std::ranges::any_of(job.arrays, [](const Array& a) { return size_on_host(a).count > 0 && a.data == nullptr; }))
    return {};
  return Probe(device, job, limits, budget).rows();
}

}  // namespace shiplap

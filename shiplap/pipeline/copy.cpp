#include "shiplap/pipeline/copy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/device/bindings.hpp"
#include "shiplap/device/move_blocks.hpp"
#include "shiplap/pipeline/learn.hpp"
#include "shiplap/pipeline/node.hpp"
#include "shiplap/pipeline/prepared.hpp"
#include "shiplap/plan/relays.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/schedule/schedule.hpp"

namespace shiplap {
namespace {

/// Number of sizes for which executions are kept. A program copies arrays of a few sizes again and again.
constexpr std::size_t most_kept_sizes = 64;
/// Smaller copies are not divided, and not even simulated: what starts the pieces takes longer than it saves.
constexpr Bytes least_divided = 1_MiB;
/// Null, cudaStreamLegacy and cudaStreamPerThread are no addresses.
constexpr std::uintptr_t last_default_stream = 2;

}  // namespace

struct Copier::Parts {
  /// Copies that use the same streams and the same rings: whether they go to a GPU, and the GPU of each stream.
  using Route = std::pair<bool, std::vector<std::uint16_t>>;

  /// Streams and rings of a route.
  struct Lane {
    std::vector<Memory> rings;         // before the execution that may still use them
    std::unique_ptr<Execution> first;  // whose streams the others share
  };

  /// A copy of a size that was prepared.
  struct Ready {
    Relay relay;
    std::unique_ptr<Execution> execution;  // null for a copy that is not divided
    std::vector<std::byte*> buffers;
    std::uint64_t last_use = 0;
  };

  Parts(const Node& given, CopyOptions options)
      : node(given), device(device_of(given, "copies")), max_slowdown(options.max_slowdown) {
    gpus = device.info().gpus;
    if (options.relays) {
      relays = *std::move(options.relays);
      for (const std::uint16_t gpu : relays)
        if (gpu >= gpus || std::ranges::count(relays, gpu) > 1)
          throw UsageError(fmt::format("`relays` names GPU {}{}: {} has {} GPU{}, numbered from 0", gpu,
                                       gpu < gpus ? " twice" : "", device.info().id, gpus, gpus == 1 ? "" : "s"));
    } else {
      // A GPU relays nothing for itself, so GPU 0 may be among them.
      SearchSpace space;
      for (std::uint16_t gpu = 0; gpu < gpus; ++gpu) space.relays.push_back(gpu);
      std::vector<std::string> said;
      relays = with_idle_relays(node, std::move(space), said).relays;
    }
    profile = std::make_shared<const Profile>(profile_of_gpus(node, gpus));
  }

  /// The copy, prepared on the addresses that are given.
  Ready& ready(const RelayedCopies& copies, Bytes size, const std::vector<std::byte*>& buffers);
  static Route route_of(const Schedule&, bool in);
  Ready prepare(const RelayedCopies&, Bytes, const std::vector<std::byte*>&);

  Node node;
  MeasurableDevice& device;
  std::uint32_t gpus = 1;
  std::optional<double> max_slowdown;
  std::vector<std::uint16_t> relays;
  std::shared_ptr<const Profile> profile;
  std::map<Route, Lane> lanes;  // before the executions that use them
  std::map<std::tuple<std::uint16_t, bool, std::uint64_t>, Ready> kept;
  std::uint64_t uses = 0;
};

Copier::Parts::Route Copier::Parts::route_of(const Schedule& schedule, bool in) {
  Route route{in, {}};
  for (const Stream& stream : schedule.streams) route.second.push_back(stream.place.index);
  return route;
}

Copier::Parts::Ready Copier::Parts::prepare(const RelayedCopies& copies, Bytes size,
                                            const std::vector<std::byte*>& buffers) {
  Ready made{.relay = {}, .execution = {}, .buffers = buffers};
  if (size >= least_divided) made.relay = fastest_relay(size, copies, *profile, relays, max_slowdown);
  if ((made.relay.through.empty() && gpus == 1) || device.is_virtual()) return made;
  const Schedule schedule = schedule_of_copy(size, copies, made.relay);
  Lane& lane = lanes[route_of(schedule, copies.in)];
  for (std::size_t b = made.buffers.size(); b < schedule.buffers.size(); ++b) {
    const std::size_t ring = b - buffers.size();
    if (ring == lane.rings.size()) try {
        lane.rings.push_back(device.allocate(schedule.buffers[b].place, MemoryKind::device, most_relay_ring));
      } catch (const Error&) {  // that GPU is full: the others are left
        std::erase(relays, schedule.buffers[b].place.index);
        return prepare(copies, size, buffers);
      }
    made.buffers.push_back(lane.rings[ring].data());
  }
  const Bindings bindings{.buffers = made.buffers, .kernels = {}};
  if (lane.first == nullptr) lane.first = device.prepare(schedule, bindings);
  made.execution = device.prepare_behind(*lane.first, schedule, bindings);
  return made;
}

Copier::Parts::Ready& Copier::Parts::ready(const RelayedCopies& copies, Bytes size,
                                           const std::vector<std::byte*>& buffers) {
  const std::tuple key{copies.gpu, copies.in, size.count};
  auto found = kept.find(key);
  if (found == kept.end()) {
    if (kept.size() == most_kept_sizes)
      kept.erase(std::ranges::min_element(kept, {}, [](const auto& one) { return one.second.last_use; }));
    found = kept.emplace(key, prepare(copies, size, buffers)).first;
  } else if (found->second.execution != nullptr) {
    std::ranges::copy(buffers, found->second.buffers.begin());
    found->second.execution->rebind({.buffers = found->second.buffers, .kernels = {}});
  }
  found->second.last_use = ++uses;
  return found->second;
}

Copier::Copier(const Node& node, CopyOptions options) : parts_(std::make_unique<Parts>(node, std::move(options))) {}
Copier::~Copier() = default;
Copier::Copier(Copier&&) noexcept = default;
Copier& Copier::operator=(Copier&&) noexcept = default;

Relay Copier::copy(void* destination, const void* source, Bytes size, void* stream) {
  if (size.count == 0) return {};
  if (destination == nullptr || source == nullptr)
    throw UsageError("a copy from or to a null address: give memory of the host and of a GPU");
  Parts& p = *parts_;
  auto* const to = static_cast<std::byte*>(destination);
  auto* const from = const_cast<std::byte*>(static_cast<const std::byte*>(source));  // is only read
  const std::optional<std::uint16_t> to_gpu = p.device.gpu_of(to);
  const std::optional<std::uint16_t> from_gpu = p.device.gpu_of(from);
  if (to_gpu.has_value() == from_gpu.has_value())
    throw UsageError(fmt::format("a copy {}: one address is to be in pinned host memory, and the other on a GPU of {}",
                                 to_gpu ? "from GPU to GPU" : "within the host, or to a GPU of another device",
                                 p.device.info().id));
  std::byte* const host = to_gpu ? from : to;
  std::byte* const gpu = to_gpu ? to : from;
  if (const MemoryKind kind = p.device.kind_of(host, size); !is_pinned(kind))
    throw UsageError(fmt::format(
        "the host's side of a copy is {} memory, and a copy engine reaches pinned memory: pin it (`pin`), allocate it "
        "pinned, or state a job, which stages pageable arrays",
        to_string(kind)));
  const RelayedCopies copies{
      .in = to_gpu.has_value(), .out = from_gpu.has_value(), .gpu = to_gpu ? *to_gpu : *from_gpu};
  const auto plain = [&] {
    constexpr std::uint32_t only = 0;
    const BlockMove whole{
        .pool = host, .packed = gpu, .indices = &only, .count = 1, .block = size, .pitch = size, .gather = copies.in};
    constexpr Mover copy_engine{.kind = Mover::Kind::copies};
    p.device.move_blocks(whole, {&copy_engine, 1}, stream);
    return Relay{};
  };
  const bool is_virtual = p.device.is_virtual();
  // A default stream is that of the current GPU, which `enqueue` knows and a plain copy does not.
  const bool is_default = p.gpus > 1 && reinterpret_cast<std::uintptr_t>(stream) <= last_default_stream;
  if (!is_virtual && ((size < least_divided && !is_default) || p.device.is_capturing(stream))) return plain();
  const Parts::Ready& ready = p.ready(copies, size, {host, gpu});
  if (is_virtual)
    Prepared(p.device, schedule_of_copy(size, copies, ready.relay), {host, gpu}, KernelBinding{}).run();
  else if (ready.relay.through.empty() && !is_default)
    return plain();
  else
    ready.execution->enqueue(stream);
  return ready.relay;
}

Relay copy(const Node& node, void* destination, const void* source, Bytes size, void* stream) {
  struct Kept {
    std::shared_ptr<const MeasurableDevice> device;
    std::shared_ptr<const Profile> profile;
    std::optional<Copier> copier;
  };
  thread_local Kept kept;
  if (!kept.copier || kept.device != node.device || kept.profile != node.profile) {
    kept.copier.emplace(node);
    kept.device = node.device;
    kept.profile = node.profile;
  }
  return kept.copier->copy(destination, source, size, stream);
}

}  // namespace shiplap

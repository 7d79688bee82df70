#include "shiplap/plan/layer_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/schedule/races.hpp"
#include "shiplap/sim/simulate.hpp"

namespace shiplap {
namespace {

/// A layer is copied in at most about this many pieces. The next one begins to arrive where a piece has become free.
constexpr std::uint64_t pieces_of_layer = 4;

/// Streamed weights of a layer, placed one after the other from `begin` on. What does not fit at the end of the ring
/// begins at its start.
std::vector<LayerPiece> pieces_from(const ModelLayer& layer, const PlannedLayer& planned, Bytes ring, Bytes begin) {
  std::vector<LayerPiece> pieces;
  Bytes from;
  for (std::size_t t = 0; t < layer.tensors.size(); ++t) {
    const Bytes size = aligned_weight(layer.tensors[t]);
    if (planned.kept[t] || size.count == 0) continue;
    const bool is_at_start = begin + size > ring;
    if (is_at_start) begin = Bytes{};
    if (!pieces.empty() && !is_at_start && pieces.back().size + size <= planned.streamed / (pieces_of_layer - 1))
      pieces.back().size += size;
    else
      pieces.push_back({.from = from, .place = begin, .size = size});
    from += size;
    begin += size;
  }
  return pieces;
}

bool overlap(const LayerPiece& one, const LayerPiece& other) {
  return one.place < other.place + other.size && other.place < one.place + one.size;
}

/// Several steps one after the other. A copy waits for the kernels that still need what it overwrites.
Schedule schedule_of(const LayerPlan& plan) {
  Schedule schedule;
  const BufferId host = schedule.add_buffer(
      {.name = "weights", .place = Place::host(), .memory = MemoryKind::pinned, .size = plan.streamed});
  const BufferId ring =
      schedule.add_buffer({.name = "ring", .place = Place::gpu(), .memory = MemoryKind::device, .size = plan.ring});
  schedule.add_buffer({.name = "weights that stay",
                       .place = Place::gpu(),
                       .memory = MemoryKind::device,
                       .size = plan.kept + plan.model.fixed});
  const StreamId in = schedule.add_stream("in");
  const StreamId compute = schedule.add_stream("compute");
  for (const ModelLayer& layer : plan.model.layers) schedule.add_kernel(layer.name);
  std::uint32_t chunk = 0;
  for (std::size_t step = 0; step < simulated_layer_steps; ++step) {
    Bytes from;
    for (std::size_t l = 0; l < plan.layers.size(); ++l, ++chunk) {
      Kernel kernel{.kernel = KernelId{static_cast<std::uint32_t>(l)},
                    .first_item = l,
                    .items = 1,
                    .work = plan.model.layers[l].time,
                    .operands = {},
                    .flows = {}};
      for (const LayerPiece& piece : plan.layers[l].pieces) {
        const Region there{ring, piece.place, piece.size};
        schedule.add({.what = Copy{{host, from, piece.size}, there},
                      .stream = in,
                      .agent = AgentId{0},
                      .after = {},
                      .chunk = chunk});
        kernel.operands.push_back({.region = there, .mode = AccessMode::read});
        from += piece.size;
      }
      schedule.add({.what = std::move(kernel), .stream = compute, .agent = AgentId{0}, .after = {}, .chunk = chunk});
    }
  }
  order_conflicts(schedule, OpId{0});
  return schedule;
}

}  // namespace

const LinkModel& link_of_layers(const Profile& profile) {
  const LinkModel* const link = profile.find_link(0);
  if (link == nullptr) throw Unsupported(fmt::format("profile {} has no link to copy over", profile.name));
  return *link;
}

void place_in_ring(const LayeredModel& model, std::vector<PlannedLayer>& layers, Bytes ring) {
  Bytes end;
  for (std::size_t l = 0; l < layers.size(); ++l) {
    PlannedLayer& layer = layers[l];
    if (layer.streamed.count == 0) continue;
    layer.pieces = pieces_from(model.layers[l], layer, ring, end);
    const bool meets_itself = std::ranges::any_of(layer.pieces, [&](const LayerPiece& one) {
      return std::ranges::any_of(layer.pieces,
                                 [&](const LayerPiece& other) { return &one != &other && overlap(one, other); });
    });
    if (meets_itself) layer.pieces = pieces_from(model.layers[l], layer, ring, Bytes{});
    end = layer.pieces.back().place + layer.pieces.back().size;
  }
}

void simulate_steps(const Profile& profile, LayerPlan& plan) {
  Schedule schedule = schedule_of(plan);
  plan.timeline = simulate(schedule, profile).timeline;
  std::array<Seconds, simulated_layer_steps> ends{};
  std::size_t kernels = 0;
  for (std::size_t i = 0; i < schedule.ops.size(); ++i)
    if (std::holds_alternative<Kernel>(schedule.ops[i].what)) {
      Seconds& end = ends[kernels++ / plan.layers.size()];
      end = std::max(end, plan.timeline.spans[i].end);
    }
  plan.schedule = std::make_shared<const Schedule>(std::move(schedule));
  plan.first = ends.front();
  const Seconds later = (ends[simulated_layer_steps - 1] - ends[1]) / static_cast<double>(simulated_layer_steps - 2);
  // What the link takes has the interval of its rate.
  const Interval<PerByte>& rate = link_of_layers(profile).h2d.per_byte;
  const Seconds copies = plan.streamed * rate.value;
  const double of_link = later > Seconds{0} ? std::min(1.0, copies / later) : 0;
  const auto with_rate = [&](PerByte other) {
    const double factor = copies > Seconds{0} ? plan.streamed * other / copies : 1;
    return std::max(std::min(later, plan.model.compute()), later * (1 + of_link * (factor - 1)));
  };
  plan.predicted =
      Interval<Seconds>{later, std::min(later, with_rate(rate.low)), std::max(later, with_rate(rate.high))};
}

}  // namespace shiplap

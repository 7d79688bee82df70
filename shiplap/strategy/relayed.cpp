#include "shiplap/strategy/relayed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/schedule/races.hpp"
#include "shiplap/schedule/schedule.hpp"

namespace shiplap {
namespace {

/// Parts of copies begin at multiples of this size, or of a smaller piece, so that they are as well aligned as the
/// whole copy.
constexpr std::uint64_t most_alignment = 4096;

void require_valid(const Relay& relay) {
  double sum = 0;
  for (std::size_t i = 0; i < relay.through.size(); ++i) {
    const RelayShare& one = relay.through[i];
    if (!(one.share > 0)) throw UsageError(fmt::format("`relay`: GPU {} has a share of {}", one.gpu, one.share));
    sum += one.share;
    for (std::size_t j = 0; j < i; ++j)
      if (relay.through[j].gpu == one.gpu) throw UsageError(fmt::format("`relay` names GPU {} twice", one.gpu));
  }
  if (!(sum < 1)) throw UsageError(fmt::format("`relay`: the shares sum up to {}; leave bytes to the own link", sum));
  if (relay.piece.count == 0) throw UsageError("`relay`: a piece has no bytes");
}

/// Throws UsageError where the copies would have more than a million pieces: nobody waits for such a schedule.
void require_few_pieces(const Schedule& schedule, const Relay& relay) {
  constexpr std::uint64_t most = std::uint64_t{1} << 20;
  std::uint64_t pieces = 0;
  for (const Op& op : schedule.ops)
    if (const Copy* const copy = std::get_if<Copy>(&op.what)) pieces += copy->from.length.count / relay.piece.count + 1;
  if (pieces > most)
    throw UsageError(
        fmt::format("`relay`: pieces of {} divide the copies into {} pieces; give larger ones, for at most {}",
                    to_string(relay.piece), pieces, most));
}

/// Adds the ops of a schedule to another one, with their copies divided.
class Relaying {
 public:
  Relaying(const Schedule& whole, const Relay& relay)
      : whole_(whole),
        relay_(relay),
        alignment_(std::min(most_alignment, relay.piece.count)),
        paths_(relay.through.size()) {
    result_ = whole;
    result_.ops.clear();
  }

  Schedule run() {
    std::vector<OpId> added(whole_.ops.size());
    for (std::size_t i = 0; i < whole_.ops.size(); ++i) {
      Op op = whole_.ops[i];
      for (OpId& earlier : op.after) earlier = added[earlier.index()];
      const bool is_batched = op.batched || (i + 1 < whole_.ops.size() && whole_.ops[i + 1].batched);
      const auto* copy = std::get_if<Copy>(&op.what);
      const auto parts = copy == nullptr || is_batched ? std::nullopt : parts_of(*copy);
      if (!parts) {
        added[i] = result_.add(std::move(op));
        continue;
      }
      const Copy all = *copy;
      std::get<Copy>(op.what) = part_of(all, all.from.length - parts->front(), parts->front());
      const AgentId agent = op.agent;
      const std::uint32_t chunk = op.chunk;
      added[i] = result_.add(std::move(op));
      add_pieces(all, *parts, agent, chunk);
    }
    // What uses the bytes waits for their pieces, and pieces for what used the memory before.
    order_conflicts(result_, OpId{0});
    return std::move(result_);
  }

 private:
  /// Memory and streams of the pieces of one direction that go through one GPU.
  struct Path {
    BufferId ring;
    StreamId link;  ///< for the copies over the link
    StreamId peer;  ///< for the copies between the GPUs
    std::uint32_t pieces = 0;
  };

  /// The bytes for the own link, which are the last ones of the copy, and then those for each relaying GPU, from the
  /// first byte on; nullopt for a copy that is not divided.
  std::optional<std::vector<Bytes>> parts_of(const Copy& copy) const {
    const Buffer& from = whole_.buffers[copy.from.buffer.index()];
    const Buffer& to = whole_.buffers[copy.to.buffer.index()];
    if (from.place.is_host() == to.place.is_host()) return std::nullopt;
    const Buffer& host = from.place.is_host() ? from : to;
    const Buffer& gpu = from.place.is_host() ? to : from;
    if (!is_pinned(host.memory) || gpu.memory != MemoryKind::device) return std::nullopt;
    Bytes rest = copy.from.length;
    std::vector<Bytes> parts{Bytes{}};
    for (const RelayShare& one : relay_.through) {
      const auto share = static_cast<std::uint64_t>(in_bytes(copy.from.length) * one.share);
      const Bytes part{share / alignment_ * alignment_};
      const bool is_relayed = part >= relay_.piece && Place::gpu(one.gpu) != gpu.place;
      parts.push_back(is_relayed ? part : Bytes{});
      rest = rest - parts.back();
    }
    parts.front() = rest;
    if (rest == copy.from.length) return std::nullopt;
    return parts;
  }

  static Region part_of(const Region& region, Bytes offset, Bytes length) {
    return {region.buffer, region.offset + offset, length};
  }
  static Copy part_of(const Copy& copy, Bytes offset, Bytes length) {
    return {part_of(copy.from, offset, length), part_of(copy.to, offset, length)};
  }

  /// The GPU that has the bytes pushes them to the other one: it takes the host half the time of a pull, and is faster.
  Path& path(std::size_t relay, bool to_gpu, Place own) {
    std::optional<Path>& path = paths_[relay][to_gpu ? 0 : 1];
    if (path) return *path;
    const std::uint16_t gpu = relay_.through[relay].gpu;
    const char* const way = to_gpu ? "in" : "out";
    path = Path{.ring = result_.add_buffer({.name = fmt::format("relay {} on GPU {}", way, gpu),
                                            .place = Place::gpu(gpu),
                                            .memory = MemoryKind::device,
                                            .size = relay_.piece * relay_slots}),
                .link = result_.add_stream(fmt::format("{} over the link of GPU {}", way, gpu), Place::gpu(gpu)),
                .peer = result_.add_stream(fmt::format("{} through GPU {}", way, gpu), to_gpu ? Place::gpu(gpu) : own)};
    return *path;
  }

  /// Adds the pieces of all relaying GPUs in turn, so that all begin early.
  void add_pieces(const Copy& all, const std::vector<Bytes>& parts, AgentId agent, std::uint32_t chunk) {
    struct Rest {
      Bytes offset, length, piece;
    };
    std::vector<Rest> rests;
    Bytes offset;
    for (std::size_t i = 1; i < parts.size(); offset += parts[i++]) {
      const std::uint64_t pieces = (parts[i].count + relay_.piece.count - 1) / relay_.piece.count;
      const std::uint64_t each = pieces == 0 ? 0 : (parts[i].count / pieces + alignment_ - 1) / alignment_ * alignment_;
      rests.push_back({offset, parts[i], std::min(Bytes{each}, relay_.piece)});
    }
    for (bool any = true; any;) {
      any = false;
      for (std::size_t relay = 0; relay < rests.size(); ++relay) {
        Rest& rest = rests[relay];
        if (rest.length.count == 0) continue;
        any = true;
        const Bytes length = std::min(rest.piece, rest.length);
        add_piece(part_of(all, rest.offset, length), relay, agent, chunk);
        rest.offset += length;
        rest.length = rest.length - length;
      }
    }
  }

  void add_piece(const Copy& piece, std::size_t relay, AgentId agent, std::uint32_t chunk) {
    const Place from = whole_.buffers[piece.from.buffer.index()].place;
    const bool to_gpu = from.is_host();
    Path& used = path(relay, to_gpu, from);
    const Region slot{used.ring, relay_.piece * (used.pieces++ % relay_slots), piece.from.length};
    const auto add = [&](const Copy& copy, StreamId stream) {
      result_.add({.what = copy, .stream = stream, .agent = agent, .after = {}, .chunk = chunk});
    };
    add({piece.from, slot}, to_gpu ? used.link : used.peer);
    add({slot, piece.to}, to_gpu ? used.peer : used.link);
  }

  const Schedule& whole_;
  const Relay& relay_;
  std::uint64_t alignment_;
  std::vector<std::array<std::optional<Path>, 2>> paths_;  // by relaying GPU; to the GPU, to the host
  Schedule result_;
};

}  // namespace

std::string to_string(const Relay& relay) {
  std::string text;
  for (const RelayShare& one : relay.through)
    text += fmt::format("{}{:.3g} %{} through GPU {}", text.empty() ? "" : ", ", one.share * 100,
                        text.empty() ? " of each copy" : "", one.gpu);
  return text + fmt::format(" in pieces of {}", to_string(relay.piece));
}

Schedule relayed(Schedule schedule, const Relay& relay) {
  if (relay.through.empty()) return schedule;
  require_valid(relay);
  if (schedule.as_graph)
    throw Unsupported(
        "a graph is of one GPU, so none of its copies can go over the links of others; leave `graph` out");
  require_few_pieces(schedule, relay);
  return Relaying(schedule, relay).run();
}

}  // namespace shiplap

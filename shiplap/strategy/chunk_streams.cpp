#include "shiplap/strategy/chunk_streams.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "shiplap/schedule/schedule.hpp"

namespace shiplap {
namespace {

bool is_kernel(const std::optional<Mover>& mover) { return mover && mover->kind == Mover::Kind::kernel; }

}  // namespace

ChunkStreams::ChunkStreams(Schedule& schedule, Layout layout, const Choice& choice, const GpuChunks& chunks) {
  const auto add = [&](const std::string& name) {
    return schedule.add_stream(chunks.gpus == 1 ? name : fmt::format("{} of GPU {}", name, chunks.gpu),
                               Place::gpu(chunks.gpu));
  };
  if (layout == Layout::three) {
    in_ = {add("in")};
    kernel_ = {add("compute")};
    out_ = {add("out")};
    schedule.streams[in_.front().index()].urgent = is_kernel(choice.mover_h2d);
    schedule.streams[out_.front().index()].urgent = is_kernel(choice.mover_d2h);
  } else if (is_emulated(layout)) {
    in_ = out_ = {add("copies")};
    kernel_ = {add("compute")};
  } else {
    const std::uint32_t count = layout == Layout::few ? std::clamp(choice.streams, 1u, chunks.count()) : chunks.count();
    for (std::uint32_t q = 0; q < count; ++q) in_.push_back(add(fmt::format("stream {}", q)));
    kernel_ = out_ = in_;
  }
}

}  // namespace shiplap

#include "shiplap/strategy/link_accesses.hpp"

#include <algorithm>
#include <cmath>

namespace shiplap {
namespace {

Bytes whole_bytes(double bytes) { return Bytes{static_cast<std::uint64_t>(std::ceil(bytes))}; }

/// That a block asks for before its threads wait, at most.
std::uint64_t asked_by_block(const Job& job) {
  return job.threads_per_block * std::max(job.access_width, job.bytes_in_flight);
}

}  // namespace

LinkAccesses::LinkAccesses(const Job& job, std::uint64_t items, std::uint64_t at_once, Bytes cut)
    : job_(job),
      at_once_(at_once),
      shares_(blocks_of(job, items)),
      known_(cut.count >= shares_ * job.threads_per_block) {}

Flow LinkAccesses::flow(const Array& array, const Region& piece, AccessMode mode) const {
  const double over_link = in_bytes(piece.length) * array.link_accesses;
  const std::uint64_t rounds = (shares_ + at_once_ - 1) / at_once_;
  const double in_flight = known_ ? over_link / static_cast<double>(rounds * of_share(piece.length, mode))
                                  : static_cast<double>(at_once_ * asked_by_block(job_)) * array.link_accesses;
  const double busy_blocks =
      job_.cost.busy_items() / static_cast<double>(job_.items_per_block) * static_cast<double>(job_.blocks_abreast);
  const auto blocks = static_cast<double>(at_once_);
  return {.buffer = piece.buffer,
          .mode = mode,
          .bytes = Bytes{static_cast<std::uint64_t>(std::llround(over_link))},
          .access_width = job_.access_width,
          .in_flight = whole_bytes(in_flight),
          .busy = busy_blocks > 0 ? whole_bytes(in_flight * std::clamp(busy_blocks, 1.0, blocks) / blocks) : Bytes{}};
}

std::uint64_t LinkAccesses::ahead(Bytes piece) const {
  return job_.reads_ahead && known_ ? of_share(piece, AccessMode::read) : 0;
}

// One after the other, of the threads of a block to the share of a block.
std::uint64_t LinkAccesses::of_share(Bytes piece, AccessMode mode) const {
  const std::uint64_t asked = shares_ * asked_by_block(job_);
  const std::uint64_t to_data = std::max<std::uint64_t>(1, (piece.count + asked - 1) / asked);
  return mode == AccessMode::read ? to_data + job_.accesses_in_turn - 1 : to_data;
}

}  // namespace shiplap

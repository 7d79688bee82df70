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

/// Of the threads of a block to the elements of so many bytes.
double accesses(const Job& job, double bytes) {
  return std::max(1.0, std::ceil(bytes / static_cast<double>(asked_by_block(job))));
}

/// On average over shares at even distances, all of them where there are few.
double of_uneven_shares(const Job& job, const Array& array, ItemRange range) {
  constexpr std::uint64_t most_samples = 16;
  const std::uint64_t shares = (range.count + job.items_per_block - 1) / job.items_per_block;
  const std::uint64_t samples = std::min(shares, most_samples);
  double sum = 0;
  for (std::uint64_t s = 0; s < samples; ++s) {
    const std::uint64_t first = s * shares / samples * job.items_per_block;
    const ItemRange share{range.first + first, std::min(job.items_per_block, range.count - first)};
    sum += accesses(job, in_bytes(reach(job, array, share).length) / static_cast<double>(job.blocks_abreast));
  }
  return sum / static_cast<double>(samples);
}

}  // namespace

LinkAccesses::LinkAccesses(const Job& job, ItemRange range, std::uint64_t at_once, Bytes cut)
    : job_(job),
      range_(range),
      at_once_(at_once),
      shares_(blocks_of(job, range.count)),
      known_(cut.count >= shares_ * job.threads_per_block) {}

Flow LinkAccesses::flow(const Array& array, const Region& piece, AccessMode mode) const {
  const double over_link = in_bytes(piece.length) * array.link_accesses;
  const std::uint64_t rounds = (shares_ + at_once_ - 1) / at_once_;
  const double in_flight = known_ ? over_link / (static_cast<double>(rounds) * of_share(array, piece.length, mode))
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

std::uint64_t LinkAccesses::ahead(const Array& array, Bytes piece) const {
  if (!job_.reads_ahead || !known_) return 0;
  return static_cast<std::uint64_t>(std::llround(of_share(array, piece, AccessMode::read)));
}

// One after the other, of the threads of a block to the share of a block.
double LinkAccesses::of_share(const Array& array, Bytes piece, AccessMode mode) const {
  // What lies beside the items of the launch is read as these are, and no share of its own.
  const double own = in_bytes(slice(job_, array, range_).length);
  const double to_data = array.reach.elements || own <= 0
                             ? of_uneven_shares(job_, array, range_)
                             : accesses(job_, own / static_cast<double>(shares_)) * (in_bytes(piece) / own);
  return mode == AccessMode::read ? to_data + job_.accesses_in_turn - 1 : to_data;
}

}  // namespace shiplap

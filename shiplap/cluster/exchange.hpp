// Which bytes of distributed arrays ranks exchange before a run, and how long a network needs for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "shiplap/core/units.hpp"
#include "shiplap/workload/job.hpp"

namespace shiplap {

/// Elements that one rank owns and another one reads: a part of the halo of the reader.
struct HaloMessage {
  std::size_t from = 0;     ///< rank whose items own the elements
  std::size_t to = 0;       ///< rank whose items read them
  std::uint32_t array = 0;  ///< index of the array in the job
  ByteRange bytes;          ///< offset in the whole array, and length
  friend bool operator==(const HaloMessage& a, const HaloMessage& b) {
    return a.from == b.from && a.to == b.to && a.array == b.array && a.bytes.offset == b.bytes.offset &&
           a.bytes.length == b.bytes.length;
  }
};

/// The messages that fill the halos of all ranks, by reader, then by array, then by offset. `shares` has the items of
/// every rank, which are consecutive. A halo may come from several ranks before and behind the reader.
///
/// Only `in` arrays that are cut have halos. With a mapping, a rank owns the elements that its items reach and those of
/// no rank before it do.
std::vector<HaloMessage> halo_messages(const Job&, std::span<const ItemRange> shares);

/// The items of one rank by what they share with other ranks. Consecutive: first, inner, last.
struct EdgeItems {
  ItemRange first;  ///< items before `inner`
  ItemRange inner;  ///< items that neither read elements of another rank nor own elements that another rank reads
  ItemRange last;   ///< items behind `inner`
};
/// Splits the items of a rank, so that the inner ones can be worked on while ranks exchange their halos. All items are
/// in `first` where there are no inner ones between the two edges.
EdgeItems items_of_edges(const Job&, std::span<const ItemRange> shares, std::size_t rank);

/// A network between ranks as a latency and a bandwidth.
struct Network {
  Bandwidth bandwidth;   ///< rate of large messages from one rank to another, in each direction
  Seconds latency{0};    ///< time of a small message from one rank to another
  std::string origin{};  ///< how the figures are known: "stated" or "measured"
};

/// The time of an exchange for a rank that sends `sent` and receives `received` bytes; 0 without any.
Seconds exchange_time(Bytes sent, Bytes received, const Network&);
/// The time of an exchange for one rank: one latency, because all messages are in flight together, and the time of the
/// bytes that the rank sends or receives, whichever are more. 0 for a rank without messages.
Seconds exchange_time(std::span<const HaloMessage>, std::size_t rank, const Network&);
/// The longest exchange_time of all ranks, of which there are `ranks`.
Seconds longest_exchange(std::span<const HaloMessage>, std::size_t ranks, const Network&);

}  // namespace shiplap

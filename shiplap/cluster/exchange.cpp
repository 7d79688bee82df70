#include "shiplap/cluster/exchange.hpp"

#include <algorithm>

#include "shiplap/core/error.hpp"

namespace shiplap {
namespace {

Bytes end_of(const ByteRange& range) { return range.offset + range.length; }

/// The bytes of the array that each rank owns, in their order.
std::vector<ByteRange> owned_by_ranks(const Job& job, const Array& array, std::span<const ItemRange> shares) {
  std::vector<ByteRange> result;
  Bytes end;  // the ranks before own what lies before it
  for (const ItemRange& items : shares) {
    if (items.count == 0) {
      result.push_back({end, Bytes{0}});
      continue;
    }
    const ByteRange part = array.reach.elements ? reach_of(job, array, items) : owned_bytes(job, array, items);
    const Bytes begin = std::clamp(end, part.offset, std::max(part.offset, end_of(part)));
    result.push_back({begin, end_of(part) - begin});
    end = std::max(end, end_of(part));
  }
  return result;
}

void add_messages(const Job& job, std::uint32_t a, std::span<const ItemRange> shares, std::span<const ByteRange> owned,
                  std::size_t to, std::vector<HaloMessage>& out) {
  const ByteRange reach = reach_of(job, job.arrays[a], shares[to]);
  const auto add = [&](std::size_t from) {
    const Bytes begin = std::max(reach.offset, owned[from].offset);
    const Bytes end = std::min(end_of(reach), end_of(owned[from]));
    if (begin < end) out.push_back({from, to, a, {begin, end - begin}});
  };
  std::size_t first = to;
  while (first > 0 && owned[first].offset > reach.offset) --first;
  for (std::size_t from = first; from < to; ++from) add(from);
  for (std::size_t from = to + 1; from < shares.size() && owned[from].offset < end_of(reach); ++from) add(from);
}

}  // namespace

std::vector<HaloMessage> halo_messages(const Job& job, std::span<const ItemRange> shares) {
  std::uint64_t next = 0;
  for (const ItemRange& items : shares) {
    if (items.count > 0 && items.first != next)
      throw UsageError(job.name + ": the shares of the ranks are not consecutive");
    next += items.count;
  }
  std::vector<std::vector<ByteRange>> owned(job.arrays.size());
  for (std::size_t a = 0; a < job.arrays.size(); ++a)
    if (job.arrays[a].role == Role::in && !job.arrays[a].blocks) owned[a] = owned_by_ranks(job, job.arrays[a], shares);
  std::vector<HaloMessage> result;
  for (std::size_t to = 0; to < shares.size(); ++to)
    for (std::uint32_t a = 0; a < job.arrays.size(); ++a)
      if (!owned[a].empty() && shares[to].count > 0) add_messages(job, a, shares, owned[a], to, result);
  return result;
}

EdgeItems items_of_edges(const Job& job, std::span<const ItemRange> shares, std::size_t rank) {
  const ItemRange own = shares[rank];
  std::vector<HaloMessage> messages = halo_messages(job, shares);
  std::erase_if(messages, [&](const HaloMessage& one) { return one.from != rank && one.to != rank; });
  // What an item reaches includes what it owns.
  const auto is_shared = [&](std::uint64_t item) {
    return std::ranges::any_of(messages, [&](const HaloMessage& message) {
      const ByteRange reach = reach_of(job, job.arrays[message.array], {item, 1});
      return reach.offset < end_of(message.bytes) && message.bytes.offset < end_of(reach);
    });
  };
  ItemRange inner{own.first + own.count, 0};
  ItemRange run{own.first, 0};
  for (std::uint64_t item = own.first; item < own.first + own.count; ++item) {
    if (is_shared(item))
      run = {item + 1, 0};
    else if (++run.count > inner.count)
      inner = run;
  }
  const std::uint64_t end = inner.first + inner.count;
  return {.first = {own.first, inner.first - own.first}, .inner = inner, .last = {end, own.first + own.count - end}};
}

Seconds exchange_time(Bytes sent, Bytes received, const Network& network) {
  const Bytes most = std::max(sent, received);
  return most.count == 0 ? Seconds{0} : network.latency + most / network.bandwidth;
}

Seconds exchange_time(std::span<const HaloMessage> messages, std::size_t rank, const Network& network) {
  Bytes sent;
  Bytes received;
  for (const HaloMessage& message : messages) {
    if (message.from == rank) sent += message.bytes.length;
    if (message.to == rank) received += message.bytes.length;
  }
  return exchange_time(sent, received, network);
}

Seconds longest_exchange(std::span<const HaloMessage> messages, std::size_t ranks, const Network& network) {
  std::vector<Bytes> sent(ranks);
  std::vector<Bytes> received(ranks);
  for (const HaloMessage& message : messages) {
    sent[message.from] += message.bytes.length;
    received[message.to] += message.bytes.length;
  }
  Seconds longest{0};
  for (std::size_t rank = 0; rank < ranks; ++rank)
    longest = std::max(longest, exchange_time(sent[rank], received[rank], network));
  return longest;
}

}  // namespace shiplap

// A job over the ranks of an MPI communicator: shares, exchanges of halos, reports, and the figures of the network. The
// functions stand in this header alone and use MPI's C interface, so that the library is built without MPI: compile
// with the MPI of the program.
//   const auto shares = shiplap::share(node, job, MPI_COMM_WORLD);
#pragma once

#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1  ///< leaves out the C++ bindings of Open MPI
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1  ///< leaves out the C++ bindings of MPICH
#endif
#include <mpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "shiplap/cluster/exchange.hpp"
#include "shiplap/cluster/share.hpp"
#include "shiplap/cluster/share_job.hpp"
#include "shiplap/cluster/share_report.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/workload/step.hpp"

namespace shiplap {

namespace detail {

/// Throws Error that names the call when it failed.
inline void check_mpi(int result, const char* call) {
  if (result == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(result, text.data(), &length);
  throw Error(std::string(call) + " failed: " + std::string(text.data(), static_cast<std::size_t>(length)));
}

/// While it lives, failing calls on the communicator return instead of ending the program.
class ReturnedErrors {
 public:
  /// Sets the error handler of the communicator.
  explicit ReturnedErrors(MPI_Comm comm) : comm_(comm) {
    check_mpi(MPI_Comm_get_errhandler(comm, &before_), "MPI_Comm_get_errhandler");
    check_mpi(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  }
  ReturnedErrors(const ReturnedErrors&) = delete;
  ReturnedErrors& operator=(const ReturnedErrors&) = delete;
  ~ReturnedErrors() {
    MPI_Comm_set_errhandler(comm_, before_);
    MPI_Errhandler_free(&before_);
  }

 private:
  MPI_Comm comm_;
  MPI_Errhandler before_ = MPI_ERRHANDLER_NULL;
};

/// The rank of this process.
inline int rank_in(MPI_Comm comm) {
  int rank = 0;
  check_mpi(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  return rank;
}

/// The number of ranks.
inline int size_of(MPI_Comm comm) {
  int size = 0;
  check_mpi(MPI_Comm_size(comm, &size), "MPI_Comm_size");
  return size;
}

/// Calls `work` on every rank. When it throws on one rank, every rank throws Error with the message of the first rank
/// that did, so that no rank waits for one that is gone.
inline void on_every_rank(MPI_Comm comm, const std::function<void()>& work) {
  std::string message;
  try {
    work();
  } catch (const std::exception& error) {
    message = error.what();
    if (message.empty()) message = "an exception without a message";
  }
  const int rank = rank_in(comm);
  const int size = size_of(comm);
  const int own = message.empty() ? size : rank;
  int first = size;
  check_mpi(MPI_Allreduce(&own, &first, 1, MPI_INT, MPI_MIN, comm), "MPI_Allreduce");
  if (first == size) return;
  int length = static_cast<int>(std::min<std::size_t>(message.size(), 1u << 16));
  check_mpi(MPI_Bcast(&length, 1, MPI_INT, first, comm), "MPI_Bcast");
  message.resize(static_cast<std::size_t>(length));
  check_mpi(MPI_Bcast(message.data(), length, MPI_CHAR, first, comm), "MPI_Bcast");
  throw Error("rank " + std::to_string(first) + ": " + message);
}

/// The values of every rank, on every rank.
inline std::vector<std::vector<double>> gather_on_all(MPI_Comm comm, const std::vector<double>& own) {
  const auto size = static_cast<std::size_t>(size_of(comm));
  const int count = static_cast<int>(own.size());
  std::vector<int> counts(size);
  check_mpi(MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, comm), "MPI_Allgather");
  std::vector<int> begins(size);
  for (std::size_t r = 1; r < size; ++r) begins[r] = begins[r - 1] + counts[r - 1];
  std::vector<double> all(static_cast<std::size_t>(begins.back() + counts.back()));
  check_mpi(MPI_Allgatherv(own.data(), count, MPI_DOUBLE, all.data(), counts.data(), begins.data(), MPI_DOUBLE, comm),
            "MPI_Allgatherv");
  std::vector<std::vector<double>> result;
  for (std::size_t r = 0; r < size; ++r)
    result.emplace_back(all.begin() + begins[r], all.begin() + begins[r] + counts[r]);
  return result;
}

/// The times of every rank's node, on every rank.
inline std::vector<NodeTimes> gather_times(MPI_Comm comm, const NodeTimes& own) {
  std::vector<double> values{own.is_capped() ? 1.0 : 0.0, own.fixed().count()};
  for (const NodeTimes::Point& point : own.points()) {
    values.push_back(point.items);
    values.push_back(point.time.count());
  }
  std::vector<NodeTimes> result;
  for (const std::vector<double>& of_rank : gather_on_all(comm, values)) {
    std::vector<NodeTimes::Point> points;
    for (std::size_t i = 2; i + 1 < of_rank.size(); i += 2) points.push_back({of_rank[i], Seconds{of_rank[i + 1]}});
    result.emplace_back(std::move(points), of_rank[0] != 0, Seconds{of_rank[1]});
  }
  return result;
}

/// Messages are sent in parts of at most this size, because MPI counts elements in an int.
inline constexpr std::size_t largest_part = std::size_t{1} << 30;
/// Tag of the messages of this header on the caller's communicator. Messages between two ranks keep their order.
inline constexpr int halo_tag = 31'317;

/// A message of this rank, with the address of its bytes.
struct BoundMessage {
  std::byte* data = nullptr;  ///< address of the first byte
  std::size_t size = 0;       ///< number of bytes
  int other = 0;              ///< the rank at the other end
  bool is_sent = false;       ///< whether this rank sends
};

/// The array with this name among those that are held, or null.
inline const LocalPart* find_held(const std::vector<LocalPart>& held, const std::string& array) {
  const auto found = std::find_if(held.begin(), held.end(), [&](const LocalPart& one) { return one.array == array; });
  return found == held.end() ? nullptr : &*found;
}

/// The first array that other ranks with items hold and this rank, which has items, does not. Null where there is none.
/// A collective call.
inline const Array* lacked_array(const Job& job, const Shares& shares, const std::vector<LocalPart>& held,
                                 std::size_t rank, MPI_Comm comm) {
  const bool has_items = rank < shares.items.size() && shares.items[rank].count > 0;
  std::vector<int> here;
  for (const Array& array : job.arrays) here.push_back(has_items && find_held(held, array.name) ? 1 : 0);
  std::vector<int> anywhere(here.size());
  check_mpi(MPI_Allreduce(here.data(), anywhere.data(), static_cast<int>(here.size()), MPI_INT, MPI_MAX, comm),
            "MPI_Allreduce");
  for (std::size_t a = 0; a < here.size(); ++a)
    if (has_items && anywhere[a] > here[a]) return &job.arrays[a];
  return nullptr;
}

/// The messages that this rank sends or receives, for the arrays that are held here. Throws UsageError when an array
/// that is held lacks bytes of a message.
inline std::vector<BoundMessage> bound_messages(const Job& job, const Shares& shares,
                                                const std::vector<LocalPart>& held, std::size_t rank) {
  std::vector<BoundMessage> result;
  for (const HaloMessage& message : halo_messages(job, shares.items)) {
    if (message.from != rank && message.to != rank) continue;
    const std::string& name = job.arrays[message.array].name;
    const LocalPart* own = find_held(held, name);
    if (!own) continue;
    const Bytes begin = own->element * own->elements.first;
    const Bytes end = begin + own->element * own->elements.count;
    if (message.bytes.offset < begin || end < message.bytes.offset + message.bytes.length)
      throw UsageError(job.name + ": this rank does not hold all elements of " + name +
                       " that its items reach: let it hold those of elements_of_share");
    const bool is_sent = message.from == rank;
    result.push_back({own->data + (message.bytes.offset - begin).count, message.bytes.length.count,
                      static_cast<int>(is_sent ? message.to : message.from), is_sent});
  }
  return result;
}

/// Starts all messages in parts of at most `part` bytes and waits for them.
inline void exchange(MPI_Comm comm, const std::vector<BoundMessage>& messages, std::size_t part = largest_part) {
  std::vector<MPI_Request> requests;
  for (const bool is_sent : {false, true})
    for (const BoundMessage& message : messages) {
      if (message.is_sent != is_sent) continue;
      for (std::size_t at = 0; at < message.size; at += part) {
        requests.push_back(MPI_REQUEST_NULL);
        const int count = static_cast<int>(std::min(part, message.size - at));
        if (is_sent)
          check_mpi(MPI_Isend(message.data + at, count, MPI_BYTE, message.other, halo_tag, comm, &requests.back()),
                    "MPI_Isend");
        else
          check_mpi(MPI_Irecv(message.data + at, count, MPI_BYTE, message.other, halo_tag, comm, &requests.back()),
                    "MPI_Irecv");
      }
    }
  check_mpi(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
}

}  // namespace detail

/// The shares of all ranks of the communicator, which are the same on every rank. Each rank gives its own node and the
/// same job. Its node is planned for several sizes of a share, and then for the share that follows from these (see
/// node_times); the times of all ranks decide (see share).
///
/// A collective call. When it throws on one rank, it throws Error with that message on all. Throws as `plan` does, and
/// Error when a call of MPI fails.
inline Shares share(const Node& node, const Job& job, MPI_Comm comm, const PlanOptions& options = {}) {
  const detail::ReturnedErrors returned(comm);
  const auto rank = static_cast<std::size_t>(detail::rank_in(comm));
  const auto ranks = static_cast<unsigned>(detail::size_of(comm));
  std::optional<NodeTimes> times;
  std::optional<Job> costed;
  detail::on_every_rank(comm, [&] {
    costed = with_kernel_cost(node, job, ranks, options);
    times = node_times(node, *costed, ranks, options);
  });
  Shares shares = share(job, detail::gather_times(comm, *times));
  detail::on_every_rank(comm, [&] {
    if (shares.items[rank].count > 0) times = times->with(planned_point(node, *costed, shares.items[rank], options));
  });
  return share(job, detail::gather_times(comm, *times));
}

namespace detail {

/// The messages of exchange_halos that this rank sends or receives. A collective call.
inline std::vector<BoundMessage> agreed_messages(const Job& job, const Shares& shares,
                                                 const std::vector<LocalPart>& held, MPI_Comm comm) {
  const auto rank = static_cast<std::size_t>(rank_in(comm));
  const Array* lacked = lacked_array(job, shares, held, rank, comm);  // before anything that may throw
  std::vector<BoundMessage> messages;
  on_every_rank(comm, [&] {
    if (lacked)
      throw UsageError(job.name + ": this rank does not hold " + lacked->name +
                       ", which other ranks hold: let every rank with items hold it, or none");
    messages = bound_messages(job, shares, held, rank);
  });
  return messages;
}

}  // namespace detail

/// Fills the halos of the distributed arrays in `held` with the elements that other ranks own. Every rank holds the
/// elements that its items reach (elements_of_share) and has the values of those that it owns. Arrays that no rank
/// holds are left alone. An array is in `held` on every rank with items, or on none.
///
/// A collective call. Its messages have the tag 31317 on `comm`: receive nothing with MPI_ANY_TAG from other ranks
/// meanwhile. Messages of more than 1 GiB are sent in several parts. Throws Error on all ranks when one lacks an array
/// that others hold or elements that it would send or receive, and Error when a call of MPI fails.
inline void exchange_halos(const Job& job, const Shares& shares, const std::vector<LocalPart>& held, MPI_Comm comm) {
  const detail::ReturnedErrors returned(comm);
  detail::exchange(comm, detail::agreed_messages(job, shares, held, comm));
}

/// That exchange as a part of the host in a step (Step::host): it reads what this rank sends and writes what it
/// receives, and takes the time that `network` gives. Kernels that touch neither run beside it (items_of_edges). A
/// collective call, and so is each run of a step with this part: all ranks run it equally often, and where a run fails
/// on one, the others wait until it calls MPI_Abort. The communicator and the memory outlive the runs. Throws as
/// exchange_halos does.
inline HostPart exchange_part(const Job& job, const Shares& shares, const std::vector<LocalPart>& held, MPI_Comm comm,
                              const Network& network) {
  const detail::ReturnedErrors returned(comm);
  const std::vector<detail::BoundMessage> messages = detail::agreed_messages(job, shares, held, comm);
  HostPart part{.name = "exchange", .work = {}};
  std::size_t sent = 0;
  std::size_t received = 0;
  for (const detail::BoundMessage& message : messages) {
    part.accesses.push_back({.data = message.data,
                             .size = Bytes{message.size},
                             .mode = message.is_sent ? AccessMode::read : AccessMode::write});
    (message.is_sent ? sent : received) += message.size;
  }
  part.time = exchange_time(Bytes{sent}, Bytes{received}, network);
  part.work = [messages, comm] {
    const detail::ReturnedErrors errors(comm);
    detail::exchange(comm, messages);
  };
  return part;
}

/// Gathers the results of all ranks and judges them (see share_report). A rank without items gives an empty result.
/// Returns the report on rank 0 and nothing on the others. The id of a device is cut after 63 bytes. A collective call.
/// Throws Error on all ranks when the results cannot be judged, and Error when a call of MPI fails.
inline std::optional<ShareReport> report(const Job& job, const Shares& shares, const RankResult& own, MPI_Comm comm) {
  const detail::ReturnedErrors returned(comm);
  constexpr std::size_t longest_name = 64;
  struct Fixed {
    std::array<char, longest_name> device{};
    double predicted = 0;
    double observed = 0;
    double simulated = 0;
  } mine;
  std::memcpy(mine.device.data(), own.device.data(), std::min(own.device.size(), longest_name - 1));
  mine.predicted = own.predicted.count();
  mine.observed = own.observed.count();
  mine.simulated = own.simulated ? 1 : 0;
  const bool is_root = detail::rank_in(comm) == 0;
  std::vector<Fixed> all(is_root ? static_cast<std::size_t>(detail::size_of(comm)) : 0);
  detail::check_mpi(MPI_Gather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, 0, comm), "MPI_Gather");
  std::optional<ShareReport> result;
  detail::on_every_rank(comm, [&] {
    if (!is_root) return;
    std::vector<RankResult> results;
    for (const Fixed& one : all)
      results.push_back({.device = one.device.data(),
                         .simulated = one.simulated != 0,
                         .predicted = Seconds{one.predicted},
                         .observed = Seconds{one.observed}});
    result = share_report(job, shares, std::move(results));
  });
  return result;
}

namespace detail {

/// The shortest of `repeats` round trips of `bytes` between the first and the last rank, halved. Throws CheckFailed for
/// bytes that arrive changed.
inline Seconds half_round_trip(MPI_Comm comm, std::size_t bytes, int repeats) {
  const int rank = rank_in(comm);
  const int last = size_of(comm) - 1;
  if (rank != 0 && rank != last) return Seconds{0};
  const auto value = [](std::size_t i, int round) { return static_cast<unsigned char>(i * 131 + i / 251 + 7 * round); };
  std::vector<unsigned char> sent(bytes);
  std::vector<unsigned char> received(bytes);
  const int count = static_cast<int>(bytes);
  bool is_right = true;
  Seconds shortest{1e300};
  for (int round = 0; round < repeats; ++round) {
    if (rank == last) {
      check_mpi(MPI_Recv(received.data(), count, MPI_BYTE, 0, halo_tag, comm, MPI_STATUS_IGNORE), "MPI_Recv");
      check_mpi(MPI_Send(received.data(), count, MPI_BYTE, 0, halo_tag, comm), "MPI_Send");
      continue;
    }
    for (std::size_t i = 0; i < bytes; ++i) sent[i] = value(i, round);
    std::fill(received.begin(), received.end(), static_cast<unsigned char>(0));
    const auto start = std::chrono::steady_clock::now();
    check_mpi(MPI_Send(sent.data(), count, MPI_BYTE, last, halo_tag, comm), "MPI_Send");
    check_mpi(MPI_Recv(received.data(), count, MPI_BYTE, last, halo_tag, comm, MPI_STATUS_IGNORE), "MPI_Recv");
    shortest = std::min(shortest, Seconds(std::chrono::steady_clock::now() - start) / 2);
    is_right = is_right && received == sent;
  }
  // The other rank waits for every round, so nothing is thrown before the last one.
  if (!is_right) throw CheckFailed("a message over the network came back with other bytes");
  return shortest;
}

}  // namespace detail

/// The network between the first and the last rank of the communicator, measured on both and known to all. The latency
/// is half the shortest round trip of 1 byte; the bandwidth follows from half the shortest round trip of 16 MiB, less
/// the latency. Every byte is checked. Ranks of one node measure the memory of that node: place
/// the first and the last rank on different nodes.
///
/// A collective call. Its messages have the tag 31317, like those of exchange_halos. Throws UsageError for fewer than
/// two ranks, Error on all ranks when bytes arrive changed and when a call of MPI fails.
inline Network measure_network(MPI_Comm comm) {
  const detail::ReturnedErrors returned(comm);
  if (detail::size_of(comm) < 2) throw UsageError("a network is measured between two ranks, and there is one");
  constexpr std::size_t large = std::size_t{16} << 20;
  std::array<double, 2> figures{};
  detail::on_every_rank(comm, [&] {
    const Seconds small = detail::half_round_trip(comm, 1, 1000);
    const Seconds whole = detail::half_round_trip(comm, large, 10);
    if (detail::rank_in(comm) != 0) return;
    if (whole <= small) throw Error("the times of messages of 1 byte and of 16 MiB do not differ: measure again");
    figures = {static_cast<double>(large - 1) / (whole - small).count(), small.count()};
  });
  detail::check_mpi(MPI_Bcast(figures.data(), static_cast<int>(figures.size()), MPI_DOUBLE, 0, comm), "MPI_Bcast");
  return {.bandwidth = Bandwidth{figures[0]}, .latency = Seconds{figures[1]}, .origin = "measured"};
}

}  // namespace shiplap

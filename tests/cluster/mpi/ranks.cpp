// Run by mpi_test.cpp under mpirun: what the calls of cluster/mpi.hpp do on several ranks. Ends with 0 when all is
// right, and says on rank 0 what is not.
//   ranks TEST
#include <cstring>
#include <functional>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "shiplap/cluster/mpi.hpp"
#include "shiplap/device/open.hpp"

namespace {

using namespace shiplap;

int own_rank = 0;
int all_ranks = 0;

void require(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error("rank " + std::to_string(own_rank) + ": " + what);
}

Job stencil_of(std::uint64_t rows, std::uint64_t columns, std::uint64_t before, std::uint64_t after) {
  return Job{rows, "stencil"}
      .shaped<const std::uint32_t>("u", Role::in, rows * columns, halo(before, after))
      .shaped<std::uint32_t>("out", Role::out, rows * columns)
      .kernel_time(milliseconds(1))
      .host_kernel([](Chunk, auto, auto) {});
}

/// Halos that reach over several ranks, ranks without items, and messages in many parts.
void fills_halos() {
  constexpr std::uint64_t columns = 5;
  const std::vector<std::uint64_t> counts{3, 0, 1, 2, 6, 1, 0, 4};
  Shares shares;
  std::uint64_t rows = 0;
  for (int r = 0; r < all_ranks; ++r) {
    const std::uint64_t count = counts[static_cast<std::size_t>(r) % counts.size()];
    shares.items.push_back({rows, count});
    rows += count;
  }
  for (const auto& [before, after] : {std::pair{1, 1}, {4, 0}, {0, 3}, {7, 5}, {0, 0}}) {
    const Job job = stencil_of(rows, columns, static_cast<std::uint64_t>(before), static_cast<std::uint64_t>(after));
    const ItemRange mine = shares.items[static_cast<std::size_t>(own_rank)];
    const ElementRange reach = mine.count > 0 ? elements_of_share(job, "u", mine) : ElementRange{};
    for (const std::size_t part : {detail::largest_part, std::size_t{7}}) {
      std::vector<std::uint32_t> memory(reach.count, 0xffffffff);
      const View<std::uint32_t> u(memory.data(), reach.first, reach.count);
      for (std::uint64_t i = mine.first * columns; i < (mine.first + mine.count) * columns; ++i)
        u[i] = static_cast<std::uint32_t>(i * 31 + 7);
      if (part == detail::largest_part)
        exchange_halos(job, shares, mine.count > 0 ? std::vector{local_part("u", u)} : std::vector<LocalPart>{},
                       MPI_COMM_WORLD);
      else
        detail::exchange(MPI_COMM_WORLD,
                         detail::bound_messages(job, shares, {local_part("u", u)}, static_cast<std::size_t>(own_rank)),
                         part);
      for (std::uint64_t i = u.first(); i < u.end_index(); ++i)
        require(u[i] == i * 31 + 7, "element " + std::to_string(i) + " is wrong");
    }
  }
}

/// The message of the Error that a call throws, which every rank must do.
std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  throw std::runtime_error("rank " + std::to_string(own_rank) + ": nothing was thrown");
}

/// An error on one rank ends the call on all of them, with its message.
void agrees_on_errors() {
  const std::string message = message_of([] {
    const auto device = open("virtual:h200");
    const Node node = load_or_measure(*device);
    Job job = stencil_of(64, 16, 1, 1);
    if (own_rank == all_ranks - 1) job.items = 0;
    share(node, job, MPI_COMM_WORLD);
  });
  const std::string begin = "rank " + std::to_string(all_ranks - 1) + ": ";
  require(message.starts_with(begin) && message.size() > begin.size(), "the message was: " + message);
}

/// Shares of one item for each rank, and a job with halos of one item.
struct OneItemEach {
  Job job = stencil_of(static_cast<std::uint64_t>(all_ranks), 1, 1, 1);
  Shares shares{};
  OneItemEach() {
    for (int r = 0; r < all_ranks; ++r) shares.items.push_back({static_cast<std::uint64_t>(r), 1});
  }
};

/// Every rank throws when elements, or whole arrays, are missing on one of them.
void refuses_to_exchange_what_a_rank_lacks() {
  const OneItemEach of;
  const auto message_with = [&](const std::vector<LocalPart>& held) {
    return message_of([&] { exchange_halos(of.job, of.shares, held, MPI_COMM_WORLD); });
  };
  std::vector<std::uint32_t> memory(static_cast<std::size_t>(all_ranks));
  const LocalPart whole = local_part("u", View(memory.data(), 0, memory.size()));
  const LocalPart own = local_part("u", View(memory.data(), static_cast<std::uint64_t>(own_rank), 1));
  std::string message = message_with({own_rank == 1 ? own : whole});
  require(message.starts_with("rank 1: ") && message.find("does not hold all elements of u") != std::string::npos,
          "the message was: " + message);
  for (int lacking = 0; lacking < all_ranks; ++lacking) {
    message = message_with(own_rank == lacking ? std::vector<LocalPart>{} : std::vector<LocalPart>{whole});
    require(message.starts_with("rank " + std::to_string(lacking) + ": ") &&
                message.find("does not hold u,") != std::string::npos,
            "the message was: " + message);
  }
  exchange_halos(of.job, of.shares, {}, MPI_COMM_WORLD);  // no rank holds it
}

/// Rank 0 alone judges the results, and every rank throws when they cannot be judged.
void agrees_on_errors_of_reports() {
  OneItemEach of;
  of.shares.items.pop_back();
  const std::string message = message_of([&] { report(of.job, of.shares, {}, MPI_COMM_WORLD); });
  require(message.starts_with("rank 0: ") && message.find("give one result for each share") != std::string::npos,
          "the message was: " + message);
}

/// A failing call of MPI is an exception, and the communicator has its error handler again.
void throws_errors_of_mpi() {
  std::string message;
  try {
    const detail::ReturnedErrors returned(MPI_COMM_WORLD);
    int value = 0;
    detail::check_mpi(MPI_Send(&value, 1, MPI_INT, all_ranks + 5, 0, MPI_COMM_WORLD), "MPI_Send");
  } catch (const Error& error) {
    message = error.what();
  }
  require(message.starts_with("MPI_Send failed: "), "the message was: " + message);
  MPI_Errhandler handler;
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
  require(handler == MPI_ERRORS_ARE_FATAL, "the error handler was not put back");
  MPI_Errhandler_free(&handler);
}

void measures_the_network() {
  const Network network = measure_network(MPI_COMM_WORLD);
  require(network.origin == "measured", "the origin is " + network.origin);
  require(network.latency > Seconds{0} && network.latency < Seconds{1}, "the latency is " + to_string(network.latency));
  const double rate = network.bandwidth.bytes_per_second;
  require(rate > 1e6 && rate < 1e13, "the bandwidth is " + to_string(network.bandwidth));
  double first = rate;
  MPI_Bcast(&first, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  require(first == rate, "the ranks have different figures");
}

/// Every rank gets the same shares, rank 0 the report.
void shares_and_reports() {
  const auto device = open(own_rank % 2 == 0 ? "virtual:h200" : "virtual:h100");
  const Node node = load_or_measure(*device);
  const Job job = stencil_of(4096, 1024, 1, 1);
  const Shares shares = share(node, job, MPI_COMM_WORLD);
  require(shares.items.size() == static_cast<std::size_t>(all_ranks), "there are other shares than ranks");
  for (const ItemRange& items : shares.items) {
    unsigned long long both[2]{items.first, items.count};
    MPI_Bcast(both, 2, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
    require(both[0] == items.first && both[1] == items.count, "the ranks have different shares");
  }
  const RankResult own{.device = device->info().id,
                       .simulated = own_rank % 2 == 0,
                       .predicted = milliseconds(1),
                       .observed = milliseconds(1 + own_rank)};
  const auto gathered = report(job, shares, own, MPI_COMM_WORLD);
  require(gathered.has_value() == (own_rank == 0), "the report is on rank 0 alone");
  if (!gathered) return;
  require(gathered->slowest == static_cast<std::size_t>(all_ranks - 1), "the slowest rank is the last one");
  for (int r = 0; r < all_ranks; ++r) {
    const RankResult& of = gathered->ranks[static_cast<std::size_t>(r)];
    require(of.device == (r % 2 == 0 ? "virtual:h200" : "virtual:h100") && of.simulated == (r % 2 == 0) &&
                of.observed == milliseconds(1 + r),
            "the result of rank " + std::to_string(r) + " arrived changed");
  }
}

const std::map<std::string, std::function<void()>> tests{
    {"fills_halos", fills_halos},
    {"agrees_on_errors", agrees_on_errors},
    {"refuses_to_exchange_what_a_rank_lacks", refuses_to_exchange_what_a_rank_lacks},
    {"agrees_on_errors_of_reports", agrees_on_errors_of_reports},
    {"throws_errors_of_mpi", throws_errors_of_mpi},
    {"measures_the_network", measures_the_network},
    {"shares_and_reports", shares_and_reports}};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &own_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &all_ranks);
  try {
    tests.at(argc > 1 ? argv[1] : "")();
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
}

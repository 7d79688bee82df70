// A stencil over a field that is distributed over the ranks of MPI. Each rank has a GPU of its own and as many rows as
// its node is predicted to be fast; between two steps the ranks exchange the rows of their halos.
//   mpirun -n RANKS distributed_stencil [ROWS [COLUMNS [STEPS [DEVICE…]]]]
// Rank r uses the device r modulo the number of devices named, or else the GPU of its number on its node.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <string>
#include <vector>

#include "shiplap/cluster/mpi.hpp"
#include "shiplap/shiplap.hpp"

namespace {

using Value = std::uint32_t;
using shiplap::View;

/// The next value at a row. The field is 0 above its first row and below its last one.
SHIPLAP_HOST_DEVICE Value next_value(View<const Value> u, std::uint64_t rows, std::uint64_t columns, std::uint64_t row,
                                     std::uint64_t column) {
  const std::uint64_t at = row * columns + column;
  const Value above = row > 0 ? u[at - columns] : 0;
  const Value below = row + 1 < rows ? u[at + columns] : 0;
  return above + 2 * u[at] + 3 * below + static_cast<Value>(row);
}

#ifdef __CUDACC__
__global__ void step_rows(shiplap::Chunk chunk, std::uint64_t rows, std::uint64_t columns, View<const Value> u,
                          View<Value> next) {
  const std::uint64_t column = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x;
  if (column >= columns) return;
  for (std::uint64_t row = chunk.first + blockIdx.y; row < chunk.end(); row += gridDim.y)
    next[row * columns + column] = next_value(u, rows, columns, row, column);
}
#endif

/// One step of the whole field. Only its shape is known: no rank has all of it.
shiplap::Job step_of(std::uint64_t rows, std::uint64_t columns) {
  return shiplap::Job{rows, "stencil"}
      .shaped<const Value>("u", shiplap::Role::in, rows * columns, shiplap::halo(1, 1))
      .shaped<Value>("next", shiplap::Role::out, rows * columns)
#ifdef __CUDACC__
      .kernel([=](cudaStream_t stream, shiplap::Chunk chunk, auto u, auto next) {
        const std::uint64_t most_in_y = 65'535;  // a limit of CUDA: the kernel goes on to further rows
        const dim3 grid(static_cast<unsigned>((columns + 255) / 256),
                        static_cast<unsigned>(std::min(chunk.count, most_in_y)));
        step_rows<<<grid, 256, 0, stream>>>(chunk, rows, columns, u, next);
      })
#endif
      .host_kernel([=](shiplap::Chunk chunk, auto u, auto next) {
        for (std::uint64_t row = chunk.first; row < chunk.end(); ++row)
          for (std::uint64_t column = 0; column < columns; ++column)
            next[row * columns + column] = next_value(u, rows, columns, row, column);
      });
}

Value first_value(std::uint64_t at) { return static_cast<Value>(at * 2'654'435'761u); }

std::string device_of(int rank, const std::vector<std::string>& named) {
  if (!named.empty()) return named[static_cast<std::size_t>(rank) % named.size()];
  if (!shiplap::default_device().starts_with("cuda:")) return shiplap::default_device();
  MPI_Comm node;
  int on_node = 0;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
  MPI_Comm_rank(node, &on_node);
  MPI_Comm_free(&node);
  return "cuda:" + std::to_string(on_node);
}

/// The whole field on rank 0, from the rows that each rank owns.
std::vector<Value> joined(const shiplap::Shares& shares, std::uint64_t columns, const Value* own, int rank) {
  std::vector<int> counts;
  std::vector<int> begins;
  for (const shiplap::ItemRange& items : shares.items) {
    begins.push_back(static_cast<int>(items.first * columns));
    counts.push_back(static_cast<int>(items.count * columns));
  }
  std::vector<Value> field(rank == 0 ? static_cast<std::size_t>(begins.back() + counts.back()) : 0);
  MPI_Gatherv(own, counts[static_cast<std::size_t>(rank)], MPI_UINT32_T, field.data(), counts.data(), begins.data(),
              MPI_UINT32_T, 0, MPI_COMM_WORLD);
  return field;
}

/// Whether the field is that of as many steps in one plain loop.
bool is_right(const std::vector<Value>& field, std::uint64_t rows, std::uint64_t columns, unsigned steps) {
  std::vector<Value> u(rows * columns);
  for (std::uint64_t i = 0; i < u.size(); ++i) u[i] = first_value(i);
  for (unsigned step = 0; step < steps; ++step) {
    std::vector<Value> next(u.size());
    for (std::uint64_t i = 0; i < u.size(); ++i)
      next[i] = (i >= columns ? u[i - columns] : 0) + 2 * u[i] + 3 * (i + columns < u.size() ? u[i + columns] : 0) +
                static_cast<Value>(i / columns);
    u = next;
  }
  return field == u;
}

void run_steps(std::uint64_t rows, std::uint64_t columns, unsigned steps, const std::vector<std::string>& devices) {
  if (columns > 0 && rows > std::numeric_limits<int>::max() / columns)
    throw shiplap::UsageError(
        "the field is compared on rank 0, which counts its elements in an int: use a smaller one");
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const auto gpu = shiplap::open(device_of(rank, devices));
  const auto node = shiplap::load_or_measure(*gpu);
  const shiplap::Job job = step_of(rows, columns);
  const shiplap::Shares shares = shiplap::share(node, job, MPI_COMM_WORLD);
  const shiplap::ItemRange mine = shares.items[static_cast<std::size_t>(rank)];

  // The rows of this rank, with those of its halo around them, twice: one field is read while the other is written.
  const shiplap::ElementRange reach =
      mine.count > 0 ? shiplap::elements_of_share(job, "u", mine) : shiplap::ElementRange{};
  shiplap::pinned_vector<Value> memory(*gpu, 2 * reach.count);
  View<Value> u(memory.data(), reach.first, reach.count, "u");
  View<Value> next(memory.data() + reach.count, reach.first, reach.count, "next");
  for (std::uint64_t i = mine.first * columns; i < (mine.first + mine.count) * columns; ++i) u[i] = first_value(i);

  const auto part = [&] {
    return shiplap::job_of_share(job, mine, {shiplap::local_part("u", u), shiplap::local_part("next", next)});
  };
  std::vector<shiplap::Prepared> prepared;  // from the one field to the other, and back
  shiplap::RankResult result{.device = gpu->info().id, .simulated = gpu->info().is_virtual};
  if (mine.count > 0) {
    const auto plan = shiplap::plan(node, part());
    result.predicted = plan.chosen.predicted.value;
    prepared.push_back(shiplap::prepare(*gpu, plan, part()));
    std::swap(u, next);
    prepared.push_back(shiplap::prepare(*gpu, plan, part()));
    std::swap(u, next);
  }
  for (unsigned step = 0; step < steps; ++step) {
    shiplap::exchange_halos(job, shares, {shiplap::local_part("u", u)}, MPI_COMM_WORLD);
    if (mine.count > 0) result.observed += prepared[step % 2].run().timeline.makespan / steps;
    std::swap(u, next);
  }

  const auto report = shiplap::report(job, shares, result, MPI_COMM_WORLD);
  const Value* own = mine.count > 0 ? &u[mine.first * columns] : nullptr;
  const std::vector<Value> field = joined(shares, columns, own, rank);
  if (rank != 0) return;
  std::cout << report->to_string();
  if (!is_right(field, rows, columns, steps)) throw shiplap::CheckFailed("the field differs from that of a plain loop");
  std::cout << "Every byte is that of a plain loop after " << steps << " steps.\n";
}

/// Says what `shiplap plan --nodes` needs to know of the network.
void show_network() {
  int ranks = 0;
  int rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (ranks < 2) return;
  const shiplap::Network network = shiplap::measure_network(MPI_COMM_WORLD);
  if (rank == 0)
    std::cout << "Between the first and the last rank: " << shiplap::to_string(network.bandwidth) << ", "
              << shiplap::to_string(network.latency) << " for a small message (" << network.origin << ").\n";
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const auto number = [&](int i, std::uint64_t otherwise) {
    return argc > i ? std::strtoull(argv[i], nullptr, 10) : otherwise;
  };
  try {
    run_steps(number(1, 4096), number(2, 4096), static_cast<unsigned>(number(3, 4)),
              {argv + std::min(argc, 4), argv + argc});
    show_network();
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    MPI_Abort(MPI_COMM_WORLD, 1);  // the other ranks may wait for this one
  }
  MPI_Finalize();
}

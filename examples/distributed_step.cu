// A stencil over a field that is distributed over the ranks of MPI and stays on their GPUs. In each time step a rank
// computes its rows at the edges first, and exchanges them with its neighbours while its GPU computes the others.
//   mpirun -n RANKS distributed_step [ROWS [COLUMNS [PAIRS_OF_TIME_STEPS [DEVICE…]]]]
// Rank r uses the device r modulo the number of devices named, or else the GPU of its number on its node.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "shiplap/cluster/mpi.hpp"
#include "shiplap/core/statistics.hpp"
#include "shiplap/pipeline/step.hpp"
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
__global__ void next_rows(shiplap::Chunk chunk, std::uint64_t rows, std::uint64_t columns, View<const Value> u,
                          View<Value> next) {
  const std::uint64_t column = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x;
  if (column >= columns) return;
  for (std::uint64_t row = chunk.first + blockIdx.y; row < chunk.end(); row += gridDim.y)
    next[row * columns + column] = next_value(u, rows, columns, row, column);
}
#endif

/// A time step of the whole field from one array to another. Only its shape is known: no rank has all of it.
shiplap::Job time_step(std::uint64_t rows, std::uint64_t columns, const char* from, const char* to) {
  return shiplap::Job{rows, std::string(from) + " to " + to}
      .shaped<const Value>(from, shiplap::Role::in, rows * columns, shiplap::halo(1, 1))
      .shaped<Value>(to, shiplap::Role::out, rows * columns)
#ifdef __CUDACC__
      .kernel([=](cudaStream_t stream, shiplap::Chunk chunk, auto u, auto next) {
        const std::uint64_t most_in_y = 65'535;  // a limit of CUDA: the kernel goes on to further rows
        const dim3 grid(static_cast<unsigned>((columns + 255) / 256),
                        static_cast<unsigned>(std::min(chunk.count, most_in_y)));
        next_rows<<<grid, 256, 0, stream>>>(chunk, rows, columns, u, next);
      })
#endif
      .host_kernel([=](shiplap::Chunk chunk, auto u, auto next) {
        for (std::uint64_t row = chunk.first; row < chunk.end(); ++row)
          for (std::uint64_t column = 0; column < columns; ++column)
            next[row * columns + column] = next_value(u, rows, columns, row, column);
      });
}

Value first_value(std::uint64_t at) { return static_cast<Value>(at * 2'654'435'761u); }

/// The whole field after as many time steps in one plain loop.
std::vector<Value> field_after(unsigned steps, std::uint64_t rows, std::uint64_t columns) {
  std::vector<Value> u(rows * columns);
  for (std::uint64_t i = 0; i < u.size(); ++i) u[i] = first_value(i);
  for (unsigned step = 0; step < steps; ++step) {
    std::vector<Value> next(u.size());
    const View<const Value> whole(u.data(), 0, u.size(), "u");
    for (std::uint64_t i = 0; i < u.size(); ++i) next[i] = next_value(whole, rows, columns, i / columns, i % columns);
    u = std::move(next);
  }
  return u;
}

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

void run_steps(std::uint64_t rows, std::uint64_t columns, unsigned pairs, const std::vector<std::string>& devices) {
  if (columns > 0 && rows > (std::uint64_t{1} << 40) / columns)
    throw shiplap::UsageError("each rank computes the whole field to compare it: use a smaller one");
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const auto gpu = shiplap::open(device_of(rank, devices));
  const auto node = shiplap::load_or_measure(*gpu);
  const shiplap::Job there = time_step(rows, columns, "u", "v");
  const shiplap::Job back = time_step(rows, columns, "v", "u");
  const shiplap::Shares shares = shiplap::share(node, there, MPI_COMM_WORLD);
  const shiplap::ItemRange mine = shares.items[static_cast<std::size_t>(rank)];
  if (mine.count == 0) throw shiplap::UsageError("a rank has no rows: use fewer ranks or more rows");

  // The rows of this rank, with those of its halo around them, in both arrays.
  const shiplap::ElementRange reach = shiplap::elements_of_share(there, "u", mine);
  shiplap::pinned_vector<Value> memory(*gpu, 2 * reach.count);
  const View<Value> u(memory.data(), reach.first, reach.count, "u");
  const View<Value> v(memory.data() + reach.count, reach.first, reach.count, "v");
  for (std::uint64_t i = reach.first; i < reach.first + reach.count; ++i) u[i] = first_value(i);

  const shiplap::Network network = ranks > 1 ? shiplap::measure_network(MPI_COMM_WORLD) : shiplap::Network{};
  const shiplap::EdgeItems edges = shiplap::items_of_edges(there, shares.items, static_cast<std::size_t>(rank));
  shiplap::Step pair{"two time steps"};
  const shiplap::LocalPart of_u = shiplap::local_part("u", u);
  const shiplap::LocalPart of_v = shiplap::local_part("v", v);
  const auto add = [&](const shiplap::Job& job, const shiplap::Job& next, const shiplap::LocalPart& written) {
    for (const shiplap::ItemRange& items : {edges.first, edges.last})
      if (items.count > 0) pair = pair.kernel(shiplap::job_of_share(job, items, {of_u, of_v}));
    if (ranks > 1) pair = pair.host(shiplap::exchange_part(next, shares, {written}, MPI_COMM_WORLD, network));
    if (edges.inner.count > 0) pair = pair.kernel(shiplap::job_of_share(job, edges.inner, {of_u, of_v}));
  };
  add(there, back, of_v);
  add(back, there, of_u);
  pair = pair.stays_on_gpu("u").stays_on_gpu("v");

  shiplap::PreparedStep prepared(*gpu, shiplap::plan(node, pair), pair);
  shiplap::RankResult result{
      .device = gpu->info().id, .simulated = gpu->info().is_virtual, .predicted = prepared.plan().predicted.value};
  if (rank == 0) std::cout << prepared.plan().explain();
  std::vector<double> seconds;
  for (unsigned i = 0; i < pairs; ++i) seconds.push_back(prepared.run().timeline.makespan.count());
  result.observed = shiplap::Seconds{shiplap::median(seconds)};  // the first run waits for ranks that begin later
  const auto report = shiplap::report(there, shares, result, MPI_COMM_WORLD);
  if (rank == 0) std::cout << report->to_string();

  prepared.fetch("u");
  const std::vector<Value> expected = field_after(2 * pairs, rows, columns);
  for (std::uint64_t i = mine.first * columns; i < (mine.first + mine.count) * columns; ++i)
    if (u[i] != expected[i])
      throw shiplap::CheckFailed("row " + std::to_string(i / columns) + " differs from that of a plain loop");
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) std::cout << "Every byte is that of a plain loop after " << 2 * pairs << " time steps.\n";
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);  // the library has threads, which do not call MPI
  const auto number = [&](int i, std::uint64_t otherwise) {
    return argc > i ? std::strtoull(argv[i], nullptr, 10) : otherwise;
  };
  try {
    run_steps(number(1, 4096), number(2, 4096), static_cast<unsigned>(number(3, 4)),
              {argv + std::min(argc, 4), argv + argc});
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    MPI_Abort(MPI_COMM_WORLD, 1);  // the other ranks may wait for this one
  }
  MPI_Finalize();
}

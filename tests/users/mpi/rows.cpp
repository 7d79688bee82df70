// A scientist with a cluster: smooths an image whose rows are spread over the ranks of MPI.
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <shiplap/cluster/mpi.hpp>
#include <shiplap/shiplap.hpp>
#include <string>
#include <vector>

constexpr std::uint64_t rows = 3000, columns = 128;

float pixel(std::uint64_t i) { return static_cast<float>((i * 2654435761u) % 1021); }
float smoothed(const auto& u, std::uint64_t r, std::uint64_t c) {
  const std::uint64_t i = r * columns + c;
  return ((r == 0 ? u[i] : u[i - columns]) + u[i] + (r + 1 == rows ? u[i] : u[i + columns])) / 3;
}

int smooth_share(const std::string& device, int rank) {
  const auto gpu = shiplap::open(device);
  const auto node = shiplap::load_or_measure(*gpu);
  const auto job = shiplap::Job{rows, "smooth-image"}
                       .shaped<const float>("u", shiplap::Role::in, rows * columns, shiplap::halo(1, 1))
                       .shaped<float>("v", shiplap::Role::out, rows * columns)
                       .host_kernel([](shiplap::Chunk chunk, auto u, auto v) {
                         for (std::uint64_t r = chunk.first; r < chunk.end(); ++r)
                           for (std::uint64_t c = 0; c < columns; ++c) v[r * columns + c] = smoothed(u, r, c);
                       });
  const auto shares = shiplap::share(node, job, MPI_COMM_WORLD);
  const shiplap::ItemRange mine = shares.items[rank];
  const shiplap::ElementRange reach = shiplap::elements_of_share(job, "u", mine);
  shiplap::pinned_vector<float> u(*gpu, reach.count), v(*gpu, mine.count * columns);
  std::fill(u.begin(), u.end(), -1.0f);  // only the rank's own rows are filled: the halo comes from the others
  for (std::uint64_t i = mine.first * columns; i < (mine.first + mine.count) * columns; ++i)
    u[i - reach.first] = pixel(i);

  const auto held_u = shiplap::local_part("u", shiplap::View(u.data(), reach.first, u.size()));
  const auto held_v = shiplap::local_part("v", shiplap::View(v.data(), mine.first * columns, v.size()));
  const auto part = shiplap::job_of_share(job, mine, {held_u, held_v});
  const auto plan = shiplap::plan(node, part);
  shiplap::exchange_halos(job, shares, {held_u}, MPI_COMM_WORLD);
  const auto own = shiplap::run(*gpu, plan, part);
  const auto all = shiplap::report(job, shares, shiplap::rank_result(own), MPI_COMM_WORLD);

  std::vector<float> whole(rows * columns);
  for (std::uint64_t i = 0; i < whole.size(); ++i) whole[i] = pixel(i);
  unsigned long wrong = 0, items = mine.count, sums[2];
  for (std::uint64_t r = mine.first; r < mine.first + mine.count; ++r)
    for (std::uint64_t c = 0; c < columns; ++c) wrong += v[(r - mine.first) * columns + c] != smoothed(whole, r, c);
  const unsigned long both[2] = {wrong, items};
  MPI_Allreduce(both, sums, 2, MPI_UNSIGNED_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (all.has_value() != (rank == 0)) return 1;
  if (all) std::cout << all->to_string() << '\n' << sums[0] << " of " << sums[1] * columns << " pixels are wrong\n";
  return sums[0] == 0 && sums[1] == rows ? 0 : 1;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int status = 1;
  try {
    // Every rank takes its own device of those that are named; the last one serves the ranks behind it.
    status = smooth_share(argc > rank + 1 ? argv[rank + 1] : argc > 1 ? argv[argc - 1] : "virtual:h200", rank);
  } catch (const shiplap::Error& error) {
    std::cerr << "rank " << rank << ": " << error.what() << '\n';
    MPI_Abort(MPI_COMM_WORLD, static_cast<int>(error.code()));
  }
  MPI_Finalize();
  return status;
}

// For the author of a Kokkos stencil code: sends a field through shiplap, whose kernel smooths each chunk and sums it
// by Kokkos.
#include <Kokkos_Core.hpp>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <shiplap/shiplap.hpp>
#include <string>

using Field = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;
using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
template <class T>
using Part = Kokkos::View<T**, Kokkos::LayoutRight, Kokkos::HostSpace, Unmanaged>;
using Rows = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<std::int64_t>>;

/// The mean of an element of the whole field and of those above and below it, where u begins with row `first`.
template <class View>
KOKKOS_FUNCTION double smoothed(const View& u, std::int64_t first, std::int64_t rows, std::int64_t row,
                                std::int64_t column) {
  const std::int64_t above = row == 0 ? row : row - 1;
  const std::int64_t below = row + 1 == rows ? row : row + 1;
  return (u(above - first, column) + u(row - first, column) + u(below - first, column)) / 3;
}

int smooth(const std::string& device, std::int64_t rows, std::int64_t columns) {
  const Field u("u", rows, columns), v("v", rows, columns);
  const Kokkos::View<double, Kokkos::HostSpace> total("total");
  Kokkos::parallel_for(
      Rows(0, rows), KOKKOS_LAMBDA(std::int64_t row) {
        for (std::int64_t column = 0; column < columns; ++column) u(row, column) = (row * 31 + column * 17) % 101;
      });
  Kokkos::fence();

  const auto gpu = shiplap::open(device);
  const auto node = shiplap::load_or_measure(*gpu);
  const auto job = shiplap::Job{static_cast<std::uint64_t>(rows), "smooth"}
                       .in("u", u, shiplap::halo(1, 1))
                       .out("v", v)
                       .carried("total", total)
                       .host_kernel([=](shiplap::Chunk chunk, auto u, auto v, auto total) {
                         const auto first = static_cast<std::int64_t>(chunk.first);
                         const auto count = static_cast<std::int64_t>(chunk.count);
                         const auto halo = first - static_cast<std::int64_t>(u.first()) / columns;  // rows above
                         const Part<const double> in(u.data(), u.size() / columns, columns);
                         const Part<double> out(v.data(), count, columns);
                         double sum = 0;
                         Kokkos::parallel_reduce(
                             Rows(0, count),
                             KOKKOS_LAMBDA(std::int64_t row, double& part) {
                               for (std::int64_t column = 0; column < columns; ++column) {
                                 out(row, column) = smoothed(in, first - halo, rows, first + row, column);
                                 part += out(row, column);
                               }
                             },
                             sum);
                         total[0] += sum;
                       })
                       .with_double_precision_flops(4.0 * rows * columns);
  const auto plan = shiplap::plan(node, job, {.space = {.chunks = {16}}});  // several chunks, to see their edges
  std::cout << plan.summary() << '\n' << shiplap::run(*gpu, plan, job).to_string() << '\n';

  std::int64_t wrong = 0;
  double sum = 0;
  Kokkos::parallel_reduce(
      Rows(0, rows),
      KOKKOS_LAMBDA(std::int64_t row, std::int64_t & wrong, double& sum) {
        for (std::int64_t column = 0; column < columns; ++column) {
          const double right = smoothed(u, 0, rows, row, column);
          wrong += v(row, column) != right;
          sum += right;
        }
      },
      wrong, sum);
  const bool right = wrong == 0 && std::abs(total() - sum) <= 1e-12 * sum;
  std::cout << wrong << " wrong elements; total " << total() << ", right is " << sum << '\n';
  return right ? 0 : 2;
}

int main(int argc, char** argv) try {
  const Kokkos::ScopeGuard kokkos(argc, argv);
  return smooth(argc > 1 ? argv[1] : "virtual:h200", 6000, 1000);
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}

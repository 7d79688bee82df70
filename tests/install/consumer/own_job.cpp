// A program of someone who has installed shiplap and no GPU: sums of neighbouring numbers, by a kernel of its own on
// the simulated H200, whose bytes are real. Ends with 1 when one of them is wrong.
#include <cstdint>
#include <iostream>
#include <vector>

#include "shiplap/shiplap.hpp"

int main() try {
  constexpr std::uint64_t n = 1 << 20;
  std::vector<std::uint32_t> numbers(n);
  std::vector<std::uint32_t> sums(n);
  for (std::uint64_t i = 0; i < n; ++i) numbers[i] = static_cast<std::uint32_t>(i * 2654435761u);

  const auto gpu = shiplap::open("virtual:h200");
  const auto job = shiplap::Job{n, "sums of neighbours"}
                       .in("numbers", numbers, shiplap::halo(1, 0))
                       .out("sums", sums)
                       .host_kernel([](shiplap::Chunk chunk, auto numbers, auto sums) {
                         for (std::uint64_t i = chunk.first; i < chunk.end(); ++i)
                           sums[i] = numbers[i] + (i > 0 ? numbers[i - 1] : 0);
                       })
                       .kernel_time(shiplap::microseconds(50));
  const auto plan = shiplap::plan(shiplap::load_or_measure(*gpu), job);
  std::cout << shiplap::run(*gpu, plan, job).to_string() << '\n';

  for (std::uint64_t i = 0; i < n; ++i)
    if (sums[i] != numbers[i] + (i > 0 ? numbers[i - 1] : 0)) {
      std::cerr << "sums[" << i << "] is " << sums[i] << '\n';
      return 1;
    }
} catch (const shiplap::Error& error) {
  std::cerr << error.what() << '\n';
  return 1;
}

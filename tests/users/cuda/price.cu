// An analyst of a bank: prices trades every minute with a table of discounts that changes once in the morning.
#include <thrust/host_vector.h>

#include <cmath>
#include <cstdint>
#include <iostream>
#include <shiplap/shiplap.hpp>
#include <string>

constexpr std::uint64_t trades = 1 << 18;
constexpr std::uint64_t months = 120;

SHIPLAP_HOST_DEVICE float price(float amount, std::uint32_t month, const auto& discount) {
  return amount * discount[month];
}

template <class Amount, class Month, class Discount, class Value>
__global__ void price_all(shiplap::Chunk chunk, Amount amount, Month month, Discount discount, Value value) {
  const std::uint64_t i = chunk.first + blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x;
  if (i < chunk.end()) value[i] = price(amount[i], month[i], discount);
}

int main(int argc, char** argv) {
  const std::string device = argc > 1 ? argv[1] : "virtual:h200";
  thrust::host_vector<float> amount(trades), value(trades), discount(months);
  thrust::host_vector<std::uint32_t> month(trades);
  for (std::uint64_t i = 0; i < trades; ++i) month[i] = static_cast<std::uint32_t>(i * 7 % months);
  const auto set_rate = [&](float rate) {
    for (std::uint64_t m = 0; m < months; ++m) discount[m] = std::pow(1 + rate, -static_cast<float>(m) / 12);
  };
  set_rate(0.03f);

  const auto gpu = shiplap::open(device);
  const auto node = shiplap::load_or_measure(*gpu);
  const auto job =
      shiplap::Job{trades, "price"}
          .in("amount", amount)
          .in("month", month)
          .kept("discount", discount)
          .out("value", value)
          .kernel([](cudaStream_t stream, shiplap::Chunk chunk, auto amount, auto month, auto discount, auto value) {
            const auto blocks = static_cast<unsigned>((chunk.count + 255) / 256);
            price_all<<<blocks, 256, 0, stream>>>(chunk, amount, month, discount, value);
          })
          .host_kernel([](shiplap::Chunk chunk, auto amount, auto month, auto discount, auto value) {
            for (std::uint64_t i = chunk.first; i < chunk.end(); ++i) value[i] = price(amount[i], month[i], discount);
          });
  constexpr unsigned minutes = 6;
  const auto plan = shiplap::plan(node, job, {.runs = minutes});
  auto prepared = shiplap::prepare(*gpu, plan, job);
  prepared.check_kept(true);
  shiplap::Seconds spent{0};
  for (unsigned minute = 0; minute < minutes; ++minute) {
    for (std::uint64_t i = 0; i < trades; ++i) amount[i] = static_cast<float>(i % 1000 + minute);
    if (minute == 3) {
      set_rate(0.04f);
      prepared.changed("discount");
    }
    spent += prepared.run().timeline.makespan;
    for (std::uint64_t i = 0; i < trades; ++i)
      if (value[i] != static_cast<float>(i % 1000 + minute) * discount[i * 7 % months]) {
        std::cerr << "minute " << minute << ", trade " << i << ": " << value[i] << '\n';
        return 1;
      }
  }
  set_rate(0.05f);  // a change that nobody tells must not pass unseen while kept arrays are checked
  try {
    prepared.run();
    return 1;
  } catch (const shiplap::Error&) {
  }
  std::cout << plan.summary() << '\n' << minutes << " runs, " << shiplap::to_string(spent) << '\n';
}

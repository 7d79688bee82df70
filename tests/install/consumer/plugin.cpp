// A shared object that plans and runs a job of its own. It is loaded into a program that knows nothing of shiplap.
#include <shiplap/shiplap.hpp>
#include <vector>

/// Returns 0 when the result is right.
extern "C" int run_job() try {
  std::vector<float> x(1 << 12, 1.0f);
  const auto gpu = shiplap::open("virtual:h200");  // a profile that is embedded in the library
  const auto job = shiplap::Job{x.size(), "add"}.inout("x", x).host_kernel([](shiplap::Chunk chunk, auto x) {
    for (std::uint64_t i = chunk.first; i < chunk.end(); ++i) x[i] += 1;
  });
  const auto node = shiplap::load_or_measure(*gpu);
  shiplap::run(*gpu, shiplap::plan(node, job), job);
  return x == std::vector<float>(x.size(), 2.0f) ? 0 : 2;
} catch (const shiplap::Error&) {
  return 1;
}

/// Returns 0 when an exception of the library is caught as what it is.
extern "C" int catch_error() try {
  shiplap::open("no such device");
  return 2;
} catch (const shiplap::UsageError&) {
  return 0;
}

// The jobs of kernels.py in C++, so that both run in turn on one GPU.
//   python_kernels DEVICE PROFILE ITEMS_SCALE
// Each line of stdin is a request and each line of stdout its answer, both JSON, as for the program `beside`:
//   {"do": "prepare", "job": NAME}   -> {"how": TEXT, "predicted_ms": T}
//   {"do": "run", "runs": K}         -> {"ms": [...]}: K runs after an untimed one, by the host's clock
//   {"do": "check"}                  -> {"right": true}
#include <atomic>
#include <cmath>
#include <functional>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench/by_hand/harness.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/core/parallel.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/shiplap.hpp"
#include "shiplap/workload/data.hpp"

namespace {

using shiplap::Json;
using shiplap::View;
using Floats = std::vector<float>;
using Pinned = shiplap::pinned_vector<float>;

constexpr std::uint64_t columns = 1024;
constexpr unsigned threads = 256;

unsigned blocks_for(std::uint64_t items) { return static_cast<unsigned>((items + threads - 1) / threads); }

__global__ void saxpy(shiplap::Chunk chunk, View<const float> x, View<float> y) {
  const std::uint64_t i = chunk.first + blockIdx.x * std::uint64_t{threads} + threadIdx.x;
  if (i < chunk.end()) y[i] += 2 * x[i];
}

constexpr float rate = 0.02f;
constexpr float volatility = 0.3f;

__host__ __device__ inline float normal(float d) { return 0.5f * erfcf(-d * 0.70710678f); }
__host__ __device__ inline void price(float s, float k, float t, float& call, float& put) {
  const float deviation = volatility * sqrtf(t);
  const float d1 = (logf(s / k) + (rate + 0.5f * volatility * volatility) * t) / deviation;
  const float discounted = k * expf(-rate * t);
  call = s * normal(d1) - discounted * normal(d1 - deviation);
  put = call - s + discounted;
}
__global__ void black_scholes(shiplap::Chunk chunk, View<const float> s, View<const float> k, View<const float> t,
                              View<float> call, View<float> put) {
  const std::uint64_t i = chunk.first + blockIdx.x * std::uint64_t{threads} + threadIdx.x;
  if (i < chunk.end()) price(s[i], k[i], t[i], call[i], put[i]);
}

__global__ void smooth(shiplap::Chunk rows, std::uint64_t all_rows, View<const float> u, View<float> v) {
  const std::uint64_t i = rows.first * columns + blockIdx.x * std::uint64_t{threads} + threadIdx.x;
  if (i >= rows.end() * columns) return;
  float sum = u[i];
  if (i >= columns) sum += u[i - columns];
  if (i + columns < all_rows * columns) sum += u[i + columns];
  v[i] = sum / 3;
}

__global__ void softmax(shiplap::Chunk rows, View<const float> x, View<float> y) {
  __shared__ float reduced[threads];
  const std::uint64_t begin = (rows.first + blockIdx.x) * columns;
  const auto reduce = [&](float mine, auto combine) {
    reduced[threadIdx.x] = mine;
    for (unsigned half = threads / 2; half > 0; half /= 2) {
      __syncthreads();
      if (threadIdx.x < half) reduced[threadIdx.x] = combine(reduced[threadIdx.x], reduced[threadIdx.x + half]);
    }
    __syncthreads();
    const float result = reduced[0];
    __syncthreads();
    return result;
  };
  float values[columns / threads];
  float most = -INFINITY;
  for (unsigned i = 0; i < columns / threads; ++i) most = fmaxf(most, values[i] = x[begin + i * threads + threadIdx.x]);
  most = reduce(most, [](float a, float b) { return fmaxf(a, b); });
  float sum = 0;
  for (float& value : values) sum += value = expf(value - most);
  sum = reduce(sum, [](float a, float b) { return a + b; });
  for (unsigned i = 0; i < columns / threads; ++i) y[begin + i * threads + threadIdx.x] = values[i] / sum;
}

/// Runs one job at a time; the pinned arrays are made anew for each.
class Jobs {
 public:
  Jobs(shiplap::Device& device, const shiplap::Node& node, std::uint64_t scale)
      : device_(device), node_(node), rows_(scale) {}

  Json prepare(const std::string& name) {
    prepared_.reset();
    arrays_.clear();
    const std::uint64_t n = rows_ * columns;
    if (name == "saxpy") {
      auto& x = make(n, 1);
      auto& y = make(n, 2);
      original_ = Floats(y.begin(), y.end());
      ready(shiplap::Job{n, name}.in("x", x).inout("y", y).kernel(
          [](cudaStream_t stream, shiplap::Chunk chunk, auto x, auto y) {
            saxpy<<<blocks_for(chunk.count), threads, 0, stream>>>(chunk, x, y);
          }));
      right_ = [&](std::uint64_t i) { return y[i] == original_[i] + 2 * x[i]; };
      restore_ = [&] { std::copy(original_.begin(), original_.end(), y.begin()); };
    } else if (name == "black_scholes") {
      auto& s = make(n / 2, 1);
      auto& k = make(n / 2, 2);
      auto& t = make(n / 2, 3);
      auto& call = make(n / 2, 4);
      auto& put = make(n / 2, 5);
      ready(shiplap::Job{n / 2, name}
                .in("s", s)
                .in("k", k)
                .in("t", t)
                .out("call", call)
                .out("put", put)
                .kernel([](cudaStream_t stream, shiplap::Chunk chunk, auto s, auto k, auto t, auto call, auto put) {
                  black_scholes<<<blocks_for(chunk.count), threads, 0, stream>>>(chunk, s, k, t, call, put);
                }));
      right_ = [&](std::uint64_t i) {
        if (i >= s.size()) return true;
        float c = 0;
        float p = 0;
        price(s[i], k[i], t[i], c, p);
        return std::abs(call[i] - c) < 1e-4f && std::abs(put[i] - p) < 1e-4f;
      };
    } else if (name == "smooth") {
      auto& u = make(n, 1);
      auto& v = make(n, 2);
      const std::uint64_t all = rows_;
      ready(shiplap::Job{rows_, name}
                .in("u", u, shiplap::halo(1, 1))
                .out("v", v)
                .kernel([all](cudaStream_t stream, shiplap::Chunk rows, auto u, auto v) {
                  smooth<<<blocks_for(rows.count * columns), threads, 0, stream>>>(rows, all, u, v);
                }));
      right_ = [&, n](std::uint64_t i) {
        float sum = u[i];
        if (i >= columns) sum += u[i - columns];
        if (i + columns < n) sum += u[i + columns];
        return std::abs(v[i] - sum / 3) < 1e-6f;
      };
    } else {
      auto& x = make(n, 1);
      auto& y = make(n, 2);
      ready(shiplap::Job{rows_, name}.in("x", x).out("y", y).kernel(
          [](cudaStream_t stream, shiplap::Chunk rows, auto x, auto y) {
            softmax<<<static_cast<unsigned>(rows.count), threads, 0, stream>>>(rows, x, y);
          }));
      right_ = [&](std::uint64_t i) {
        if (i % columns != 0) return true;
        double sum = 0;
        double expected = 0;
        for (std::uint64_t c = 0; c < columns; ++c) expected += std::exp(double{x[i + c]});
        for (std::uint64_t c = 0; c < columns; ++c) {
          if (std::abs(y[i + c] - std::exp(double{x[i + c]}) / expected) > 1e-6) return false;
          sum += y[i + c];
        }
        return std::abs(sum - 1) < 1e-4;
      };
    }
    return {{"how", how_}, {"predicted_ms", predicted_}};
  }

  Json run(unsigned runs) {
    prepared_->run();
    std::vector<double> ms;
    for (unsigned i = 0; i < runs; ++i) ms.push_back(by_hand::timed([&] { prepared_->run(); }));
    return {{"ms", ms}};
  }

  Json check() {
    if (restore_) restore_();
    prepared_->run();
    std::atomic<bool> right = true;
    shiplap::parallel_for(rows_ * columns, 1 << 20, [&](std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t i = begin; i < end && right; ++i) right = right && right_(i);
    });
    return {{"right", right.load()}};
  }

 private:
  Pinned& make(std::uint64_t n, unsigned seed) {
    auto& array = arrays_[seed] = shiplap::pinned_vector<float>(device_, n);
    shiplap::parallel_for(n, 1 << 20, [&](std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t i = begin; i < end; ++i)
        array[i] = 0.5f + static_cast<float>(shiplap::hash_of(i, seed) >> 40) * 0x1p-24f;
    });
    restore_ = nullptr;
    return array;
  }

  void ready(const auto& job) {
    const auto plan = shiplap::plan(node_, job);
    how_ = shiplap::to_string(plan.chosen.choice);
    predicted_ = shiplap::in_milliseconds(plan.chosen.predicted.value);
    prepared_ = shiplap::prepare(device_, plan, job);
  }

  shiplap::Device& device_;
  const shiplap::Node& node_;
  std::uint64_t rows_;
  std::map<unsigned, Pinned> arrays_;
  Floats original_;
  std::optional<shiplap::Prepared> prepared_;
  std::function<bool(std::uint64_t)> right_;
  std::function<void()> restore_;
  std::string how_;
  double predicted_ = 0;
};

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 4) {
    std::cerr << "usage: python_kernels DEVICE PROFILE ROWS\n";
    return 64;
  }
  const auto device = shiplap::open(argv[1]);
  const auto node = shiplap::node_of(*device, shiplap::find_profile(argv[2]));
  Jobs jobs(*device, node, std::stoull(argv[3]));
  std::cout << Json{{"device", device->info().name}}.dump() << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    Json reply;
    try {
      const Json request = Json::parse(line);
      const std::string what = request.at("do");
      reply = what == "prepare" ? jobs.prepare(request.at("job"))
              : what == "run"   ? jobs.run(request.at("runs"))
                                : jobs.check();
    } catch (const std::exception& error) {
      reply = {{"error", error.what()}};
    }
    std::cout << reply.dump() << std::endl;
  }
} catch (const std::exception& error) {
  std::cerr << "python_kernels: " << error.what() << '\n';
  return 1;
}

#include "tests/support/noisy_device.hpp"

#include <cmath>
#include <map>
#include <numbers>
#include <random>
#include <utility>

namespace shiplap {
namespace {

class NoiseSource {
 public:
  explicit NoiseSource(const Noise& noise) : noise_(noise), bits_(noise.seed) {}

  Seconds disturb(Seconds time) { return time * (1 + noise_.relative * standard_normal()); }
  Seconds event_time(Seconds time) {
    return noise_.event_step * std::round(disturb(time).count() / noise_.event_step.count());
  }

 private:
  // Box and Muller's; the standard library's distribution differs between implementations.
  double standard_normal() {
    const auto uniform = [&] { return (static_cast<double>(bits_() >> 11) + 0.5) * 0x1p-53; };
    const double radius = std::sqrt(-2 * std::log(uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

  Noise noise_;
  std::mt19937_64 bits_;
};

class NoisyExecution : public Execution {
 public:
  NoisyExecution(std::unique_ptr<Execution> inner, std::shared_ptr<NoiseSource> noise)
      : inner_(std::move(inner)), noise_(std::move(noise)) {}

  RunResult run(const RunOptions& options) override {
    const auto key = std::tuple{options.hold, options.trace, options.timed.value};
    if (!exact_.contains(key)) exact_.emplace(key, inner_->run(options));
    RunResult result = exact_.at(key);
    result.timeline.makespan = noise_->event_time(result.timeline.makespan);
    result.submission = noise_->disturb(result.submission);
    result.host_total = noise_->disturb(result.host_total);
    return result;
  }

 private:
  std::unique_ptr<Execution> inner_;
  std::shared_ptr<NoiseSource> noise_;
  std::map<std::tuple<bool, Trace, std::uint32_t>, RunResult> exact_;
};

class NoisyDevice : public Device {
 public:
  NoisyDevice(std::unique_ptr<Device> inner, const Noise& noise)
      : inner_(std::move(inner)), noise_(std::make_shared<NoiseSource>(noise)) {}

  DeviceInfo info() const override { return inner_->info(); }
  Memory allocate(Place place, MemoryKind kind, Bytes size) override { return inner_->allocate(place, kind, size); }
  void fill(const Memory& memory, std::uint64_t seed) override { inner_->fill(memory, seed); }
  std::uint64_t mismatches(const Memory& memory, Bytes offset, Bytes length, std::uint64_t seed,
                           Bytes pattern_offset) override {
    return inner_->mismatches(memory, offset, length, seed, pattern_offset);
  }
  std::unique_ptr<Execution> prepare(const Schedule& schedule, const Bindings& bindings) override {
    return std::make_unique<NoisyExecution>(inner_->prepare(schedule, bindings), noise_);
  }
  ProbeKernel probe_kernel(ProbeKernel::Kind kind, std::uint64_t blocks, double amount) override {
    return inner_->probe_kernel(kind, blocks, amount);
  }

 private:
  std::unique_ptr<Device> inner_;
  std::shared_ptr<NoiseSource> noise_;
};

}  // namespace

std::unique_ptr<Device> make_noisy(std::unique_ptr<Device> inner, const Noise& noise) {
  return std::make_unique<NoisyDevice>(std::move(inner), noise);
}

}  // namespace shiplap

#include "tests/support/noisy_device.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <numbers>
#include <random>
#include <string>
#include <utility>

#include "shiplap/core/json.hpp"
#include "shiplap/device/bindings.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "tests/support/forwarding_device.hpp"

namespace shiplap {
namespace {

class NoiseSource {
 public:
  NoiseSource(const Noise& noise, std::uint64_t seed) : noise_(noise), bits_(seed) {}

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
  NoisyExecution(std::unique_ptr<Execution> inner, NoiseSource noise) : inner_(std::move(inner)), noise_(noise) {}

  void submit(const RunOptions& options) override {
    const auto key = std::tuple{options.hold, options.trace, options.timed.value};
    if (!exact_.contains(key)) exact_.emplace(key, inner_->run(options));
    submitted_ = &exact_.at(key);
  }
  RunResult wait() override {
    RunResult result = *submitted_;
    result.timeline.makespan = noise_.event_time(result.timeline.makespan);
    result.submission = noise_.disturb(result.submission);
    result.host_total = noise_.disturb(result.host_total);
    return result;
  }

 private:
  std::unique_ptr<Execution> inner_;
  NoiseSource noise_;
  const RunResult* submitted_ = nullptr;
  std::map<std::tuple<bool, Trace, std::uint32_t>, RunResult> exact_;
};

/// What tells schedules apart here.
std::string key(const Schedule& schedule) {
  std::string text;
  for (const Buffer& b : schedule.buffers)
    text += fmt::format("{} {} {};", b.name, static_cast<int>(b.memory), b.size.count);
  for (const Op& op : schedule.ops) text += fmt::format("{} {} {};", op.what.index(), op.stream.value, op.after.size());
  return text;
}

class NoisyDevice : public ForwardingDevice {
 public:
  NoisyDevice(std::shared_ptr<MeasurableDevice> inner, const Noise& noise)
      : ForwardingDevice(std::move(inner)), noise_(noise) {}

  std::unique_ptr<Execution> prepare(const Schedule& schedule, const Bindings& bindings) override {
    const std::string prepared = key(schedule);
    const std::string of_its_own = fmt::format("{} {} {}", noise_.seed, times_prepared_[prepared]++, prepared);
    return std::make_unique<NoisyExecution>(inner().prepare(schedule, bindings),
                                            NoiseSource(noise_, std::stoull(content_hash(of_its_own), nullptr, 16)));
  }

 private:
  Noise noise_;
  std::map<std::string, unsigned> times_prepared_;
};

}  // namespace

std::shared_ptr<MeasurableDevice> make_noisy(std::shared_ptr<MeasurableDevice> inner, const Noise& noise) {
  return std::make_unique<NoisyDevice>(std::move(inner), noise);
}

}  // namespace shiplap

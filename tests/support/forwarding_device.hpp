// A device that passes everything on to another one: base of those on which something is changed.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "shiplap/device/bindings.hpp"
#include "shiplap/device/measurable_device.hpp"
#include "shiplap/device/probe_kernel.hpp"
#include "shiplap/schedule/schedule.hpp"

namespace shiplap {

class ForwardingDevice : public MeasurableDevice {
 public:
  explicit ForwardingDevice(std::shared_ptr<MeasurableDevice> inner) : inner_(std::move(inner)) {}

  DeviceInfo info() const override { return inner_->info(); }
  Memory allocate(Place place, MemoryKind kind, Bytes size) override { return inner_->allocate(place, kind, size); }
  void fill(const Memory& memory, std::uint64_t seed) override { inner_->fill(memory, seed); }
  std::uint64_t mismatches(const Memory& memory, Bytes offset, Bytes length, std::uint64_t seed,
                           Bytes pattern_offset) override {
    return inner_->mismatches(memory, offset, length, seed, pattern_offset);
  }
  std::optional<std::vector<unsigned>> numa_nodes(const Memory& memory) const override {
    return inner_->numa_nodes(memory);
  }
  std::unique_ptr<Execution> prepare(const Schedule& schedule, const Bindings& bindings) override {
    return inner_->prepare(schedule, bindings);
  }
  std::shared_ptr<void> on_cores_of(Place place) const override { return inner_->on_cores_of(place); }
  ProbeKernel probe_kernel(ProbeKind kind, std::uint64_t blocks, double amount) override {
    return inner_->probe_kernel(kind, blocks, amount);
  }

 protected:
  MeasurableDevice& inner() { return *inner_; }

 private:
  std::shared_ptr<MeasurableDevice> inner_;
};

/// What a run observed is changed when it has ended.
class ChangedExecution : public Execution {
 public:
  using Change = std::function<void(RunResult&)>;
  ChangedExecution(std::unique_ptr<Execution> inner, Change change)
      : inner_(std::move(inner)), change_(std::move(change)) {}

  void submit(const RunOptions& options) override { inner_->submit(options); }
  RunResult wait() override {
    RunResult result = inner_->wait();
    change_(result);
    return result;
  }

 private:
  std::unique_ptr<Execution> inner_;
  Change change_;
};

}  // namespace shiplap

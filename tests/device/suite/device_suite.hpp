// What every device promises, stated once. A test program instantiates the suite for each implementation that it has:
// SHIPLAP_DEVICE_SUITE(name, type), with a type derived from TestedDevice.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <ostream>

#include "shiplap/device/measurable_device.hpp"
#include "tests/device/suite/transfer_memory.hpp"

namespace shiplap::testing {

/// An implementation of Device, with what the suite needs besides the methods of a device.
class TestedDevice {
 public:
  virtual ~TestedDevice() = default;
  /// Opens a device with this number of GPUs; null where there are not that many.
  virtual std::shared_ptr<MeasurableDevice> open(unsigned gpus) = 0;
  /// A kernel that inverts its first operand into its second. While the device is endless, no launch ends.
  virtual KernelBinding inverting_kernel() = 0;
  virtual void set_endless(bool) = 0;
  /// Attempts a launch that the device refuses, in a kernel's function.
  virtual void refuse_launch(const Launch&) = 0;
  /// A number that grows with everything that is allocated or created on the GPUs.
  virtual std::size_t in_use() = 0;
  /// Whether every kernel of the library runs, and every launch of a graph repeats its ops.
  virtual bool runs_kernels_and_graphs() const { return true; }
  /// Whether work can still be in flight when an error is thrown.
  virtual bool leaves_work_in_flight() const { return true; }
  /// A size whose copy takes longer than the call that submits it.
  virtual Bytes long_copy() const { return 64_KiB; }

  // For devices with CUDA streams.
  virtual void* current_context() { return nullptr; }
  virtual void select_last_gpu() {}
  /// Begins to capture a stream of the caller and returns the stream.
  virtual void* begin_capture() { return nullptr; }
  /// Ends the capture. Returns whether it was still valid.
  virtual bool end_capture() { return false; }
};

/// An implementation by its name, from which a test makes its own device.
struct Implementation {
  const char* name;
  std::unique_ptr<TestedDevice> (*make)();
  friend std::ostream& operator<<(std::ostream& out, const Implementation& one) { return out << one.name; }
};

/// A test with a device of one GPU.
class DevicePromise : public ::testing::TestWithParam<Implementation> {
 protected:
  void SetUp() override {
    device = tested->open(1);
    if (device == nullptr) GTEST_SKIP() << "there is no GPU";
  }
  /// The device, or another one where the schedule needs two GPUs; null where there is one GPU.
  std::shared_ptr<MeasurableDevice> device_for(const Schedule& schedule) {
    return schedule.streams.back().place.index == 0 ? device : tested->open(2);
  }
  TransferMemory memory_for(const Schedule& schedule, bool inverted = true) {
    return {*device, tested->inverting_kernel(), schedule, inverted};
  }

  std::unique_ptr<TestedDevice> tested = GetParam().make();
  std::shared_ptr<MeasurableDevice> device;
};

// One suite for each group of promises.
using DeviceOrder = DevicePromise;   ///< order of ops, streams and waits
using DeviceErrors = DevicePromise;  ///< errors, and what is refused
using DeviceEnds = DevicePromise;    ///< runs that are stopped or pass their time limit
using DeviceMemory = DevicePromise;  ///< kinds of memory, and memory of the caller that is pinned
using DeviceBlocks = DevicePromise;  ///< scattered blocks
using CallersState = DevicePromise;  ///< what belongs to the caller, on devices with CUDA streams

#define SHIPLAP_DEVICE_SUITE_OF(suite, label, type)                                                               \
  INSTANTIATE_TEST_SUITE_P(                                                                                       \
      , suite, ::testing::Values(Implementation{#label, [] { return std::unique_ptr<TestedDevice>(new type); }}), \
      ::testing::PrintToStringParamName())
#define SHIPLAP_DEVICE_SUITE(label, type)             \
  SHIPLAP_DEVICE_SUITE_OF(DeviceOrder, label, type);  \
  SHIPLAP_DEVICE_SUITE_OF(DeviceErrors, label, type); \
  SHIPLAP_DEVICE_SUITE_OF(DeviceEnds, label, type);   \
  SHIPLAP_DEVICE_SUITE_OF(DeviceMemory, label, type); \
  SHIPLAP_DEVICE_SUITE_OF(DeviceBlocks, label, type)

}  // namespace shiplap::testing

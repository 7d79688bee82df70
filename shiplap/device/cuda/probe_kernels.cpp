#include "shiplap/device/cuda/probe_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "shiplap/core/error.hpp"
#include "shiplap/device/cuda/check.hpp"
#include "shiplap/device/probe_kernel.hpp"

namespace shiplap {
namespace {

int attribute(const Api& api, cudaDeviceAttr which, int device) {
  int value = 0;
  check(api, api.device_get_attribute(&value, which, device), "cudaDeviceGetAttribute", "the size of the GPU");
  return value;
}

std::uint64_t resident_blocks(const Api& api, int device, const void* kernel, unsigned threads) {
  int each = 0;
  check(api, api.occupancy_max_active_blocks(&each, kernel, static_cast<int>(threads), 0),
        "cudaOccupancyMaxActiveBlocksPerMultiprocessor", "a probe kernel");
  return static_cast<std::uint64_t>(each) *
         static_cast<std::uint64_t>(attribute(api, cudaDevAttrMultiProcessorCount, device));
}

void launch(const Api& api, const void* kernel, std::uint64_t blocks, unsigned threads, void** arguments,
            void* on_stream) {
  check(api,
        api.launch_kernel(kernel, dim3(static_cast<unsigned>(blocks)), dim3(threads), arguments, 0,
                          static_cast<cudaStream_t>(on_stream)),
        "cudaLaunchKernel", "a probe kernel");
}

/// The grid of the schedule, or `otherwise` when the schedule asks for none.
std::uint64_t grid(const Launch& launch, std::uint64_t otherwise) {
  return launch.blocks > 0 ? launch.blocks : otherwise;
}

ProbeKernel make_empty(const Api& api, int device, std::uint64_t blocks) {
  ProbeKernel probe;
  probe.blocks = blocks;
  probe.resident_blocks = resident_blocks(api, device, empty_kernel(), empty_probe_threads);
  probe.binding.cuda = [&api, blocks](const Launch& l) {
    launch(api, empty_kernel(), grid(l, blocks), empty_probe_threads, nullptr, l.stream);
  };
  return probe;
}

ProbeKernel make_spin(const Api& api, int device, std::uint64_t blocks) {
  ProbeKernel probe;
  probe.blocks = blocks;
  probe.resident_blocks = resident_blocks(api, device, spin_kernel(), spin_probe_threads);
  probe.binding.cuda = [&api, blocks](const Launch& l) {
    long long cycles = spin_cycles;
    void* arguments[] = {&cycles};
    launch(api, spin_kernel(), grid(l, blocks), spin_probe_threads, arguments, l.stream);
  };
  return probe;
}

ProbeKernel make_stream_probe(const Api& api, int device, double amount) {
  const auto bytes = static_cast<std::uint64_t>(amount);
  const std::uint64_t half = bytes / 2 / sizeof(uint4) * sizeof(uint4);
  if (half == 0) throw Error(fmt::format("the stream kernel needs at least 32 bytes, not {}", bytes));
  ProbeKernel probe;
  probe.resident_blocks = resident_blocks(api, device, stream_kernel(), stream_probe_threads);
  probe.blocks = probe.resident_blocks;
  probe.binding.cuda = [&api, bytes, half, blocks = probe.blocks](const Launch& l) {
    if (l.operands.empty() || l.lengths[0].count < bytes)
      throw Error(fmt::format("the stream kernel needs one operand of at least {} bytes", bytes));
    std::byte* from = l.operands[0];
    std::byte* to = from + half;
    std::uint64_t count = half / sizeof(uint4);
    void* arguments[] = {&from, &to, &count};
    launch(api, stream_kernel(), grid(l, blocks), stream_probe_threads, arguments, l.stream);
  };
  return probe;
}

ProbeKernel make_multiply_add(const Api& api, int device, double amount) {
  ProbeKernel probe;
  probe.resident_blocks = resident_blocks(api, device, multiply_add_kernel(), arithmetic_probe_threads);
  probe.blocks = probe.resident_blocks;
  // The amount is rounded to whole rounds of one thread, 2 · probe_chains operations each.
  const auto rounds_of_all = static_cast<std::uint64_t>(std::llround(amount / (2.0 * probe_chains)));
  probe.binding.cuda = [&api, rounds_of_all, of_probe = probe.blocks](const Launch& l) {
    const std::uint64_t blocks = grid(l, of_probe);
    const std::uint64_t threads_of_all = blocks * arithmetic_probe_threads;
    std::uint64_t each = rounds_of_all / threads_of_all;
    std::uint64_t one_more = rounds_of_all % threads_of_all;
    float factor = 0.999f;  // x · factor + summand tends to 1, so that no value overflows or becomes subnormal
    float summand = 0.001f;
    void* arguments[] = {&each, &one_more, &factor, &summand};
    launch(api, multiply_add_kernel(), blocks, arithmetic_probe_threads, arguments, l.stream);
  };
  return probe;
}

const void* map_kernel_of(ProbeKind kind, unsigned unit) {
  if (kind == ProbeKind::strided) return strided_kernel();
  return kind == ProbeKind::random ? random_kernel() : map_kernel(unit);
}

ProbeKernel make_map(const Api& api, int device, ProbeKind kind, std::uint64_t blocks, double amount) {
  const bool in_order = kind == ProbeKind::map;
  if (amount != 16 && (!in_order || (amount != 4 && amount != 8)))
    throw Error(fmt::format("the map kernel moves {}16 bytes at a time, not {}", in_order ? "4, 8 or " : "", amount));
  const auto unit = static_cast<unsigned>(amount);
  const void* const kernel = map_kernel_of(kind, unit);
  ProbeKernel probe;
  probe.blocks = blocks;
  probe.resident_blocks = resident_blocks(api, device, kernel, map_probe_threads);
  probe.binding.cuda = [&api, blocks, unit, kernel, is_random = kind == ProbeKind::random](const Launch& l) {
    if (l.operands.size() != 2) throw Error("the map kernel has two operands");
    const std::byte* from = l.operands[0];
    std::byte* to = l.operands[1];
    std::uint64_t count = std::min(l.lengths[0], l.lengths[1]).count / unit;
    if (is_random && !std::has_single_bit(count))
      throw Error(fmt::format("random order needs a power of two of words, not {}", count));
    void* arguments[] = {&from, &to, &count};
    launch(api, kernel, grid(l, blocks), map_probe_threads, arguments, l.stream);
  };
  return probe;
}

ProbeKernel make_touch(const Api& api, int device, std::uint64_t blocks, double amount) {
  ProbeKernel probe;
  probe.blocks = blocks;
  probe.resident_blocks = resident_blocks(api, device, touch_kernel(), touch_probe_threads);
  probe.binding.cuda = [&api, blocks, stride = static_cast<std::uint64_t>(amount)](const Launch& l) {
    if (l.operands.size() != 1) throw Error("the touch kernel has one operand");
    std::byte* memory = l.operands[0];
    std::uint64_t length = l.lengths[0].count;
    std::uint64_t step = stride;
    void* arguments[] = {&memory, &length, &step};
    launch(api, touch_kernel(), grid(l, blocks), touch_probe_threads, arguments, l.stream);
  };
  return probe;
}

ProbeKernel make_chase(const Api& api, double amount) {
  ProbeKernel probe;
  probe.binding.cuda = [&api, reads = static_cast<std::uint64_t>(amount)](const Launch& l) {
    if (l.operands.size() != 1) throw Error("the chase kernel has one operand");
    const std::byte* memory = l.operands[0];
    std::uint64_t words = std::bit_floor(l.lengths[0].count / sizeof(std::uint64_t));
    std::uint64_t count = reads;
    void* arguments[] = {&memory, &words, &count};
    launch(api, chase_kernel(), 1, 1, arguments, l.stream);
  };
  return probe;
}

}  // namespace

ProbeKernel make_probe_kernel(const Api& api, int device, ProbeKind kind, std::uint64_t blocks, double amount) {
  if (blocks > static_cast<std::uint64_t>(std::numeric_limits<int>::max()))
    throw Error(fmt::format("a grid of {} blocks is too large: at most 2147483647 are possible", blocks));
  const bool takes_amount = kind == ProbeKind::stream || kind == ProbeKind::multiply_add || kind == ProbeKind::touch ||
                            kind == ProbeKind::chase;
  if (takes_amount && !(amount > 0 && amount < 1e18))
    throw Error(fmt::format("a probe kernel's amount of work must be between 0 and 1e18, not {}", amount));
  if ((!takes_amount || kind == ProbeKind::touch) && blocks == 0)
    throw Error("a probe kernel needs at least one block");
  switch (kind) {
    case ProbeKind::empty:
      return make_empty(api, device, blocks);
    case ProbeKind::spin:
      return make_spin(api, device, blocks);
    case ProbeKind::stream:
      return make_stream_probe(api, device, amount);
    case ProbeKind::multiply_add:
      return make_multiply_add(api, device, amount);
    case ProbeKind::map:
    case ProbeKind::strided:
    case ProbeKind::random:
      return make_map(api, device, kind, blocks, amount);
    case ProbeKind::touch:
      return make_touch(api, device, blocks, amount);
    case ProbeKind::chase:
      return make_chase(api, amount);
  }
  throw Error("unknown kind of probe kernel");
}

}  // namespace shiplap

#include "shiplap/measure/row_memory.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "shiplap/core/error.hpp"

namespace shiplap {
namespace {

/// Base seeds of the test pattern; the number of the buffer is added. Patterns of different seeds differ in nearly
/// every word.
constexpr std::uint64_t source_seed = 0x5eed'0001;
constexpr std::uint64_t poison_seed = 0xbad0'0001;

/// Whether an op of a trial allocates the buffer itself.
bool obtained(const std::vector<std::vector<Trial>>& trials, std::size_t buffer) {
  for (const auto& point : trials)
    for (const Trial& trial : point)
      if (is_allocated_by_op(trial.schedule, BufferId{static_cast<std::uint32_t>(buffer)})) return true;
  return false;
}

}  // namespace

RowMemory::RowMemory(MeasurableDevice& device, const std::vector<std::vector<Trial>>& trials) {
  std::vector<Buffer> needed;
  std::vector<bool> overwritten;
  for (const auto& point : trials) {
    for (const Trial& trial : point) {
      const auto& buffers = trial.schedule.buffers;
      if (needed.size() < buffers.size()) needed.resize(buffers.size());
      overwritten.resize(needed.size(), false);
      for (std::size_t i = 0; i < buffers.size(); ++i) {
        const Bytes size = std::max(needed[i].size, buffers[i].size);
        needed[i] = buffers[i];
        needed[i].size = size;
      }
      for (const auto& transfer : trial.transfers) overwritten[transfer.to.index()] = true;
    }
  }
  for (std::size_t i = 0; i < needed.size(); ++i) {
    if (obtained(trials, i)) {
      memories_.emplace_back();
      continue;
    }
    memories_.push_back(device.allocate(needed[i].place, needed[i].memory, needed[i].size));
    require_placed(device, memories_.back(), needed[i].name);
    if (!overwritten[i]) device.fill(memories_.back(), source_seed + i);
  }
}

std::vector<std::byte*> RowMemory::data() const {
  std::vector<std::byte*> pointers;
  for (const Memory& memory : memories_) pointers.push_back(memory.data());
  return pointers;
}

void RowMemory::poison_destinations(MeasurableDevice& device, const Trial& trial) const {
  for (const auto& transfer : trial.transfers) {
    const Memory& whole = memories_[transfer.to.index()];
    const Memory part(whole.data(), transfer.length, whole.place(), whole.kind(), [](std::byte*) {});
    device.fill(part, poison_seed + transfer.to.index());
  }
}

std::string RowMemory::difference(MeasurableDevice& device, const Trial& trial) const {
  // Locations are checked before the bytes, because reading the bytes may move their pages.
  if (std::string text = misplaced(device, trial); !text.empty()) return text;
  for (const auto& transfer : trial.transfers) {
    const std::uint64_t wrong = device.mismatches(memories_[transfer.to.index()], Bytes{0}, transfer.length,
                                                  source_seed + transfer.from.index(), Bytes{0});
    if (wrong > 0)
      return fmt::format(
          "{} of {} bytes in the {} are not what was sent: the time is not used; run it again, and if "
          "it stays, examine the node's memory and link",
          wrong, transfer.length.count, trial.schedule.buffers[transfer.to.index()].name);
  }
  for (const BufferId kept : trial.kept) {
    const Memory& memory = memories_[kept.index()];
    const Buffer& buffer = trial.schedule.buffers[kept.index()];
    const std::uint64_t wrong = device.mismatches(memory, Bytes{0}, buffer.size, source_seed + kept.index(), Bytes{0});
    if (wrong > 0)
      return fmt::format("{} of {} bytes of {} have changed: the time is not used", wrong, buffer.size.count,
                         buffer.name);
  }
  return "";
}

std::string RowMemory::misplaced(const MeasurableDevice& device, const Trial& trial) const {
  for (const auto& [managed, to] : trial.moved) {
    const Buffer& buffer = trial.schedule.buffers[managed.index()];
    const Memory& whole = memories_[managed.index()];
    const Memory part(whole.data(), buffer.size, whole.place(), whole.kind(), [](std::byte*) {});
    const auto share = device.fraction_on_host(part);
    if (!share || *share == (to.is_host() ? 1 : 0)) continue;
    return fmt::format(
        "{:.1f} % of the pages of {} are on the host after they were to move to {}: the time is not used", *share * 100,
        buffer.name, to_string(to));
  }
  return "";
}

void RowMemory::require_placed(const MeasurableDevice& device, const Memory& memory, const std::string& name) {
  // The driver chooses the NUMA node of managed memory.
  if (!memory.place().is_host() || memory.kind() == MemoryKind::managed) return;
  const auto nodes = device.numa_nodes(memory);
  if (!nodes) placement_known_ = false;
  if (!nodes || memory.place() == Place::host() || *nodes == std::vector<unsigned>{memory.place().index}) return;
  throw Error(fmt::format(
      "the pages of {} lie on NUMA node {} instead of {}: free memory on that node, or let this process use it "
      "(numactl, the container's cpuset)",
      name, fmt::join(*nodes, ", "), memory.place().index));
}

}  // namespace shiplap

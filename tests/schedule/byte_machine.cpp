#include "tests/schedule/byte_machine.hpp"

#include <algorithm>
#include <utility>

namespace shiplap::testing_orders {
namespace {

// The finaliser of splitmix64 over both values.
std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  std::uint64_t z = (a ^ (b * 0xD1342543DE82EF95u)) + 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

std::uint8_t byte_of_kernel(std::uint64_t digest, std::size_t operand, std::uint64_t at) {
  return static_cast<std::uint8_t>(mixed(digest, operand * 1'000'003 + at));
}

void append(std::vector<Cell>& cells, Cell first, std::uint64_t count) {
  for (std::uint64_t k = 0; k < count; ++k) cells.push_back(first + k);
}

OpId first_in_batch(const Schedule& schedule, OpId op) {
  while (schedule.ops[op.index()].batched) --op.value;
  return op;
}

// Adds the op and all ops of its batch.
void add_batch(const Schedule& schedule, OpId op, std::vector<OpId>& to) {
  OpId one = first_in_batch(schedule, op);
  do {
    to.push_back(one);
    ++one.value;
  } while (one.index() < schedule.ops.size() && schedule.ops[one.index()].batched);
}

}  // namespace

CellMap::CellMap(const Schedule& schedule, const Indices& indices) {
  Cell next = 0;
  for (const Buffer& buffer : schedule.buffers) {
    first_of_buffer_.push_back(next);
    next += buffer.size.count;
  }
  first_of_buffer_.push_back(next);
  const auto add = [&](std::vector<Cell>& cells, const Region& r) {
    append(cells, first_of(r.buffer) + r.offset.count, r.length.count);
  };
  for (const Op& op : schedule.ops) {
    Footprint& cells = footprints_.emplace_back();
    if (const auto* copy = std::get_if<Copy>(&op.what)) {
      add(cells.read, copy->from);
      add(cells.written, copy->to);
    } else if (const auto* host = std::get_if<HostCopy>(&op.what)) {
      add(cells.read, host->from);
      add(cells.written, host->to);
    } else if (const auto* prefetch = std::get_if<Prefetch>(&op.what)) {
      add(cells.written, prefetch->region);
      cells.read = cells.written;
    } else if (const auto* call = std::get_if<HostCall>(&op.what)) {
      if (call->kind != HostCall::Kind::create_stream && call->kind != HostCall::Kind::destroy_stream &&
          call->kind != HostCall::Kind::wait)
        add(cells.written, call->region);
      cells.read = cells.written;
    } else if (const auto* kernel = std::get_if<Kernel>(&op.what)) {
      for (const Access& operand : kernel->operands) {
        add(cells.read, operand.region);
        if (operand.mode == AccessMode::write) add(cells.written, operand.region);
      }
    } else if (const auto* blocks = std::get_if<BlockCopy>(&op.what)) {
      const BlockList& list = schedule.lists[blocks->list.index()];
      const std::vector<std::uint32_t>& named = indices[blocks->list.index()];
      std::vector<Cell>& in_pool = blocks->gather ? cells.read : cells.written;
      for (std::uint64_t k = blocks->first; k < blocks->first + blocks->count; ++k)
        append(in_pool,
               first_of(blocks->pool.buffer) + blocks->pool.offset.count +
                   (list.regular ? k : named[k]) * list.pitch.count,
               list.block.count);
      add(blocks->gather ? cells.written : cells.read, blocks->packed);
    }
    written_.push_back(set_of(cells.written));
    accessed_.push_back(set_of(cells.read));
    for (std::size_t w = 0; w < written_.back().size(); ++w) accessed_.back()[w] |= written_.back()[w];
  }
}

CellMap::CellSet CellMap::set_of(const std::vector<Cell>& cells) const {
  constexpr std::size_t bits = 64;
  CellSet set(size() / bits + 1);
  for (const Cell cell : cells) set[cell / bits] |= std::uint64_t{1} << cell % bits;
  return set;
}

bool CellMap::conflict(OpId one, OpId other) const {
  for (std::size_t w = 0; w < written_[one.index()].size(); ++w)
    if ((written_[one.index()][w] & accessed_[other.index()][w]) != 0 ||
        (accessed_[one.index()][w] & written_[other.index()][w]) != 0)
      return true;
  return false;
}

std::vector<std::vector<OpId>> direct_predecessors(const Schedule& schedule) {
  std::vector<std::vector<OpId>> before(schedule.ops.size());
  for (std::uint32_t i = 0; i < schedule.ops.size(); ++i) {
    const Op& op = schedule.ops[i];
    if (op.batched) {
      before[i] = before[i - 1];
      continue;
    }
    for (const OpId dependency : op.after) add_batch(schedule, dependency, before[i]);
    for (std::uint32_t k = i; k > 0; --k) {
      const Op& other = schedule.ops[k - 1];
      const bool behind =
          op.stream.is_none() ? other.stream.is_none() && other.agent == op.agent : other.stream == op.stream;
      if (!behind) continue;
      add_batch(schedule, OpId{k - 1}, before[i]);
      break;
    }
  }
  return before;
}

std::vector<std::vector<bool>> all_predecessors(const std::vector<std::vector<OpId>>& direct) {
  std::vector<std::vector<bool>> all(direct.size(), std::vector<bool>(direct.size(), false));
  for (std::size_t i = 0; i < direct.size(); ++i)
    for (const OpId before : direct[i]) {
      all[i][before.index()] = true;
      for (std::size_t k = 0; k < i; ++k)
        if (all[before.index()][k]) all[i][k] = true;
    }
  return all;
}

ByteMachine::ByteMachine(const Schedule& schedule, const CellMap& map,
                         const std::vector<std::vector<OpId>>& direct_predecessors)
    : schedule_(schedule),
      map_(map),
      predecessors_(direct_predecessors),
      done_(schedule.ops.size()),
      started_(schedule.ops.size()),
      digests_(schedule.ops.size()) {
  for (std::size_t b = 0; b < schedule.buffers.size(); ++b)
    for (std::uint64_t at = 0; at < schedule.buffers[b].size.count; ++at) {
      outcome_.bytes.push_back(initial_byte(b, at));
      outcome_.tags.push_back(mixed(b, at));
    }
  outcome_.seen.resize(schedule.ops.size());
  for (std::uint32_t i = 0; i < schedule.ops.size(); ++i) {
    const Footprint& cells = map.of(OpId{i});
    // A kernel reads all of its operands before it writes. Any other op reads and writes a byte in one step.
    const bool kernel = std::holds_alternative<Kernel>(schedule.ops[i].what);
    steps_.push_back(kernel ? cells.read.size() + cells.written.size() : cells.written.size());
  }
}

bool ByteMachine::may_start(OpId op) const {
  return std::ranges::all_of(predecessors_[op.index()], [&](OpId before) { return has_ended(before); });
}

void ByteMachine::read(OpId op, Cell cell) {
  std::uint64_t& seen = outcome_.seen[op.index()];
  seen = mixed(seen, outcome_.tags[cell]);
}

void ByteMachine::step(OpId op) {
  const std::size_t i = op.index();
  const std::size_t k = done_[i]++;
  if (const auto* kernel = std::get_if<Kernel>(&schedule_.ops[i].what)) return step_of_kernel(op, *kernel, k);
  const Footprint& cells = map_.of(op);
  read(op, cells.read[k]);
  outcome_.tags[cells.written[k]] = mixed(outcome_.tags[cells.read[k]], i + 1);
  outcome_.bytes[cells.written[k]] = outcome_.bytes[cells.read[k]];
}

void ByteMachine::step_of_kernel(OpId op, const Kernel& kernel, std::size_t k) {
  const Footprint& cells = map_.of(op);
  std::uint64_t& digest = digests_[op.index()];
  if (k < cells.read.size()) {
    read(op, cells.read[k]);
    digest = mixed(digest, outcome_.bytes[cells.read[k]]);
    return;
  }
  std::size_t at = k - cells.read.size();
  const Cell cell = cells.written[at];
  outcome_.tags[cell] = mixed(outcome_.seen[op.index()], mixed(op.value, at));
  for (std::size_t operand = 0; operand < kernel.operands.size(); ++operand) {
    if (kernel.operands[operand].mode != AccessMode::write) continue;
    const std::uint64_t length = kernel.operands[operand].region.length.count;
    if (at < length) {
      outcome_.bytes[cell] = byte_of_kernel(digest, operand, at);
      return;
    }
    at -= length;
  }
}

void ByteMachine::advance(OpId op, std::size_t steps) {
  started_[op.index()] = true;
  for (std::size_t k = 0; k < steps && !has_ended(op); ++k) step(op);
}

std::size_t ByteMachine::some_steps(OpId op, std::mt19937_64& random) const {
  constexpr std::size_t few = 4;
  return random() % 2 == 0 ? steps(op) : random() % few;
}

void ByteMachine::perform(OpId op) { advance(op, steps(op)); }

void ByteMachine::perform_rest() {
  for (std::uint32_t i = 0; i < schedule_.ops.size(); ++i)
    if (!has_ended(OpId{i})) perform(OpId{i});
}

bool ByteMachine::perform_all(std::mt19937_64& random) {
  const auto n = static_cast<std::uint32_t>(schedule_.ops.size());
  std::vector<OpId> able;
  std::vector<OpId> waiting;
  for (std::uint32_t i = 0; i < n; ++i) waiting.push_back(OpId{i});
  const auto admit = [&] {
    std::erase_if(waiting, [&](OpId op) {
      if (!may_start(op)) return false;
      able.push_back(op);
      return true;
    });
  };
  for (admit(); !able.empty();) {
    const std::size_t one = random() % able.size();
    const OpId op = able[one];
    advance(op, some_steps(op, random));
    if (!has_ended(op)) continue;
    able.erase(able.begin() + static_cast<std::ptrdiff_t>(one));
    admit();
  }
  return waiting.empty();
}

std::uint8_t initial_byte(std::size_t buffer, std::uint64_t offset) {
  return static_cast<std::uint8_t>(mixed(buffer, offset) >> 8);
}

KernelFunction machine_kernel(const Schedule& schedule) {
  std::vector<std::vector<AccessMode>> modes;
  for (const Op& op : schedule.ops) {
    modes.emplace_back();
    if (const auto* kernel = std::get_if<Kernel>(&op.what))
      for (const Access& operand : kernel->operands) modes.back().push_back(operand.mode);
  }
  return [modes = std::move(modes)](const Launch& launch) {
    std::uint64_t digest = 0;
    for (std::size_t o = 0; o < launch.operands.size(); ++o)
      for (std::uint64_t at = 0; at < launch.lengths[o].count; ++at)
        digest = mixed(digest, static_cast<std::uint8_t>(launch.operands[o][at]));
    for (std::size_t o = 0; o < launch.operands.size(); ++o)
      for (std::uint64_t at = 0; at < launch.lengths[o].count; ++at)
        if (modes[launch.first_item][o] == AccessMode::write)
          launch.operands[o][at] = std::byte{byte_of_kernel(digest, o, at)};
  };
}

Swap swap_ops(const Schedule& schedule, const CellMap& map, OpId earlier, OpId later) {
  const auto direct = direct_predecessors(schedule);
  const auto before = all_predecessors(direct);
  if (before[later.index()][earlier.index()]) return {};
  ByteMachine in_order(schedule, map, direct);
  ByteMachine swapped(schedule, map, direct);
  for (std::uint32_t i = 0; i < schedule.ops.size(); ++i)
    if (before[later.index()][i] || before[earlier.index()][i])
      for (ByteMachine* machine : {&in_order, &swapped}) machine->perform(OpId{i});
  in_order.perform(earlier);
  in_order.perform(later);
  swapped.perform(later);
  swapped.perform(earlier);
  Swap result{.is_legal = true, .differs = in_order.outcome() != swapped.outcome()};
  for (ByteMachine* machine : {&in_order, &swapped}) machine->perform_rest();
  result.bytes_differ = in_order.outcome().bytes != swapped.outcome().bytes;
  return result;
}

}  // namespace shiplap::testing_orders

#include "shiplap/emit/op_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "shiplap/core/error.hpp"
#include "shiplap/workload/launches.hpp"
#include "shiplap/workload/program_text.hpp"

namespace shiplap {

OpText::OpText(const Job& job, const Schedule& schedule, const Structure& structure, const Names& names,
               const std::string& launch)
    : job_(job),
      schedule_(schedule),
      s_(structure),
      names_(names),
      launch_(launch),
      say_(series_of_kernels(&Kernel::first_item), series_of_kernels(&Kernel::items),
           static_cast<std::int64_t>(job.items), structure.keys, keys_name()) {}

// A member of the first kernel of each key.
Series OpText::series_of_kernels(std::uint64_t Kernel::*member) const {
  Series found(s_.keys);
  for (std::size_t i = 0; i < schedule_.ops.size(); ++i)
    if (const auto* kernel = std::get_if<Kernel>(&schedule_.ops[i].what); kernel != nullptr && !found[s_.key[i]])
      found[s_.key[i]] = static_cast<std::int64_t>(kernel->*member);
  return found;
}

// `number` of each op of the slot.
Series OpText::series(std::size_t slot, const auto& number) const {
  Series out(s_.keys);
  for (std::size_t k = 0; k < s_.keys; ++k)
    if (const OpId id = s_.slots[slot].ops[k]; !id.is_none())
      out[k] = static_cast<std::int64_t>(number(schedule_.ops[id.index()]));
  return out;
}

const Op& OpText::first_op(std::size_t slot) const {
  const auto first = std::ranges::find_if(s_.slots[slot].ops, [](OpId id) { return !id.is_none(); });
  return schedule_.ops[first->index()];
}

Expressions::Names OpText::region_names(BufferId buffer, const char* constant) const {
  const std::size_t b = buffer.index();
  const auto owner = names_.array[b];
  Expressions::Names names{.constant = fmt::format("{}_{}", constant, names_.buffer[b]),
                           .per_item = "item_" + names_.buffer[b],
                           .stride = "stride_" + names_.buffer[b]};
  if (owner) {
    const Array& array = job_.arrays[*owner];
    names.per_item = "item_" + names_.bare(*owner);
    if (array.size.count % job_.items == 0) names.factor = static_cast<std::int64_t>(array.size.count / job_.items);
  }
  // Rings on the GPU and on the host may have different lengths.
  const bool is_array = b < job_.arrays.size();
  names.by_key = !is_array;
  if (!is_array && schedule_.buffers[b].place.is_host()) names.places = "places";
  return names;
}

// Address of the region that `region` selects in an op of the slot, as in "gpu_x + c % ring * stride_gpu_x".
std::string OpText::address(std::size_t slot, const auto& region, const std::string& key) {
  const BufferId buffer = region(first_op(slot)).buffer;
  const Series offsets = series(slot, [&](const Op& o) { return region(o).offset.count; });
  return names_.buffer[buffer.index()] + say_.offset(offsets, region_names(buffer, "offset"), key);
}

std::string OpText::length(std::size_t slot, const auto& region, const std::string& key) {
  const BufferId buffer = region(first_op(slot)).buffer;
  const Series lengths = series(slot, [&](const Op& o) { return region(o).length.count; });
  Expressions::Names names = region_names(buffer, "length");
  names.by_key = false;
  const auto owner = names_.array[buffer.index()];
  const auto is_all_of_it = [&](const auto& value) {
    return value && owner && *value == static_cast<std::int64_t>(job_.arrays[*owner].size.count);
  };
  if (std::ranges::any_of(lengths, is_all_of_it)) names.constant = "bytes_" + names_.bare(*owner);
  return say_.value(lengths, names, key);
}

std::string OpText::stream(std::size_t slot, const std::string& key) {
  if (first_op(slot).stream.is_none()) return "";
  const StreamGroup& group = names_.groups[names_.group[first_op(slot).stream.index()]];
  if (group.count == 1) return group.name;
  const Series numbers = series(slot, [&](const Op& o) { return names_.number[o.stream.index()]; });
  const Expressions::Names names{
      .constant = "first_stream", .per_item = "", .stride = "stream_step", .places = "stream_count", .by_key = true};
  return fmt::format("{}[{}]", group.name, say_.value(numbers, names, key));
}

std::string OpText::blocks(std::size_t slot, const std::string& key) {
  const Series numbers = series(slot, [](const Op& o) { return std::get<Kernel>(o.what).blocks; });
  const auto first = *std::ranges::find_if(numbers, [](const auto& b) { return b.has_value(); });
  const bool level = std::ranges::all_of(numbers, [&](const auto& b) { return !b || *b == *first; });
  const bool as_needed = std::ranges::all_of(s_.slots[slot].ops, [&](OpId id) {
    if (id.is_none()) return true;
    const auto& kernel = std::get<Kernel>(schedule_.ops[id.index()].what);
    return kernel.blocks == blocks_of(job_, kernel.items);
  });
  if (key.empty() || level || !as_needed)
    return say_.value(numbers, {.constant = "blocks", .per_item = "blocks_per_item", .stride = "blocks_step"}, key);
  std::string text = "items";
  if (job_.items_per_block > 1)
    text = fmt::format("(items + {0} - 1) / {0}",
                       say_.constant("items_per_block", static_cast<std::int64_t>(job_.items_per_block)));
  if (job_.blocks_per_item_group > 1)
    text += " * " + say_.constant("blocks_per_item_group", static_cast<std::int64_t>(job_.blocks_per_item_group));
  return text;
}

std::string OpText::launch(std::size_t slot, const std::string& key) {
  std::vector<std::pair<std::string, std::string>> values{{"stream", stream(slot, key)}};
  // Only placeholders in the text are evaluated, because others would define unused constants.
  const auto fill = [&](const std::string& name, const auto& value) {
    if (launch_.find("{" + name + "}") != std::string::npos) values.emplace_back(name, value());
  };
  const auto& operands = std::get<Kernel>(first_op(slot).what).operands;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const auto region = [i](const Op& o) { return std::get<Kernel>(o.what).operands[i].region; };
    fill(std::to_string(i), [&] { return address(slot, region, key); });
    fill(fmt::format("length{}", i), [&] { return length(slot, region, key); });
  }
  const auto number = [&](std::uint64_t Kernel::*member, const char* name) {
    return say_.value(series(slot, [&](const Op& o) { return std::get<Kernel>(o.what).*member; }),
                      {.constant = name, .per_item = "", .factor = 1, .stride = ""}, key);
  };
  fill("items", [&] { return number(&Kernel::items, "items"); });
  fill("first", [&] { return number(&Kernel::first_item, "first_item"); });
  fill("blocks", [&] { return blocks(slot, key); });
  return filled(launch_, values) + ";\ncheck(cudaGetLastError());\n";
}

std::string OpText::copy(std::size_t slot, const std::string& key) {
  const auto to = [](const Op& o) { return std::get<Copy>(o.what).to; };
  const auto from = [](const Op& o) { return std::get<Copy>(o.what).from; };
  const CopyDirection way = direction(schedule_, std::get<Copy>(first_op(slot).what));
  if (is_batched(slot))
    return fmt::format("together.add({}, {}, {});\n", address(slot, to, key), address(slot, from, key),
                       way == CopyDirection::device_to_host ? length(slot, to, key) : length(slot, from, key));
  return fmt::format("check(cudaMemcpyAsync({}, {}, {}, cudaMemcpy{}, {}));\n", address(slot, to, key),
                     address(slot, from, key),
                     way == CopyDirection::device_to_host ? length(slot, to, key) : length(slot, from, key),
                     way == CopyDirection::host_to_device   ? "HostToDevice"
                     : way == CopyDirection::device_to_host ? "DeviceToHost"
                     : way == CopyDirection::host_to_host   ? "HostToHost"
                                                            : "DeviceToDevice",
                     stream(slot, key));
}

// The call that moves the blocks, as in "move_by_batch(Way::gather, blocks_of_x(first, items, gpu_x), in_stream)".
std::string OpText::move_of_blocks(std::size_t slot, const std::string& key) {
  const auto& one = std::get<BlockCopy>(first_op(slot).what);
  const std::string array = names_.bare(one.pool.buffer.index());
  const std::uint64_t blocks = schedule_.lists[one.list.index()].count;
  const auto number = [&](std::uint64_t BlockCopy::*member, const char* constant) {
    if (key.empty() && one.*member == blocks) return "count_" + array;
    return say_.value(series(slot, [&](const Op& o) { return std::get<BlockCopy>(o.what).*member; }),
                      {.constant = fmt::format("{}_{}", constant, array),
                       .per_item = "blocks_per_item_" + array,
                       .factor = static_cast<std::int64_t>(blocks % job_.items == 0 ? blocks / job_.items : 0),
                       .stride = "blocks_per_chunk_" + array},
                      key);
  };
  const auto packed = [](const Op& o) { return std::get<BlockCopy>(o.what).packed; };
  const std::string moved = fmt::format("blocks_of_{}({}, {}, {})", array, number(&BlockCopy::first, "first_block"),
                                        number(&BlockCopy::count, "moved_blocks"), address(slot, packed, key));
  const char* way = one.gather ? "Way::gather" : "Way::scatter";
  if (first_op(slot).stream.is_none()) return fmt::format("move_by_host({}, {});\n", way, moved);
  const std::string in = stream(slot, key);
  switch (one.mover.kind) {
    case Mover::Kind::copies:
      return fmt::format("move_by_copies({}, {}, {});\n", way, moved, in);
    case Mover::Kind::batch:
      return fmt::format("move_by_batch({}, {}, {});\n", way, moved, in);
    case Mover::Kind::strided:
      return fmt::format("move_by_strided_copy({}, {}, {});\n", way, moved, in);
    case Mover::Kind::kernel:
      break;
  }
  return fmt::format("move_by_kernel<{}>({}, {}, {});\n", way, moved, one.mover.grid, in);
}

bool OpText::is_batched(std::size_t slot) const {
  return std::ranges::any_of(s_.slots[slot].ops, [&](OpId id) {
    return !id.is_none() && first_of_batch(schedule_, id) != last_of_batch(schedule_, id);
  });
}

std::string OpText::submit(std::size_t slot, const std::string& key) {
  const Op& one = first_op(slot);
  if (std::holds_alternative<Kernel>(one.what) && one.stream.is_none())
    throw Unsupported("a CUDA program: a part of the host cannot be written yet");
  if (std::holds_alternative<Kernel>(one.what)) return launch(slot, key);
  if (std::holds_alternative<Copy>(one.what)) return copy(slot, key);
  if (std::holds_alternative<HostCopy>(one.what)) {
    const auto to = [](const Op& o) { return std::get<HostCopy>(o.what).to; };
    const auto from = [](const Op& o) { return std::get<HostCopy>(o.what).from; };
    const bool past_caches = schedule_.buffers[to(one).buffer.index()].memory == MemoryKind::pageable;
    return fmt::format("{}({}, {}, {});\n", past_caches ? "copy_past_caches" : "std::memcpy", address(slot, to, key),
                       address(slot, from, key), length(slot, from, key));
  }
  if (const auto* prefetch = std::get_if<Prefetch>(&one.what)) {
    const auto region = [](const Op& o) { return std::get<Prefetch>(o.what).region; };
    return fmt::format("prefetch({}, {}, {}, {});\n", address(slot, region, key), length(slot, region, key),
                       prefetch->to.is_gpu() ? "0" : "cudaCpuDeviceId", stream(slot, key));
  }
  if (std::holds_alternative<BlockCopy>(one.what)) return move_of_blocks(slot, key);
  if (std::get<HostCall>(one.what).kind != HostCall::Kind::touch)
    throw Unsupported(
        fmt::format("a CUDA program: {} cannot be written yet", to_string(std::get<HostCall>(one.what).kind)));
  const auto region = [](const Op& o) { return std::get<HostCall>(o.what).region; };
  return fmt::format("touch({}, {});\n", address(slot, region, key), length(slot, region, key));
}

}  // namespace shiplap

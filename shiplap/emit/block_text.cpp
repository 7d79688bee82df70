#include "shiplap/emit/block_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "shiplap/core/error.hpp"
#include "shiplap/emit/block_snippets.hpp"
#include "shiplap/emit/expressions.hpp"

namespace shiplap {
namespace {

std::uint64_t blocks_of_pool(const ListedArray& listed) {
  return blocks_of_pool(Bytes{listed.pool}, listed.list.block, listed.list.pitch);
}

bool any_move(const Schedule& schedule, const auto& is_meant) {
  return std::ranges::any_of(schedule.ops, [&](const Op& op) {
    const auto* blocks = std::get_if<BlockCopy>(&op.what);
    return blocks != nullptr && is_meant(op, *blocks);
  });
}

bool has_indices(const Schedule& schedule) {
  return any_move(schedule, [&](const Op&, const BlockCopy& b) { return !schedule.lists[b.list.index()].regular; });
}

// The blocks of all positions of the list, with contiguous memory on the host.
std::string all_blocks(const std::string& name) {
  return fmt::format("blocks_of_{0}(0, count_{0}, contiguous(bytes_{0}))", name);
}

std::string sizes(const ListedArray& listed, const std::string& name, const std::string& users) {
  std::string out;
  const auto constant = [&](const std::string& of, std::uint64_t value, const char* meaning) {
    if (mentions(users, of + name))
      out += fmt::format("constexpr std::uint64_t {}{} = {};  // {}\n", of, name, value, meaning);
  };
  constant("pool_", listed.pool, "bytes of the pool");
  constant("blocks_in_pool_", blocks_of_pool(listed), "blocks of the pool");
  constant("block_", listed.list.block.count, "bytes of a block");
  constant("pitch_", listed.list.pitch.count, "bytes from the start of a block of the pool to that of the next");
  constant("count_", listed.list.count, "blocks of the list");
  return out;
}

std::string blocks_function(const ListedArray& listed, const Names& names, const std::string& name) {
  return fmt::format(
      "// Blocks of {0} from position `first` of the list on, and their contiguous memory.\n"
      "Blocks blocks_of_{0}(std::uint64_t first, std::uint64_t count, char* packed) {{\n"
      "  return {{{1}, packed, {2}, first, count, block_{0}, pitch_{0}}};\n"
      "}}\n",
      name, names.buffer[listed.array], listed.list.regular ? "nullptr" : "&indices_" + name + "[first]");
}

std::string check_function(const std::vector<ListedArray>& all, const Names& names) {
  std::string body;
  for (const ListedArray& listed : all) {
    if (listed.list.regular) continue;
    const std::string name = names.bare(listed.array);
    body += fmt::format("  require_within(\"{0}\", indices_{0}, count_{0}, blocks_in_pool_{0});\n", name);
    if (listed.written) body += fmt::format("  require_named_once(\"{0}\", indices_{0}, blocks_in_pool_{0});\n", name);
  }
  if (body.empty()) return "";
  return fmt::format(R"(
// Ends the program if a list is wrong. It is called before every run, so that nothing moves then.
void check_lists() {{
{}}}
)",
                     body);
}

}  // namespace

std::vector<ListedArray> listed_arrays(const Schedule& schedule) {
  std::vector<ListedArray> found;
  for (std::uint32_t l = 0; l < schedule.lists.size(); ++l)
    for (const Op& op : schedule.ops) {
      const auto* blocks = std::get_if<BlockCopy>(&op.what);
      if (blocks == nullptr || blocks->list.value != l) continue;
      const std::size_t pool = blocks->pool.buffer.index();
      if (found.empty() || found.back().array != pool)
        found.push_back({.array = pool, .list = schedule.lists[l], .pool = schedule.buffers[pool].size.count});
      found.back().written = found.back().written || !blocks->gather;
    }
  return found;
}

std::string block_helpers(const Schedule& schedule, bool verified) {
  if (listed_arrays(schedule).empty()) return "";
  const auto moves_by = [&](Mover::Kind kind) {
    return any_move(schedule,
                    [&](const Op& op, const BlockCopy& b) { return !op.stream.is_none() && b.mover.kind == kind; });
  };
  std::string out = "\n" + kernel_text({"moved_blocks"});
  if (moves_by(Mover::Kind::copies)) out += snippets::move_by_copies;
  if (moves_by(Mover::Kind::batch)) out += snippets::move_by_batch;
  if (moves_by(Mover::Kind::strided)) out += snippets::move_by_strided_copy;
  if (moves_by(Mover::Kind::kernel)) {
    out += "\n" + kernel_text({"move_words"});
    out += snippets::move_by_kernel;
  }
  if (verified || any_move(schedule, [](const Op& op, const BlockCopy&) { return op.stream.is_none(); }))
    out += snippets::move_by_host;
  if (has_indices(schedule)) out += snippets::require_within;
  if (std::ranges::any_of(listed_arrays(schedule), [](const ListedArray& l) { return l.written && !l.list.regular; }))
    out += snippets::require_named_once;
  return out;
}

std::string list_declarations(const Schedule& schedule, const Names& names, const std::string& users) {
  const std::vector<ListedArray> all = listed_arrays(schedule);
  const std::string check = check_function(all, names);
  std::string out;
  for (const ListedArray& listed : all) {
    const std::string name = names.bare(listed.array);
    const std::string blocks = blocks_function(listed, names, name);
    const std::string indices =
        listed.list.regular ? "" : fmt::format("std::vector<std::uint32_t> indices_{0}(count_{0});\n", name);
    out += "\n" + sizes(listed, name, users + check + blocks + indices) + indices + blocks;
  }
  return out + check;
}

std::string list_check(const Schedule& schedule) { return has_indices(schedule) ? "  check_lists();\n" : ""; }

std::string list_data_functions(const Schedule& schedule, bool verified) {
  if (listed_arrays(schedule).empty()) return "";
  return (has_indices(schedule) ? std::string(snippets::name_blocks) : "") +
         (verified ? std::string(snippets::block_data) : "");
}

std::string new_list(const ListedArray& listed, const Names& names) {
  if (listed.list.regular) return "";
  return fmt::format("  name_blocks(indices_{0}, blocks_in_pool_{0});\n", names.bare(listed.array));
}

std::string fill_pool(const ListedArray& listed, const Names& names, const ProgramText::Array& text) {
  if (!listed.list.regular && listed.list.count > blocks_of_pool(listed))
    throw Unsupported(
        fmt::format("a CUDA program: list {} has {} blocks and its pool {}, so blocks repeat and the program could not "
                    "verify them; use a larger pool",
                    listed.list.name, listed.list.count, blocks_of_pool(listed)));
  const std::string name = names.bare(listed.array);
  return fmt::format("  fill_blocks({}, pool_{}, {});\n", all_blocks(name), name, text.initial);
}

std::string pool_holds(const ListedArray& listed, const Names& names, const ProgramText::Array& text) {
  const std::string name = names.bare(listed.array);
  return fmt::format("blocks_hold(\"{0}\", {1}, pool_{0}, {2}{3}{4})", name, all_blocks(name), text.expected,
                     text.tolerance.empty() ? "" : ", ", text.tolerance);
}

}  // namespace shiplap

#include "shiplap/measure/primitives.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <array>

#include "shiplap/core/error.hpp"
#include "shiplap/core/spelling.hpp"
#include "shiplap/measure/rows.hpp"

namespace shiplap {
namespace {

std::vector<const PrimitiveRow*> named_rows(const std::vector<std::string>& names) {
  std::vector<const PrimitiveRow*> selected;
  for (const std::string& name : names) {
    const auto table = primitive_rows();
    const auto row = std::ranges::find(table, name, [](const PrimitiveRow& r) { return r.primitive.name; });
    if (row == table.end()) throw UsageError(fmt::format("there is no primitive {}", name));
    selected.push_back(&*row);
  }
  return selected;
}

/// The rows that answer questions of their own: the memory, the order of accesses, clocks, graphs.
constexpr std::array on_request{
    "copy.pinned.*.flushed", "mapped.*.flushed", "mapped.*.strided", "mapped.*.random", "managed.*", "demand.h2d.*",
    "copy.write_combined.*", "spread.*",         "host.copy.both",   "timing.*",        "graph.*",   "blocks.graph.*"};
bool is_on_request(const std::string& name) {
  return std::ranges::any_of(on_request, [&](const char* glob) { return fnmatch(glob, name.c_str(), 0) == 0; });
}

std::vector<const PrimitiveRow*> matching_rows(const std::string& only) {
  std::vector<const PrimitiveRow*> selected;
  std::vector<std::string> names;
  std::vector<std::string> beginning_alike;
  for (const PrimitiveRow& row : primitive_rows()) {
    names.push_back(row.primitive.name);
    if (row.primitive.name.starts_with(only + ".")) beginning_alike.push_back(row.primitive.name);
    if (fnmatch(only.c_str(), row.primitive.name.c_str(), 0) == 0) selected.push_back(&row);
  }
  if (selected.empty())
    throw UsageError(
        fmt::format("no primitive matches '{}'; {}`shiplap measure --list --all` has all names", only,
                    beginning_alike.empty() ? did_you_mean(only, names) : fmt::format("did you mean '{}.*'? ", only)));
  return selected;
}

}  // namespace

// Both visits of all rows should take at most 90 s (15 s for a quick measurement). They took 91 s, and 17 s, on one
// H100 (results/h100/blocks/times.txt).
std::span<const PrimitiveRow> primitive_rows() {
  static const std::vector<PrimitiveRow> table = [] {
    std::vector<PrimitiveRow> all;
    for (const std::vector<PrimitiveRow>& rows :
         {link_rows(), memory_kind_rows(), managed_rows(), host_rows(), call_rows(), numa_rows(), peer_rows(),
          launch_rows(), submission_rows(), zero_copy_rows(), kernel_rows(), block_rows(), beside_rows()})
      all.insert(all.end(), rows.begin(), rows.end());
    for (PrimitiveRow& row : all) row.primitive.on_request = is_on_request(row.primitive.name);
    return all;
  }();
  return table;
}

std::span<const Primitive> primitives() {
  static const std::vector<Primitive> table = [] {
    std::vector<Primitive> result;
    for (const PrimitiveRow& row : primitive_rows()) result.push_back(row.primitive);
    return result;
  }();
  return table;
}

std::vector<const PrimitiveRow*> selected_rows(const MeasureOptions& options) {
  if (!options.rows.empty()) return named_rows(options.rows);
  std::vector<const PrimitiveRow*> selected = matching_rows(options.only);
  if (options.only == "*" && options.effort != Effort::full)
    std::erase_if(selected, [](const PrimitiveRow* row) { return row->primitive.on_request; });
  return selected;
}

}  // namespace shiplap

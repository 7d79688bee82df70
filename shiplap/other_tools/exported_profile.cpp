#include "shiplap/other_tools/exported_profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "shiplap/core/error.hpp"

namespace shiplap {
namespace {

constexpr Bytes smallest = 4_KiB;
constexpr Bytes largest_exported = 1_GiB;

double gigabytes_per_second_of(const DirectionModel& direction) {
  return bandwidth(direction.per_byte.value).bytes_per_second * 1e-9;
}

Seconds latency_of(const LinkModel& link, Bytes size) {
  return std::max(cost_at(link.h2d, size).latency_overhead, cost_at(link.d2h, size).latency_overhead);
}

std::string csv(const Profile& profile, const LinkModel& link) {
  std::string text = "direction,memory,bytes,seconds,bytes_per_second,origin,profile_hash\n";
  const std::string from = fmt::format("{},{}", to_string(profile.origin), parameter_hash(profile));
  const auto add = [&](const char* way, const char* memory, Bytes size, Seconds time) {
    text += fmt::format("{},{},{},{:.6g},{:.6g},{}\n", way, memory, size.count, time.count(),
                        in_bytes(size) / time.count(), from);
  };
  for (const auto& [way, direction] : {std::pair("h2d", &link.h2d), std::pair("d2h", &link.d2h)})
    for (Bytes size = smallest; size <= largest_exported; size = size * 4)
      add(way, "pinned", size, cost_at(*direction, size).latency_overhead + size * direction->per_byte.value);
  if (!link.pageable) return text;
  for (const auto& [way, rows] : {std::pair("h2d", &link.pageable->h2d), std::pair("d2h", &link.pageable->d2h)})
    for (const TimeAt& row : *rows) add(way, "pageable", row.size, row.time.value);
  return text;
}

/// What the figures are, as a comment that YAML and shells know.
std::string origin_of(const Profile& profile) {
  return fmt::format("# Copies of pinned memory, profile {} ({}, {}).\n", profile.name, to_string(profile.origin),
                     parameter_hash(profile));
}

std::string aisimulate(const Profile& profile, const LinkModel& link) {
  return origin_of(profile) + fmt::format(
                                  "# For engine.workers.<role>.kv_cache; num_host_blocks is yours to state.\n"
                                  "host_offload:\n  d2h_bandwidth_gbps: {:.4g}\n  h2d_bandwidth_gbps: {:.4g}\n  "
                                  "latency_to_first_byte_ms: {:.4g}\n",
                                  gigabytes_per_second_of(link.d2h), gigabytes_per_second_of(link.h2d),
                                  latency_of(link, largest_exported).count() * 1e3);
}

std::string inference_sim(const Profile& profile, const LinkModel& link, const CacheBlock& block) {
  const auto time_of_block = [&](const DirectionModel& direction) {
    return cost_at(direction, block.size).gap + block.size * direction.per_byte.value;
  };
  const Seconds slower = std::max(time_of_block(link.h2d), time_of_block(link.d2h));
  return origin_of(profile) +
         fmt::format("# Blocks of {} and {} tokens, each a copy of its own. The rate is in tokens a tick of 1 us.\n",
                     to_string(block.size), block.tokens) +
         fmt::format("--kv-transfer-bandwidth {:.4g} --kv-transfer-base-latency {:.0f}\n",
                     static_cast<double>(block.tokens) * 1e-6 / slower.count(),
                     std::ceil(latency_of(link, block.size).count() * 1e6));
}

}  // namespace

EnumNames<ExportForm> names_of(ExportForm) {
  static constexpr std::array names{std::pair{ExportForm::csv, std::string_view("csv")},
                                    std::pair{ExportForm::aisimulate, std::string_view("aisimulate")},
                                    std::pair{ExportForm::inference_sim, std::string_view("inference-sim")}};
  return names;
}

std::string exported_profile(const Profile& profile, ExportForm form, std::optional<CacheBlock> block) {
  const LinkModel& link = profile.link(0);
  const bool needs_block = form == ExportForm::inference_sim;
  if (needs_block != block.has_value() || (block && (block->size == 0_B || block->tokens == 0)))
    throw UsageError(needs_block ? "`block`: inference-sim moves blocks of tokens; state the bytes of one, as in 2MiB"
                                 : "`block`: only inference-sim counts blocks; leave it out");
  switch (form) {
    case ExportForm::csv:
      return csv(profile, link);
    case ExportForm::aisimulate:
      return aisimulate(profile, link);
    case ExportForm::inference_sim:
      return inference_sim(profile, link, *block);
  }
  return {};
}

}  // namespace shiplap

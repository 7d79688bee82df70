#include "shiplap/strategy/paper_parameters.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "shiplap/strategy/chunk_kernel.hpp"
#include "shiplap/workload/array_place.hpp"
#include "shiplap/workload/launches.hpp"
#include "shiplap/workload/workload.hpp"

namespace shiplap {
namespace {

using van_werkhoven_2014::Category;
using van_werkhoven_2014::UnderLoad;
using van_werkhoven_2014::Work;

/// The arrays that each run copies whole, on their own.
std::vector<const Array*> copied_once(const Job& job, bool back) {
  std::vector<const Array*> arrays;
  for (const Array& array : job.arrays)
    if (is_copied_whole(array) && (back ? array.role == Role::carried && leaves(array) : arrives(array)))
      arrays.push_back(&array);
  return arrays;
}

Bytes bytes_of(const std::vector<const Array*>& arrays) {
  Bytes sum;
  for (const Array* array : arrays) sum += array->size;
  return sum;
}

Seconds time_of_copies(const DirectionModel& direction, const std::vector<const Array*>& arrays) {
  if (arrays.empty()) return Seconds{0};
  const Bytes bytes = bytes_of(arrays);
  const CostAt cost = cost_at(direction, bytes / arrays.size());
  return van_werkhoven_2014::transfer({cost.latency_overhead, direction.per_byte.value, cost.gap}, bytes,
                                      static_cast<std::uint32_t>(arrays.size()));
}

Category category_of(const GpuModel& gpu) {
  if (gpu.implicit_sync != ImplicitSync::none) return Category::implicit_sync_one_engine;
  return gpu.copy_engines >= 2 ? Category::two_engines : Category::one_engine;
}

/// The bytes in flight of the kernel of one chunk.
double in_flight_of_chunk(const Job& job, const Choice& choice, const Profile& profile) {
  const std::uint64_t own_grid = blocks_of(job, std::max<std::uint64_t>(1, job.items / choice.chunks));
  const std::uint64_t blocks = choice.max_grid > 0 ? std::min(choice.max_grid, own_grid) : own_grid;
  return in_bytes(bytes_in_flight(job, blocks, limits_of(profile)));
}

}  // namespace

std::optional<Work> paper_parameters(const Job& job, std::uint32_t chunks, const Profile& profile, bool overlapping) {
  const LinkModel* const link = profile.find_link(0);
  if (link == nullptr || job.cost.points.empty()) return std::nullopt;
  const auto direction = [&](const DirectionModel& d, Bytes total) {
    const Bytes size = total / chunks;
    const CostAt cost = cost_at(d, size);
    van_werkhoven_2014::Direction result{cost.latency_overhead, d.per_byte.value, cost.gap};
    if (overlapping && d.duplex) {
      result.per_byte = d.duplex->per_byte.value;
      result.gap = duplex_gap_at(d, size);
    }
    return result;
  };
  const Bytes in = bytes_in(job);
  const Bytes out = bytes_out(job);
  return Work{.h2d = direction(link->h2d, in),
              .d2h = direction(link->d2h, out),
              .in = in,
              .out = out,
              .kernel = job.cost.launch_time(job.items)};
}

std::optional<Work> implicit_parameters(const Job& job, const Profile& profile) {
  auto work = paper_parameters(job, 1, profile, false);
  if (work) work->in = bytes_read(job);
  return work;
}

UnderLoad over_kernels_and_pauses(const ZeroCopyBeside& row, const loggp::Parameters& alone, Seconds kernel_gap) {
  const double bytes = in_bytes(table2_launch);
  const double running = bytes / row.kernel.value.bytes_per_second;
  const double copying = bytes / row.copy.value.bytes_per_second;
  // Where the kernel ends first, the rest of the copy moves at the rate of copies alone.
  const double rest = std::max(0.0, bytes - running * row.copy.value.bytes_per_second);
  const double copy = std::min(running, copying) + rest * alone.per_byte.seconds + alone.gap.count();
  return {{copy / bytes}, {(running + kernel_gap.count()) / bytes}};
}

bool knows_mapped_writes(const Profile& profile) {
  const LinkModel* const link = profile.find_link(0);
  return link != nullptr && link->zero_copy && !link->zero_copy->write_beside_h2d.empty();
}

std::optional<UnderLoad> explicit_mapped(const Profile& profile) {
  if (!knows_mapped_writes(profile)) return std::nullopt;
  const LinkModel& link = profile.link(0);
  const auto& kernel_gap = profile.gpus.front().kernel_gap;
  // The equations charge g for each chunk, so that G is without it.
  const loggp::Parameters alone{.latency_overhead = Seconds{0}, .per_byte = link.h2d.per_byte.value, .gap = Seconds{0}};
  return over_kernels_and_pauses(link.zero_copy->write_beside_h2d.back(), alone,
                                 kernel_gap ? kernel_gap->value : Seconds{0});
}

std::optional<Work> hybrid_parameters(const Job& job, const Choice& choice, const Profile& profile) {
  auto work = paper_parameters(job, choice.chunks, profile, false);
  if (!work) return std::nullopt;
  work->kernel = kernel_time(job, job.items, choice.max_grid);
  if (!knows_mapped_writes(profile)) return work;
  const ZeroCopyModel& rates = *profile.link(0).zero_copy;
  const double in_flight = in_flight_of_chunk(job, choice, profile);
  if (!rates.write.empty()) work->d2h.per_byte = per_byte(rate_at(rates.write, in_flight));
  return slowed_while_both_move(*work, {per_byte(copy_rate_at(rates.write_beside_h2d, in_flight)),
                                        per_byte(kernel_rate_at(rates.write_beside_h2d, in_flight))});
}

std::optional<Category> paper_category(const GpuModel& gpu, const Choice& choice) {
  const Category category = !is_emulated(choice.layout)           ? category_of(gpu)
                            : choice.layout == Layout::one_engine ? Category::one_engine
                                                                  : Category::implicit_sync_one_engine;
  if (category == Category::two_engines) return category;
  if (choice.order != IssueOrder::breadth && choice.chunks > 1) return std::nullopt;
  if (!is_emulated(choice.layout) && gpu.implicit_sync == ImplicitSync::until_started) return std::nullopt;
  return category;
}

std::vector<std::string> assumptions_of_chunks(const Choice& choice) {
  if (choice.ramp.level()) return {};
  return {"all chunks are equal"};
}

std::string all_assumptions(const Job& job, const Profile& profile, Seconds time,
                            std::vector<std::string> assumptions) {
  if (std::ranges::any_of(job.arrays, [](const Array& array) { return array.prefix_of.has_value(); }))
    assumptions.emplace_back("no part of an array must be on the GPU before the first launch");
  const auto& latency = profile.gpus.front().launch_latency;
  if (latency && time < job.cost.launch_time(job.items) + latency->low)
    assumptions.emplace_back("the kernel starts without launch latency");
  return fmt::format("{}", fmt::join(assumptions, "; "));
}

Seconds time_of_copies_once(const Job& job, const Profile& profile) {
  const LinkModel& link = profile.link(0);
  return time_of_copies(link.h2d, copied_once(job, false)) + time_of_copies(link.d2h, copied_once(job, true));
}

ClosedForm closed_form(const Job& job, const Profile& profile, Seconds time, std::vector<std::string> assumptions) {
  return {.time = time + time_of_copies_once(job, profile),
          .assumption = all_assumptions(job, profile, time, std::move(assumptions))};
}

ClosedForm closed_form_as_printed(const Job& job, const Profile& profile, Seconds time,
                                  std::vector<std::string> assumptions) {
  const auto once = copied_once(job, false);
  if (!once.empty())
    assumptions.push_back(fmt::format("no array is copied once (this job copies {} once)", to_string(bytes_of(once))));
  return {.time = time, .assumption = all_assumptions(job, profile, time, std::move(assumptions))};
}

std::optional<Seconds> cost_of_stream(const Profile& profile) {
  if (!profile.host) return std::nullopt;
  const auto call = profile.host->calls.find("create stream");
  if (call == profile.host->calls.end()) return std::nullopt;
  return time_at(call->second, 1_B);
}

}  // namespace shiplap

#include "shiplap/strategy/paper_parameters.hpp"

namespace shiplap {

std::optional<van_werkhoven_2014::Work> paper_parameters(const Job& job, std::uint32_t chunks, const Profile& profile,
                                                         bool overlapping) {
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
  return van_werkhoven_2014::Work{.h2d = direction(link->h2d, in),
                                  .d2h = direction(link->d2h, out),
                                  .in = in,
                                  .out = out,
                                  .kernel = job.cost.at(job.items)};
}

std::optional<van_werkhoven_2014::Category> paper_category(const GpuModel& gpu, const Choice& choice) {
  using van_werkhoven_2014::Category;
  if (is_emulated(choice.layout)) {
    if (choice.order != IssueOrder::breadth) return std::nullopt;
    return choice.layout == Layout::one_engine ? Category::one_engine : Category::implicit_sync_one_engine;
  }
  if (gpu.copy_engines >= 2) return Category::two_engines;
  if (gpu.implicit_sync == ImplicitSync::until_started) return std::nullopt;
  return gpu.implicit_sync == ImplicitSync::none ? Category::one_engine : Category::implicit_sync_one_engine;
}

std::optional<Seconds> cost_of_stream(const Profile& profile) {
  if (!profile.host) return std::nullopt;
  const auto call = profile.host->calls.find("create stream");
  if (call == profile.host->calls.end()) return std::nullopt;
  return time_at(call->second, 1_B);
}

}  // namespace shiplap

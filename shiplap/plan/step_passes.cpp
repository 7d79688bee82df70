#include "shiplap/plan/step_passes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "shiplap/core/error.hpp"
#include "shiplap/plan/search.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/workload/array_place.hpp"
#include "shiplap/workload/fused_job.hpp"

namespace shiplap {
namespace {

/// The most chunks that estimates assume.
constexpr std::uint64_t most_assumed_chunks = 1024;

/// Device memory of a chunk of this many items; homes are apart.
Bytes size_of_chunk(const Job& job, std::uint64_t items) {
  Bytes sum;
  for (const Array& array : job.arrays) {
    if (array.home || is_on_gpu(array)) continue;
    const std::uint64_t all = items + array.reach.before + array.reach.after;
    sum += stays(array.role) || all >= job.items ? array.size : array.size * all / job.items;
  }
  return sum;
}

/// Time of copies to the GPU and back that run at the same time: in duplex until the shorter ones have ended.
Seconds time_of_copies(const Profile& profile, const LinkModel& link, Bytes in, Bytes out) {
  const Seconds alone_in = in * link.h2d.per_byte.value;
  const Seconds alone_out = out * link.d2h.per_byte.value;
  if (profile.gpus.front().copy_engines < 2) return alone_in + alone_out;
  const auto in_duplex = [](Bytes bytes, const DirectionModel& direction, Seconds alone) {
    return direction.duplex ? std::max(alone, bytes * direction.duplex->per_byte.value) : alone;
  };
  const Seconds both_in = in_duplex(in, link.h2d, alone_in);
  const Seconds both_out = in_duplex(out, link.d2h, alone_out);
  if (both_in == Seconds{0} || both_out == Seconds{0}) return std::max(alone_in, alone_out);
  return both_in < both_out ? both_in + alone_out * (1 - both_in / both_out)
                            : both_out + alone_in * (1 - both_out / both_in);
}

}  // namespace

const PassJob& StepPasses::pass(std::size_t first, std::size_t end, const std::vector<bool>& at_home,
                                const std::vector<PartFlow>& flows, PassKey& key) {
  const std::size_t count = arrays_.arrays.size();
  key = {.first = first % step_.parts.size(), .parts = end - first};
  key.needed.resize(count);
  key.arrives.resize(count);
  key.leaves.resize(count);
  for (std::size_t a = 0; a < count; ++a) {
    key.needed[a] = flow_.is_needed(end, a);
    for (std::size_t p = first; p < end; ++p) {
      key.arrives[a] = key.arrives[a] || flows[p].arrives[a];
      key.leaves[a] = key.leaves[a] || flows[p].leaves[a];
    }
  }
  auto& known = passes_[{key, at_home}];
  if (known) return *known;
  known.emplace();
  make_pass(key, at_home, *known);
  return *known;
}

void StepPasses::make_pass(const PassKey& key, const std::vector<bool>& at_home, PassJob& result) const {
  std::vector<Job> jobs;
  for (std::size_t p = 0; p < key.parts; ++p) jobs.push_back(*flow_.job(key.first + p));
  const auto index_of = [&](const Array& array) {
    const auto known =
        std::ranges::find_if(arrays_.arrays, [&](const StepArray& one) { return is_same_array(one.array, array); });
    if (known == arrays_.arrays.end()) throw Error(fmt::format("{}: array {} is unknown", step_.name, array.name));
    return static_cast<std::size_t>(known - arrays_.arrays.begin());
  };
  try {
    Job job = fuse(jobs, [&](const Array& array) { return bool(key.needed[index_of(array)]); });
    for (Array& array : job.arrays) {
      result.arrays.push_back(array.role == Role::scratch ? std::nullopt : std::optional(index_of(array)));
      if (!result.arrays.back() || !at_home[*result.arrays.back()] || is_on_gpu(array)) continue;
      if (array.private_halo)
        throw Unsupported(fmt::format("{} has a home, and chunks would write some of its items twice", array.name));
      array.home = Home{.arrives = key.arrives[*result.arrays.back()], .leaves = key.leaves[*result.arrays.back()]};
    }
    treat_all_as_pageable_if_one_is(job);
    result.estimate = estimate(job, limits_.device_memory - std::min(limits_.device_memory, size_of_homes(at_home)));
    result.job = std::move(job);
  } catch (const Unsupported& why) {
    result.refusal = why.what();
  }
}

/// The longest of copies, kernels, and filling and draining a pipeline, for the best number of chunks.
/// Two chunks must fit in `memory`; where no number of chunks lets them, the estimate is infinite.
Seconds StepPasses::estimate(const Job& job, Bytes memory) const {
  const LinkModel* const link = profile_.find_link(0);
  if (link == nullptr || job.cost.points.empty()) return Seconds{0};
  Bytes in;
  Bytes out;
  for (const Array& array : job.arrays) {
    if (array.role == Role::scratch || array.prefix_of) continue;
    if (array.role != Role::out && arrives(array)) in += array.size;
    if (is_written(array.role) && leaves(array)) out += array.size;
  }
  const Seconds copies = time_of_copies(profile_, *link, in, out);
  Seconds least{std::numeric_limits<double>::infinity()};
  for (std::uint64_t chunks = 1; chunks <= std::min(job.items, most_assumed_chunks); chunks *= 2) {
    const std::uint64_t items = job.items / chunks;
    if (size_of_chunk(job, items) * std::min<std::uint64_t>(2, chunks) > memory) continue;
    const Seconds kernels = job.cost.launch_time(items) * (static_cast<double>(job.items) / static_cast<double>(items));
    const Seconds filling = (copies * 2 + kernels) / static_cast<double>(chunks);
    least = std::min(least, std::max({copies, kernels, filling}));
  }
  return least;
}

Bytes StepPasses::size_of_homes(const std::vector<bool>& at_home) const {
  Bytes sum;
  for (std::size_t a = 0; a < at_home.size(); ++a)
    if (at_home[a]) sum += arrays_.arrays[a].array.size;
  return sum;
}

/// What a pass may be: it is neither a graph nor has batches, which end at its own ops.
SearchSpace StepPasses::space_of_pass() const {
  SearchSpace space{
      .layouts = {Layout::three}, .orders = {IssueOrder::depth}, .fewer_calls = false, .closed_forms = false};
  if (!refines_) space.ramps = {Ramp{}};
  return space;
}

/// The limits of a pass: homes that it does not use take memory too.
const RankedPass& StepPasses::ranked(const PassKey& key, const std::vector<bool>& at_home, const PassJob& one) {
  auto& known = ranked_[{key, at_home}];
  if (known) return *known;
  known.emplace();
  Bytes others = size_of_homes(at_home);
  const std::set<std::optional<std::size_t>> used(one.arrays.begin(), one.arrays.end());
  for (const auto& array : used)
    if (array && at_home[*array]) others = others - arrays_.arrays[*array].array.size;
  if (others >= limits_.device_memory) {
    known->refusal = "the arrays that stay on the GPU take all of its memory";
    return *known;
  }
  const Limits limits = limits_.at_most(limits_.device_memory - others);
  for (const Strategy& strategy : strategies()) {
    Search search(*one.job, profile_, space_of_pass(), limits);
    search.run(strategy);
    for (Candidate& candidate : search.tried)
      if (!known->best || candidate.predicted.value < known->best->predicted.value)
        known->best = std::make_shared<const Candidate>(std::move(candidate));
    if (strategy.memory == array_memory(*one.job) && !search.refusal.empty()) known->refusal = search.refusal;
  }
  if (known->best) known->limits = limits;
  return *known;
}

}  // namespace shiplap

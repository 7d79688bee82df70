#include "shiplap/plan/strategy_map.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <mutex>
#include <set>
#include <thread>

#include "shiplap/core/error.hpp"
#include "shiplap/core/host_limits.hpp"
#include "shiplap/core/thread.hpp"
#include "shiplap/workload/cuda_kernels.hpp"
#include "shiplap/workload/workload.hpp"

namespace shiplap {
namespace {

using namespace shiplap::literals;

constexpr Bytes smallest_job = 1_MiB;
constexpr Bytes largest_job = 16_GiB;
/// Input and output are whole numbers of parts, so that a job can be cut into as many items.
constexpr std::uint64_t parts_of_job = 64;
constexpr int first_decade = -5;  // 10 µs
constexpr int last_decade = 0;    // 1 s

/// One layout and chunks of one size: a plan that also tries the others takes four times as long, and finds choices
/// that are up to 2 % faster. All times of a map are simulated.
SearchSpace space_of_map() {
  return {.layouts = {Layout::three},
          .orders = {IssueOrder::depth},
          .ramps = {Ramp{}},
          .fewer_calls = false,
          .closed_forms = false};
}

MapCell map_cell(const Profile& profile, const MapQuestion& question, Bytes size, Seconds kernel) {
  const Bytes part = size / parts_of_job;
  const Bytes in = part * static_cast<std::uint64_t>(std::llround(question.in_fraction * parts_of_job));
  Workload workload =
      stated_workload({.in = in, .out = size - in, .kernel = kernel, .each_byte_once = true}, CudaKernels{});
  put_into(workload, question.memory);
  const Ranking ranking = rank(workload.job, profile, space_of_map());
  MapCell cell{.size = size, .kernel = kernel, .bound = ranking.bound.time, .best = {}};
  std::set<std::string> seen;
  for (const Candidate& candidate : ranking.candidates)
    if (seen.insert(candidate.choice.strategy).second) cell.best.push_back({candidate.choice, candidate.predicted});
  return cell;
}

/// Calls `work` for 0 to `count` − 1 on all cores. The first exception ends the work and is thrown.
template <class Work>
void on_all_cores(std::size_t count, const Work& work) {
  std::atomic<std::size_t> next = 0;
  std::exception_ptr failure;
  std::mutex mutex;
  const auto share = [&] {
    try {
      for (std::size_t i = next++; i < count; i = next++) work(i);
    } catch (...) {
      next = count;
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> threads;
    const std::size_t cores = std::clamp<std::size_t>(usable_cpus(), 1, count);
    for (std::size_t i = 1; i < cores; ++i) threads.push_back(start_thread(share));
    share();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace

MapQuestion default_map_question() {
  MapQuestion question;
  for (Bytes size = smallest_job; size <= largest_job; size = size * 2) question.sizes.push_back(size);
  for (int decade = first_decade; decade <= last_decade; ++decade) {
    question.kernels.push_back(Seconds{std::pow(10.0, decade)});
    if (decade < last_decade) question.kernels.push_back(Seconds{3 * std::pow(10.0, decade)});
  }
  return question;
}

StrategyMap strategy_map(const Profile& profile, const MapQuestion& question) {
  if (!(question.in_fraction >= 0 && question.in_fraction <= 1))
    throw UsageError("`in_fraction`: the input is a fraction of all bytes, from 0 to 1");
  if (question.sizes.empty() || question.kernels.empty())
    throw UsageError("`sizes`, `kernels`: a map has at least one size and one kernel time");
  StrategyMap map{.profile = profile.name,
                  .profile_origin = profile.origin,
                  .profile_hash = parameter_hash(profile),
                  .question = question,
                  .cells = std::vector<MapCell>(question.sizes.size() * question.kernels.size())};
  on_all_cores(map.cells.size(), [&](std::size_t i) {
    map.cells[i] = map_cell(profile, question, question.sizes[i % question.sizes.size()],
                            question.kernels[i / question.sizes.size()]);
  });
  return map;
}

}  // namespace shiplap

#include "shiplap/workload/fused_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/workload/array_place.hpp"
#include "shiplap/workload/launches.hpp"

namespace shiplap {
namespace {

/// Items before and after those of a chunk, in items of the fused job.
struct Margin {
  std::uint64_t before = 0;
  std::uint64_t after = 0;
  bool is_none() const { return before == 0 && after == 0; }
  Margin operator+(const Margin& other) const { return {before + other.before, after + other.after}; }
  void include(const Margin& other) {
    before = std::max(before, other.before);
    after = std::max(after, other.after);
  }
};

ItemRange with_margin(ItemRange range, const Margin& margin, std::uint64_t items) {
  const std::uint64_t first = range.first - std::min(range.first, margin.before);
  const std::uint64_t end = range.first + range.count;
  return {first, end + std::min(items - end, margin.after) - first};
}
ItemRange scaled(ItemRange range, std::uint64_t scale) { return {range.first * scale, range.count * scale}; }

/// One array of one job.
struct Use {
  std::size_t job = 0;
  std::size_t array = 0;
};

/// Memory of the fused job for one or more versions of an array: what it holds from the outside, or between two writes.
struct FusedPart {
  std::vector<Use> uses{};  ///< in the order of the jobs
  bool comes_in = false;    ///< whether its first version comes from the caller
  bool goes_out = false;    ///< whether its last version is needed afterwards
  Margin margin{};          ///< items beyond the chunk whose bytes its kernels access
};

class Fuser {
 public:
  Fuser(std::span<const Job> jobs, const std::function<bool(const Array&)>& is_needed)
      : jobs_(jobs), is_needed_(is_needed), margins_(jobs.size()) {}

  Job fused() {
    require_fusable();
    group_uses();
    find_margins();
    for (const std::vector<Use>& uses : arrays_) add_array(uses);
    reuse_scratch();
    for (const FusedPart& part : parts_) result_.arrays.push_back(array_of(part));
    share_names();
    result_.binding = binding();
    describe_kernel();
    return std::move(result_);
  }

 private:
  const Array& array(const Use& use) const { return jobs_[use.job].arrays[use.array]; }
  [[noreturn]] static void refuse(const std::string& why) { throw Unsupported(why); }
  std::uint64_t scale(std::size_t job) const { return jobs_[job].items / result_.items; }
  /// The halo of a use in items of the fused job.
  Margin halo_of(const Use& use) const {
    const std::uint64_t s = scale(use.job);
    const Reach& reach = array(use).reach;
    return {(reach.before + s - 1) / s, (reach.after + s - 1) / s};
  }
  /// How far the use reaches beyond the chunk.
  Margin margin_of(const Use& use) const { return margins_[use.job] + halo_of(use); }

  void require_fusable() {
    result_.items = std::ranges::min_element(jobs_, {}, &Job::items)->items;
    for (const Job& job : jobs_) {
      if (job.items % result_.items != 0)
        refuse(fmt::format("{} has {} items and another job {}: chunks of one are no chunks of the other", job.name,
                           job.items, result_.items));
      for (const Array& one : job.arrays) {
        if (one.blocks) refuse(fmt::format("{} of {} is blocks of a pool", one.name, job.name));
        if (one.prefix_of) refuse(fmt::format("{} of {} is a prefix of another array", one.name, job.name));
      }
    }
  }

  /// The uses of each array. Scratch belongs to one job.
  void group_uses() {
    for (std::size_t j = 0; j < jobs_.size(); ++j)
      for (std::size_t a = 0; a < jobs_[j].arrays.size(); ++a) {
        const Array& one = jobs_[j].arrays[a];
        const auto known = one.role == Role::scratch ? arrays_.end()
                                                     : std::ranges::find_if(arrays_, [&](const std::vector<Use>& uses) {
                                                         return array(uses.front()).role != Role::scratch &&
                                                                is_same_array(array(uses.front()), one);
                                                       });
        if (known == arrays_.end())
          arrays_.push_back({{j, a}});
        else
          known->push_back({j, a});
      }
  }

  /// What each kernel computes beyond the chunk, because later ones read it.
  void find_margins() {
    for (std::size_t j = jobs_.size(); j-- > 0;)
      for (const std::vector<Use>& uses : arrays_)
        for (std::size_t u = 0; u < uses.size(); ++u) {
          if (uses[u].job != j || !is_output(array(uses[u]).role)) continue;
          for (std::size_t later = u + 1; later < uses.size(); ++later) {
            if (is_input(array(uses[later]).role)) margins_[j].include(margin_of(uses[later]));
            if (is_output(array(uses[later]).role)) break;  // what follows reads another version
          }
        }
  }

  void add_array(const std::vector<Use>& uses) {
    const Array& first = array(uses.front());
    const bool is_written_here = std::ranges::any_of(uses, [&](const Use& u) { return is_written(array(u).role); });
    if (first.role == Role::scratch) return add_part({.uses = uses});
    if (std::ranges::any_of(uses, [&](const Use& u) { return stays(array(u).role); })) {
      if (is_written_here && uses.size() > 1)
        refuse(fmt::format("a kernel needs all of {}, which another one writes", first.name));
      if (is_written_here && !margins_[uses.front().job].is_none())
        refuse(fmt::format("{} carries {} from chunk to chunk, and would compute some items twice",
                           jobs_[uses.front().job].name, first.name));
      return add_part({.uses = uses, .comes_in = true, .goes_out = is_written_here});
    }
    for (const Use& use : uses)
      if (array(use).reach.elements && uses.size() > 1 && is_written_here)
        refuse(fmt::format("{} is accessed by a mapping, and another kernel writes it", first.name));
    const bool is_apart = std::ranges::all_of(uses, [&](const Use& u) { return margin_of(u).is_none(); });
    const bool comes_in = is_input(first.role);
    // What a kernel updates in place is copied back also where nobody needs it.
    const bool goes_out = is_written_here && (comes_in || is_needed_(first));
    if (!is_written_here || is_apart) return add_part({.uses = uses, .comes_in = comes_in, .goes_out = goes_out});
    add_versions(uses, comes_in, is_needed_(first));
  }

  /// A part for each version, or for several where a kernel updates one in place.
  void add_versions(const std::vector<Use>& uses, bool comes_in, bool goes_out) {
    std::vector<FusedPart> versions;
    for (const Use& use : uses) {
      const Role role = array(use).role;
      if (versions.empty() || role == Role::out) versions.push_back({.comes_in = versions.empty() && comes_in});
      if (role == Role::inout && versions.back().comes_in)
        refuse(fmt::format("{} updates {} in place, which is read with a halo", jobs_[use.job].name, array(use).name));
      versions.back().uses.push_back(use);
    }
    versions.back().goes_out = goes_out;
    if (goes_out && versions.size() > 1 && versions.front().comes_in)
      refuse(fmt::format("{} is read with a halo and written in one pass", array(uses.front()).name));
    for (FusedPart& version : versions) add_part(std::move(version));
  }

  void add_part(FusedPart part) {
    for (const Use& use : part.uses) part.margin.include(margin_of(use));
    const Array& first = array(part.uses.front());
    const bool is_mapped =
        std::ranges::any_of(part.uses, [&](const Use& use) { return bool(array(use).reach.elements); });
    if (part.goes_out && !part.comes_in && !part.margin.is_none() && is_mapped)
      refuse(fmt::format("{} is written by a mapping, and some of its items would be written twice", first.name));
    if (part.goes_out && !part.comes_in && !part.margin.is_none() && is_on_gpu(first))
      refuse(fmt::format("{} is on the GPU, and chunks would write some of its items twice", first.name));
    parts_.push_back(std::move(part));
  }

  static bool is_scratch(const FusedPart& part) { return !part.comes_in && !part.goes_out; }

  /// Lets scratch of one shape that is used one after the other be the same memory.
  void reuse_scratch() {
    std::vector<FusedPart> kept;
    for (FusedPart& part : parts_) {
      const auto free = is_scratch(part) ? std::ranges::find_if(kept,
                                                                [&](const FusedPart& other) {
                                                                  const Array& a = array(other.uses.front());
                                                                  const Array& b = array(part.uses.front());
                                                                  return is_scratch(other) && is_before(other, part) &&
                                                                         a.size == b.size && a.element == b.element &&
                                                                         !a.reach.elements && !b.reach.elements;
                                                                })
                                         : kept.end();
      if (free == kept.end()) {
        kept.push_back(std::move(part));
        continue;
      }
      free->margin.include(part.margin);
      free->uses.insert(free->uses.end(), part.uses.begin(), part.uses.end());
    }
    parts_ = std::move(kept);
  }
  static bool is_before(const FusedPart& one, const FusedPart& other) {
    return one.uses.back().job < other.uses.front().job;
  }

  Array array_of(const FusedPart& part) const {
    const bool is_whole = std::ranges::any_of(part.uses, [&](const Use& u) { return stays(array(u).role); });
    const Use& first = part.uses.front();
    Array result = array(first);
    if (is_whole) {
      // A cut array that another kernel needs whole is on the GPU as a whole.
      const auto whole = std::ranges::find_if(part.uses, [&](const Use& u) { return stays(array(u).role); });
      result = array(*whole);
      result.reach = own_items;
      result.kept = std::ranges::any_of(part.uses, [&](const Use& u) { return array(u).kept; });
    } else {
      result.role = is_scratch(part) ? Role::scratch
                    : !part.goes_out ? Role::in
                    : part.comes_in  ? Role::inout
                                     : Role::out;
      result.reach = reach_of_part(part);
      result.private_halo = result.role == Role::out && !part.margin.is_none();
      if (result.role == Role::scratch) {
        result.data = nullptr;
        result.memory = MemoryKind::pinned;
      }
    }
    result.times_read = 0;
    for (const Use& use : part.uses) result.times_read += is_input(array(use).role) ? array(use).times_read : 0;
    result.times_read = std::max(1.0, result.times_read);
    return result;
  }

  Reach reach_of_part(const FusedPart& part) const {
    const Use& first = part.uses.front();
    if (std::ranges::none_of(part.uses, [&](const Use& u) { return bool(array(u).reach.elements); }))
      return halo(part.margin.before, part.margin.after);
    if (part.uses.size() > 1) refuse(fmt::format("{} is accessed by several mappings", array(first).name));
    return mapped_by(
        [elements = array(first).reach.elements, margin = margins_[first.job], s = scale(first.job),
         items = result_.items](ItemRange range) { return elements(scaled(with_margin(range, margin, items), s)); });
  }

  /// Names each array once. Scratch gets another name where it has that of an array.
  void share_names() {
    std::set<std::string> names;
    for (const bool is_for_scratch : {false, true}) name_parts(names, is_for_scratch);
  }
  void name_parts(std::set<std::string>& names, bool is_for_scratch) {
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      if (is_scratch(parts_[p]) != is_for_scratch) continue;
      std::string& name = result_.arrays[p].name;
      if (!names.contains(name)) {
        names.insert(name);
        continue;
      }
      const std::string of = fmt::format("{} of {}", name, jobs_[parts_[p].uses.front().job].name);
      for (int number = 1; names.contains(name); ++number) name = number == 1 ? of : fmt::format("{} {}", of, number);
      names.insert(name);
    }
  }

  /// How to run the kernel of one job on a chunk of the fused one.
  struct Inner {
    Job job;                            ///< for its reaches
    std::vector<std::size_t> operands;  ///< by its arrays: the arrays of the fused job
    Margin margin;
    std::uint64_t scale = 1;
  };

  KernelBinding binding() const {
    auto inner = std::make_shared<std::vector<Inner>>();
    for (std::size_t j = 0; j < jobs_.size(); ++j) {
      inner->push_back({.job = jobs_[j],
                        .operands = std::vector<std::size_t>(jobs_[j].arrays.size()),
                        .margin = margins_[j],
                        .scale = scale(j)});
      for (std::size_t p = 0; p < parts_.size(); ++p)
        for (const Use& use : parts_[p].uses)
          if (use.job == j) inner->back().operands[use.array] = p;
    }
    const auto all_have = [&](auto member) {
      return std::ranges::all_of(jobs_, [&](const Job& job) { return bool(job.binding.*member); });
    };
    const auto through = [&](auto member) {
      return [inner, member, items = result_.items](const Launch& launch) {
        for (const Inner& one : *inner)
          with_launch(one, launch, items, [&](const Launch& own) { (one.job.binding.*member)(own); });
      };
    };
    KernelBinding fused;
    if (all_have(&KernelBinding::host)) fused.host = through(&KernelBinding::host);
    if (all_have(&KernelBinding::cuda)) fused.cuda = through(&KernelBinding::cuda);
    if (all_have(&KernelBinding::duration))
      fused.duration = [inner, items = result_.items](const Launch& launch) {
        Seconds sum{0};
        for (const Inner& one : *inner)
          with_launch(one, launch, items, [&](const Launch& own) { sum += one.job.binding.duration(own); });
        return sum;
      };
    return fused;
  }

  /// Calls `call` with the launch of one job for a launch of the fused one.
  static void with_launch(const Inner& inner, const Launch& launch, std::uint64_t all_items, const auto& call) {
    const ItemRange range =
        scaled(with_margin({launch.first_item, launch.items}, inner.margin, all_items), inner.scale);
    std::vector<std::byte*> operands;
    std::vector<Bytes> lengths;
    std::vector<Bytes> origins;
    for (std::size_t a = 0; a < inner.operands.size(); ++a) {
      const std::size_t outer = inner.operands[a];
      const ByteRange bytes = reach_of(inner.job, inner.job.arrays[a], range);
      const Bytes origin = launch.origins.empty() ? Bytes{} : launch.origins[outer];
      operands.push_back(launch.operands[outer] + (bytes.offset - origin).count);
      lengths.push_back(bytes.length);
      origins.push_back(bytes.offset);
    }
    call(Launch{.first_item = range.first,
                .items = range.count,
                .operands = operands,
                .lengths = lengths,
                .origins = origins,
                .blocks = blocks_of(inner.job, range.count),
                .stream = launch.stream});
  }

  void describe_kernel() {
    result_.name = jobs_.front().name;
    for (const Job& job : jobs_.subspan(1)) result_.name += "+" + job.name;
    result_.launches = 0;
    result_.threads_per_block = 0;
    for (std::size_t j = 0; j < jobs_.size(); ++j) {
      const Job& job = jobs_[j];
      const auto s = static_cast<double>(scale(j));
      result_.launches += job.launches;
      result_.launches_per_item += job.launches_per_item * s;
      result_.items_per_block = std::max(result_.items_per_block, (job.items_per_block + scale(j) - 1) / scale(j));
      result_.threads_per_block = std::max(result_.threads_per_block, job.threads_per_block);
      result_.capturable = result_.capturable && job.capturable;
      result_.waits = result_.waits || job.waits;
      result_.flops += job.flops;
      result_.double_precision = result_.double_precision || job.double_precision;
      result_.device_traffic += job.device_traffic;
      result_.efficiency = std::min(result_.efficiency, job.efficiency);
    }
    result_.cost = cost();
  }

  /// The sum of the costs, at all numbers of items at which one of them bends.
  KernelCost cost() const {
    KernelCost sum;
    std::set<std::uint64_t> numbers;
    for (std::size_t j = 0; j < jobs_.size(); ++j) {
      if (jobs_[j].cost.points.empty()) return {};
      const std::uint64_t more = margins_[j].before + margins_[j].after;
      for (const KernelCost::Point& point : jobs_[j].cost.points) {
        const std::uint64_t items = point.items / scale(j);
        if (items > more) numbers.insert(std::min(items - more, result_.items));
      }
      sum.call += jobs_[j].cost.call;
    }
    numbers.insert({std::max<std::uint64_t>(1, result_.items / 256), result_.items});
    for (const std::uint64_t items : numbers) {
      Interval<Seconds> work = Interval<Seconds>::exact(Seconds{0});
      for (std::size_t j = 0; j < jobs_.size(); ++j) {
        const std::uint64_t all = std::min(result_.items, items + margins_[j].before + margins_[j].after) * scale(j);
        const Seconds time = jobs_[j].cost.launch_time(all);
        const Interval<Seconds>& last = jobs_[j].cost.points.back().work;
        const double low = last.value > Seconds{0} ? last.low / last.value : 1;
        const double high = last.value > Seconds{0} ? last.high / last.value : 1;
        work = {work.value + time, work.low + time * low, work.high + time * high};
      }
      sum.points.push_back({items, work});
    }
    sum.origin = jobs_.front().cost.origin;
    return sum;
  }

  std::span<const Job> jobs_;
  const std::function<bool(const Array&)>& is_needed_;
  std::vector<std::vector<Use>> arrays_;  // uses of each array
  std::vector<Margin> margins_;           // by job
  std::vector<FusedPart> parts_;
  Job result_;
};

}  // namespace

bool is_same_array(const Array& a, const Array& b) {
  if (a.data == nullptr || b.data == nullptr) return a.data == b.data && a.name == b.name && a.size == b.size;
  if (a.data == b.data && a.size == b.size) return true;
  const bool overlap = a.data < b.data + b.size.count && b.data < a.data + a.size.count;
  if (overlap && a.size.count > 0 && b.size.count > 0)
    throw UsageError(
        fmt::format("arrays {} and {} share a part of their memory: give all kernels the whole array", a.name, b.name));
  return false;
}

Job fuse(std::span<const Job> jobs, const std::function<bool(const Array&)>& is_needed) {
  if (jobs.empty()) throw UsageError("no job to fuse: give at least one");
  if (jobs.size() == 1) return jobs.front();
  return Fuser(jobs, is_needed).fused();
}

}  // namespace shiplap

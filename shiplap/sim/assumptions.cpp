#include "shiplap/sim/assumptions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "shiplap/profile/more_gpus.hpp"
#include "shiplap/profile/parameter_table.hpp"

namespace shiplap::sim {
namespace {

/// Absent parameters, grouped by the assumed value. Groups and parameters are in the order in which they were found.
struct Absent {
  struct Assumption {
    std::string_view value;
    std::vector<std::string> parameters;
  };
  std::vector<Assumption> assumptions;

  void add(std::string_view value, std::string parameter) {
    auto same = std::ranges::find(assumptions, value, &Assumption::value);
    if (same == assumptions.end()) same = assumptions.insert(same, {.value = value, .parameters = {}});
    same->parameters.push_back(std::move(parameter));
  }
};

/// The path of an object in a profile. Every simulation visits all objects and few parameters are absent, so `text`
/// makes the text only when it is needed.
struct Path {
  const Path* outer = nullptr;
  std::string_view name;
  std::size_t index = 0;
  std::size_t size = 0;  ///< length of the list that holds the object; 0: no list holds it

  /// "gpus[1].", or an empty text when the list has one element.
  std::string text() const {
    const std::string before = outer == nullptr ? "" : outer->text();
    if (size == 1) return before;
    return before + (size == 0 ? fmt::format("{}.", name) : fmt::format("{}[{}].", name, index));
  }
};

/// A visitor of `describe` that collects the absent parameters of an object and the values assumed instead.
class FindAbsent {
 public:
  /// `irrelevant` names a parameter that no simulated time depends on.
  FindAbsent(const Path& path, Absent& absent, std::string_view irrelevant = {})
      : path_(path), absent_(absent), irrelevant_(irrelevant) {}

  template <class... Anything>
  void fact(Anything&&...) const {}
  template <class... Anything>
  void value(const ParameterInfo&, Anything&&...) const {}
  template <class... Anything>
  void rows(const RowsInfo&, Anything&&...) const {}
  template <class... Anything>
  void lists(Anything&&...) const {}
  template <class T, class Q>
  void optional_value(const ParameterInfo& info, const Parameter<T>& parameter, const Q&) const {
    if (!parameter) note(info.name, info.when_absent);
  }
  void optional_fact(std::string_view name, const std::optional<unsigned>& member, unsigned,
                     const AbsentMeaning& meaning) const {
    if (!member) note(name, meaning.when_absent);
  }
  template <class Part, class... More>
  void part(std::string_view name, const Part& part, std::string_view, More... more) const {
    const Path path{.outer = &path_, .name = name};
    const FindAbsent inside(path, absent_, irrelevant_);
    describe(inside, part, more...);
  }
  // A part without an AbsentMeaning has no assumed value: the simulator refuses ops that need it.
  template <class Part, class... More>
  void optional_part(std::string_view, const std::optional<Part>&, std::string_view, More...) const {}
  template <class Part, class... More>
  void optional_part(std::string_view name, const std::optional<Part>& part, const AbsentMeaning& meaning,
                     More...) const {
    if (!part) note(name, meaning.when_absent);
  }

 private:
  void note(std::string_view name, std::string_view when_absent) const {
    if (!when_absent.empty() && name != irrelevant_) absent_.add(when_absent, path_.text() + std::string(name));
  }

  const Path& path_;
  Absent& absent_;
  std::string_view irrelevant_;
};

template <class Object>
void find_absent(const Object& object, const Path& path, Absent& absent, std::string_view irrelevant = {}) {
  const FindAbsent visitor(path, absent, irrelevant);
  describe(visitor, object);
}

Absent find_absent(const Profile& profile) {
  Absent absent;
  find_absent(profile.submission, {.name = "submission"}, absent);
  for (std::size_t g = 0; g < profile.gpus.size(); ++g) {
    const GpuModel gpu = with_figures_of_first(profile, g);
    find_absent(gpu, {.name = "gpus", .index = g, .size = profile.gpus.size()}, absent,
                serves_streams_in_groups(gpu) ? "" : "stream_groups");
  }
  for (std::size_t l = 0; l < profile.links.size(); ++l) {
    const LinkModel& link = profile.links[l];
    // Further links of a GPU are measured with fewer parameters on purpose. Their absence is not reported.
    if (&link != profile.find_link(link.gpu)) continue;
    const bool duplex = link.gpu < profile.gpus.size() && profile.gpus[link.gpu].copy_engines >= 2;
    find_absent(link, {.name = "links", .index = l, .size = profile.links.size()}, absent, duplex ? "" : "duplex");
  }
  return absent;
}

/// A sentence on values of the first link that stand in the profile although nobody measured them. Parameters that a
/// profile must have are named in `missing` only when their values are assumed.
std::vector<std::string> assumed_values(const Profile& profile) {
  constexpr std::string_view first_link = "links[0].";
  std::vector<std::string_view> assumed;
  for (const Missing& m : profile.missing) {
    const std::string_view path = m.parameter;
    if (path.starts_with(first_link) && (path.ends_with("2d.per_byte") || path.ends_with("2h.per_byte") ||
                                         path.ends_with(".latency_overhead") || path.ends_with(".costs.gap")))
      assumed.push_back(path.substr(first_link.size()));
  }
  if (assumed.empty()) return {};
  return {fmt::format("profile {} has assumed values of {}, which were not measured (measure a node to have them)",
                      profile.name, fmt::join(assumed, ", "))};
}

}  // namespace

bool serves_streams_in_groups(const GpuModel& gpu) {
  return gpu.engine_order == EngineOrder::readiness && gpu.implicit_sync == ImplicitSync::none;
}

std::vector<std::string> assumed_of_several_gpus(const Schedule& schedule, const Profile& profile) {
  std::set<std::uint16_t> gpus;
  for (const Stream& stream : schedule.streams) gpus.insert(stream.place.index);
  if (gpus.size() < 2) return {};
  std::vector<std::string> sentences;
  if (std::ranges::none_of(profile.shared,
                           [&](const SharedRates& shared) { return std::ranges::includes(shared.gpus, gpus); }))
    sentences.push_back(
        fmt::format("profile {} does not say what several GPUs reach together; assuming that each has its link for "
                    "itself (measure them together, as in --device cuda:0,1, to know)",
                    profile.name));
  std::vector<std::uint16_t> like_first;
  for (const std::uint16_t gpu : gpus)
    if (gpu > 0 && gpu < profile.gpus.size() && !profile.gpus[gpu].launch_latency &&
        with_figures_of_first(profile, gpu).launch_latency)
      like_first.push_back(gpu);
  if (!like_first.empty())
    sentences.push_back(fmt::format("GPU {} launches and hands over as GPU 0 does, which has the same name",
                                    fmt::join(like_first, " and GPU ")));
  return sentences;
}

std::vector<std::string> assumptions(const Profile& profile) {
  std::size_t count = 0;
  std::vector<std::string> sentences = assumed_values(profile);
  std::vector<std::string> parts;
  for (const Absent::Assumption& assumption : find_absent(profile).assumptions) {
    count += assumption.parameters.size();
    parts.push_back(fmt::format("lacks {}; assuming {}", fmt::join(assumption.parameters, ", "), assumption.value));
  }
  if (parts.empty()) return sentences;
  const char* remedy = profile.origin == Origin::measured ? "measure the node again to fill" : "measure a node to have";
  sentences.push_back(fmt::format("profile {} {} ({} {})", profile.name, fmt::join(parts, ", and "), remedy,
                                  count == 1 ? "it" : "them"));
  return sentences;
}

}  // namespace shiplap::sim

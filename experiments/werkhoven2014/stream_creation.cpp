// §II: creating a stream costs little once the stream is used many times.
#include <fmt/format.h>

#include <array>

#include "experiments/cells.hpp"
#include "experiments/werkhoven2014/judge.hpp"
#include "experiments/werkhoven2014/steps.hpp"
#include "experiments/werkhoven2014/tables.hpp"
#include "shiplap/core/error.hpp"

namespace shiplap::experiments::werkhoven {
namespace {

constexpr std::string_view claim = "stream-creation";

Figure creation_figure(Seconds create, Seconds destroy, Seconds gap) {
  Figure f{.id = "stream-creation",
           .where = "§II",
           .title = "the creation of a stream, shared by its uses",
           .columns = {{"uses", ""},
                       {"creation and destruction for each use", "µs"},
                       {"published estimate for each use", "µs"},
                       {"g, for each message of a use", "µs"}},
           .rows = {},
           .note = fmt::format("Creating a stream takes {}, destroying it {}, by the host's clock.", to_string(create),
                               to_string(destroy))};
  for (const double uses : {1.0, 10.0, 100.0, 1000.0, 10000.0})
    f.rows.push_back({uses, in_microseconds((create + destroy) / uses), in_microseconds(published_creation / uses),
                      in_microseconds(gap)});
  return f;
}

}  // namespace

StepResult run_stream_creation(const Bench& bench) {
  if (bench.profile.links.empty())
    return {.figures = {}, .findings = {unknown(claim, fmt::format("profile {} has no link", bench.profile.name))}};
  try {
    const auto create = measured_time(bench, "call.create_stream");
    const auto destroy = measured_time(bench, "call.destroy_stream");
    if (!create || !destroy)
      return {.figures = {},
              .findings = {unknown(claim, fmt::format("{} has no times of these calls", bench.info.id))}};
    const Seconds gap = paper_link(bench).h2d.gap;
    return {.figures = {creation_figure(*create, *destroy, gap)},
            .findings = {judge_stream_creation(*create + *destroy, gap)}};
  } catch (const Unsupported& why) {
    return {.figures = {}, .findings = {unknown(claim, why.what())}};
  }
}

}  // namespace shiplap::experiments::werkhoven

// Texts that state a value: options of the command line, parts of workloads' names, files of the system.
#include <array>
#include <cmath>

#include "cli/exit_codes.hpp"
#include "cli/launcher.hpp"
#include "cli/parameter_names.hpp"
#include "shiplap/core/printable.hpp"
#include "shiplap/core/spelling.hpp"
#include "shiplap/core/units.hpp"
#include "shiplap/device/load.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/profile/what_if.hpp"
#include "shiplap/schedule/blocks.hpp"
#include "shiplap/schedule/names.hpp"
#include "shiplap/strategy/strategy.hpp"
#include "shiplap/workload/parameters.hpp"
#include "tests/fuzz/target.hpp"

namespace shiplap::fuzz {
namespace {

void read_quantities(std::string_view text) {
  if (const auto size = read_or_refused([&] { return parse_bytes(text, "size"); })) {
    require(size->count > 0, "a size is positive");
    // Printed sizes have four digits, so they are read as a size that differs by at most half of the last one.
    const auto again = read_or_refused([&] { return parse_bytes(to_string(*size), "size"); });
    require(!again || std::abs(in_bytes(*again) - in_bytes(*size)) <= 0.6e-3 * in_bytes(*size) + 1,
            "a size that is printed is read as about the same");
  }
  if (const auto count = read_or_refused([&] { return parse_count(text, "count"); }))
    require(parse_count(std::to_string(*count), "count") == *count, "a count that is printed is read as the same");
  if (const auto time = read_or_refused([&] { return parse_seconds(text, "time"); }))
    require(std::isfinite(time->count()) && *time >= Seconds{0}, "a time is finite and not negative");
  if (const auto rate = read_or_refused([&] { return parse_bandwidth(text, "rate"); }))
    require(std::isfinite(rate->bytes_per_second) && rate->bytes_per_second > 0, "a bandwidth is finite and positive");
  if (const auto fraction = read_or_refused([&] { return parse_fraction(text, "fraction"); }))
    require(std::isfinite(*fraction) && *fraction >= 0, "a fraction is finite and not negative");
}

void read_choices(std::string_view text) {
  read_or_refused([&] {
    Choice choice;
    parse_layout(text, choice);
    require(choice.layout != Layout::few || choice.streams > 0, "a layout has streams");
    return true;
  });
  read_or_refused([&] { return parse_order(text); });
  read_or_refused([&] { return parse_array_memory(text); });
  if (const auto ramp = read_or_refused([&] { return parse_ramp(text); })) {
    require_valid(*ramp);
    require(ramp->first > 0 && ramp->first <= 1 && ramp->last > 0 && ramp->last <= 1 && std::isfinite(ramp->growth),
            "a ramp has sizes of chunks");
  }
  static const Profile profile = find_profile("h200");
  if (const auto other = read_or_refused([&] { return what_if(profile, text); }))
    for (const LinkModel& link : other->links)
      require(std::isfinite(link.h2d.per_byte.value.seconds) && link.h2d.per_byte.value.seconds > 0,
              "an imagined link has a time per byte");
}

void read_words(std::string_view text) {
  read_or_refused([&] {
    Parameters parameters("name", text);
    parameters.count("n", "1");
    parameters.bytes("size", "1");
    parameters.one_of("kind", {"one", "two"});
    parameters.require_empty("n, size, kind");
    return true;
  });
  const std::string shown = printable(text);
  require(printable(shown) == shown, "text that was made safe is safe");
  cli::in_flags(text);
  read_or_refused([&] { return cli::parse_exit_codes(std::string(text)); });
  const std::string value(text);
  const std::array arguments{"shiplap", "check", "--exit-codes", value.c_str()};
  cli::asked_exit_codes(static_cast<int>(arguments.size()), arguments.data());
  if (value.size() < 100) did_you_mean(value, {"plan", "predict", "profiles", "measure"});
}

void read_system(std::string_view text) {
  const std::string value(text);
  if (const auto times = cpu_times(value))
    require(std::isfinite(times->busy) && std::isfinite(times->all), "times of CPUs are finite");
  read_or_refused([&] { return cli::launched_rank([&](const char*) { return value.c_str(); }); });
  read_or_refused([&] {
    return cli::launched_rank(
        [&](const char* name) { return std::string_view(name).starts_with("SLURM") ? value.c_str() : nullptr; });
  });
}

void read_values(std::string_view text) {
  read_quantities(text);
  read_choices(text);
  read_words(text);
  read_system(text);
}

}  // namespace

const Target values_target{"values", read_values};

}  // namespace shiplap::fuzz

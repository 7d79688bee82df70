#include "cli/profile_cache.hpp"

#include <fmt/format.h>

#include "cli/common.hpp"
#include "shiplap/measure/check.hpp"
#include "shiplap/report/measurements_report.hpp"
#include "shiplap/report/profile_report.hpp"
#include "shiplap/report/progress.hpp"
#include "shiplap/report/sections.hpp"

namespace shiplap::cli {

Profile profile_of(MeasurableDevice& device) {
  const auto measure_now = [&](const MeasureOptions& options, const std::string& command) {
    Measured measured = measure_profile(device, options, command);
    print_to_stderr(skips_report(measured.result, document::Detail::figures));
    return measured;
  };
  return shiplap::profile_of(device, measure_now, note);
}

Measured measure_profile(MeasurableDevice& device, MeasureOptions options, const std::string& command) {
  Progress progress;
  options.progress = [&](std::string_view point, std::size_t done, std::size_t total) {
    progress.update(point, done, total);
  };
  Measured measured;
  measured.result = measure(device, options);
  progress.clear();
  measured.profile = profile_from(measured.result, device.info(), command);
  if (const std::string warning = governor_warning(measured.profile.conditions); !warning.empty()) note(warning);
  return measured;
}

std::string profile_text(const Profile& profile, document::Detail detail) {
  const TextStyle style = style_of_stdout();
  std::string text = document::text(document::profile_section(profile), style);
  if (detail != document::Detail::all) return text + "\n--all shows every parameter and every way to move bytes.\n";
  return text + "\n" + profile_report(profile, figures(profile.measurements, profile.conditions), style);
}

}  // namespace shiplap::cli

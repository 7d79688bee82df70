#include "shiplap/pipeline/race_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>

#include "shiplap/core/error.hpp"
#include "shiplap/core/file_lock.hpp"
#include "shiplap/core/file_system.hpp"
#include "shiplap/core/formats.hpp"
#include "shiplap/core/json.hpp"
#include "shiplap/core/record.hpp"
#include "shiplap/core/text_file.hpp"
#include "shiplap/pipeline/profile_cache.hpp"

namespace shiplap {
namespace {

/// The number of half octaves of the size, so that sizes within a factor of about 1.4 have the same class.
long size_class(double size) { return size <= 0 ? -1000 : std::lround(2 * std::log2(size)); }

RaceResult race_on(const DeviceInfo& info, const RaceField& field, const MakeReady& make_ready, Seconds budget) {
  RaceResult result = race(field, make_ready, budget);
  result.simulated = info.is_virtual;
  return result;
}

/// The size of a signature without the limits under which the job runs.
std::string without_limits(std::string size) {
  const std::size_t begin = size.find(", memory ");
  const std::size_t end = size.find(" GPU(s)", begin);
  return end == std::string::npos ? size : size.erase(begin, end - begin);
}

/// The cached races of one job, for all nodes and sizes, in the text of the file `path`.
Json entries_of(std::string_view text, const std::filesystem::path& path) {
  const Json json = parse_json(text, path.string());
  const JsonReader reader(json, path.string());
  require_schema(reader, formats::races);
  return reader.at("races").value();
}

/// The entries of the file with other keys. A text that is no cache of races has none, and neither has a file that does
/// not exist. Throws Error when the operating system cannot read the file: it is then not to be replaced.
Json entries_beside(const JobSignature& signature, const std::filesystem::path& path) {
  Json others = Json::array();
  if (!is_there(path)) return others;
  const std::string text = read_regular_file(path);
  Json entries = Json::array();
  try {
    entries = entries_of(text, path);
  } catch (const Error&) {
    return others;
  }
  const JsonReader reader(entries, path.string());
  for (std::size_t i = 0; i < reader.size(); ++i) try {
      const JsonReader entry = reader.at(i);
      if (entry.at("node").string() != signature.node || entry.at("size").string() != signature.size)
        others.push_back(entry.value());
    } catch (const Error&) {
      continue;  // an entry that cannot be read is dropped
    }
  return others;
}

/// The text of cached races. The oldest of them, which are the first, leave where it would have more bytes.
std::string text_within(Json& json, std::uint64_t most_bytes) {
  Json& races = json["races"];
  for (;;) {
    std::string text = json_text(json, 1) + "\n";
    if (text.size() <= most_bytes || races.size() == 1) return text;
    races.erase(races.begin(), races.begin() + std::max<std::ptrdiff_t>(1, races.size() / 4));
  }
}

}  // namespace

JobSignature signature_of(const DeviceInfo& info, const Job& job, const Profile& profile, const Limits& limits,
                          std::uint32_t gpus) {
  JobSignature signature;
  signature.job = fmt::format("{}, {} launches, {} items a block", job.name.substr(0, job.name.find(':')), job.launches,
                              job.items_per_block);
  signature.size = fmt::format("items {}, kernel {}, memory {}, {} GPU(s)", size_class(static_cast<double>(job.items)),
                               size_class(job.cost.launch_time(job.items).count()),
                               size_class(in_bytes(limits.device_memory)), gpus);
  for (const Array& array : job.arrays) {
    signature.job += fmt::format("; {}{}{} {} of {} in {}", array.kept ? "kept " : "", array.prefix_of ? "prefix " : "",
                                 enum_name(array.role), array.name, to_string(array.element), to_string(array.memory));
    signature.size += fmt::format(", {} {}", array.name, size_class(in_bytes(array.size)));
    if (array.blocks)
      signature.job += fmt::format(" as {}blocks of {} at {}", array.blocks->indices.data == nullptr ? "regular " : "",
                                   to_string(array.blocks->block), to_string(array.blocks->pitch));
  }
  const auto known = [&](const char* key) {
    const auto found = info.conditions.find(key);
    return found == info.conditions.end() ? std::string("unknown") : found->second;
  };
  signature.node =
      fmt::format("{}, {} GPU(s), driver {}, bus {}, host {}",
                  info.is_virtual ? info.id + " " + parameter_hash(profile) : info.name, info.gpus, known("gpu.driver"),
                  info.gpus == 1 ? known("gpu.pci_bus_id") : bus_addresses(info), host_name());
  return signature;
}

std::optional<std::filesystem::path> race_path(const JobSignature& signature) {
  const auto directory = cache_directory();
  if (!directory) return std::nullopt;
  return *directory / "races" / (content_hash(signature.job) + ".json");
}

std::optional<RaceResult> kept_race(const JobSignature& signature, std::string& why_not) {
  const auto path = race_path(signature);
  try {
    if (!path || !is_there(*path)) return std::nullopt;
    const Json entries = entries_of(read_regular_file(*path), *path);
    const JsonReader reader(entries, path->string());
    bool of_node = false;
    bool of_size = false;
    for (std::size_t i = 0; i < reader.size(); ++i) {
      const JsonReader entry = reader.at(i);
      const bool same_node = entry.at("node").string() == signature.node;
      of_node = of_node || same_node;
      of_size = of_size || (same_node && without_limits(entry.at("size").string()) == without_limits(signature.size));
      if (!same_node || entry.at("size").string() != signature.size) continue;
      RaceResult result = Form<RaceResult>::read(entry.at("race"));
      result.kept = true;
      return result;
    }
    why_not = of_size ? "raced again, because the kept races of such jobs had another limit of device memory or number "
                        "of GPUs"
              : of_node ? "raced again, because the kept races of such jobs are of other sizes or kernel times"
                        : "raced again, because the kept races of such jobs are of another GPU, driver or host";
  } catch (const Error& unreadable) {
    why_not = fmt::format("raced again, because the kept races cannot be read ({})", unreadable.what());
  }
  return std::nullopt;
}

std::string keep_race(const JobSignature& signature, const RaceResult& result) {
  const auto path = race_path(signature);
  if (!path) return "the winner is not kept, because neither XDG_CACHE_HOME nor HOME is set";
  try {
    make_folders(path->parent_path());
    const FileLock lock(path->string());
    Json races = entries_beside(signature, *path);
    races.push_back({{"node", signature.node}, {"size", signature.size}, {"race", to_json(result)}});
    Json json{{"schema", formats::races.schema},
              {"version", formats::races.version},
              {"job", signature.job},
              {"races", std::move(races)}};
    write_document(*path, text_within(json, limits::document_bytes));
    if (lock.missing().empty()) return fmt::format("kept in {}", path->string());
    return fmt::format("kept in {}; {}", path->string(), lock.missing());
  } catch (const std::exception& why) {
    return fmt::format("the winner is not kept: {}", why.what());
  }
}

RaceResult race_or_kept(const DeviceInfo& info, const RaceTerms& terms, const RaceField& field,
                        const MakeReady& make_ready) {
  if (terms.space.is_restricted() || terms.space.graph || terms.space.batched || !terms.space.fewer_calls ||
      !terms.space.relays.empty())
    return race_on(info, field, make_ready, terms.budget);
  const JobSignature signature =
      signature_of(info, terms.job, terms.profile, terms.limits, std::max(1u, terms.space.gpus));
  std::string why_not;
  if (auto kept = terms.anew ? std::nullopt : kept_race(signature, why_not)) {
    try {
      predict(terms.job, terms.profile, kept->best().choice, terms.limits);
      return *std::move(kept);
    } catch (const Error& why) {
      why_not = fmt::format("raced again, because the kept winner does not fit this job ({})", why.what());
    }
  }
  RaceResult result = race_on(info, field, make_ready, terms.budget);
  const bool complete = std::ranges::all_of(result.finalists, [](const Finalist& f) { return f.not_run.empty(); });
  const std::string where = complete
                                ? keep_race(signature, result)
                                : std::string("the winner is not kept, because some candidates could not be prepared");
  result.note = why_not.empty() ? where : why_not + "; " + where;
  return result;
}

}  // namespace shiplap

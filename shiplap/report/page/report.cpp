#include "shiplap/report/page/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/core/formats.hpp"
#include "shiplap/core/json.hpp"
#include "shiplap/core/record.hpp"
#include "shiplap/report/page/words.hpp"
#include "shiplap/report/sections.hpp"

namespace shiplap::page {
namespace {

using namespace document;  // the sections

/// A job that a plan or a run is about.
struct PlannedJob {
  std::string name;
  std::string profile;
  std::string profile_hash;
  MemoryKind memory = MemoryKind::pinned;
  double in = 0;      ///< bytes
  double out = 0;     ///< bytes
  double kernel = 0;  ///< seconds
};

/// The job of this shape; nullopt where its kernel's time is unknown or it moves nothing.
std::optional<PlannedJob> job_of_shape(const std::string& name, const std::string& profile,
                                       const std::string& profile_hash, const JobShape& shape) {
  PlannedJob job{.name = name,
                 .profile = profile,
                 .profile_hash = profile_hash,
                 .memory = shape.memory,
                 .in = in_bytes(shape.bytes_in),
                 .out = in_bytes(shape.bytes_out),
                 .kernel = shape.kernel.value_or(Seconds{0}).count()};
  if (!(job.in + job.out > 0 && job.kernel > 0)) return std::nullopt;
  return job;
}
std::optional<PlannedJob> planned_job_of(const PlanView& view) {
  if (!view.shape) return std::nullopt;
  return job_of_shape(view.ranking.job, view.ranking.profile, view.ranking.profile_hash, *view.shape);
}
std::optional<PlannedJob> planned_job_of(const RunView& view) {
  if (!view.plan) return std::nullopt;
  return job_of_shape(view.run.job, view.plan->profile, view.plan->profile_hash, view.plan->shape);
}

/// How the JSON of one format becomes a section, and its job is added to those of a map. Sections follow in this order.
struct Reader {
  FileFormat format;
  Section (*section)(const JsonReader&, const std::string& source, std::vector<PlannedJob>& jobs);
};
/// The section of a file that is read as a record.
template <class Record, Section (*section)(const Record&, const std::string& source)>
Section section_of(const JsonReader& json, const std::string& source, std::vector<PlannedJob>& jobs) {
  const Record record = Form<Record>::read(json);
  if constexpr (requires { planned_job_of(record); })
    if (auto job = planned_job_of(record)) jobs.push_back(std::move(*job));
  return section(record, source);
}
constexpr std::array readers{Reader{formats::check, section_of<NodeResult, check_section>},
                             Reader{formats::fleet, section_of<JudgedFleet, fleet_section>},
                             Reader{formats::comparison, section_of<Comparison, comparison_section>},
                             Reader{formats::plan, section_of<PlanView, plan_section>},
                             Reader{formats::race, section_of<RaceView, race_section>},
                             Reader{formats::scaling, section_of<Scaling, scaling_section>},
                             Reader{formats::step, section_of<StepPlanView, step_plan_section>},
                             Reader{formats::layer_plan, section_of<LayerPlanView, layer_plan_section>},
                             Reader{formats::run, section_of<RunView, run_section>},
                             Reader{formats::adaptive_run, section_of<AdaptiveRun, adaptive_section>},
                             Reader{formats::evaluation, section_of<Evaluation, evaluation_section>},
                             Reader{formats::movers, section_of<MoverTable, movers_section>},
                             Reader{formats::advice, section_of<AdviceView, advice_section>},
                             Reader{formats::reproduction, section_of<ReproductionView, reproduction_section>}};

/// The schema of a text: of the whole, or of its first line where each line is a value of its own.
std::string schema_of(const Json& json) {
  const auto found = json.is_object() ? json.find("schema") : json.end();
  return json.is_object() && found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

std::string schema_of_first_line(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  if (line.size() > limits::line_bytes) return "";  // no log has such a line
  try {
    return schema_of(parse_json(line, "the first line"));
  } catch (const Error&) {
    return "";  // the first line of a document that goes on
  }
}

[[noreturn]] void refuse(const std::string& file, const std::string& schema) {
  std::vector<std::string> known{std::string(formats::profile.schema), std::string(formats::adaptation.schema)};
  for (const Reader& reader : readers) known.emplace_back(reader.format.schema);
  const std::string what = schema.empty() ? "it has no \"schema\"" : fmt::format("its schema is {}", schema);
  const std::string remedy =
      schema == formats::recording.schema ? "; for a recording, give the output of `shiplap advise --json`" : "";
  throw Error(fmt::format("{}: {}, and a report is made of: {}{}", file, what, fmt::join(known, ", "), remedy));
}

/// Reads files one by one and keeps what several sections need.
class Collector {
 public:
  explicit Collector(const PageOptions& options) : options_(options) {}

  void add(const ReportFile& file) {
    if (schema_of_first_line(file.text) == formats::adaptation.schema) {
      logs_.push_back(adaptation_section(replay(file.text, file.name), file.name));
      return;
    }
    const Json json = parse_json(file.text, file.name);
    const std::string schema = schema_of(json);
    if (schema == formats::profile.schema) {
      profiles_.push_back(profile_from_json(json, file.name));
      profile_sections_.push_back(profile_section(profiles_.back(), file.name));
      return;
    }
    const auto reader = std::ranges::find(readers, schema, [](const Reader& one) { return one.format.schema; });
    if (reader == readers.end()) refuse(file.name, schema);
    const JsonReader root(json, file.name);
    require_schema(root, reader->format);
    sections_[static_cast<std::size_t>(reader - readers.begin())].push_back(reader->section(root, file.name, jobs_));
  }

  Page page() {
    Page page{.title = options_.title.empty() ? title() : options_.title};
    if (profiles_.size() > 1) page.sections.push_back(nodes_section(profiles_));
    std::ranges::move(profile_sections_, std::back_inserter(page.sections));
    for (std::size_t i = 0; i < readers.size(); ++i) {
      std::ranges::move(sections_[i], std::back_inserter(page.sections));
      if (readers[i].format.schema == formats::run.schema) add_map(page);
    }
    std::ranges::move(logs_, std::back_inserter(page.sections));
    page.words = words();
    return page;
  }

 private:
  std::string title() const {
    std::set<std::string> gpus;
    for (const Profile& profile : profiles_)
      for (const GpuModel& gpu : profile.gpus)
        gpus.insert(profile.origin == Origin::measured ? gpu.name
                                                       : fmt::format("{} ({})", gpu.name, to_string(profile.origin)));
    return gpus.empty() ? "Report of shiplap" : fmt::format("Report of shiplap: {}", fmt::join(gpus, ", "));
  }

  std::optional<Profile> profile_of(const PlannedJob& job) const {
    for (const Profile& profile : profiles_)
      if (parameter_hash(profile) == job.profile_hash) return profile;
    std::optional<Profile> found = options_.find_profile ? options_.find_profile(job.profile) : std::nullopt;
    return found && parameter_hash(*found) == job.profile_hash ? found : std::nullopt;
  }

  /// Whether the job is one of the map: it lies within the range, and has the memory and about the ratio of the first.
  bool is_on_map(const PlannedJob& job, const MapQuestion& question) const {
    constexpr double same_ratio = 0.02;
    return job.profile_hash == jobs_.front().profile_hash && job.memory == question.memory &&
           std::abs(job.in / (job.in + job.out) - question.in_fraction) < same_ratio &&
           job.in + job.out >= in_bytes(question.sizes.front()) &&
           job.in + job.out <= in_bytes(question.sizes.back()) && job.kernel >= question.kernels.front().count() &&
           job.kernel <= question.kernels.back().count();
  }

  /// The map is of the profile of the first plan or run, or of the first profile.
  void add_map(Page& page) const {
    if (!options_.map || (jobs_.empty() && profiles_.empty())) return;
    const std::optional<Profile> profile = jobs_.empty() ? profiles_.front() : profile_of(jobs_.front());
    if (!profile) {
      page.sections.back().sentences.push_back(
          fmt::format("There is no map of strategies: profile {} ({}) is neither among the files nor known here. Give "
                      "its file too.",
                      jobs_.front().profile, jobs_.front().profile_hash));
      return;
    }
    if (profile->links.empty()) return;
    MapQuestion question = *options_.map;
    std::vector<Mark> marks;
    if (!jobs_.empty()) {
      question.memory = jobs_.front().memory;
      question.in_fraction = jobs_.front().in / (jobs_.front().in + jobs_.front().out);
    }
    std::vector<std::string> left_out;
    for (const PlannedJob& job : jobs_) {
      if (!is_on_map(job, question))
        left_out.push_back(fmt::format("{} ({} memory)", job.name, to_string(job.memory)));
      else if (std::ranges::find(marks, job.name, &Mark::name) == marks.end())  // a plan and a run of one job
        marks.push_back({.name = job.name, .x = job.in + job.out, .y = job.kernel});
    }
    Section section = map_section(strategy_map(*profile, question), marks);
    if (!left_out.empty())
      section.sentences.push_back(
          fmt::format("Not on this map, because of another profile, memory, ratio of input to output, or range: {}.",
                      fmt::join(left_out, ", ")));
    page.sections.push_back(std::move(section));
  }

  const PageOptions& options_;
  std::vector<Profile> profiles_;
  std::vector<Section> profile_sections_;
  std::array<std::vector<Section>, readers.size()> sections_;
  std::vector<Section> logs_;
  std::vector<PlannedJob> jobs_;
};

}  // namespace

Page report(std::span<const ReportFile> files, const PageOptions& options) {
  if (files.empty()) throw UsageError("a report is made of at least one file");
  Collector collector(options);
  for (const ReportFile& file : files) collector.add(file);
  return collector.page();
}

}  // namespace shiplap::page

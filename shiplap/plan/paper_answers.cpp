#include "shiplap/plan/paper_answers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "shiplap/model/chunk_choice.hpp"
#include "shiplap/model/gomez_luna_2012.hpp"
#include "shiplap/model/overlap_bound.hpp"
#include "shiplap/model/papers.hpp"
#include "shiplap/model/van_werkhoven_2014_overlap.hpp"
#include "shiplap/model/van_werkhoven_2014_streams.hpp"
#include "shiplap/plan/kernel_rates.hpp"
#include "shiplap/strategy/paper_parameters.hpp"

namespace shiplap {
namespace {

using van_werkhoven_2014::Category;
using van_werkhoven_2014::Work;

using papers::eth;
using papers::gomez_luna;
using papers::harris;
using papers::van_werkhoven;

StageTimes stages_of(const Work& w) { return {w.in * w.h2d.per_byte, w.kernel, w.out * w.d2h.per_byte}; }

/// The closed forms of one job on one GPU, with the parameters of copies of the size that each number of chunks has.
class Forms {
 public:
  Forms(const Job& job, const Profile& profile, Category category)
      : job_(job),
        profile_(profile),
        category_(category),
        limit_(static_cast<std::uint32_t>(std::min<std::uint64_t>(job.items, most_chunks))) {}

  Work work(std::uint32_t chunks) const {
    return *paper_parameters(job_, chunks, profile_, category_ == Category::two_engines);
  }
  Seconds streams(std::uint32_t chunks) const {
    return van_werkhoven_2014::streams_time(work(chunks), chunks, category_);
  }
  /// The least time of `streams` with a kernel of another time, at the best number of chunks.
  Seconds best_streams(Seconds kernel) const {
    Work at = work(chunks_near_optimum());
    at.kernel = kernel;
    const auto time = [&](std::uint32_t n) { return van_werkhoven_2014::streams_time(at, n, category_); };
    return time(best_integer_near(van_werkhoven_2014::optimal_streams(at, category_), time, limit_));
  }
  Seconds best_hybrid(Seconds kernel) const {
    Work at = *hybrid_parameters(job_, {.strategy = "hybrid", .chunks = chunks_near_optimum()}, profile_);
    at.kernel = kernel;
    Seconds best = van_werkhoven_2014::hybrid_time(at, 1);
    for (std::uint32_t n = 2; n <= limit_; n *= 2) best = std::min(best, van_werkhoven_2014::hybrid_time(at, n));
    return best;
  }
  Seconds explicit_copies(Seconds kernel) const {
    Work at = work(1);
    at.kernel = kernel;
    return van_werkhoven_2014::explicit_time(at);
  }
  Seconds implicit(Seconds kernel) const {
    Work at = *implicit_parameters(job_, profile_);
    at.kernel = kernel;
    return van_werkhoven_2014::eq6(at);
  }
  /// A number of chunks whose copies have gaps like those of the best number: two steps towards it from one chunk.
  std::uint32_t chunks_near_optimum() const {
    std::uint32_t chunks = 1;
    for (int step = 0; step < 2; ++step)
      chunks = static_cast<std::uint32_t>(
          std::clamp(van_werkhoven_2014::optimal_streams(work(chunks), category_), 1.0, static_cast<double>(limit_)));
    return chunks;
  }
  std::uint32_t limit() const { return limit_; }
  Category category() const { return category_; }

 private:
  const Job& job_;
  const Profile& profile_;
  Category category_;
  std::uint32_t limit_;  ///< most chunks
};

/// The least kernel time for which a strategy is faster than explicit copies, whose time grows by all of the kernel;
/// nullopt when there is none below a thousand times the transfers.
std::optional<Seconds> break_even(const Forms& forms, Seconds (Forms::*time)(Seconds) const) {
  const auto is_faster = [&](Seconds kernel) {
    constexpr double rounding = 1e-12;
    return (forms.*time)(kernel) < forms.explicit_copies(kernel) * (1 - rounding);
  };
  Seconds slower{0};
  Seconds faster = stages_of(forms.work(1)).transfers() * 1000;
  if (is_faster(slower)) return slower;
  if (!is_faster(faster)) return std::nullopt;
  for (int step = 0; step < 100; ++step) {
    const Seconds middle = (slower + faster) / 2;
    (is_faster(middle) ? faster : slower) = middle;
  }
  return faster;
}

const char* dominant_stage(const StageTimes& t) {
  if (t.kernel >= std::max(t.h2d, t.d2h)) return "the kernel";
  return t.h2d >= t.d2h ? "copies to the GPU" : "copies to the host";
}

void add_van_werkhoven(const Forms& forms, std::uint64_t items, std::vector<PaperAnswer>& answers) {
  const auto add = [&](std::string question, std::string source, std::string unit, std::optional<double> printed,
                       std::optional<double> value, std::string words) {
    if (value && !std::isfinite(*value)) value.reset(), words = "any: more chunks cost nothing, because the gap is 0";
    if (printed && !std::isfinite(*printed)) printed.reset();
    answers.push_back(
        {van_werkhoven, std::move(question), std::move(source), std::move(unit), printed, value, std::move(words)});
  };
  const std::uint32_t near = forms.chunks_near_optimum();
  const Work work = forms.work(near);
  const StageTimes stages = stages_of(work);
  add("dominant stage", "§IV", "", {}, {}, dominant_stage(stages));
  add("classification", "§IV", "", {}, {},
      fmt::format("category {}, {}", static_cast<int>(forms.category()),
                  work.kernel > stages.h2d ? "dominant kernel" : "dominant transfers"));
  add("optimal number of chunks", "§VI", "1", van_werkhoven_2014::as_printed::optimal_streams(work, forms.category()),
      van_werkhoven_2014::optimal_streams(work, forms.category()), "");
  const std::uint32_t divisor = best_divisor(
      items, [&](std::uint32_t n) { return forms.streams(n); }, forms.limit());
  add("best divisor of the items", "§VI", "1", {}, divisor, to_string(forms.streams(divisor)));
  const bool helps = van_werkhoven_2014::second_copy_engine_helps(stages, near);
  const bool printed = van_werkhoven_2014::as_printed::second_copy_engine_helps(stages, near);
  add("a second copy engine helps", "§IV", "", {}, {},
      fmt::format("{}{}", helps ? "yes" : "no",
                  helps == printed ? ""
                  : printed        ? "; as printed, yes"
                                   : "; as printed, no"));
  for (const auto& [name, time] : {std::pair{"streams", &Forms::best_streams}, std::pair{"implicit", &Forms::implicit},
                                   std::pair{"hybrid", &Forms::best_hybrid}}) {
    const std::optional<Seconds> least = break_even(forms, time);
    add(fmt::format("{} beats explicit from a kernel of", name), "eqs 1-6", "ms", {},
        least ? std::optional(in_milliseconds(*least)) : std::nullopt, least ? "" : "never");
  }
}

void add_gomez_luna(const Forms& forms, const Profile& profile, std::vector<PaperAnswer>& answers) {
  using namespace gomez_luna_2012;
  const auto say = [&](std::string words) {
    answers.push_back({gomez_luna, "optimal number of streams", "eqs 2, 4, 6, 8", "", {}, {}, std::move(words), true});
  };
  if (forms.category() == Category::two_engines) return say("the paper has GPUs with one copy engine only");
  const std::optional<Seconds> per_stream = cost_of_stream(profile);
  if (!per_stream) return say("needs t_sc, what making a stream costs: `measure` it, the profile has none");
  const Work whole = forms.work(1);
  const gomez_luna_2012::Work work{.times = {.h2d = van_werkhoven_2014::transfer(whole.h2d, whole.in, 1),
                                             .kernel = whole.kernel,
                                             .d2h = van_werkhoven_2014::transfer(whole.d2h, whole.out, 1)},
                                   .per_stream = *per_stream};
  const Architecture on =
      forms.category() == Category::implicit_sync_one_engine ? Architecture::cc2 : Architecture::cc1;
  answers.push_back({gomez_luna, "t_sc, the cost of a stream", "§3", "ms", {}, in_milliseconds(*per_stream), ""});
  answers.push_back({gomez_luna, "optimal number of streams", "eqs 2, 4, 6, 8", "1",
                     as_printed::optimal_streams(work, on), optimal_streams(work, on), ""});
  const std::uint32_t best = best_streams(work, on, forms.limit());
  answers.push_back({gomez_luna,
                     "best whole number of streams",
                     "eqs 1, 3, 5, 7",
                     "1",
                     {},
                     best,
                     fmt::format("{:.2f} times as fast as without", speedup(work, best, on))});
}

void add_harris(const Job& job, std::vector<PaperAnswer>& answers) {
  const std::optional<KernelRates> rates = kernel_rates(job);
  const std::string words = "kernel time " + job.cost.origin.substr(0, job.cost.origin.find(' '));
  if (rates && rates->effective_bandwidth)
    answers.push_back({harris,
                       "effective bandwidth of the kernel",
                       "(R_B + W_B) / t",
                       "GB/s",
                       {},
                       in_gigabytes_per_second(*rates->effective_bandwidth),
                       words});
  else
    answers.push_back({harris,
                       "effective bandwidth of the kernel",
                       "(R_B + W_B) / t",
                       "",
                       {},
                       {},
                       "needs the bytes that the kernel reads and writes in device memory (`device_traffic`)",
                       true});
  if (rates && rates->gigaflops)
    answers.push_back({harris, "rate of the kernel", "operations / t", "GFLOP/s", {}, *rates->gigaflops, words});
}

}  // namespace

std::vector<PaperAnswer> paper_answers(const Job& job, const Profile& profile) {
  std::vector<PaperAnswer> answers;
  const std::optional<Category> category = paper_category(profile.gpus.front(), {.order = IssueOrder::breadth});
  if (has_blocks(job) || !category || !paper_parameters(job, 1, profile, false)) {
    const char* why = has_blocks(job) ? "the papers have equations for contiguous copies"
                      : !category     ? "no form for copies that are held until the last kernel has started"
                                      : "the profile has no link, or the kernel no cost";
    for (const char* paper : {van_werkhoven, gomez_luna, eth})
      answers.push_back({paper, "all", "", "", {}, {}, why, true});
  } else {
    const Forms forms(job, profile, *category);
    add_van_werkhoven(forms, job.items, answers);
    add_gomez_luna(forms, profile, answers);
    answers.push_back({eth, "largest speed-up by overlap", "conclusion", "1", 2.0,
                       overlap_bound(stages_of(forms.work(1)), *category), ""});
  }
  if (!job.cost.points.empty()) add_harris(job, answers);
  return answers;
}

Json to_json(const std::vector<PaperAnswer>& answers) {
  Json all = Json::array();
  for (const PaperAnswer& a : answers) {
    Json answer{{"paper", a.paper}, {"question", a.question}, {"source", a.source}, {"words", a.words}};
    if (a.printed) answer["printed"] = {{"value", *a.printed}, {"unit", a.unit}};
    if (a.value) answer["answer"] = {{"value", *a.value}, {"unit", a.unit}};
    all.push_back(std::move(answer));
  }
  return all;
}

}  // namespace shiplap

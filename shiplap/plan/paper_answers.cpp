#include "shiplap/plan/paper_answers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
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

/// A number of chunks and its time.
struct Best {
  std::uint32_t chunks = 1;
  Seconds time{0};
};

/// The closed forms of one job on one GPU, with the parameters of copies of the size that each number of chunks has.
class Forms {
 public:
  Forms(const Job& job, const Profile& profile, Category category)
      : job_(job),
        profile_(profile),
        category_(category),
        limit_(static_cast<std::uint32_t>(std::min<std::uint64_t>(job.items, most_chunks))) {}

  /// One chunk overlaps with nothing, so that its copies are those of one direction alone.
  Work work(std::uint32_t chunks, Category category) const {
    return *paper_parameters(job_, chunks, profile_, category == Category::two_engines && chunks > 1);
  }
  Work work(std::uint32_t chunks) const { return work(chunks, category_); }
  Seconds streams(std::uint32_t chunks) const { return streams(chunks, job_time(), category_); }
  Seconds streams(std::uint32_t chunks, Seconds kernel, Category category) const {
    Work at = work(chunks, category);
    at.kernel = kernel;
    return van_werkhoven_2014::streams_time(at, chunks, category);
  }
  Best best_streams(Seconds kernel, Category category) const {
    return best([&](std::uint32_t n) { return streams(n, kernel, category); });
  }
  Best best_streams(Seconds kernel) const { return best_streams(kernel, category_); }
  Best best_hybrid(Seconds kernel) const {
    return best([&](std::uint32_t n) {
      Work at = *hybrid_parameters(job_, {.strategy = "hybrid", .chunks = n}, profile_);
      at.kernel = kernel;
      return van_werkhoven_2014::hybrid_time(at, n);
    });
  }
  Best explicit_copies(Seconds kernel) const {
    Work at = work(1);
    at.kernel = kernel;
    return {1, van_werkhoven_2014::explicit_time(at)};
  }
  Best implicit(Seconds kernel) const {
    Work at = *implicit_parameters(job_, profile_);
    at.kernel = kernel;
    return {1, van_werkhoven_2014::eq6(at)};
  }
  const Job& job() const { return job_; }
  Seconds job_time() const { return job_.cost.launch_time(job_.items); }
  std::uint32_t limit() const { return limit_; }
  Category category() const { return category_; }

 private:
  Best best(const TimeOfChunks& time) const {
    const std::uint32_t chunks = best_number(time, limit_);
    return {chunks, time(chunks)};
  }

  const Job& job_;
  const Profile& profile_;
  Category category_;
  std::uint32_t limit_;  ///< most chunks
};

/// A strategy of the paper: its best time for a kernel of this time.
struct PaperStrategy {
  const char* name;
  Best (Forms::*best)(Seconds kernel) const;
  bool is_cut = false;
  bool is_zero_copy = false;
};
constexpr std::array paper_strategies{
    PaperStrategy{.name = "explicit", .best = &Forms::explicit_copies},
    PaperStrategy{.name = "streams", .best = &Forms::best_streams, .is_cut = true},
    PaperStrategy{.name = "implicit", .best = &Forms::implicit, .is_zero_copy = true},
    PaperStrategy{.name = "hybrid", .best = &Forms::best_hybrid, .is_cut = true, .is_zero_copy = true}};

/// The least kernel time for which a strategy is faster than explicit copies, whose time grows by all of the kernel;
/// nullopt when there is none below a thousand times the transfers.
std::optional<Seconds> break_even(const Forms& forms, const PaperStrategy& strategy) {
  const auto is_faster = [&](Seconds kernel) {
    constexpr double rounding = 1e-12;
    return (forms.*strategy.best)(kernel).time < forms.explicit_copies(kernel).time * (1 - rounding);
  };
  Seconds slower{0};
  Seconds faster = stages_of(forms.work(1)).transfers() * 1000;
  if (is_faster(slower)) return slower;
  if (!is_faster(faster)) return std::nullopt;
  for (int step = 0; step < 60; ++step) {
    const Seconds middle = (slower + faster) / 2;
    (is_faster(middle) ? faster : slower) = middle;
  }
  return faster;
}

const char* dominant_stage(const StageTimes& t) {
  if (t.kernel >= std::max(t.h2d, t.d2h)) return "the kernel";
  return t.h2d >= t.d2h ? "copies to the GPU" : "copies to the host";
}

std::string in_chunks(std::uint32_t chunks) { return chunks == 1 ? "1 chunk" : fmt::format("{} chunks", chunks); }

/// Adds answers of van Werkhoven et al. 2014.
class AnswersOf2014 {
 public:
  AnswersOf2014(const Forms& forms, std::vector<PaperAnswer>& answers) : forms_(forms), answers_(answers) {}

  void add_all() {
    add_times();
    add_stages();
    add_optimum();
    add_second_engine();
    for (const PaperStrategy& strategy : paper_strategies)
      if (&strategy != &paper_strategies.front() && has(strategy)) add_break_even(strategy);
  }

 private:
  bool has(const PaperStrategy& strategy) const { return !strategy.is_zero_copy || offers_zero_copy(forms_.job()); }

  void add(std::string question, std::string source, std::string unit, std::optional<double> printed,
           std::optional<double> value, std::string words) {
    if (value && !std::isfinite(*value)) value.reset(), words = "any: more chunks cost nothing, because the gap is 0";
    if (printed && !std::isfinite(*printed)) printed.reset();
    answers_.push_back(
        {van_werkhoven, std::move(question), std::move(source), std::move(unit), printed, value, std::move(words)});
  }

  void add_times() {
    const Seconds kernel = forms_.job_time();
    const auto time = [&](const PaperStrategy& s) { return has(s) ? (forms_.*s.best)(kernel).time : longest_time; };
    const PaperStrategy& fastest = *std::ranges::min_element(paper_strategies, {}, time);
    add("fastest", "eqs 1-6", "", {}, {}, fastest.name);
    for (const PaperStrategy& strategy : paper_strategies) {
      const std::string question = fmt::format("time of {}", strategy.name);
      if (!has(strategy)) {
        answers_.push_back({van_werkhoven,
                            question,
                            "",
                            "",
                            {},
                            {},
                            forms_.job().each_byte_once ? "not offered, because the kernel accesses bytes repeatedly"
                                                        : "not offered, because it is not known whether the kernel "
                                                          "accesses each byte about once (`.zero_copy_suits`)",
                            true});
        continue;
      }
      const Best best = (forms_.*strategy.best)(kernel);
      add(question, "eqs 1-6", "ms", {}, in_milliseconds(best.time), strategy.is_cut ? in_chunks(best.chunks) : "");
    }
  }

  /// The words for an optimum beyond the largest number of chunks.
  std::string beyond() const {
    return fmt::format("more than the {} {}", forms_.limit(),
                       forms_.limit() < forms_.job().items ? "chunks that are possible" : "items");
  }

  void add_stages() {
    const StageTimes stages = stages_of(forms_.work(1));
    add("dominant stage", "§IV", "", {}, {}, dominant_stage(stages));
    add("classification", "§IV", "", {}, {},
        fmt::format("category {}, {}", static_cast<int>(forms_.category()),
                    stages.kernel > stages.h2d ? "dominant kernel" : "dominant transfers"));
  }

  void add_optimum() {
    const std::uint32_t best = forms_.best_streams(forms_.job_time()).chunks;
    const Work work = forms_.work(std::max(2u, best));
    const double optimum = van_werkhoven_2014::optimal_streams(work, forms_.category());
    add("optimal number of chunks", "§VI", "1",
        van_werkhoven_2014::as_printed::optimal_streams(work, forms_.category()), optimum,
        optimum > forms_.limit() ? beyond() : "");
    const std::uint32_t divisor = best_divisor(
        forms_.job().items, [&](std::uint32_t n) { return forms_.streams(n); }, forms_.limit());
    add("best divisor of the items", "§VI", "1", {}, divisor, to_string(forms_.streams(divisor)));
  }

  /// Compares the best times with one and with two engines. The printed condition needs a number of chunks: the best
  /// number with two engines.
  void add_second_engine() {
    if (forms_.category() == Category::implicit_sync_one_engine)
      return add("a second copy engine helps", "§IV", "", {}, {}, "no, results wait for all kernels");
    const Best one = forms_.best_streams(forms_.job_time(), Category::one_engine);
    const Best two = forms_.best_streams(forms_.job_time(), Category::two_engines);
    const bool helps = two.time < one.time;
    const bool printed =
        van_werkhoven_2014::as_printed::second_copy_engine_helps(stages_of(forms_.work(1)), std::max(2u, two.chunks));
    add("a second copy engine helps", "§IV", "", {}, {},
        fmt::format("{}, {} with {}{}", helps ? "yes" : "no",
                    forms_.category() == Category::two_engines ? to_string(one.time) : to_string(two.time),
                    forms_.category() == Category::two_engines ? "one" : "two",
                    helps == printed ? "" : fmt::format(" (printed: {})", printed ? "yes" : "no")));
  }

  void add_break_even(const PaperStrategy& strategy) {
    const std::optional<Seconds> least = break_even(forms_, strategy);
    add(fmt::format("{} beats explicit from a kernel of", strategy.name), "eqs 1-6", "ms", {},
        least ? std::optional(in_milliseconds(*least)) : std::nullopt,
        !least                 ? "never"
        : *least == Seconds{0} ? "any kernel time"
                               : "");
  }

  const Forms& forms_;
  std::vector<PaperAnswer>& answers_;
};

void add_gomez_luna(const Forms& forms, const Profile& profile, std::vector<PaperAnswer>& answers) {
  using namespace gomez_luna_2012;
  const auto say = [&](std::string words) {
    answers.push_back({gomez_luna, "optimal number of streams", "eqs 2, 4, 6, 8", "", {}, {}, std::move(words), true});
  };
  if (forms.category() == Category::two_engines)
    return say(
        "the paper has GPUs with one copy engine only: van Werkhoven et al. 2014 has an answer for two, and `layout` "
        "one-engine or implicit-sync emulates one");
  const std::optional<Seconds> per_stream = cost_of_stream(profile);
  if (!per_stream) return say("needs t_sc, what making a stream costs (host.calls of the profile), which it lacks");
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

/// The ratio of the time without overlap to that of the longest stage. Duplex copies have their lower rates.
double largest_speedup(const Forms& forms) {
  const Work alone = forms.work(1);
  const StageTimes serial = stages_of(alone);
  if (forms.category() != Category::two_engines) return overlap_bound(serial, forms.category());
  const Work duplex = forms.work(2);
  const StageTimes beside =
      stages_of(van_werkhoven_2014::slowed_while_both_move(alone, {duplex.h2d.per_byte, duplex.d2h.per_byte}));
  const Seconds longest = std::max({beside.h2d, beside.kernel, beside.d2h});
  return longest > Seconds{0} ? serial.total() / longest : 1;
}

void add_eth(const Forms& forms, std::vector<PaperAnswer>& answers) {
  answers.push_back(
      {eth, "largest speed-up by overlap", "conclusion", "1", 2.0, largest_speedup(forms), "without fixed costs"});
  const Best best = forms.best_streams(forms.job_time());
  answers.push_back({eth,
                     "speed-up by eqs 1-5 of van Werkhoven",
                     "conclusion",
                     "1",
                     {},
                     forms.explicit_copies(forms.job_time()).time / best.time,
                     in_chunks(best.chunks)});
}

}  // namespace

std::vector<PaperAnswer> paper_answers(const Job& job, const Profile& profile, Layout layout) {
  std::vector<PaperAnswer> answers;
  const GpuModel& gpu = profile.gpus.front();
  // The forms of the paper let copies wait until the last kernel has ended.
  const Category category = paper_category(gpu, {.layout = layout, .order = IssueOrder::breadth})
                                .value_or(Category::implicit_sync_one_engine);
  if (has_blocks(job) || !paper_parameters(job, 1, profile, false)) {
    const char* why = has_blocks(job) ? "the papers have equations for contiguous copies"
                                      : "the profile has no link, or the kernel no cost";
    for (const char* paper : {van_werkhoven, gomez_luna, eth})
      answers.push_back({paper, "all", "", "", {}, {}, why, true});
  } else {
    const Forms forms(job, profile, category);
    AnswersOf2014(forms, answers).add_all();
    const auto assumed = [&](std::string words) {
      answers.push_back({van_werkhoven, "assumed", "", "", {}, {}, std::move(words), true});
    };
    if (memory_of(job) != MemoryKind::pinned)
      assumed(fmt::format("pinned arrays, though those of the job are {}", to_string(memory_of(job))));
    if (!is_emulated(layout) && gpu.implicit_sync == ImplicitSync::until_started)
      assumed("copies to the host wait until the last kernel has ended; on this GPU until it has started");
    add_gomez_luna(forms, profile, answers);
    add_eth(forms, answers);
  }
  if (!job.cost.points.empty()) add_harris(job, answers);
  return answers;
}

}  // namespace shiplap

// What each of the five publications says of a job on a profile, in answer to the question that it was written for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "shiplap/profile/profile.hpp"
#include "shiplap/strategy/strategy.hpp"
#include "shiplap/workload/job.hpp"

namespace shiplap {

/// One answer of a publication. Where the printed equation contradicts itself, the corrected one gives `value`
/// (research/models.md lists the differences).
struct PaperAnswer {
  std::string paper;              ///< "van-werkhoven-2014"
  std::string question;           ///< "optimal number of chunks"
  std::string source;             ///< the equation or the section, "§VI"
  std::string unit;               ///< "1", "ms", "GB/s" or "GFLOP/s"; "" for an answer in words
  std::optional<double> printed;  ///< the answer as printed, in `unit`, where the paper prints a rule for this job
  std::optional<double> value;    ///< the corrected answer, in `unit`; nullopt for an answer in words
  std::string words;              ///< the answer in words, or the reason why there is none; may stand beside a value
  bool is_missing = false;        ///< whether `words` says why the paper gives no answer
};

/// The answers for a job whose arrays are contiguous, on the profile's first GPU or, with an emulated layout, on the
/// older GPU that it stands for. Pinned arrays are assumed; for others an answer says so.
///   van Werkhoven et al. 2014  the fastest strategy and the time of each; the dominant stage; the optimal number of
///                              chunks over the real numbers and among the divisors of the items; whether a second copy
///                              engine helps; and for each strategy the kernel time from which it is faster than
///                              `explicit`. The gap of a copy is that of its size;
///   Gómez-Luna et al. 2012     t_sc, the optimal number of streams and what it improves, on GPUs with one copy engine;
///   Harris 2012                the kernel's effective bandwidth and GFLOP/s;
///   ETH 2025                   the largest speed-up that overlap can reach, and that of the best number of chunks.
/// A publication that needs a figure which the job or the profile lacks says which one.
std::vector<PaperAnswer> paper_answers(const Job&, const Profile&, Layout = Layout::three);

/// A text such as "594.8 GFLOP/s" or "57.62 TFLOP/s".
std::string rate_of_operations(double gigaflops);

}  // namespace shiplap

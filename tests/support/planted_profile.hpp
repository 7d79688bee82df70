// Profiles that tests plant as the truth. The figures are invented; they stand for no machine.
#pragma once

#include "shiplap/profile/profile.hpp"

namespace shiplap {

/// One GPU and its link with every parameter set and known exactly: like an H200 in size, but invented, for tests only.
Profile planted_profile();

/// LogGP parameters of one direction of copy (van Werkhoven 2014, Table I).
struct PaperDirection {
  Seconds latency_overhead;  ///< L+o
  PerByte per_byte;          ///< G
  Seconds gap;               ///< g
};

struct PaperOptions {
  unsigned copy_engines = 2;
  ImplicitSync implicit_sync = ImplicitSync::none;
  EngineOrder engine_order = EngineOrder::submission;
  PaperDirection h2d{.latency_overhead = microseconds(9.42), .per_byte = {8.318392e-11}, .gap = microseconds(2.503)};
  PaperDirection d2h{.latency_overhead = microseconds(9.023), .per_byte = {7.924734e-11}, .gap = microseconds(2.674)};
};

/// A GPU as the papers' equations see it: L+o, G and g of each direction whatever the size, copies of the two
/// directions do not slow each other down, kernels run one after the other, and everything else (submission, launches,
/// dependencies) takes no time.
Profile paper_profile(const PaperOptions& = {});

}  // namespace shiplap

// Advice that tests make: for a program that is fine, and for a slow one.
#pragma once

#include <algorithm>
#include <span>
#include <string>

#include "shiplap/advise/advice_view.hpp"
#include "tests/advise/made_step.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {

/// A program without advice. Its step takes 10 ms: 64 MiB in, of which 16 MiB are pageable, two kernels, 2 MiB out and
/// a wait.
inline Advised fine_program() {
  MadeStep made;
  made.in(48_MiB);
  made.in(16_MiB, MemoryKind::pageable);
  made.kernel(milliseconds(1));
  made.kernel(milliseconds(2));
  made.out(2_MiB);
  made.wait({{4, 0}});
  made.step.time = {milliseconds(10), milliseconds(9), milliseconds(12)};
  made.step.repeats = 40;
  Advised advised{};
  advised.program = "./my_program --fast";
  advised.gpu = "planted GPU";
  advised.profile = "planted";
  advised.languages = {"CuPy"};
  advised.step = made.step;
  advised.coverage = 0.875;
  advised.fidelity = -0.031;
  advised.recorded = simulated_step(made.step, planted_profile());
  advised.recorded.time = milliseconds(9.69);
  advised.limit = "Kernels are busy for 30 % of the time.";
  return advised;
}

/// The same program with two pieces of advice, of which the second one is a bound.
inline Advised slow_program() {
  Advised advised = fine_program();
  const auto add = [&](const char* rule, Seconds alone, Seconds with_before) {
    Advice advice{};
    advice.rule = rule;
    advice.what = std::string("What to do to ") + rule;
    advice.allowed_if = std::string("One may ") + rule + ".";
    const std::span<const HowTo> how = std::ranges::find(rules(), rule, &Rule::name)->how;
    advice.how = {how.begin(), how.end()};
    advice.step = Interval<Seconds>::exact(alone);
    advice.with_before = {with_before, with_before * 0.9, with_before * 1.1};
    advised.advice.push_back(advice);
  };
  add("pin", milliseconds(6), milliseconds(6));
  advised.advice[0].once = milliseconds(17);
  add("write into pinned memory", milliseconds(9), milliseconds(4));
  advised.advice[1].bound = true;
  advised.advised = simulated_step(advised.step, planted_profile());
  return advised;
}

}  // namespace shiplap

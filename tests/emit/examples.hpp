// Plans of every strategy that tests write as programs: small ones for a fake runtime, large ones to be timed on a GPU.
#pragma once

#include <string>
#include <vector>

#include "shiplap/schedule/schedule.hpp"
#include "shiplap/strategy/strategy.hpp"
#include "shiplap/workload/workload.hpp"

namespace shiplap::testing {

struct Example {
  std::string name;
  Workload workload;
  Choice choice;
  Limits limits;
  bool faked = true;      ///< the fake runtime does what its kernel does
  std::string mistake{};  ///< statement that `main` makes after it has filled the arrays for the first time

  Schedule schedule() const { return find_strategy(choice.strategy).schedule(workload.job, choice, limits); }
  /// As `shiplap plan --emit cuda` writes it.
  std::string program() const;
};

/// Small ones; tests/emit/programs/CMakeLists.txt lists their names.
std::vector<Example> small_examples();
/// Programs whose lists of blocks are wrong; listed there too.
std::vector<Example> wrong_examples();
/// To be timed; listed there too.
std::vector<Example> large_examples();
/// The example with this name; throws Error for an unknown name.
Example example(const std::string& name);

}  // namespace shiplap::testing

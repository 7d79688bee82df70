// Text of the calls that submit or perform the ops of a slot, with addresses and lengths as expressions of the loop
// variable.
#pragma once

#include <string>

#include "shiplap/emit/expressions.hpp"
#include "shiplap/emit/names.hpp"
#include "shiplap/emit/structure.hpp"
#include "shiplap/workload/job.hpp"

namespace shiplap {

class OpText {
 public:
  /// Keeps references to all arguments. `launch` is ProgramText::launch.
  OpText(const Job&, const Schedule&, const Structure&, const Names&, const std::string& launch);

  /// Statement for the slot's op in a loop over the variable `key`, or for its only op when `key` is empty. Throws
  /// Unsupported for an op that no statement exists for.
  std::string submit(std::size_t slot, const std::string& key);
  /// Whether the copies of the slot are submitted in batches. The statement then adds a copy to the batch, which is
  /// submitted after its last copy.
  bool is_batched(std::size_t slot) const;
  /// Expression of the op's stream.
  std::string stream(std::size_t slot, const std::string& key);
  Expressions& expressions() { return say_; }
  /// Name of the number of keys: "chunks", or "workers" where a key is an agent.
  std::string keys_name() const { return s_.by_agent ? "workers" : "chunks"; }

 private:
  Series series_of_kernels(std::uint64_t Kernel::*member) const;
  Series series(std::size_t slot, const auto& number) const;
  const Op& first_op(std::size_t slot) const;
  Expressions::Names region_names(BufferId, const char* constant) const;
  std::string address(std::size_t slot, const auto& region, const std::string& key);
  std::string length(std::size_t slot, const auto& region, const std::string& key);
  std::string blocks(std::size_t slot, const std::string& key);
  std::string launch(std::size_t slot, const std::string& key);
  std::string copy(std::size_t slot, const std::string& key);
  std::string move_of_blocks(std::size_t slot, const std::string& key);

  const Job& job_;
  const Schedule& schedule_;
  const Structure& s_;
  const Names& names_;
  const std::string& launch_;
  Expressions say_;
};

}  // namespace shiplap

// The calls that submit or perform the ops of a slot, with addresses and lengths as expressions of the loop's variable.
#pragma once

#include <string>

#include "shiplap/emit/expressions.hpp"
#include "shiplap/emit/names.hpp"
#include "shiplap/emit/structure.hpp"
#include "shiplap/workload/job.hpp"

namespace shiplap {

class OpText {
 public:
  /// Refers to all of them; `launch` is as in ProgramText.
  OpText(const Job&, const Schedule&, const Structure&, const Names&, const std::string& launch);

  /// The statement for the slot's op of the key that the variable `key` holds, or of its only key where that is empty.
  /// Throws Unsupported for an op that has none.
  std::string submit(std::size_t slot, const std::string& key);
  /// Whether copies of the slot are in batches: then the statement adds one to the batch, which is submitted after its
  /// last copy.
  bool is_batched(std::size_t slot) const;
  /// The stream of that op.
  std::string stream(std::size_t slot, const std::string& key);
  Expressions& expressions() { return say_; }
  /// "chunks", or "workers" where each key is one of these.
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

  const Job& job_;
  const Schedule& schedule_;
  const Structure& s_;
  const Names& names_;
  const std::string& launch_;
  Expressions say_;
};

}  // namespace shiplap

// Texts of the lists of scattered blocks in an emitted program: their helpers, names, checks and data.
#pragma once

#include <string>
#include <vector>

#include "shiplap/emit/names.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "shiplap/workload/workload.hpp"

namespace shiplap {

/// An array that is blocks of a pool, with its list.
struct ListedArray {
  std::size_t array = 0;  ///< index of the array, whose buffer is the pool
  BlockList list;
  std::uint64_t pool = 0;  ///< bytes of the pool
  bool written = false;    ///< whether an op moves blocks to the pool
};
/// The arrays whose blocks the schedule moves, in the order of their lists.
std::vector<ListedArray> listed_arrays(const Schedule&);

/// Functions that move blocks, and the kernel of Mover::Kind::kernel, as far as the schedule needs them. With
/// `verified`, the functions that fill and compare pools need one of them.
std::string block_helpers(const Schedule&, bool verified);

/// Sizes and indices of the lists, a function that names the blocks of each list, and the check of all indices.
/// `users` is the text that may use the sizes.
std::string list_declarations(const Schedule&, const Names&, const std::string& users);
/// Statements that check all indices before anything moves; empty when no list has indices.
std::string list_check(const Schedule&);

/// Functions that make lists; with `verified` also those that fill and compare pools.
std::string list_data_functions(const Schedule&, bool verified);
/// Statement that gives the array's list random blocks; empty for a list without indices.
std::string new_list(const ListedArray&, const Names&);
/// Statement that fills the pool of the array.
std::string fill_pool(const ListedArray&, const Names&, const ProgramText::Array&);
/// Expression that compares the pool of the array with what is expected.
std::string pool_holds(const ListedArray&, const Names&, const ProgramText::Array&);

}  // namespace shiplap

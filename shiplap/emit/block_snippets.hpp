// Texts for the moves of scattered blocks, which are the same in every program that contains them.
#pragma once

#include <string_view>

namespace shiplap::snippets {

extern const std::string_view move_by_copies;        ///< one copy for each block
extern const std::string_view move_by_batch;         ///< one call for all blocks; needs `together`
extern const std::string_view move_by_strided_copy;  ///< one copy for blocks at equal distances
extern const std::string_view move_by_kernel;        ///< kernels of the library; needs move_words.cuh
extern const std::string_view move_by_host;          ///< copies by the calling thread
extern const std::string_view require_within;        ///< check that indices are in the pool
extern const std::string_view require_named_once;    ///< check that no block is named twice
extern const std::string_view name_blocks;           ///< random lists of distinct blocks
extern const std::string_view block_data;            ///< functions that fill and compare pools; needs `move_by_host`

}  // namespace shiplap::snippets

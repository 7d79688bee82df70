// Makes one translation unit of the code blocks of the documentation, so that a compiler can say which are broken.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tests/docs/markdown.hpp"

namespace shiplap::docs {

/// Which compiler the unit is for.
enum class Compiler {
  host,  ///< kernel launches become calls, and blocks that include headers of the CUDA toolkit are left out
  nvcc,  ///< everything as it stands
};

/// Whether the block is C++ or CUDA.
bool is_code(const Block&);

/// The translation unit. Each block stands in a namespace of its own behind its preambles, which are the files
/// FOLDER/NAME.inc. A block that declares a kernel, a type, a template or a function stands at namespace level; another
/// one is the body of a function. `#include` lines go to the top. `#line` has messages name the Markdown file and its
/// line. Throws std::runtime_error for a preamble that does not exist.
std::string translation_unit(std::span<const Block>, const std::string& folder, Compiler);

/// The file and line of every code block of the pages that has a `cpp` or `cuda` fence.
std::vector<Block> code_of(std::span<const Page>);

}  // namespace shiplap::docs

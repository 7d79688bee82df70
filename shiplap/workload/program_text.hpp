// What a program that stands alone says of a workload: the CUDA text of its kernel, its data and its reference.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shiplap {

struct ProgramText {
  /// Definitions: kernels and what launches them. Empty for a workload whose kernel is not known as text.
  std::string kernel;
  /// The call that launches over a range of items, in which {0}, {1} … stand for the addresses of the operands,
  /// {first}, {items}, {blocks} and {stream} for what they say.
  std::string launch;
  /// Definitions of the functions below.
  std::string data;
  struct Array {
    std::string type;      ///< "float"
    std::string initial;   ///< name of the function of an index that fills it; never all zero
    std::string expected;  ///< the same for what it must hold after one run: `initial` for what is only read
    /// Name of a function of an index that says how far off an element may be, as a double; without one the values must
    /// be equal.
    std::string tolerance{};
  };
  std::vector<Array> arrays;  ///< those of the job, in their order; empty without a reference
};

/// A CUDA header of this room, as it is.
struct KernelFile {
  std::string_view name;  ///< "saxpy" for saxpy.cuh
  std::string_view text;
};
std::vector<KernelFile> kernel_files();

/// The definitions of these headers one after the other, without what belongs to a file of this project (its first
/// comment, includes, namespaces).
std::string kernel_text(std::initializer_list<std::string_view> names);

/// The text with every "{name}" replaced by what it stands for; other braces stay.
std::string filled(std::string_view text, const std::vector<std::pair<std::string, std::string>>& values);

}  // namespace shiplap

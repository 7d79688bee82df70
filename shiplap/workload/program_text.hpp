// The CUDA text of a workload for programs that stand alone: its kernel, its data and its reference.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shiplap {

struct ProgramText {
  /// Definitions of the kernels and of the functions that launch them; "" when the kernel is not known as text.
  std::string kernel;
  /// The call that launches the kernel over a range of items. In it {0}, {1} … stand for the addresses of the operands,
  /// {first} and {items} for the range, {blocks} for the grid, and {stream} for the stream.
  std::string launch;
  /// Definitions of the functions that `arrays` names.
  std::string data;
  struct Array {
    std::string type;  ///< type of the elements, as in "float"
    /// Name of the function from an index to the initial element; not all elements are 0. The indices of an array that
    /// is blocks of a pool count the elements of its blocks, in the order of the list.
    std::string initial;
    std::string expected;  ///< name of the function from an index to the element after one run
    /// Name of the function from an index to the largest error of the element, a double; "" when values must be equal.
    std::string tolerance{};
  };
  std::vector<Array> arrays;  ///< the arrays of the job, in their order; empty without a reference
};

/// A CUDA header with its text.
struct KernelFile {
  std::string_view name;  ///< name without the extension, as in "saxpy"
  std::string_view text;
};
std::vector<KernelFile> kernel_files();  ///< those of workloads
std::vector<KernelFile> mover_files();   ///< those of device/cuda, which move blocks

/// The definitions of these headers one after the other, without their first comments, includes and namespaces.
std::string kernel_text(std::initializer_list<std::string_view> names);

/// The text with every "{name}" replaced by its value. Other braces stay.
std::string filled(std::string_view text, const std::vector<std::pair<std::string, std::string>>& values);

}  // namespace shiplap

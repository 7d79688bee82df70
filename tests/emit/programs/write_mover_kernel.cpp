// write_mover_kernel FILE: writes the kernel that moves blocks in emitted programs.
#include <exception>
#include <iostream>

#include "shiplap/core/text_file.hpp"
#include "shiplap/emit/block_text.hpp"

int main(int argc, char** argv) {
  try {
    if (argc != 2) throw std::runtime_error("write_mover_kernel FILE");
    shiplap::write_file_atomically(argv[1], shiplap::mover_kernel_text());
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}

// write_example NAME FILE: writes one of the examples as a CUDA program.
#include <exception>
#include <iostream>

#include "shiplap/core/text_file.hpp"
#include "tests/emit/examples.hpp"

int main(int argc, char** argv) {
  try {
    if (argc != 3) throw std::runtime_error("write_example NAME FILE");
    shiplap::write_file_atomically(argv[2], shiplap::testing::example(argv[1]).program());
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}

#include "shiplap/core/what_failed.hpp"

#include <new>

namespace shiplap {

const char* what_failed(const std::exception& exception) {
  const bool no_memory = dynamic_cast<const std::bad_alloc*>(&exception) != nullptr;
  return no_memory ? "the host has not enough memory for this; make the workload smaller" : exception.what();
}

}  // namespace shiplap

// Decides which calls of the program fail. This library is loaded in front of all others (LD_PRELOAD).
#pragma once

#include "tests/faults/shared.hpp"

namespace shiplap::faults {

/// Calls that the library makes itself are not counted while an object exists in the thread.
class Own {
 public:
  Own();
  ~Own();
  Own(const Own&) = delete;
  Own& operator=(const Own&) = delete;

 private:
  bool before_;
};

struct Decision {
  bool fails = false;
  int error = 0;
};

/// Counts a call of `kind`, and says whether it fails. `function` and `path` may be null.
Decision next_call(Kind kind, const char* function, const char* path);

/// The function of this name in the libraries behind this one.
void* function_behind(const char* name);

}  // namespace shiplap::faults

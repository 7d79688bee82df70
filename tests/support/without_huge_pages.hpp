// A process that gets no huge pages while an object lives, nor what it starts meanwhile.
#pragma once

#include <sys/prctl.h>

namespace shiplap {

class WithoutHugePages {
 public:
  WithoutHugePages()
      : before_(prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0)), is_set_(prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) == 0) {}
  ~WithoutHugePages() {
    if (before_ == 0) prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0);
  }
  WithoutHugePages(const WithoutHugePages&) = delete;
  WithoutHugePages& operator=(const WithoutHugePages&) = delete;
  /// False where the kernel cannot do that.
  bool is_set() const { return is_set_; }

 private:
  int before_;
  bool is_set_;
};

}  // namespace shiplap

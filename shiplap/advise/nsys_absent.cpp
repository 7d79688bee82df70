// Stands in for nsys.cpp in builds without SQLite.
#include "shiplap/advise/nsys.hpp"
#include "shiplap/core/error.hpp"

namespace shiplap {

Recording read_nsys(const std::filesystem::path& file) {
  throw Unsupported(file.string() +
                    ": this build cannot read exports of nsys, because SQLite was not found when it was built; install "
                    "libsqlite3-dev and build again");
}

}  // namespace shiplap

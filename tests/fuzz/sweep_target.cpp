#include "experiments/published_sweep/data.hpp"
#include "tests/fuzz/target.hpp"

namespace shiplap::fuzz {
namespace {

void read_sweep(std::string_view bytes) {
  const auto data = read_or_refused([&] { return experiments::published_sweep::parse_published(bytes, "sweep"); });
  if (!data) return;
  for (const auto& point : data->points)
    require(point.streams > 0 && point.size % point.streams == 0, "streams divide the size");
}

}  // namespace

const Target sweep_target{"sweep", read_sweep};

}  // namespace shiplap::fuzz

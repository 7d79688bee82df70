#include "shiplap/sim/shared_paths.hpp"

#include <algorithm>
#include <utility>

#include "shiplap/sim/copy_engine.hpp"
#include "shiplap/sim/zero_copy_kernels.hpp"

namespace shiplap::sim {

SharedPaths::SharedPaths(std::vector<SharedPath> paths, std::vector<Movers> by_gpu)
    : paths_(std::move(paths)), movers_(std::move(by_gpu)) {}

void SharedPaths::rates_changed(double now) {
  std::vector<Transfer> transfers;
  std::vector<double> wanted;
  for (std::size_t gpu = 0; gpu < movers_.size(); ++gpu)
    for (const bool to_device : {true, false}) add_transfers(gpu, to_device, transfers, wanted);
  if (transfers == transfers_ && wanted == wanted_) return;
  transfers_ = std::move(transfers);
  wanted_ = std::move(wanted);
  update_progress(now);  // so far at the rates of before
  share();
  update_progress(now);
}

void SharedPaths::add_transfers(std::size_t gpu, bool to_device, std::vector<Transfer>& transfers,
                                std::vector<double>& wanted) const {
  CopyEngine* const engine = to_device ? movers_[gpu].h2d : movers_[gpu].d2h;
  if (engine->moves(to_device)) {
    transfers.push_back({engine, gpu, to_device});
    wanted.push_back(1 / engine->own_per_byte());
  }
  const ZeroCopyKernels& kernels = *movers_[gpu].kernels;
  if (!kernels.is_running() || !(kernels.bytes(to_device) > 0)) return;
  transfers.push_back({nullptr, gpu, to_device});
  wanted.push_back(kernels.bytes(to_device) / kernels.own_duration());
}

void SharedPaths::update_progress(double now) {
  for (const Transfer& transfer : transfers_) {
    if (transfer.engine != nullptr)
      transfer.engine->update_progress(now);
    else
      movers_[transfer.gpu].kernels->update_progress(now);
  }
}

void SharedPaths::share() {
  const std::vector<double> rates = fair_rates(wanted_, capacities());
  std::vector<double> durations(movers_.size(), 0);  // least times of kernels that are held back
  for (std::size_t i = 0; i < transfers_.size(); ++i) {
    const Transfer& transfer = transfers_[i];
    const bool is_held = rates[i] < wanted_[i];
    if (transfer.engine != nullptr)
      transfer.engine->hold_to(is_held ? 1 / rates[i] : 0);
    else if (is_held)
      durations[transfer.gpu] =
          std::max(durations[transfer.gpu], movers_[transfer.gpu].kernels->bytes(transfer.to_device) / rates[i]);
  }
  for (std::size_t gpu = 0; gpu < movers_.size(); ++gpu) movers_[gpu].kernels->hold_to(durations[gpu]);
}

std::vector<Capacity> SharedPaths::capacities() const {
  std::vector<Capacity> all;
  for (const SharedPath& path : paths_) {
    Capacity h2d{path.h2d, {}}, d2h{path.d2h, {}}, both{path.both, {}};
    for (std::size_t i = 0; i < transfers_.size(); ++i) {
      if (!path.gpus[transfers_[i].gpu]) continue;
      (transfers_[i].to_device ? h2d : d2h).users.push_back(i);
      both.users.push_back(i);
    }
    all.push_back(std::move(h2d));
    all.push_back(std::move(d2h));
    all.push_back(std::move(both));
  }
  return all;
}

}  // namespace shiplap::sim

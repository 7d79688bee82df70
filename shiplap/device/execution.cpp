#include "shiplap/device/execution.hpp"

#include "shiplap/core/error.hpp"

// The defaults of the interface stand here and not in the header, which programs compile again and again.
namespace shiplap {

Execution::~Execution() = default;
RunResult Execution::run(const RunOptions& options) {
  submit(options);
  return wait();
}
std::vector<LaunchShape> Execution::launches() const { return {}; }
bool Execution::overdue() const { return false; }
void Execution::capture(void* /*stream*/) {
  throw Unsupported("this device has no CUDA streams, so no graph captures a run");
}
void Execution::enqueue(void* /*stream*/) {
  throw Unsupported("this device has no CUDA streams, so no run can be enqueued in one: run it instead");
}
void Execution::rebind(const Bindings&) {
  throw Unsupported("this device keeps the addresses of an execution: prepare another one");
}

}  // namespace shiplap

// A program that ends, forks or breaks in the way that its argument names. It knows nothing of shiplap.
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int steps = 10;
constexpr std::size_t items = 1 << 20;
constexpr auto bytes = items * sizeof(float);

__global__ void add_one(float* x) {
  const std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  if (i < items) x[i] += 1;
}
__global__ void trap() { __trap(); }

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::printf("%s\n", cudaGetErrorName(error));
  std::exit(1);
}

/// Copies in, computes and copies out, `steps` times.
void work() {
  std::vector<float> host(items, 1.0f);
  float* device = nullptr;
  cudaStream_t stream = nullptr;
  check(cudaMalloc(&device, bytes));
  check(cudaStreamCreate(&stream));
  for (int step = 0; step < steps; ++step) {
    nvtxRangePushA("a step");
    check(cudaMemcpyAsync(device, host.data(), bytes, cudaMemcpyHostToDevice, stream));
    add_one<<<items / 256, 256, 0, stream>>>(device);
    check(cudaMemcpyAsync(host.data(), device, bytes, cudaMemcpyDeviceToHost, stream));
    check(cudaStreamSynchronize(stream));
    nvtxRangePop();
  }
  std::printf("%g\n", host[items / 2]);
  std::fflush(stdout);
}

void launch_graphs() {
  float *host = nullptr, *device = nullptr;
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  check(cudaMallocHost(&host, bytes));
  check(cudaMalloc(&device, bytes));
  check(cudaStreamCreate(&stream));
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  check(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream));
  add_one<<<items / 256, 256, 0, stream>>>(device);
  check(cudaStreamEndCapture(stream, &graph));
  check(cudaGraphInstantiate(&executable, graph, 0));
  for (int step = 0; step < steps; ++step) check(cudaGraphLaunch(executable, stream));
  check(cudaStreamSynchronize(stream));
}

/// Launches on both GPUs and waits for the stream of the first one while the second one is current.
void wait_from_the_other_gpu() {
  int gpus = 0;
  check(cudaGetDeviceCount(&gpus));
  if (gpus < 2) std::exit(77);
  std::vector<float*> device(2);
  std::vector<cudaStream_t> streams(2);
  for (int gpu = 0; gpu < 2; ++gpu) {
    check(cudaSetDevice(gpu));
    check(cudaMalloc(&device[gpu], bytes));
    for (int other = 0; other <= gpu; ++other) check(cudaStreamCreate(&streams[gpu]));
  }
  for (int step = 0; step < steps; ++step) {
    for (int gpu = 0; gpu < 2; ++gpu) {
      check(cudaSetDevice(gpu));
      add_one<<<items / 256, 256, 0, streams[gpu]>>>(device[gpu]);
    }
    check(cudaStreamSynchronize(streams[0]));
  }
  check(cudaDeviceSynchronize());
}

/// What a profiler in the program would do. CUPTI may refuse it, and the program goes on.
void profile_itself() {
  void* const cupti = dlopen("libcupti.so.13", RTLD_NOW);
  using Subscribe = int (*)(void**, void (*)(void*, int, unsigned, const void*), void*);
  const auto subscribe = cupti == nullptr ? nullptr : reinterpret_cast<Subscribe>(dlsym(cupti, "cuptiSubscribe"));
  void* subscriber = nullptr;
  if (subscribe != nullptr)
    subscribe(
        &subscriber, [](void*, int, unsigned, const void*) {}, nullptr);
}

int run(const std::string& way) {
  if (way == "without_cuda") return 5;
  if (way == "forks_first" || way == "forks_later") {
    if (way == "forks_later") work();
    const pid_t child = fork();
    if (child == 0) {
      if (way == "forks_first") work();
      std::exit(0);
    }
    if (way == "forks_first") work();
    int status = 0;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
  }
  if (way == "profiles_itself") profile_itself();
  if (way == "launches_graphs") launch_graphs();
  if (way == "waits_from_the_other_gpu") {
    wait_from_the_other_gpu();
    return 0;
  }
  if (way == "uses_threads") {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back(work);
    for (std::thread& thread : threads) thread.join();
    return 0;
  }
  work();
  constexpr unsigned until_written = 600'000;  // us
  if (way == "crashes" || way == "leaves_at_once") usleep(until_written);
  if (way == "crashes") std::raise(SIGSEGV);
  if (way == "leaves_at_once") _exit(4);
  if (way == "traps") {
    trap<<<1, 1>>>();
    check(cudaDeviceSynchronize());
  }
  return way == "fails" ? 3 : 0;
}

}  // namespace

int main(int argc, char** argv) { return run(argc > 1 ? argv[1] : ""); }

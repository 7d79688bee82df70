// A CUDA runtime to link programs with that shiplap writes: memory is host memory, what is submitted happens at once
// (what is captured, when its graph is launched), kernels are known by name. Every call that a test wants to see goes
// into the file that SHIPLAP_CALLS names, as a line of words.
#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace {

std::recursive_mutex guard;  // the threads of a program
std::vector<std::function<void()>> captured;
bool capturing = false;

/// Names by address. Filled before main, from wherever the program begins.
std::map<const void*, std::string>& kernels() {
  static std::map<const void*, std::string> known;
  return known;
}

FILE* calls_file() {
  static FILE* const file = [] {
    const char* name = std::getenv("SHIPLAP_CALLS");
    FILE* const opened = name == nullptr ? nullptr : std::fopen(name, "w");
    if (opened != nullptr) std::setvbuf(opened, nullptr, _IOLBF, BUFSIZ);  // a program may end without flushing
    return opened;
  }();
  return file;
}

template <class... Values>
void note(const char* format, Values... values) {
  const std::lock_guard lock(guard);
  if (calls_file() != nullptr) std::fprintf(calls_file(), format, values...);
}

cudaError_t submit(const std::function<void()>& work) {
  const std::lock_guard lock(guard);
  if (capturing)
    captured.push_back(work);
  else
    work();
  return cudaSuccess;
}

template <class T>
T argument(void** arguments, int i) {
  return *static_cast<T*>(arguments[i]);
}

struct Addition {
  std::uint32_t scalar, iterations, zero;
};

struct Call {
  std::vector<const void*> operands;
  unsigned long long last_length = 0;  // bytes of the last operand
  bool any_grid = true;
  std::function<void()> work;
};

Call saxpy(void** a) {
  const auto factor = argument<float>(a, 0);
  const auto* x = argument<const float*>(a, 1);
  auto* y = argument<float*>(a, 2);
  const auto n = argument<std::uint64_t>(a, 4);
  return {{x, y}, 4 * n, true, [=] {
            for (std::uint64_t i = 0; i < n; ++i) y[i] = factor * x[i] + y[i];
          }};
}

Call scalar_add(const std::uint32_t* in, std::uint32_t* out, std::uint64_t outputs, std::uint64_t a, std::uint64_t b,
                Addition add) {
  return {{in, out}, 4 * outputs, true, [=] {
            for (std::uint64_t o = 0; o < outputs; ++o) {
              const std::uint32_t* item = in + o / b * a;
              out[o] = 0;
              for (std::uint64_t s = o % b % a; s < (b >= a ? o % b % a + 1 : a); s += b)
                out[o] += item[s] + add.scalar * add.iterations;
            }
          }};
}

template <class Index>
Call ratio(void** a) {
  return scalar_add(argument<const std::uint32_t*>(a, 0), argument<std::uint32_t*>(a, 1), argument<Index>(a, 2),
                    argument<Index>(a, 3), argument<Index>(a, 4), argument<Addition>(a, 5));
}

// Of units of 16 bytes.
Call stated(void** a) {
  const auto* in = argument<const char*>(a, 0);
  auto* out = argument<char*>(a, 1);
  const std::uint64_t outputs = argument<std::uint32_t>(a, 2);
  const std::uint64_t in_each = argument<std::uint32_t>(a, 3);
  const std::uint64_t out_each = argument<std::uint32_t>(a, 4);
  const auto halo = argument<std::uint64_t>(a, 6);
  return {{in, out}, 16 * outputs, false, [=] {
            for (std::uint64_t o = 0; o < outputs; ++o)
              std::memcpy(out + 16 * o, in + 16 * (halo + o / out_each * in_each + o % out_each % in_each), 16);
          }};
}

/// The first argument of a kernel that moves blocks. Sizes are in words.
struct MoveShape {
  char* pool;
  char* packed;
  std::uint64_t pitch;
  std::uint32_t block;
  std::uint32_t total;
};

// The name is that of move_words<T, capacity, way> with T = uint4 ("5uint4"), unsigned ("j") or unsigned char ("h").
bool is_move(const std::string& name) { return name.rfind("_Z10move_wordsI", 0) == 0; }

std::function<void()> move_of_words(const std::string& name, void** a) {
  const std::string type = name.substr(std::strlen("_Z10move_wordsI"));
  const std::size_t word = type[0] == '5' ? 16 : type[0] == 'j' ? 4 : 1;
  const auto capacity = static_cast<std::size_t>(std::atoi(type.c_str() + type.find("Lj") + 2));
  const bool gather = type.find("L3Way0E") != std::string::npos;
  const auto shape = argument<MoveShape>(a, 0);
  const std::size_t count = shape.total / shape.block;
  std::vector<std::uint64_t> indices;
  for (std::size_t k = 0; k < count; ++k)
    indices.push_back(capacity == 0 ? argument<std::uint64_t>(a, 1) + k : static_cast<std::uint32_t*>(a[1])[k]);
  if (capacity > 0 && count > capacity) std::fprintf(stderr, "too many indices for a launch\n"), std::exit(3);
  return [=] {
    const std::size_t block = shape.block * word;
    for (std::size_t k = 0; k < count; ++k) {
      char* in_pool = shape.pool + indices[k] * shape.pitch * word;
      char* packed = shape.packed + k * block;
      std::memcpy(gather ? packed : in_pool, gather ? in_pool : packed, block);
    }
  };
}

Call call_of(const std::string& name, void** a) {
  const auto is = [&](const char* prefix) { return name.rfind(prefix, 0) == 0; };
  if (is("_Z5saxpy")) return saxpy(a);
  if (is("_Z21scalar_add_one_to_one"))
    return scalar_add(argument<const std::uint32_t*>(a, 0), argument<std::uint32_t*>(a, 1),
                      argument<std::uint64_t>(a, 3), 1, 1, argument<Addition>(a, 4));
  if (is("_Z16scalar_add_ratioIj")) return ratio<std::uint32_t>(a);
  if (is("_Z16scalar_add_ratioIm")) return ratio<std::uint64_t>(a);
  if (is("_Z6statedI5uint4j")) return stated(a);
  Call placeholder;  // its operands come before a number
  if (is("_Z11your_kernelPc"))
    for (std::size_t i = 15, n = 0; i < name.size() && name[i] != 'm'; ++i)
      if (name[i] == 'P' || name[i] == '_')
        placeholder.operands.push_back(argument<const void*>(a, static_cast<int>(n++)));
  if (placeholder.operands.empty())
    std::fprintf(stderr, "the fake runtime does not know %s\n", name.c_str()), std::exit(3);
  placeholder.work = [] {};
  return placeholder;
}

cudaError_t launch(const void* kernel, dim3 grid, dim3 threads, void** arguments, cudaStream_t stream) {
  const std::string& name = kernels().at(kernel);
  if (is_move(name)) {
    const auto shape = argument<MoveShape>(arguments, 0);
    note("move %p %p %p %u %u %u\n", static_cast<void*>(stream), shape.pool, shape.packed, shape.total, grid.x,
         threads.x);
    return submit(move_of_words(name, arguments));
  }
  const Call call = call_of(name, arguments);
  std::string operands;
  for (const void* operand : call.operands) {
    char text[32];
    std::snprintf(text, sizeof text, " %p", operand);
    operands += text;
  }
  note("launch %p %u %llu%s\n", static_cast<void*>(stream), call.any_grid ? grid.x : 0u, call.last_length,
       operands.c_str());
  return submit(call.work);
}

thread_local struct {
  dim3 grid, block;
  std::size_t shared;
  cudaStream_t stream;
} configuration;

std::uintptr_t next_number() {
  static std::uintptr_t last = 0x1000;
  const std::lock_guard lock(guard);
  return last += 16;
}
template <class Handle>
Handle new_handle() {
  return reinterpret_cast<Handle>(next_number());
}

cudaError_t obtain(void** data, std::size_t size) {
  *data = std::calloc(size + 1, 1);
  note("memory %p %zu\n", *data, size);
  return cudaSuccess;
}

}  // namespace

extern "C" {

void* __real_aligned_alloc(std::size_t alignment, std::size_t size);
void* __wrap_aligned_alloc(std::size_t alignment, std::size_t size) {
  void* data = __real_aligned_alloc(alignment, size);
  note("memory %p %zu\n", data, size);
  return data;
}

void** __cudaRegisterFatBinary(void*) {
  static void* handle = nullptr;
  return &handle;
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
char __cudaInitModule(void**) { return 0; }
void __cudaRegisterFunction(void**, const char* host, char*, const char* name, int, uint3*, uint3*, dim3*, dim3*,
                            int*) {
  kernels()[host] = name;
}
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared, cudaStream_t stream) {
  configuration = {grid, block, shared, stream};
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared, void* stream) {
  *grid = configuration.grid, *block = configuration.block, *shared = configuration.shared;
  *static_cast<cudaStream_t*>(stream) = configuration.stream;
  return cudaSuccess;
}
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host) {
  *kernel = reinterpret_cast<cudaKernel_t>(const_cast<void*>(host));
  return cudaSuccess;
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 threads, void** arguments, std::size_t,
                               cudaStream_t stream) {
  return launch(kernel, grid, threads, arguments, stream);
}
cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 threads, void** arguments, std::size_t,
                             cudaStream_t stream) {
  return launch(kernel, grid, threads, arguments, stream);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* lowest, int* highest) {
  *lowest = 0;
  *highest = -3;  // as the fake of the device's tests
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  if (flags != cudaStreamNonBlocking) return cudaErrorInvalidValue;
  *stream = new_handle<cudaStream_t>();
  note("urgent %p %d\n", static_cast<void*>(*stream), priority);
  return cudaSuccess;
}
cudaError_t cudaMalloc(void** data, std::size_t size) { return obtain(data, size); }
cudaError_t cudaMallocManaged(void** data, std::size_t size, unsigned) { return obtain(data, size); }
cudaError_t cudaHostRegister(void*, std::size_t, unsigned) { return cudaSuccess; }
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = new_handle<cudaStream_t>();
  return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = new_handle<cudaEvent_t>();
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = new_handle<cudaEvent_t>();
  note("clock %p\n", static_cast<void*>(*event));
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  note("record %p %p\n", static_cast<void*>(stream), static_cast<void*>(event));
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  note("wait %p %p\n", static_cast<void*>(stream), static_cast<void*>(event));
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  note("synchronize %p\n", static_cast<void*>(event));
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaEventElapsedTime(float* time, cudaEvent_t, cudaEvent_t) {
  *time = 1;
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  note("copy %p %p %p %zu %d\n", static_cast<void*>(stream), to, from, bytes, static_cast<int>(kind));
  return submit([=] { std::memcpy(to, from, bytes); });
}
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                              std::size_t width, std::size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  note("strided %p %p %p %zu %zu %zu %zu %d\n", static_cast<void*>(stream), to, from, to_pitch, from_pitch, width,
       height, static_cast<int>(kind));
  return submit([=] {
    for (std::size_t row = 0; row < height; ++row)
      std::memcpy(static_cast<char*>(to) + row * to_pitch, static_cast<const char*>(from) + row * from_pitch, width);
  });
}
#if CUDART_VERSION >= 13000
cudaError_t cudaMemcpyBatchAsync(void* const* to, const void* const* from, const std::size_t* bytes, std::size_t count,
                                 cudaMemcpyAttributes*, std::size_t*, std::size_t, cudaStream_t stream) {
#else
cudaError_t cudaMemcpyBatchAsync(void** to, void** from, std::size_t* bytes, std::size_t count, cudaMemcpyAttributes*,
                                 std::size_t*, std::size_t, std::size_t*, cudaStream_t stream) {
#endif
  note("batch %p %zu\n", static_cast<void*>(stream), count);
  for (std::size_t i = 0; i < count; ++i) {
    note("copy %p %p %p %zu %d\n", static_cast<void*>(stream), to[i], from[i], bytes[i], 4);
    submit([to = to[i], from = from[i], bytes = bytes[i]] { std::memcpy(to, from, bytes); });
  }
  return cudaSuccess;
}
#if CUDART_VERSION >= 13000
cudaError_t cudaMemPrefetchAsync(const void* data, std::size_t bytes, cudaMemLocation to, unsigned,
                                 cudaStream_t stream) {
  const bool there = to.type == cudaMemLocationTypeDevice;
#else
cudaError_t cudaMemPrefetchAsync(const void* data, std::size_t bytes, int to, cudaStream_t stream) {
  const bool there = to != cudaCpuDeviceId;
#endif
  note("prefetch %p %p %zu %d\n", static_cast<void*>(stream), data, bytes, there ? 1 : 0);
  return cudaSuccess;
}
#if CUDART_VERSION >= 13000
cudaError_t cudaMemAdvise(const void* data, std::size_t bytes, cudaMemoryAdvise advice, cudaMemLocation of) {
  const bool gpu = of.type == cudaMemLocationTypeDevice;
#else
cudaError_t cudaMemAdvise(const void* data, std::size_t bytes, cudaMemoryAdvise advice, int of) {
  const bool gpu = of != cudaCpuDeviceId;
#endif
  note("advise %p %zu %d %d\n", data, bytes, static_cast<int>(advice), gpu ? 1 : 0);
  return cudaSuccess;
}
cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode) {
  capturing = true;
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t* graph) {
  capturing = false;
  *graph = new_handle<cudaGraph_t>();
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* made, cudaGraph_t, unsigned long long) {
  *made = new_handle<cudaGraphExec_t>();
  return cudaSuccess;
}
cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t) {
  for (const auto& work : captured) work();
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr, int) {
  *value = 2;
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void*, int, std::size_t,
                                                                   unsigned) {
  *blocks = 2;
  return cudaSuccess;
}
cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) { return cudaSuccess; }
cudaError_t cudaGetLastError() { return cudaSuccess; }
const char* cudaGetErrorName(cudaError_t) { return "an error"; }
const char* cudaGetErrorString(cudaError_t) { return "of the fake runtime"; }

}  // extern "C"

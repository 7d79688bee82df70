#include "shiplap/advise/rules.hpp"

#include <array>

namespace shiplap {
namespace {

const std::array how_to_keep{
    HowTo{"CUDA C++", "Copy the array before the loop and pass the same device pointer in every step."},
    HowTo{"PyTorch", "Move the tensor or the module with .to(\"cuda\") before the loop, not in it."},
    HowTo{"CuPy", "Call cupy.asarray(x) before the loop."},
    HowTo{"JAX", "Call jax.device_put(x) before the loop and pass the result."},
    HowTo{"OpenMP and OpenACC",
          "Open a data region around the loop (target data map, acc data copyin); inside it map nothing anew."}};
const std::array how_to_keep_results{
    HowTo{"CUDA C++", "Swap device pointers between steps, and copy to the host only what it reads."},
    HowTo{"PyTorch", "Keep the tensor on the GPU between steps; .cpu() only what the host reads."},
    HowTo{"CuPy", "Keep the cupy array between steps; .get() only what the host reads."},
    HowTo{"JAX", "Pass the result on as it is; numpy.asarray only of what the host reads."},
    HowTo{"OpenMP and OpenACC",
          "Open a data region around the loop; target update from, or acc update self, only for what the host reads."}};
const std::array how_to_stream_layers{
    HowTo{
        "CUDA C++",
        "Keep on the GPU a part of every layer, as much as fits; copy the rest in a stream of its own into two buffers "
        "in turn, with events (shiplap plan --layers says what a step then takes)."},
    HowTo{"PyTorch",
          "shiplap.torch.offload(model, memory=...) instead of accelerate's cpu_offload, device_map with \"cpu\", or "
          "diffusers' offloading; .to(\"cuda\") where all weights fit."}};
const std::array how_to_allocate{
    HowTo{"CUDA C++",
          "Allocate before the loop, small arrays as one, or take memory from a pool with cudaMallocAsync and "
          "cudaFreeAsync."},
    HowTo{"PyTorch", "Give results a place with out=, and do not call torch.cuda.empty_cache() in the loop."},
    HowTo{"CuPy", "Give results a place with out=, and do not free the memory pool in the loop."},
    HowTo{"JAX", "Donate arguments whose memory may be reused: jax.jit(f, donate_argnums=...)."},
    HowTo{"OpenMP and OpenACC",
          "Map arrays once, by target enter data or acc enter data before the loop; rows as one array."}};
const std::array how_to_pin{
    HowTo{"CUDA C++", "Allocate with cudaMallocHost, or pin an array once with cudaHostRegister."},
    HowTo{"PyTorch", "DataLoader(..., pin_memory=True); torch.empty(..., pin_memory=True) and copy_ for results."},
    HowTo{"CuPy", "cupyx.empty_pinned(shape, dtype) instead of numpy.empty; array.set(x) and array.get(out=y)."},
    HowTo{"JAX", "Keep arrays that are read on the host in memory kind pinned_host (jax.device_put with a sharding)."},
    HowTo{
        "OpenMP and OpenACC",
        "Compile with -gpu=mem:separate:pinnedalloc (nvc), or allocate with omp_alloc and the trait omp_atk_pinned."}};
const std::array how_to_write{
    HowTo{"CUDA C++",
          "Let what makes the data write into the pinned array that is copied, instead of copying them there."},
    HowTo{"CuPy", "cupy.asarray(x) copies x into pinned memory first; array.set(x) from cupyx.empty_pinned does not."},
    HowTo{"JAX", "jax.device_put copies NumPy arrays into pinned memory first; fewer and larger arrays cost less."},
    HowTo{"PyTorch", "Collate batches into pinned tensors, or let DataLoader(pin_memory=True) do it in a thread."}};
const std::array how_to_prefetch{
    HowTo{"CUDA C++", "cudaMemPrefetchAsync to the GPU before the kernel, and to the host before the host reads."}};
const std::array how_to_batch{
    HowTo{"CUDA C++",
          "Copy the parts into one pinned array with memcpy and call cudaMemcpyAsync once, or submit them in "
          "one call with cudaMemcpyBatchAsync (shiplap movers says which is faster)."},
    HowTo{"PyTorch", "torch.cat or torch.stack on the host, one .to(\"cuda\"), and split on the GPU."},
    HowTo{"CuPy", "numpy.concatenate with out= in a pinned array, one set, and views on the GPU."},
    HowTo{"JAX", "numpy.stack on the host and one jax.device_put."},
    HowTo{"OpenMP and OpenACC", "Keep the parts in one array and map this array once."}};
const std::array how_to_copy_asynchronously{
    HowTo{"CUDA C++", "cudaMemcpyAsync instead of cudaMemcpy."},
    HowTo{"PyTorch", "x.to(\"cuda\", non_blocking=True) from a pinned tensor."},
    HowTo{"CuPy", "array.set(x, stream=stream) from a pinned array."},
    HowTo{"OpenMP and OpenACC", "nowait with depend on target regions and updates, or async on OpenACC constructs."}};
const std::array how_to_drop_waits{
    HowTo{"CUDA C++",
          "Remove cudaDeviceSynchronize and cudaStreamSynchronize; kernels of a stream run in order anyway."},
    HowTo{"PyTorch", "Remove torch.cuda.synchronize(), and read .item() of losses less often."},
    HowTo{"CuPy", "Remove Stream.synchronize() and conversions such as float(x) in the loop."},
    HowTo{"JAX", "Call block_until_ready() only on what the host reads."},
    HowTo{"OpenMP and OpenACC",
          "nowait on target regions, or async; taskwait or wait only where the host reads results."}};
const std::array how_to_overlap_steps{
    HowTo{"CUDA C++", "Two device arrays in turn, a stream for the copies, and an event after each copy and kernel."},
    HowTo{"PyTorch",
          "shiplap.torch.prefetch(loader), or a torch.cuda.Stream for copies; results into pinned tensors "
          "with non_blocking=True, and wait for their event a step later."},
    HowTo{"CuPy", "set and get(blocking=False) on a second cupy.cuda.Stream, with events."},
    HowTo{"JAX", "Call jax.device_put of the next batch before the result of this one is read."},
    HowTo{"OpenMP and OpenACC", "Regions with nowait and depend, or async, over two sets of arrays."}};
const std::array how_to_chunk{
    HowTo{"CUDA C++", "shiplap::plan and run (docs/tutorial.md), or shiplap plan --emit cuda for a program."},
    HowTo{"PyTorch", "shiplap.torch.stream(module, x)."},
    HowTo{"CuPy", "shiplap.Job with kernel(function, arrays=\"cupy\")."},
    HowTo{"OpenMP and OpenACC",
          "target update and regions over parts of the arrays, with nowait and depend, or async."}};

const std::array how_to_access_host_memory{
    HowTo{"CUDA C++", "Allocate with cudaHostAlloc(..., cudaHostAllocMapped) and pass the pointer to the kernel."},
    HowTo{"CuPy", "An array over cupyx.empty_pinned memory, by cupy.cuda.UnownedMemory and MemoryPointer."}};

const std::array all_rules{Rule{"keep on the GPU", keep_on_gpu, how_to_keep, true},
                           Rule{"keep results on the GPU", keep_results_on_gpu, how_to_keep_results, false, true},
                           Rule{"stream layers", stream_layers, how_to_stream_layers, true},
                           Rule{"allocate once", allocate_once, how_to_allocate, true},
                           Rule{"pin", pin, how_to_pin, false, false, true},
                           Rule{"write into pinned memory", write_into_pinned_memory, how_to_write, false, true},
                           Rule{"prefetch managed memory", prefetch_managed, how_to_prefetch},
                           Rule{"batch copies", batch_copies, how_to_batch},
                           Rule{"copy asynchronously", copy_asynchronously, how_to_copy_asynchronously},
                           Rule{"drop waits", drop_waits, how_to_drop_waits},
                           Rule{"overlap steps", overlap_steps, how_to_overlap_steps, true},
                           Rule{"chunks on streams", cut_into_chunks_on_streams, how_to_chunk},
                           Rule{"zero-copy", access_host_memory, how_to_access_host_memory, false, true}};

}  // namespace

std::span<const Rule> rules() { return all_rules; }

}  // namespace shiplap

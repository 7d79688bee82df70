// Outputs of other tools, made by hand in the form that each tool prints. The figures are invented.
#pragma once

#include <string>

namespace shiplap::outputs {

inline const std::string nvbandwidth_text = R"out(nvbandwidth Version: v0.8
Built from Git version: v0.8

CUDA Runtime Version: 12080
CUDA Driver Version: 12080
Driver Version: 570.10

somehost
Device 0: NVIDIA A10 (00000000:17:00)
Device 1: NVIDIA A10 (00000000:65:00)

Running host_to_device_memcpy_ce.
memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)
           0         1
 0     25.00     12.50

SUM host_to_device_memcpy_ce 37.50

Running device_to_host_memcpy_ce.
memcpy CE CPU(row) <- GPU(column) bandwidth (GB/s)
           0         1
 0     20.00     10.00

SUM device_to_host_memcpy_ce 30.00

Running host_to_device_bidirectional_memcpy_ce.
memcpy CE CPU(row) <-> GPU(column) bandwidth (GB/s)
           0         1
 0     16.00      8.00

SUM host_to_device_bidirectional_memcpy_ce 24.00

Running device_to_host_bidirectional_memcpy_ce.
memcpy CE CPU(row) <-> GPU(column) bandwidth (GB/s)
           0         1
 0     15.00      7.50

SUM device_to_host_bidirectional_memcpy_ce 22.50

Running device_to_device_memcpy_write_ce.
memcpy CE GPU(row) <- GPU(column) bandwidth (GB/s)
           0         1
 0       N/A     10.00
 1      5.00       N/A

SUM device_to_device_memcpy_write_ce 15.00

Waived: 
Running device_local_copy.
memcpy local GPU(column) bandwidth (GB/s)
           0         1
 0    250.00    200.00

SUM device_local_copy 450.00

Running host_to_device_memcpy_sm.
memcpy SM CPU(row) -> GPU(column) bandwidth (GB/s)
           0         1
 0     24.00     12.00

SUM host_to_device_memcpy_sm 36.00

Running host_device_latency_sm.
memory latency SM CPU(row) <-> GPU(column) (ns)
           0         1
 0    800.00    900.00

NOTE: The reported results may not reflect the full capabilities of the platform.
)out";

inline const std::string nvbandwidth_json = R"out({
	"nvbandwidth" :
	{
		"CUDA Runtime Version" : 12070,
		"Driver Version" : "565.02",
		"GPU Device list" : [ "0: NVIDIA A10 (00000000:17:00): (somehost)" ],
		"git_version" : "",
		"testcases" :
		[
			{
				"bandwidth_description" : "memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)",
				"bandwidth_matrix" : [ [ "25.0000" ] ],
				"name" : "host_to_device_memcpy_ce",
				"status" : "Passed",
				"sum" : 25.0
			},
			{
				"bandwidth_description" : "memcpy CE CPU(row) <- GPU(column) bandwidth (GB/s)",
				"bandwidth_matrix" : [ [ "20.0000" ] ],
				"name" : "device_to_host_memcpy_ce",
				"status" : "Passed",
				"sum" : 20.0
			},
			{ "name" : "device_to_device_memcpy_read_ce", "status" : "Waived" }
		],
		"version" : "v0.6"
	}
})out";

inline const std::string bandwidth_csv = R"out([CUDA Bandwidth Test] - Starting...
Running on...

 Device 0: Tesla T4
 Quick Mode

bandwidthTest-H2D-Pinned, Bandwidth = 12.5 GB/s, Time = 0.00256 s, Size = 32000000 bytes, NumDevsUsed = 1
bandwidthTest-D2H-Pinned, Bandwidth = 10.0 GB/s, Time = 0.00320 s, Size = 32000000 bytes, NumDevsUsed = 1
bandwidthTest-H2D-Paged, Bandwidth = 4.0 GB/s, Time = 0.00800 s, Size = 32000000 bytes, NumDevsUsed = 1
bandwidthTest-D2H-Paged, Bandwidth = 3.2 GB/s, Time = 0.01000 s, Size = 32000000 bytes, NumDevsUsed = 1
bandwidthTest-D2D, Bandwidth = 240.0 GB/s, Time = 0.00013 s, Size = 32000000 bytes, NumDevsUsed = 1
Result = PASS
)out";

inline const std::string bandwidth_text = R"out([CUDA Bandwidth Test] - Starting...
Running on...

 Device 0: Tesla T4
 Quick Mode

 Host to Device Bandwidth, 1 Device(s)
 PINNED Memory Transfers
   Transfer Size (Bytes)	Bandwidth(GB/s)
   32000000			12.5

 Device to Host Bandwidth, 1 Device(s)
 PINNED Memory Transfers
   Transfer Size (Bytes)	Bandwidth(GB/s)
   32000000			10.0

 Device to Device Bandwidth, 1 Device(s)
 PINNED Memory Transfers
   Transfer Size (Bytes)	Bandwidth(GB/s)
   32000000			240.0

Result = PASS
)out";

inline const std::string p2p = R"out([P2P (Peer-to-Peer) GPU Bandwidth Latency Test]
Device: 0, NVIDIA GeForce RTX 3090, pciBusID: 17, pciDeviceID: 0, pciDomainID:0
Device: 1, NVIDIA GeForce RTX 3090, pciBusID: 65, pciDeviceID: 0, pciDomainID:0
Device=0 CAN Access Peer Device=1
Device=1 CANNOT Access Peer Device=0

P2P Connectivity Matrix
     D\D     0     1
     0	     1     1
     1	     0     1
Unidirectional P2P=Disabled Bandwidth Matrix (GB/s)
   D\D     0      1 
     0 800.00  10.00 
     1   8.00 780.00 
Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)
   D\D     0      1 
     0 800.00  20.00 
     1   8.00 780.00 
Bidirectional P2P=Enabled Bandwidth Matrix (GB/s)
   D\D     0      1 
     0 800.00  40.00 
     1  16.00 780.00 
P2P=Disabled Latency Matrix (us)
   GPU     0      1 
     0   1.50  12.00 
     1  11.00   1.40 

   CPU     0      1 
     0   2.50   8.00 
     1   7.00   2.40 
P2P=Enabled Latency (P2P Writes) Matrix (us)
   GPU     0      1 
     0   1.50   2.00 
     1  11.00   1.40 
)out";

inline const std::string transfer_bench_csv = R"out(TransferBench v1.52.00 (with CU Debug)
===============================================================
Test#,Transfer#,NumBytes,Src,Exe,Dst,CUs,BW(GB/s),Time(ms),SrcAddr,DstAddr
 Executor: DMA 00 ,  25.000 GB/s ,    2.684 ms ,     67108864 bytes , 25.000  GB/s (sum)
     Transfer 00  ,  25.000 GB/s ,    2.684 ms ,     67108864 bytes , C0 -> DMA00.*:001 -> G0
 Aggregate (CPU)  ,  24.000 GB/s ,    2.796 ms ,     67108864 bytes , Overhead: 0.112 ms
 Executor: DMA 00 ,  20.000 GB/s ,    3.355 ms ,     67108864 bytes , 20.000  GB/s (sum)
     Transfer 00  ,  20.000 GB/s ,    3.355 ms ,     67108864 bytes , G0 -> DMA00.*:001 -> C0
 Aggregate (CPU)  ,  19.000 GB/s ,    3.532 ms ,     67108864 bytes , Overhead: 0.177 ms
 Executor: DMA 00 ,  31.000 GB/s ,    4.330 ms ,    134217728 bytes , 31.000  GB/s (sum)
     Transfer 00  ,  16.000 GB/s ,    4.194 ms ,     67108864 bytes , C0 -> DMA00.*:001 -> G0
     Transfer 01  ,  15.000 GB/s ,    4.474 ms ,     67108864 bytes , G0 -> DMA00.*:001 -> C0
 Aggregate (CPU)  ,  30.000 GB/s ,    4.474 ms ,    134217728 bytes , Overhead: 0.100 ms
 Executor: GPU 00 ,  24.000 GB/s ,    2.796 ms ,     67108864 bytes , 24.000  GB/s (sum)
     Transfer 00  ,  24.000 GB/s ,    2.796 ms ,     67108864 bytes , C0 -> GPU00:004 -> G0
 Aggregate (CPU)  ,  23.000 GB/s ,    2.918 ms ,     67108864 bytes , Overhead: 0.122 ms
)out";

inline const std::string comm_scope = R"out({
  "context": {"date": "2026-11-20T10:00:00+00:00", "host_name": "somehost", "num_cpus": 64, "mhz_per_cpu": 2400},
  "benchmarks": [
    {"name": "Comm_cudaMemcpyAsync_PinnedToGPU/0/0/log2(N):10/manual_time", "run_type": "iteration", "iterations": 100,
     "real_time": 3082.0, "cpu_time": 9000.0, "time_unit": "ns", "bytes": 1024.0, "cuda_id": 0.0, "numa_id": 0.0,
     "bytes_per_second": 332251784.6},
    {"name": "Comm_cudaMemcpyAsync_PinnedToGPU/0/0/log2(N):26/manual_time", "run_type": "iteration", "iterations": 100,
     "real_time": 5.368709, "cpu_time": 6.0, "time_unit": "ms", "bytes": 67108864.0, "cuda_id": 0.0, "numa_id": 0.0},
    {"name": "Comm_cudaMemcpyAsync_PinnedToGPU/0/0/log2(N):26/manual_time_mean", "run_type": "aggregate",
     "real_time": 99.0, "cpu_time": 6.0, "time_unit": "ms", "bytes": 67108864.0, "cuda_id": 0.0, "numa_id": 0.0},
    {"name": "Comm_cudaMemcpyAsync_GPUToPinned/0/0/log2(N):26/manual_time", "run_type": "iteration", "iterations": 100,
     "real_time": 6710.8864, "cpu_time": 7000.0, "time_unit": "us", "bytes": 67108864.0, "cuda_id": 0.0, "numa_id": 0.0},
    {"name": "Comm_cudaMemcpyAsync_Duplex_Pinned/0/0/log2(N):26/manual_time", "run_type": "iteration",
     "real_time": 8.388608, "cpu_time": 9.0, "time_unit": "ms", "bytes": 67108864.0},
    {"name": "Comm_UM_Prefetch_HostToGPU/0/0/log2(N):26/manual_time", "real_time": 8.0, "time_unit": "ms",
     "bytes": 67108864.0, "cuda_id": 0.0, "numa_id": 0.0},
    {"name": "Comm_cudart_kernel/0/0/8/real_time/threads:1", "real_time": 2500.0, "time_unit": "ns", "gpu": 0.0}
  ]
})out";

}  // namespace shiplap::outputs

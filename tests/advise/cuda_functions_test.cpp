// Names of functions as CUPTI has them (cupti_runtime_cbid.h, cupti_driver_cbid.h).
#include "shiplap/advise/cuda_functions.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string_view>
#include <utility>

namespace shiplap {
namespace {

TEST(Functions, are_watched_with_what_their_parameters_mean) {
  const std::pair<std::string_view, Reads> watched_names[] = {{"cudaMemcpy_v3020", Reads::copy},
                                                              {"cudaMemcpyAsync_v3020", Reads::copy},
                                                              {"cuMemcpyHtoD_v2", Reads::copy_from_host},
                                                              {"cuMemcpyHtoDAsync_v2", Reads::copy_from_host},
                                                              {"cuMemcpyDtoHAsync_v2", Reads::copy},
                                                              {"cudaLaunchKernel_v7000", Reads::nothing},
                                                              {"cuLaunchKernelEx", Reads::nothing},
                                                              {"cudaGraphLaunch_v10000", Reads::nothing},
                                                              {"cudaEventRecord_v3020", Reads::event_record},
                                                              {"cudaStreamWaitEvent_v3020", Reads::stream_wait},
                                                              {"cudaEventSynchronize_v3020", Reads::event_wait},
                                                              {"cudaStreamSynchronize_v3020", Reads::host_wait},
                                                              {"cudaDeviceSynchronize_v3020", Reads::device_wait},
                                                              {"cudaThreadSynchronize_v3020", Reads::device_wait},
                                                              {"cudaLaunch_v3020", Reads::nothing},
                                                              {"cuLaunchGridAsync", Reads::nothing},
                                                              {"cuCtxSynchronize", Reads::device_wait},
                                                              {"cudaMalloc_v3020", Reads::nothing},
                                                              {"cudaFreeAsync_v11020", Reads::nothing},
                                                              {"cudaHostRegister_v4000", Reads::nothing},
                                                              {"cuMemHostUnregister", Reads::nothing},
                                                              {"hipLaunchKernel", Reads::nothing},
                                                              {"hipExtModuleLaunchKernel", Reads::nothing},
                                                              {"hipMemcpyWithStream", Reads::copy},
                                                              {"hipStreamSynchronize", Reads::host_wait}};
  for (const auto& [name, reads] : watched_names) EXPECT_EQ(watched(name), std::optional(reads)) << name;
}

TEST(Functions, are_not_watched_where_they_put_nothing_into_a_stream_and_wait_for_nothing) {
  for (const std::string_view name : {"cudaGetDevice_v3020", "cudaStreamCreate_v3020", "cudaStreamQuery_v3020",
                                      "cudaEventQuery_v3020", "cuMemGetInfo_v2", "cuCtxGetCurrent", "cudaMem", ""})
    EXPECT_FALSE(watched(name)) << name;
}

TEST(Functions, read_pointers_only_of_the_copies_that_have_them_first) {
  // These begin with names of copies whose parameters are known, and have other ones.
  for (const std::string_view name :
       {"cudaMemcpy2D_v3020", "cudaMemcpy2DAsync_v3020", "cudaMemcpyToSymbol_v3020", "cudaMemcpyAsyncFuture_v99000",
        "cudaMemcpyPeerAsync_v4000", "cudaMemcpyBatchAsync_v12080", "cuMemcpyHtoA_v2", "cuMemcpyDtoD_v2",
        "cuMemcpy2D_v2", "cuMemcpyBatchAsync", "cuMemcpyAsync"})
    EXPECT_EQ(watched(name), std::optional(Reads::nothing)) << name;
}

TEST(Functions, of_further_variants_are_watched_as_those_that_they_begin_with) {
  EXPECT_EQ(watched("cudaEventRecordWithFlags_v11010"), std::optional(Reads::event_record));
  EXPECT_EQ(watched("cudaMallocManaged_v6000"), std::optional(Reads::nothing));
  EXPECT_EQ(watched("cuMemPrefetchAsync_v2_ptsz"), std::optional(Reads::nothing));
}

TEST(Functions, are_watched_with_a_stream_for_each_thread_as_well) {
  EXPECT_EQ(watched("cudaMemcpyAsync_ptsz_v7000"), std::optional(Reads::copy));
  EXPECT_EQ(watched("cudaMemcpy_ptds_v7000"), std::optional(Reads::copy));
  EXPECT_EQ(watched("cuMemcpyHtoDAsync_v2_ptsz"), std::optional(Reads::copy_from_host));
  EXPECT_EQ(watched("cudaStreamSynchronize_ptsz_v7000"), std::optional(Reads::host_wait));
}

TEST(NameInPrograms, lacks_versions_and_variants_and_nothing_else) {
  EXPECT_EQ(name_in_programs("cudaMemcpyAsync_v3020"), "cudaMemcpyAsync");
  EXPECT_EQ(name_in_programs("cudaMemcpyAsync_ptsz_v7000"), "cudaMemcpyAsync");
  EXPECT_EQ(name_in_programs("cuMemcpyHtoDAsync_v2_ptsz"), "cuMemcpyHtoDAsync");
  EXPECT_EQ(name_in_programs("cuCtxSynchronize"), "cuCtxSynchronize");
  EXPECT_EQ(name_in_programs("my_vector"), "my_vector");
  EXPECT_EQ(name_in_programs("my_v"), "my_v");
  EXPECT_EQ(name_in_programs("my_v2x"), "my_v2x");
}

TEST(StreamPerThread, is_meant_by_variants_with_a_version_behind_or_before) {
  for (const std::string_view name : {"cudaMemcpyAsync_ptsz_v7000", "cudaMemcpy_ptds_v7000",
                                      "cuMemcpyHtoDAsync_v2_ptsz", "cuMemcpyHtoD_v2_ptds", "cuLaunchKernel_ptsz"})
    EXPECT_TRUE(has_stream_per_thread(name)) << name;
  for (const std::string_view name : {"cudaMemcpyAsync_v3020", "cuMemcpyHtoDAsync_v2", "cuCtxSynchronize", ""})
    EXPECT_FALSE(has_stream_per_thread(name)) << name;
}

}  // namespace
}  // namespace shiplap

#include "shiplap/other_tools/tool_output.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <regex>

#include "shiplap/core/error.hpp"
#include "tests/other_tools/outputs.hpp"

namespace shiplap {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

ToolOutput output_of(const std::string& text) { return read_tool_output(text, "figures"); }

/// The only figure of this kind.
ToolFigure only(const ToolOutput& output, ToolPrimitive primitive, CopyDirection way, std::uint64_t gpu = 0,
                MemoryKind memory = MemoryKind::pinned) {
  std::vector<ToolFigure> found;
  for (const ToolFigure& f : output.figures)
    if (f.primitive == primitive && f.direction == way && f.gpu == gpu && f.memory == memory) found.push_back(f);
  EXPECT_EQ(found.size(), 1U);
  return found.empty() ? ToolFigure{} : found.front();
}
constexpr auto h2d = CopyDirection::host_to_device;
constexpr auto d2h = CopyDirection::device_to_host;

std::string refusal_of_output(const std::string& text) {
  try {
    output_of(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(ToolOutput, has_the_matrices_of_nvbandwidth_in_decimal_units) {
  const ToolOutput output = output_of(outputs::nvbandwidth_text);
  EXPECT_EQ(output.tool, "nvbandwidth v0.8");
  EXPECT_EQ(output.gpus, (std::vector<std::string>{"NVIDIA A10", "NVIDIA A10"}));
  EXPECT_EQ(output.conditions.at("gpu.driver"), "570.10");
  const ToolFigure copy = only(output, ToolPrimitive::copy, h2d, 1);
  EXPECT_DOUBLE_EQ(copy.value, 12.5e9);
  EXPECT_DOUBLE_EQ(copy.rounding, 0.005e9);
  EXPECT_EQ(copy.size, 512_MiB) << "the default from 0.7 on";
  EXPECT_DOUBLE_EQ(only(output, ToolPrimitive::copy, d2h).value, 20e9);
  EXPECT_DOUBLE_EQ(only(output, ToolPrimitive::duplex_copy, h2d).value, 16e9);
  EXPECT_DOUBLE_EQ(only(output, ToolPrimitive::duplex_copy, d2h).value, 15e9);
  EXPECT_DOUBLE_EQ(only(output, ToolPrimitive::copy_within, h2d).value, 250e9);
}

// Reads copy from the GPU of the column, and writes to it, whatever the arrow in the heading says: the source of
// nvbandwidth, DeviceToDeviceReadCE and DeviceToDeviceWriteCE.
TEST(ToolOutput, has_the_ends_of_copies_between_gpus_as_the_tests_of_nvbandwidth_copy) {
  const ToolOutput written = output_of(outputs::nvbandwidth_text);  // row 0, column 1: 10 GB/s
  EXPECT_EQ(only(written, ToolPrimitive::peer_copy, h2d, 0).peer, 1U);
  EXPECT_DOUBLE_EQ(only(written, ToolPrimitive::peer_copy, h2d, 0).value, 10e9);
  EXPECT_DOUBLE_EQ(only(written, ToolPrimitive::peer_copy, h2d, 1).value, 5e9);
  const ToolOutput read = output_of(
      std::regex_replace(std::string(outputs::nvbandwidth_text), std::regex("memcpy_write_ce"), "memcpy_read_ce"));
  EXPECT_EQ(only(read, ToolPrimitive::peer_copy, h2d, 1).peer, 0U);
  EXPECT_DOUBLE_EQ(only(read, ToolPrimitive::peer_copy, h2d, 1).value, 10e9);
}

TEST(ToolOutput, names_tests_without_a_parameter) {
  const ToolOutput output = output_of(outputs::nvbandwidth_text);
  for (const char* name : {"host_to_device_memcpy_sm", "host_device_latency_sm"})
    EXPECT_THAT(output.left_out, Contains(name));
}

TEST(ToolOutput, has_the_cells_of_json_of_nvbandwidth_which_are_texts) {
  const ToolOutput output = output_of(outputs::nvbandwidth_json);
  EXPECT_EQ(output.tool, "nvbandwidth v0.6");
  EXPECT_EQ(output.gpus, std::vector<std::string>{"NVIDIA A10"});
  EXPECT_EQ(output.figures.size(), 2U) << "a waived test has no matrix";
  EXPECT_DOUBLE_EQ(only(output, ToolPrimitive::copy, h2d).value, 25e9);
  EXPECT_EQ(only(output, ToolPrimitive::copy, d2h).size, 64_MiB) << "the default before 0.7";
}

TEST(ToolOutput, takes_version_0_10_for_later_than_0_7) {
  const auto at = outputs::nvbandwidth_text.find("v0.8");
  const ToolOutput output = output_of(std::string(outputs::nvbandwidth_text).replace(at, 4, "v0.10"));
  EXPECT_EQ(output.figures.front().size, 512_MiB);
}

TEST(ToolOutput, does_not_know_the_size_of_a_buffer_that_is_smaller_than_the_default) {
  const ToolOutput output =
      output_of("NOTE: You have chosen a buffer size that is smaller than the default buffer size.\n" +
                outputs::nvbandwidth_text.substr(outputs::nvbandwidth_text.find("Running")));
  EXPECT_EQ(output.figures.front().size, std::nullopt);
}

TEST(ToolOutput, counts_each_byte_of_a_copy_inside_a_gpu_once) {
  for (const std::string& text : {outputs::bandwidth_csv, outputs::bandwidth_text}) {
    const ToolOutput output = output_of(text);
    EXPECT_EQ(output.tool, "bandwidthTest");
    EXPECT_EQ(output.gpus, std::vector<std::string>{"Tesla T4"});
    EXPECT_DOUBLE_EQ(only(output, ToolPrimitive::copy, h2d).value, 12.5e9);
    EXPECT_DOUBLE_EQ(only(output, ToolPrimitive::copy, d2h).rounding, 0.05e9);
    const auto within = std::ranges::find(output.figures, ToolPrimitive::copy_within, &ToolFigure::primitive);
    ASSERT_NE(within, output.figures.end());
    EXPECT_DOUBLE_EQ(within->value, 120e9) << "240 GB/s are read and written";
  }
  const ToolOutput csv = output_of(outputs::bandwidth_csv);
  EXPECT_DOUBLE_EQ(only(csv, ToolPrimitive::copy, d2h, 0, MemoryKind::pageable).value, 3.2e9);
  EXPECT_EQ(only(csv, ToolPrimitive::copy, h2d, 0, MemoryKind::pageable).size, Bytes{32'000'000});
}

// 134,217,728 bytes in 0.01098 s are 12.224 GB/s, which are 11,657 times 2^20 bytes: the MB of this tool are MiB.
TEST(ToolOutput, knows_that_the_mb_of_older_versions_of_bandwidth_test_are_mib) {
  const ToolFigure figure = output_of(
                                "bandwidthTest-H2D-Pinned, Bandwidth = 11657.0 MB/s, Time = 0.01098 s, "
                                "Size = 134217728 bytes\n")
                                .figures.front();
  EXPECT_NEAR(figure.value, 134217728 / 0.01098, 0.001 * figure.value);
  EXPECT_DOUBLE_EQ(figure.value, 11657.0 * 1048576);
}

TEST(ToolOutput, shares_the_sum_of_several_gpus_among_them) {
  const ToolFigure figure = output_of(
                                "bandwidthTest-H2D-Pinned, Bandwidth = 50.0 GB/s, Time = 0.00064 s, "
                                "Size = 32000000 bytes, NumDevsUsed = 4\n")
                                .figures.front();
  EXPECT_DOUBLE_EQ(figure.value, 12.5e9);
}

TEST(ToolOutput, knows_which_gpus_of_the_p2p_test_address_each_other) {
  const ToolOutput output = output_of(outputs::p2p);
  EXPECT_EQ(output.gpus[1], "NVIDIA GeForce RTX 3090");
  std::vector<double> direct;
  std::vector<double> staged;
  for (const ToolFigure& f : output.figures) {
    if (f.primitive == ToolPrimitive::peer_copy && f.unit == ToolUnit::bytes_per_second) direct.push_back(f.value);
    if (f.primitive == ToolPrimitive::staged_peer_copy && f.unit == ToolUnit::seconds) staged.push_back(f.value);
  }
  EXPECT_EQ(direct, std::vector<double>{20e9}) << "GPU 1 cannot address the memory of GPU 0";
  EXPECT_THAT(staged, ::testing::ElementsAre(::testing::DoubleEq(12e-6), ::testing::DoubleEq(11e-6),
                                             ::testing::DoubleEq(11e-6)));
  const auto within = std::ranges::find(output.figures, ToolPrimitive::copy_within, &ToolFigure::primitive);
  EXPECT_DOUBLE_EQ(within->value, 400e9) << "the diagonal counts what is read and what is written";
}

TEST(ToolOutput, has_the_transfers_of_copy_engines_of_transfer_bench) {
  const ToolOutput output = output_of(outputs::transfer_bench_csv);
  EXPECT_EQ(output.tool, "TransferBench v1.52.00");
  EXPECT_DOUBLE_EQ(only(output, ToolPrimitive::copy, h2d).value, 25e9);
  EXPECT_DOUBLE_EQ(only(output, ToolPrimitive::copy, d2h).value, 20e9);
  EXPECT_DOUBLE_EQ(only(output, ToolPrimitive::duplex_copy, h2d).value, 16e9);
  EXPECT_DOUBLE_EQ(only(output, ToolPrimitive::duplex_copy, d2h).value, 15e9);
  EXPECT_EQ(output.figures.size(), 4U) << "a transfer by a kernel is none of a copy engine";
}

TEST(ToolOutput, has_the_same_transfers_in_text_and_in_the_columns_of_older_versions) {
  const ToolOutput text = output_of(
      "Test 1:\n Executor: DMA 00 │ 25.000 GB/s │ 2.684 ms │ 67108864 bytes │ 25.000 GB/s (sum)\n"
      " Transfer 0    │ 25.000 GB/s │ 2.684 ms │ 67108864 bytes │ C0 -> D0:1 -> G1\n"
      " Aggregate (CPU) │ 24.000 GB/s │ 2.8 ms │ 67108864 bytes │ Overhead 0.1 ms\n");
  const ToolOutput old = output_of(
      "Test#,Transfer#,NumBytes,Src,Exe,Dst,CUs,BW(GB/s),Time(ms),SrcAddr,DstAddr\n"
      "1,0,67108864,C0,D0,G1,1,25.000,2.684,0x1,0x2\n");
  for (const ToolOutput* output : {&text, &old}) {
    EXPECT_DOUBLE_EQ(only(*output, ToolPrimitive::copy, h2d, 1).value, 25e9);
    EXPECT_EQ(output->figures.front().size, 64_MiB);
  }
}

TEST(ToolOutput, has_the_times_of_comm_scope_in_the_unit_of_each) {
  const ToolOutput output = output_of(outputs::comm_scope);
  EXPECT_NEAR(only(output, ToolPrimitive::copy, d2h).value, 6.7108864e-3, 1e-12);
  EXPECT_NEAR(only(output, ToolPrimitive::duplex_copy, d2h).value, 8.388608e-3, 1e-12);
  EXPECT_EQ(only(output, ToolPrimitive::prefetch, h2d, 0, MemoryKind::managed).size, 64_MiB);
  EXPECT_NEAR(output.figures.front().value, 3.082e-6, 1e-12);
  EXPECT_EQ(output.figures.size(), 6U) << "a mean follows from the repetitions";
  EXPECT_THAT(output.left_out, Contains("Comm_cudart_kernel"));
}

TEST(ToolOutput, holds_several_tools_that_were_written_into_one_file) {
  const ToolOutput output =
      output_of("$ ./bandwidthTest --csv\n" + outputs::bandwidth_csv + "\n$ ./p2p\n" + outputs::p2p);
  EXPECT_EQ(output.tool, "bandwidthTest, p2pBandwidthLatencyTest");
  EXPECT_EQ(output.gpus.size(), 2U);
}

TEST(ToolOutput, says_what_a_text_is_and_what_to_do) {
  EXPECT_THAT(refusal_of_output("version https://git-lfs.github.com/spec/v1\noid sha256:1\n"),
              HasSubstr("git lfs pull"));
  EXPECT_THAT(refusal_of_output("\x1f\x8b\x08"), HasSubstr("gunzip"));
  EXPECT_THAT(refusal_of_output("Comm_cudaMemcpyAsync_PinnedToGPU/0/0/log2(N):8/manual_time 2804 ns 1 1 bytes=256\n"),
              HasSubstr("--benchmark_out_format=json"));
  EXPECT_THAT(refusal_of_output(R"({"schema": "shiplap/profile"})"), HasSubstr("shiplap/profile"));
  EXPECT_THAT(refusal_of_output(R"({"nvbandwidth": {"testcases": []}})"), HasSubstr("no figure"));
  for (const char* text : {"", "hello", "{}", "[]", "\n\n{\"benchmarks\": []}"})
    EXPECT_THAT(refusal_of_output(text), HasSubstr("figure")) << text;
  EXPECT_THAT(refusal_of_output("{\"nvbandwidth\": "), HasSubstr("JSON"));
}

// Output that breaks off anywhere has the figures of the lines before, or is refused.
TEST(ToolOutput, of_which_the_end_is_missing_has_no_other_figures) {
  for (const std::string* text :
       {&outputs::nvbandwidth_text, &outputs::bandwidth_csv, &outputs::bandwidth_text, &outputs::transfer_bench_csv}) {
    const ToolOutput whole = output_of(*text);
    for (std::size_t line = text->find('\n'); line != std::string::npos; line = text->find('\n', line + 1)) {
      try {
        for (const ToolFigure& f : output_of(text->substr(0, line)).figures)
          EXPECT_EQ(std::ranges::count_if(whole.figures,
                                          [&](const ToolFigure& g) {
                                            return f.primitive == g.primitive && f.direction == g.direction &&
                                                   f.value == g.value;
                                          }),
                    1)
              << text->substr(0, line);
      } catch (const Error&) {
        // refused
      }
    }
  }
}

TEST(ToolOutput, leaves_out_numbers_that_no_node_has) {
  const auto line = [](const std::string& rate, const std::string& size) {
    return "bandwidthTest-H2D-Pinned, Bandwidth = " + rate + " GB/s, Time = 1 s, Size = " + size + " bytes\n";
  };
  for (const char* rate : {"0.0", "-1", "nan", "inf", "1e300", "1e-300"})
    EXPECT_NE(refusal_of_output(line(rate, "32000000")), "") << rate;
  for (const char* size : {"0", "-1", "18446744073709551615", "99999999999999999999999"})
    EXPECT_NE(refusal_of_output(line("12.5", size)), "") << size;
}

}  // namespace
}  // namespace shiplap

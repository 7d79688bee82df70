#include "shiplap/advise/nsys.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "shiplap/advise/recording_writer.hpp"
#include "tests/advise/nsys_export.hpp"

namespace shiplap {
namespace {

namespace fs = std::filesystem;
using namespace nsys_export;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Nsys : public NsysExport {};

TEST_F(Nsys, gives_calls_then_ops_by_their_start_then_orders_and_ranges) {
  all_tables();
  call(1, "cudaMemcpyAsync_v3020", 1000, 1100);
  call(2, "cudaLaunchKernel_v7000", 1200, 1250);
  call(3, "cudaMemsetAsync_v3020", 1300, 1350);
  call(4, "cudaEventRecord_v3020", 1360, 1370);
  call(5, "cudaEventSynchronize_v3020", 1380, 1500);
  copy(1, 1, 1, 2, 1150, 1250);
  kernel(2, "void saxpy<float>(int, float const*)", 1260, 1400);
  fill(3, 1255, 1259);
  row("CUPTI_ACTIVITY_KIND_CUDA_EVENT(deviceId,contextId,streamId,correlationId,globalPid,eventId)", 0, 1, 7, 4,
      global(app), 21);
  wait(5, 1, no_number, 21, 1390);
  range(59, "'step'", "NULL", 990, "1600");
  const std::vector<Record> expected{
      RecordedCall{1, 0, {10, 110}, "cudaMemcpyAsync"},
      RecordedCall{2, 0, {210, 260}, "cudaLaunchKernel"},
      RecordedCall{3, 0, {310, 360}, "cudaMemsetAsync"},
      RecordedCall{4, 0, {370, 380}, "cudaEventRecord"},
      RecordedCall{5, 0, {390, 510}, "cudaEventSynchronize"},
      RecordedCopy{1, 13, {160, 260}, Bytes{4096}, MemoryKind::pinned, MemoryKind::device},
      RecordedFill{3, 0, {265, 269}, Bytes{512}},
      RecordedKernel{2, 0, {270, 410}, "void saxpy<float>(int, float const*)", 600, 256},
      RecordedOrder{5, RecordedOrder::Kind::event_wait, 0, 21, 0},
      RecordedOrder{4, RecordedOrder::Kind::record, 0, 21, 0},
      RecordedRange{0, {0, 610}, "step"},
  };
  const Recording recording = read();
  EXPECT_EQ(recording.records, expected);
  EXPECT_TRUE(recording.complete);
}

TEST_F(Nsys, counts_times_from_a_first_start_before_the_profile_began) {
  all_tables();
  call(1, "cudaMalloc", -500, -400);
  kernel(2, "k", 100, 200);
  EXPECT_THAT(read().records, ElementsAre(Record{RecordedCall{1, 0, {0, 100}, "cudaMalloc"}},
                                          Record{RecordedKernel{2, 0, {600, 700}, "k", 600, 256}}));
}

TEST_F(Nsys, keeps_calls_that_move_launch_order_wait_or_hold_memory_and_removes_versions_from_their_names) {
  all_tables();
  std::int64_t start = 0;
  const std::vector<std::pair<std::string, std::string>> kept{
      {"cudaMemcpyAsync_ptsz_v7000", "cudaMemcpyAsync"},
      {"cuMemcpyHtoDAsync_v2_ptsz", "cuMemcpyHtoDAsync"},
      {"cudaMemcpy2D_ptds_v7000", "cudaMemcpy2D"},
      {"cuLaunchKernelEx", "cuLaunchKernelEx"},
      {"cudaLaunchCooperativeKernel_v9000", "cudaLaunchCooperativeKernel"},
      {"cudaGraphLaunch_v10000", "cudaGraphLaunch"},
      {"cuMemsetD32Async", "cuMemsetD32Async"},
      {"cudaDeviceSynchronize_v3020", "cudaDeviceSynchronize"},
      {"cuCtxSynchronize", "cuCtxSynchronize"},
      {"cuStreamWaitEvent", "cuStreamWaitEvent"},
      {"cudaEventRecordWithFlags_v11010", "cudaEventRecordWithFlags"},
      {"cudaMallocAsync_v11020", "cudaMallocAsync"},
      {"cudaFreeHost_v3020", "cudaFreeHost"},
      {"cudaHostAlloc_v3020", "cudaHostAlloc"},
      {"cudaHostUnregister_v4000", "cudaHostUnregister"},
      {"cuMemAllocManaged", "cuMemAllocManaged"},
      {"cuMemHostRegister_v2", "cuMemHostRegister"},
  };
  std::vector<std::string> expected;
  for (const auto& [name, plain] : kept) {
    call(static_cast<std::uint64_t>(start) + 1, name, start, start + 1);
    expected.push_back(plain);
    ++start;
  }
  for (const char* name : {"cudaGetDevice_v3020", "cudaEventQuery_v3020", "cudaStreamCreateWithFlags_v5000",
                           "cuModuleLoadData", "cudaGraphInstantiate_v12000", "cudaMemGetInfo_v3020"})
    call(99, name, start, start + 1);
  EXPECT_EQ(read_functions(), expected);
}

TEST_F(Nsys, gives_the_errors_that_calls_returned) {
  all_tables();
  call(1, "cudaMemcpy_v3020", 100, 200, global(app, app), 700);
  call(2, "cudaLaunchKernel_v7000", 300, 400);
  kernel(2, "k", 500, 600);
  const Recording recording = read();
  EXPECT_EQ(std::get<RecordedCall>(recording.records.at(0)).error, 700u);
  EXPECT_EQ(std::get<RecordedCall>(recording.records.at(1)).error, 0u);
}

TEST_F(Nsys, leaves_out_calls_without_a_number) {
  all_tables();
  call(0, "cudaFree", 0, 1);
  call(1, "cudaMalloc", 5, 6);
  EXPECT_THAT(read().records, ElementsAre(Record{RecordedCall{1, 0, {0, 1}, "cudaMalloc"}}));
}

TEST_F(Nsys, numbers_threads_by_their_first_calls_and_then_by_their_first_ranges) {
  all_tables();
  call(3, "cudaFree", 300, 310, global(app, 11));
  call(1, "cudaGetDevice", 100, 110, global(app, 33));
  call(2, "cudaFree", 200, 210, global(app, 22));
  range(59, "'alone'", "NULL", 0, "5", global(app, 44));
  range(60, "'with calls'", "NULL", 1, "6", global(app, 11));
  EXPECT_THAT(read().records,
              ElementsAre(Record{RecordedCall{2, 0, {200, 210}, "cudaFree"}},
                          Record{RecordedCall{3, 1, {300, 310}, "cudaFree"}}, Record{RecordedRange{2, {0, 5}, "alone"}},
                          Record{RecordedRange{1, {1, 6}, "with calls"}}));
}

TEST_F(Nsys, tells_apart_the_kinds_of_memory_and_infers_unknown_ones_from_the_direction) {
  all_tables();
  copy(1, 1, 0, 2, 10, 11);
  copy(2, 2, 5, 1, 20, 21);
  copy(3, 3, 1, 3, 30, 31);
  copy(4, 8, 4, 6, 40, 41);
  copy(5, 1, "NULL", "NULL", 50, 51);
  copy(6, 2, 7, 7, 60, 61);
  copy(7, 10, 7, "NULL", 70, 71);
  copy(8, 2, "NULL", 1, 80, 81);
  using enum MemoryKind;
  const auto kinds = [&] {
    std::vector<std::pair<MemoryKind, MemoryKind>> found;
    for (const RecordedCopy& one : read_all<RecordedCopy>()) found.emplace_back(one.from, one.to);
    return found;
  };
  const std::vector<std::pair<MemoryKind, MemoryKind>> expected{
      {pageable, device}, {device, pinned},   {pinned, device}, {managed, managed},
      {pageable, device}, {device, pageable}, {device, device}, {device, pinned}};
  EXPECT_EQ(kinds(), expected);

  sql("CREATE TABLE ENUM_CUDA_MEM_KIND (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);");
  row("ENUM_CUDA_MEM_KIND", 0, "'CUDA_MEMOPR_MEMORY_KIND_PINNED'", "'Pinned'");
  row("ENUM_CUDA_MEM_KIND", 2, "'CUDA_MEMOPR_MEMORY_KIND_MANAGED_STATIC'", "'Managed Static'");
  EXPECT_EQ(kinds()[0], std::pair(pinned, managed)) << "the file says what its numbers mean";
}

TEST_F(Nsys, gives_migrations_of_managed_memory_with_their_direction) {
  all_tables();
  copy(0, 11, 4, 4, 10, 12, 1);
  copy(0, 12, 4, 4, 20, 23, 1);
  EXPECT_THAT(read().records, ElementsAre(Record{RecordedMigration{{0, 2}, Bytes{4096}, true, 1}},
                                          Record{RecordedMigration{{10, 13}, Bytes{4096}, false, 1}}));
}

TEST_F(Nsys, gives_no_migrations_that_the_program_prefetched) {
  all_tables();
  migration(2, 10, 12);  // a page fault
  migration(1, 20, 22);  // a prefetch of the program
  migration(3, 30, 32);  // a prefetch of the driver
  EXPECT_THAT(read().records, ElementsAre(Record{RecordedMigration{{0, 2}, Bytes{4096}, true, 0}},
                                          Record{RecordedMigration{{20, 22}, Bytes{4096}, true, 0}}));
}

TEST_F(Nsys, tells_apart_the_waits_of_streams_and_of_the_host) {
  all_tables();
  kernel(9, "k", 0, 1);
  wait(1, 1, no_number, 31, 10);
  wait(2, 2, 14, 32, 20);
  wait(3, 3, 7, no_number, 30);
  wait(4, 4, no_number, no_number, 40);
  wait(5, 0, 15, 33, 50);
  using Kind = RecordedOrder::Kind;
  EXPECT_THAT(read_all<RecordedOrder>(),
              ElementsAre(RecordedOrder{1, Kind::event_wait, 0, 31, 0}, RecordedOrder{2, Kind::stream_wait, 14, 32, 0},
                          RecordedOrder{3, Kind::host_wait, 0, 0, 0}, RecordedOrder{4, Kind::device_wait, 0, 0, 0}));
}

TEST_F(Nsys, takes_a_host_that_polls_for_one_that_waits) {
  all_tables();
  call(1, "cudaLaunchKernel_v7000", 0, 5);
  kernel(1, "k", 6, 95);
  for (int poll = 0; poll < 8; ++poll) call(2 + poll, "cudaStreamQuery_v3020", 30 + poll * 10, 32 + poll * 10);
  EXPECT_EQ(read_functions(), (std::vector<std::string>{"cudaLaunchKernel", "cudaStreamQuery"}));
  EXPECT_EQ(read_all<RecordedOrder>().size(), 1u);
  EXPECT_TRUE(read().has_inferred_waits);
}

TEST_F(Nsys, takes_the_kind_of_a_wait_from_its_call_where_versions_number_the_kinds_differently) {
  all_tables();
  kernel(9, "k", 0, 1);
  const std::pair<const char*, int> waits_of_versions[]{{"cudaDeviceSynchronize_v3020", 1},
                                                        {"cudaThreadSynchronize_v3020", 0},
                                                        {"cudaEventSynchronize_v3020", 2},
                                                        {"cudaStreamSynchronize_v3020", 1},
                                                        {"cudaStreamWaitEvent_v3020", 4}};
  std::uint64_t number = 0;
  for (const auto& [function, type] : waits_of_versions) {
    ++number;
    call(number, function, static_cast<std::int64_t>(10 * number), static_cast<std::int64_t>(10 * number + 5));
    wait(number, type, 14, 32, static_cast<std::int64_t>(10 * number));
  }
  std::vector<RecordedOrder::Kind> kinds;
  for (const RecordedOrder& order : read_all<RecordedOrder>()) kinds.push_back(order.kind);
  using Kind = RecordedOrder::Kind;
  EXPECT_THAT(kinds,
              ElementsAre(Kind::device_wait, Kind::device_wait, Kind::event_wait, Kind::host_wait, Kind::stream_wait));
}

TEST_F(Nsys, names_the_gpu_of_an_export_that_calls_its_number_deviceId) {
  all_tables();
  kernel(1, "k", 0, 1);
  row("TARGET_INFO_GPU(vmId,id,name)", 1, 0, "'NVIDIA GeForce RTX 3080'");
  sql("ALTER TABLE TARGET_INFO_GPU RENAME COLUMN id TO deviceId;");
  EXPECT_EQ(read().gpu, "NVIDIA GeForce RTX 3080");
}

TEST_F(Nsys, names_ranges_by_their_text_or_their_registered_text_and_leaves_out_marks_and_open_ranges) {
  all_tables();
  const std::string registered = std::to_string(text("registered"));
  call(1, "cudaFree", 0, 1);
  range(59, "'pushed'", "NULL", 10, "20");
  range(60, "NULL", registered, 11, "21");
  range(34, "'mark'", "NULL", 12, "NULL");
  range(59, "'still open'", "NULL", 13, "NULL");
  range(75, "'domain'", "NULL", 14, "NULL");
  EXPECT_THAT(read_all<RecordedRange>(),
              ElementsAre(RecordedRange{0, {10, 20}, "pushed"}, RecordedRange{0, {11, 21}, "registered"}));
}

TEST_F(Nsys, takes_the_process_with_most_gpu_work) {
  all_tables();
  for (std::uint64_t number = 1; number <= 3; ++number) call(number, "cudaFree", 0, 1000, global(5000, 5000));
  kernel(7, "small", 100, 200, 7, 0, 5000);
  call(7, "cudaLaunchKernel", 50, 60);
  kernel(7, "large", 100, 900);
  row("PROCESSES", global(5000), 5000, "'helper'");
  row("PROCESSES", global(app), app, "'/usr/bin/app'");
  const Recording recording = read();
  EXPECT_EQ(recording.program, "/usr/bin/app");
  EXPECT_THAT(recording.records, ElementsAre(Record{RecordedCall{7, 0, {0, 10}, "cudaLaunchKernel"}},
                                             Record{RecordedKernel{7, 0, {50, 850}, "large", 600, 256}}));
}

TEST_F(Nsys, gives_the_command_line_with_its_arguments_in_order) {
  all_tables();
  kernel(1, "k", 0, 1);
  for (int place = 11; place >= 0; --place)
    row("META_DATA_CAPTURE", "'PROCESS_0:ARGUMENT_" + std::to_string(place) + "'", "'" + std::to_string(place) + "'");
  row("META_DATA_CAPTURE", "'PROCESS_0:COMMAND'", "'./app'");
  row("META_DATA_CAPTURE", "'PROCESS_0:ENVIRONMENT_VARIABLE'", "'SECRET=1'");
  EXPECT_EQ(read().program, "./app 0 1 2 3 4 5 6 7 8 9 10 11");
}

TEST_F(Nsys, keeps_all_gpus_and_names_the_first_as_the_process_numbers_it) {
  all_tables();
  kernel(1, "a", 0, 1, 7, 1);
  kernel(2, "b", 2, 3, 7, 0);
  row("TARGET_INFO_GPU(vmId,id,name)", 1, 0, "'NVIDIA T400'");
  row("TARGET_INFO_GPU(vmId,id,name)", 1, 2, "'NVIDIA H200'");
  EXPECT_EQ(read().gpu, "NVIDIA T400");
  row("TARGET_INFO_CUDA_DEVICE(gpuId,cudaId,pid)", 2, 0, app);
  row("TARGET_INFO_CUDA_DEVICE(gpuId,cudaId,pid)", 0, 0, 5000);
  EXPECT_EQ(read().gpu, "NVIDIA H200");
  EXPECT_THAT(read_all<RecordedKernel>(), ElementsAre(RecordedKernel{1, 0, {0, 1}, "a", 600, 256, 1},
                                                      RecordedKernel{2, 0, {2, 3}, "b", 600, 256, 0}));
}

// Exports of 2021 name the GPU nowhere else.
TEST_F(Nsys, names_the_gpu_by_an_older_table_where_there_is_no_other) {
  sql(strings);
  sql(kernels);
  sql("CREATE TABLE TARGET_INFO_CUDA_GPU (vmId INTEGER NOT NULL, name TEXT NOT NULL, deviceId INTEGER NOT NULL);");
  row("TARGET_INFO_CUDA_GPU(vmId,name,deviceId)", 1, "'Tesla V100-PCIE-32GB'", 0);
  kernel(1, "k", 5, 6);
  EXPECT_EQ(read().gpu, "Tesla V100-PCIE-32GB");
}

TEST_F(Nsys, counts_absent_tables_as_empty) {
  sql(strings);
  const Recording recording = read();
  EXPECT_THAT(recording.records, IsEmpty());
  EXPECT_EQ(recording.program, "");
  EXPECT_EQ(recording.gpu, "unknown GPU");
  sql(kernels);
  kernel(1, "k", 5, 6);
  EXPECT_THAT(read().records, ElementsAre(Record{RecordedKernel{1, 0, {0, 1}, "k", 600, 256}}));
}

TEST_F(Nsys, gives_a_recording_that_can_be_written_and_read_again) {
  sql(strings);
  sql(kernels);
  kernel(1, "k", 5, 6);
  const Recording recording = read();
  std::ostringstream out;
  RecordingWriter writer(recording.program, recording.gpu, [&](std::string_view line) { out << line << '\n'; });
  for (const Record& record : recording.records) writer.write(record);
  writer.close();
  std::istringstream in(out.str());
  EXPECT_EQ(read_recording(in, "again").records, recording.records);
}

TEST_F(Nsys, names_file_table_and_column_of_a_column_that_is_absent) {
  sql(strings);
  sql("CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER, "
      "correlationId INTEGER, globalPid INTEGER, bytes INTEGER, copyKind INTEGER, dstKind INTEGER);");
  EXPECT_EQ(error(), file().string() +
                         ": table CUPTI_ACTIVITY_KIND_MEMCPY has no column srcKind, so it cannot be imported; export "
                         "the report again with Nsight Systems 2023 or newer: `nsys export --type sqlite`");
}

TEST_F(Nsys, names_the_table_of_a_row_that_ends_before_it_starts) {
  all_tables();
  kernel(1, "k", 20, 10);
  EXPECT_THAT(error(), HasSubstr("table CUPTI_ACTIVITY_KIND_KERNEL has a row that starts at 20 ns and ends at 10 ns"));
}

TEST_F(Nsys, says_how_to_export_a_report_when_the_file_is_no_export) {
  const std::string remedy =
      ", so it cannot be imported; export the report of Nsight Systems with `nsys export --type sqlite` and give that "
      "file";
  std::ofstream(file())
      << "what a report in nsys's own form begins with, and then some more bytes, for a header has 100"
         " bytes, and these are more";
  EXPECT_EQ(error(), file().string() + ": it is no SQLite database" + remedy);
  fs::remove(file());
  sql("CREATE TABLE measurements (start INTEGER);");
  EXPECT_EQ(error(), file().string() + ": it is no export of Nsight Systems: it has no table StringIds" + remedy);
}

TEST_F(Nsys, says_when_a_file_cannot_be_opened_and_does_not_create_it) {
  EXPECT_THAT(error(),
              HasSubstr("it cannot be read as a file (No such file or directory), so it cannot be imported; "));
  EXPECT_FALSE(fs::exists(file()));
}

TEST_F(Nsys, has_names_that_a_terminal_shows_and_does_not_obey) {
  all_tables();
  call(1, "cudaLaunchKernel_v7000", 1200, 1250);
  kernel(1, "evil\x1b[2J\nname\u202e", 1260, 1400);
  ASSERT_EQ(read_all<RecordedKernel>().size(), 1u);
  EXPECT_EQ(read_all<RecordedKernel>().front().name, "evil?[2J name???");
}

TEST_F(Nsys, with_a_query_in_place_of_a_table_is_refused) {
  for (const char* table :
       {strings, calls, copies, fills, waits, events, ranges, gpus, gpus_of_processes, capture, processes})
    sql(table);
  sql("CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS WITH RECURSIVE n(start) AS (SELECT 1 UNION ALL SELECT start + 1 FROM "
      "n) "
      "SELECT start, start AS end, 0 AS globalPid FROM n;");
  EXPECT_THAT(error(), HasSubstr("CUPTI_ACTIVITY_KIND_KERNEL is no table of data"));
}

}  // namespace
}  // namespace shiplap

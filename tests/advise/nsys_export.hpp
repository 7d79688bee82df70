// A database as Nsight Systems exports it, made by a test row by row.
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include "shiplap/advise/nsys.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/temporary_folder.hpp"

namespace shiplap::nsys_export {

// Tables as nsys 2024.6 writes them (schema 3.16). TARGET_INFO_GPU has further columns, and
// CUPTI_ACTIVITY_KIND_CUDA_EVENT is that of a later version.
inline constexpr const char* strings = "CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);";
inline constexpr const char* calls =
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, "
    "eventClass INTEGER NOT NULL, globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL, "
    "returnValue INTEGER NOT NULL, callchainId INTEGER);";
inline constexpr const char* copies =
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, "
    "contextId INTEGER NOT NULL, greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, "
    "globalPid INTEGER, bytes INTEGER NOT NULL, copyKind INTEGER NOT NULL, deprecatedSrcId INTEGER, srcKind INTEGER, "
    "dstKind INTEGER, srcDeviceId INTEGER, srcContextId INTEGER, dstDeviceId INTEGER, dstContextId INTEGER, "
    "migrationCause INTEGER, graphNodeId INTEGER, virtualAddress INTEGER);";
inline constexpr const char* kernels =
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, "
    "contextId INTEGER NOT NULL, greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, "
    "globalPid INTEGER, demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, mangledName INTEGER, "
    "launchType INTEGER, cacheConfig INTEGER, registersPerThread INTEGER NOT NULL, gridX INTEGER NOT NULL, "
    "gridY INTEGER NOT NULL, gridZ INTEGER NOT NULL, blockX INTEGER NOT NULL, blockY INTEGER NOT NULL, "
    "blockZ INTEGER NOT NULL, staticSharedMemory INTEGER NOT NULL, dynamicSharedMemory INTEGER NOT NULL, "
    "localMemoryPerThread INTEGER NOT NULL, localMemoryTotal INTEGER NOT NULL, gridId INTEGER NOT NULL, "
    "sharedMemoryExecuted INTEGER, graphNodeId INTEGER, sharedMemoryLimitConfig INTEGER);";
inline constexpr const char* fills =
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, "
    "contextId INTEGER NOT NULL, greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, "
    "globalPid INTEGER, value INTEGER NOT NULL, bytes INTEGER NOT NULL, graphNodeId INTEGER, memKind INTEGER);";
inline constexpr const char* waits =
    "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INTEGER NOT NULL, end INTEGER NOT NULL, "
    "deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, greenContextId INTEGER, streamId INTEGER NOT NULL, "
    "correlationId INTEGER, globalPid INTEGER, syncType INTEGER NOT NULL, eventId INTEGER NOT NULL);";
inline constexpr const char* events =
    "CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT (timestamp INTEGER, deviceId INTEGER NOT NULL, "
    "contextId INTEGER NOT NULL, greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, "
    "globalPid INTEGER, eventId INTEGER NOT NULL, eventSyncId INTEGER);";
inline constexpr const char* ranges =
    "CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER, "
    "category INTEGER, color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, "
    "domainId INTEGER, uint64Value INTEGER, int64Value INTEGER, doubleValue REAL, uint32Value INTEGER, "
    "int32Value INTEGER, floatValue REAL, jsonTextId INTEGER, jsonText TEXT, binaryData TEXT);";
inline constexpr const char* gpus =
    "CREATE TABLE TARGET_INFO_GPU (vmId INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT, busLocation TEXT, uuid "
    "TEXT);";
inline constexpr const char* gpus_of_processes =
    "CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER NOT NULL, pid INTEGER NOT NULL, uuid TEXT, "
    "numMultiprocessors INTEGER);";
inline constexpr const char* capture = "CREATE TABLE META_DATA_CAPTURE (name TEXT NOT NULL, value TEXT);";
inline constexpr const char* processes = "CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);";

/// The globalPid of a process on the first machine, and the globalTid of a thread in it.
constexpr std::int64_t global(std::int64_t pid, std::int64_t tid = 0) { return (1ll << 48) + (pid << 24) + tid; }
inline constexpr std::int64_t app = 4000;
inline constexpr std::uint32_t no_number = 0xffffffffu;

/// A test with a database in the form of an export, which goes away with it.
class NsysExport : public ::testing::Test {
 protected:
  void sql(const std::string& statements) {
    sqlite3* database = nullptr;
    char* error = nullptr;
    sqlite3_open(file().c_str(), &database);
    sqlite3_exec(database, statements.c_str(), nullptr, nullptr, &error);
    EXPECT_EQ(error, nullptr) << error;
    sqlite3_free(error);
    sqlite3_close(database);
  }
  void all_tables() {
    for (const char* table :
         {strings, calls, copies, kernels, fills, waits, events, ranges, gpus, gpus_of_processes, capture, processes})
      sql(table);
  }
  /// Adds a row, such as row("StringIds(id,value)", 1, "'name'").
  template <class... Values>
  void row(const std::string& table_and_columns, const Values&... values) {
    std::ostringstream list;
    const char* separator = "";
    ((list << separator << values, separator = ","), ...);
    sql("INSERT INTO " + table_and_columns + " VALUES (" + list.str() + ");");
  }

  /// The number of a text in StringIds, where it is entered.
  int text(const std::string& value) {
    row("StringIds(id,value)", ++texts_, "'" + value + "'");
    return texts_;
  }
  void call(std::uint64_t number, const std::string& function, std::int64_t start, std::int64_t end,
            std::int64_t thread = global(app, app), int error = 0) {
    row("CUPTI_ACTIVITY_KIND_RUNTIME(start,end,eventClass,globalTid,correlationId,nameId,returnValue)", start, end, 0,
        thread, number, text(function), error);
  }
  template <class From, class To>
  void copy(std::uint64_t call, int kind, From from, To to, std::int64_t start, std::int64_t end, int gpu = 0,
            std::int64_t pid = app) {
    row("CUPTI_ACTIVITY_KIND_MEMCPY(start,end,deviceId,contextId,streamId,correlationId,globalPid,bytes,copyKind,"
        "srcKind,dstKind)",
        start, end, gpu, 1, 13, call, global(pid), 4096, kind, from, to);
  }
  /// Pages of managed memory that move to the GPU for this cause, which CUPTI numbers.
  void migration(int cause, std::int64_t start, std::int64_t end, int gpu = 0) {
    row("CUPTI_ACTIVITY_KIND_MEMCPY(start,end,deviceId,contextId,streamId,correlationId,globalPid,bytes,copyKind,"
        "srcKind,dstKind,migrationCause)",
        start, end, gpu, 1, 13, 0, global(app), 4096, 11, 4, 4, cause);
  }
  void kernel(std::uint64_t call, const std::string& name, std::int64_t start, std::int64_t end, int stream = 7,
              int gpu = 0, std::int64_t pid = app) {
    row("CUPTI_ACTIVITY_KIND_KERNEL(start,end,deviceId,contextId,streamId,correlationId,globalPid,demangledName,"
        "shortName,registersPerThread,gridX,gridY,gridZ,blockX,blockY,blockZ,staticSharedMemory,dynamicSharedMemory,"
        "localMemoryPerThread,localMemoryTotal,gridId)",
        start, end, gpu, 1, stream, call, global(pid), text(name), text("short"), 32, 10, 20, 3, 16, 8, 2, 0, 0, 0, 0,
        1);
  }
  void fill(std::uint64_t call, std::int64_t start, std::int64_t end) {
    row("CUPTI_ACTIVITY_KIND_MEMSET(start,end,deviceId,contextId,streamId,correlationId,globalPid,value,bytes)", start,
        end, 0, 1, 7, call, global(app), 0, 512);
  }
  void wait(std::uint64_t call, int type, std::uint32_t stream, std::uint32_t event, std::int64_t start) {
    row("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION(start,end,deviceId,contextId,streamId,correlationId,globalPid,syncType,"
        "eventId)",
        start, start + 5, 0, 1, stream, call, global(app), type, event);
  }
  void range(int type, const std::string& text, const std::string& text_id, std::int64_t start, const std::string& end,
             std::int64_t thread = global(app, app)) {
    row("NVTX_EVENTS(start,end,eventType,text,globalTid,textId)", start, end, type, text, thread, text_id);
  }

  std::filesystem::path file() const { return folder_.path() / "report.sqlite"; }
  Recording read() const { return read_nsys(file()); }
  std::string error() const {
    return message_of([&] { read(); });
  }
  template <class T>
  std::vector<T> read_all() const {
    std::vector<T> found;
    for (const Record& record : read().records)
      if (const T* one = std::get_if<T>(&record)) found.push_back(*one);
    return found;
  }
  std::vector<std::string> read_functions() const {
    std::vector<std::string> functions;
    for (const RecordedCall& one : read_all<RecordedCall>()) functions.push_back(one.function);
    return functions;
  }

 private:
  TemporaryFolder folder_;
  int texts_ = 0;
};

}  // namespace shiplap::nsys_export

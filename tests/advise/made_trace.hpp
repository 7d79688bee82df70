// A trace of the PyTorch profiler, made by a test event by event.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "shiplap/advise/torch_trace.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/temporary_folder.hpp"

namespace shiplap::made_trace {

/// A test with a trace in a file, which goes away with it. Times are texts, because a trace has decimals of µs.
class MadeTrace : public ::testing::Test {
 protected:
  /// Adds an event with a duration. `args` has the members of "args".
  void event(const std::string& category, const std::string& name, const std::string& start,
             const std::string& duration, const std::string& args = "", const std::string& process = "1",
             const std::string& thread = "1") {
    text(R"({"ph": "X", "cat": ")" + category + R"(", "name": ")" + name + R"(", "pid": )" + process + R"(, "tid": )" +
         thread + R"(, "ts": )" + start + R"(, "dur": )" + duration + R"(, "args": {)" + args + "}}");
  }
  void call(std::uint64_t number, const std::string& function, const std::string& start, const std::string& duration,
            const std::string& thread = "1") {
    event("cuda_runtime", function, start, duration, R"("correlation": )" + std::to_string(number), "1", thread);
  }
  /// Work of GPU 0. A GPU is a process, and a stream a thread of it.
  void work(const std::string& category, const std::string& name, std::uint64_t call, const std::string& start,
            const std::string& duration, const std::string& args, int stream = 7) {
    const std::string number = std::to_string(stream);
    event(category, name, start, duration,
          R"("device": 0, "stream": )" + number + R"(, "correlation": )" + std::to_string(call) + ", " + args, "0",
          number);
  }
  void kernel(std::uint64_t call, const std::string& name, const std::string& start, const std::string& duration,
              int stream = 7) {
    work("kernel", name, call, start, duration, R"("grid": [10, 20, 3], "block": [16, 8, 2])", stream);
  }
  void copy(std::uint64_t call, const std::string& kinds, const std::string& start, const std::string& duration) {
    work("gpu_memcpy", "Memcpy " + kinds, call, start, duration, R"("bytes": 4096)");
  }
  /// An event of cuda_sync of GPU 0.
  void wait(const std::string& name, std::uint64_t call, const std::string& args) {
    event("cuda_sync", name, "500", "1", R"("device": 0, "correlation": )" + std::to_string(call) + ", " + args, "0",
          "-1");
  }
  /// Adds the text of an event, which need not be one.
  void text(const std::string& event) { events_ += (events_.empty() ? "\n" : ",\n") + event; }

  /// The trace as the profiler writes it.
  std::string whole() const {
    return R"({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H100", "totalGlobalMem": 85000000},)"
           R"( {"id": 1, "name": "NVIDIA A100", "totalGlobalMem": 42000000}], "traceEvents": [)" +
           events_ + "\n], \"baseTimeNanoseconds\": 1727743122000000000\n}\n";
  }
  std::filesystem::path file() const { return folder_.path() / "trace.json"; }
  Recording read(const std::string& trace) const {
    std::ofstream(file(), std::ios::binary) << trace;
    return read_torch_trace(file());
  }
  Recording read() const { return read(whole()); }
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

 private:
  TemporaryFolder folder_;
  std::string events_;
};

}  // namespace shiplap::made_trace

// The file of a recording. It is created with the first record, so a process that does not use a GPU leaves none.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "recorder/calls.hpp"
#include "shiplap/advise/recording_writer.hpp"

namespace shiplap::recorder {

/// Joins calls with the work that they have submitted, and writes both. Times in the file begin at `origin`.
class Log {
 public:
  /// `gpu_name` is asked when the file is created.
  Log(std::string path, std::uint64_t origin, std::function<std::string()> gpu_name)
      : path_(std::move(path)), origin_(origin), gpu_name_(std::move(gpu_name)) {}
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;
  ~Log();

  /// Writes calls, and the work whose calls are among these or earlier ones. Returns the number of records.
  std::uint64_t write(const CollectedCalls&, std::vector<Record> work);
  /// Writes that nothing was recorded between two times by CUPTI's clock.
  void pause(Nanoseconds);
  /// Writes the last line, with the number of times that records were lost.
  void close(std::uint64_t lost);
  /// Forgets the file without writing, as a forked child must.
  void abandon() noexcept;

 private:
  void put(Record);
  void flush();
  void complete(RecordedCopy&);
  void relative(Nanoseconds&) const;
  const std::string& readable(const std::string& mangled);

  std::string path_;
  std::uint64_t origin_;
  std::function<std::string()> gpu_name_;
  int file_ = -1;
  bool failed_ = false;  ///< nothing more is written; what was written is a recording that breaks off
  std::uint64_t records_ = 0;
  std::string lines_;  ///< lines that are not written yet
  std::optional<RecordingWriter> writer_;
  std::unordered_map<std::uint64_t, CopyArguments> copies_;
  std::unordered_map<std::string, std::string> readable_;
};

}  // namespace shiplap::recorder

// When a long program is recorded: windows of records with pauses between them, so that a file stays small.
#pragma once

#include <cstdint>

namespace shiplap::recorder {

/// The first window has a million records, and each later one a hundred thousand. The first pause takes a second, and
/// each later one twice as long as the one before, so windows are spread over any length of time. CUPTI may deliver
/// records after a window has ended. After 6 million records, which are less than 300 MB, nothing more is recorded.
class Windows {
 public:
  /// Records are written until `end`, in ns; 0: without an end.
  explicit Windows(std::uint64_t end) : end_(end) {}

  /// Whether the program is recorded from now on, after `records` further records were written. `now` is in ns.
  bool records(std::uint64_t records, std::uint64_t now) {
    all_ += records;
    if (all_ >= most_records || (end_ > 0 && now >= end_)) return recording_ = false;
    in_window_ += records;
    if (recording_ && in_window_ >= (windows_ == 0 ? first_window : later_window)) {
      recording_ = false;
      resumes_ = now + (first_pause << windows_);
      ++windows_;
    } else if (!recording_ && windows_ < most_windows && now >= resumes_) {
      recording_ = true;
      in_window_ = 0;
    }
    return recording_;
  }

 private:
  static constexpr std::uint64_t first_window = 1'000'000;
  static constexpr std::uint64_t later_window = 100'000;
  static constexpr std::uint64_t first_pause = 1'000'000'000;  // ns
  static constexpr unsigned most_windows = 21;
  static constexpr std::uint64_t most_records = 6'000'000;

  std::uint64_t end_;
  std::uint64_t resumes_ = 0;
  std::uint64_t in_window_ = 0;
  std::uint64_t all_ = 0;
  unsigned windows_ = 0;
  bool recording_ = true;
};

}  // namespace shiplap::recorder

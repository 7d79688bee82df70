// Messages between ranks as files in a folder that all ranks share.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <system_error>
#include <vector>

#include "shiplap/fleet/communicator.hpp"

namespace shiplap {

/// Ranks of one run. Their messages are files in a folder of the run, each written whole and removed by the rank
/// that receives it. The last rank to end removes the folder.
class FileCommunicator : public Communicator {
 public:
  /// `run` is the name of the run, which no other run has. Makes the folder `shared`/`run`. Throws Error when it cannot
  /// be made, UsageError when `rank` is not below `size`.
  FileCommunicator(const std::filesystem::path& shared, const std::string& run, std::size_t rank, std::size_t size);
  /// Removes what was sent to this rank, and the folder of the run when it is empty.
  ~FileCommunicator() override;
  FileCommunicator(const FileCommunicator&) = delete;
  FileCommunicator& operator=(const FileCommunicator&) = delete;

  std::size_t rank() const override { return rank_; }
  std::size_t size() const override { return size_; }
  void send(std::size_t to, const std::string& text) override;
  /// Looks for files every few milliseconds, later every 0.2 s. Throws Error when the folder of the run is gone.
  std::optional<RankMessage> receive(const Deadline&) override;
  void abandon(std::size_t rank) override;

 private:
  void leave() noexcept;
  std::filesystem::path inbox(std::size_t rank) const;
  void collect();
  [[noreturn]] void cannot_receive(const std::error_code&) const;

  std::filesystem::path run_;
  std::size_t rank_;
  std::size_t size_;
  std::uint64_t sent_ = 0;
  Seconds pause_ = milliseconds(5);  ///< until the next look
  std::deque<RankMessage> received_;
};

}  // namespace shiplap

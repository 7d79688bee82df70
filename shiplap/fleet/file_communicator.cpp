#include "shiplap/fleet/file_communicator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <exception>
#include <fstream>
#include <new>
#include <string_view>
#include <system_error>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/core/formats.hpp"
#include "shiplap/core/text_file.hpp"

namespace shiplap {
namespace {

namespace fs = std::filesystem;

constexpr Seconds shortest_pause = milliseconds(5);
constexpr Seconds longest_pause = milliseconds(200);

void make_shared_folder(const fs::path& folder) {
  try {
    make_folders(folder);
  } catch (const Error& why) {
    throw Error(fmt::format("{}; name one that all ranks can write", why.what()));
  }
}

/// The rank that sent a message, from the name of its file; nullopt for other files.
std::optional<std::size_t> sender(const std::string& name) {
  std::size_t from = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), from);
  if (error != std::errc() || end == name.data() + name.size() || *end != '-') return std::nullopt;
  return from;
}

}  // namespace

FileCommunicator::FileCommunicator(const fs::path& shared, const std::string& run, std::size_t rank, std::size_t size)
    : run_(shared / run), rank_(rank), size_(size) {
  if (rank >= size) throw UsageError(fmt::format("rank {} of {} ranks: the first rank is 0", rank, size));
  try {
    make_shared_folder(inbox(rank));
  } catch (...) {
    leave();
    throw;
  }
}

FileCommunicator::~FileCommunicator() { leave(); }

void FileCommunicator::leave() noexcept {
  // What the first attempt has taken before there was no more memory is free again for the second.
  for (int attempt = 0; attempt < 2; ++attempt) try {
      std::error_code ignored;
      fs::remove_all(inbox(rank_), ignored);
      fs::remove(run_, ignored);  // only when it is empty
      return;
    } catch (const std::bad_alloc&) {
      continue;
    }
}

fs::path FileCommunicator::inbox(std::size_t rank) const { return run_ / fmt::format("to-{}", rank); }

void FileCommunicator::send(std::size_t to, const std::string& text) {
  if (text.size() > limits::document_bytes)
    refuse_size(fmt::format("a message of rank {} to rank {}", rank_, to), limits::document_bytes);
  std::error_code error;
  // Not the folder of the run: without it the run is over, and nobody would remove the message.
  fs::create_directory(inbox(to), error);
  if (error)
    throw Error(fmt::format("rank {} cannot send to rank {}: {}: {}; the run may be over", rank_, to,
                            inbox(to).string(), error.message()));
  // Renaming makes the message whole. It need not survive a crash, so that it is not flushed to the disk.
  const fs::path file = inbox(to) / fmt::format("{}-{:012}", rank_, sent_++);
  const fs::path unfinished = inbox(to) / fmt::format("unfinished-{}", file.filename().string());
  std::ofstream stream(unfinished, std::ios::binary);
  stream << text;
  stream.close();
  if (stream) fs::rename(unfinished, file, error);
  if (!stream || error)
    throw Error(fmt::format("rank {} cannot send to rank {}: {} cannot be written; look whether the disk is full",
                            rank_, to, file.string()));
}

std::optional<RankMessage> FileCommunicator::receive(const Deadline& deadline) {
  for (;;) {
    if (received_.empty()) collect();
    if (!received_.empty()) {
      pause_ = shortest_pause;
      RankMessage first = std::move(received_.front());
      received_.pop_front();
      return first;
    }
    if (deadline.passed()) return std::nullopt;
    sleep_for(std::min(deadline.left(), pause_));
    pause_ = std::min(2 * pause_, longest_pause);
  }
}

void FileCommunicator::collect() {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(inbox(rank_), error), end; !error && entry != end; entry.increment(error)) {
    std::error_code gone;
    const bool is_message = sender(entry->path().filename().string()) && entry->is_regular_file(gone);
    if (is_message) files.push_back(entry->path());
  }
  if (error == std::errc::no_such_file_or_directory)
    throw Error(fmt::format("rank {}: {} is gone, so that the run is over", rank_, inbox(rank_).string()));
  if (error) cannot_receive(error);
  // The messages of one rank, in the order of sending.
  std::ranges::sort(files);
  for (const fs::path& file : files) {
    std::string text;
    std::exception_ptr failure;
    try {
      text = read_regular_file(file.string());
    } catch (const Error&) {
      failure = std::current_exception();
    }
    // What is too long will never be read, and would stand before all that follows for ever.
    std::error_code unknown;
    const bool is_too_long = fs::file_size(file, unknown) > limits::document_bytes && !unknown;
    if (!failure || is_too_long) fs::remove(file, error);
    if (failure) std::rethrow_exception(failure);
    received_.push_back({.from = *sender(file.filename().string()), .text = std::move(text)});
    if (error) cannot_receive(error);  // it would be received again
  }
}

void FileCommunicator::cannot_receive(const std::error_code& error) const {
  throw Error(fmt::format("rank {} cannot receive from {}: {}", rank_, inbox(rank_).string(), error.message()));
}

void FileCommunicator::abandon(std::size_t rank) {
  std::error_code ignored;
  fs::remove_all(inbox(rank), ignored);
}

}  // namespace shiplap

#include "recorder/log.hpp"

#include <cxxabi.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <utility>

namespace shiplap::recorder {
namespace {

/// Copies whose work is awaited. Work that was lost must not let the table grow.
constexpr std::size_t most_awaited_copies = 1'000'000;

/// The command line of this process, with spaces between its words.
std::string command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string words;
  for (std::string word; std::getline(file, word, '\0');) words += (words.empty() ? "" : " ") + word;
  return words;
}

}  // namespace

Log::~Log() {
  if (file_ >= 0) ::close(file_);
}

void Log::flush() {
  std::string_view rest = lines_;
  while (!failed_ && !rest.empty()) {
    const ssize_t written = ::write(file_, rest.data(), rest.size());
    if (written > 0)
      rest.remove_prefix(static_cast<std::size_t>(written));
    else
      failed_ = errno != EINTR;
  }
  lines_.clear();
}

void Log::relative(Nanoseconds& time) const {
  time.start = std::max(time.start, origin_) - origin_;
  time.end = std::max(std::max(time.end, origin_) - origin_, time.start);
}

const std::string& Log::readable(const std::string& mangled) {
  const auto [found, is_new] = readable_.try_emplace(mangled, mangled);
  if (!is_new) return found->second;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
  if (status == 0 && name != nullptr) found->second = name.get();
  return found->second;
}

void Log::complete(RecordedCopy& copy) {
  const auto arguments = copies_.extract(copy.call);
  if (arguments.empty()) return;
  copy.from_address = arguments.mapped().from;
  copy.to_address = arguments.mapped().to;
  copy.content = arguments.mapped().content;
}

void Log::put(Record record) {
  if (failed_) return;
  if (file_ < 0) {
    file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file_ < 0) {
      failed_ = true;
      return;
    }
    writer_.emplace(command_line(), gpu_name_(), [this](std::string_view line) { (lines_ += line) += '\n'; });
  }
  std::visit(
      [&](auto& r) {
        using Kind = std::decay_t<decltype(r)>;
        if constexpr (requires { r.time; }) relative(r.time);
        if constexpr (requires { r.stream; } && !std::is_same_v<Kind, RecordedOrder>)
          if (is_default_stream(r.gpu, r.stream)) r.stream = 0;
        if constexpr (std::is_same_v<Kind, RecordedKernel>) r.name = readable(r.name);
        if constexpr (std::is_same_v<Kind, RecordedCopy>) complete(r);
      },
      record);
  writer_->write(record);
  ++records_;
}

std::uint64_t Log::write(const CollectedCalls& collected, std::vector<Record> work) {
  if (copies_.size() > most_awaited_copies) copies_.clear();
  for (const CopyArguments& copy : collected.copies) copies_[copy.call] = copy;
  for (const ReturnedCall& returned : collected.calls) {
    RecordedCall call = returned.call;
    call.function = returned.function;
    put(std::move(call));
    if (returned.orders)
      put(RecordedOrder{.call = returned.call.call,
                        .kind = returned.order,
                        .stream = returned.stream,
                        .event = returned.event,
                        .gpu = returned.gpu});
  }
  const std::uint64_t before = records_;
  for (Record& record : work) put(std::move(record));
  flush();
  return records_ - before;
}

void Log::pause(Nanoseconds time) {
  if (file_ >= 0) put(RecordedPause{time});
}

void Log::close(std::uint64_t lost) {
  if (file_ < 0) return;
  writer_->close(lost);
  flush();
  ::close(std::exchange(file_, -1));
  failed_ = true;
}

void Log::abandon() noexcept {
  if (file_ >= 0) ::close(std::exchange(file_, -1));
  failed_ = true;
}

}  // namespace shiplap::recorder

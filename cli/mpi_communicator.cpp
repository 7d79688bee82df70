#include "cli/mpi_communicator.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <exception>
#include <set>
#include <string_view>

#include "cli/files_of_program.hpp"
#include "mpi/messages.h"
#include "shiplap/core/error.hpp"

namespace shiplap::cli {
namespace {

constexpr const char* library_name = "libshiplap_mpi.so";
constexpr Seconds shortest_pause = milliseconds(0.2);
constexpr Seconds longest_pause = milliseconds(20);

/// The functions of the library.
struct MpiLibrary {
  decltype(&shiplap_mpi_begin) begin;
  decltype(&shiplap_mpi_send) send;
  decltype(&shiplap_mpi_receive) receive;
  decltype(&shiplap_mpi_end) end;
  decltype(&shiplap_mpi_abort) abort;
  decltype(&shiplap_mpi_error) error;
};

/// Loads the library, which stays loaded: MPI does not expect to be unloaded.
MpiLibrary load() {
  const auto file = library_of_program(library_name);
  if (!file)
    throw Unsupported(fmt::format(
        "this build has no {}, because no MPI was found when it was built; give --folder, by which ranks send files",
        library_name));
  // Parts of MPI are libraries of their own, which look for symbols of the first.
  void* const library = dlopen(file->c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr)
    throw Unsupported(
        fmt::format("{} cannot be loaded ({}); give --folder, by which ranks send files", file->string(), dlerror()));
  const auto function = [&](const char* name) {
    void* const found = dlsym(library, name);
    if (found == nullptr)
      throw Unsupported(fmt::format("{} is of another version: it has no {}", file->string(), name));
    return found;
  };
  MpiLibrary mpi{};
  mpi.begin = reinterpret_cast<decltype(mpi.begin)>(function("shiplap_mpi_begin"));
  mpi.send = reinterpret_cast<decltype(mpi.send)>(function("shiplap_mpi_send"));
  mpi.receive = reinterpret_cast<decltype(mpi.receive)>(function("shiplap_mpi_receive"));
  mpi.end = reinterpret_cast<decltype(mpi.end)>(function("shiplap_mpi_end"));
  mpi.abort = reinterpret_cast<decltype(mpi.abort)>(function("shiplap_mpi_abort"));
  mpi.error = reinterpret_cast<decltype(mpi.error)>(function("shiplap_mpi_error"));
  return mpi;
}

/// Ends the process unless it is destroyed in time. No call of MPI can be ended otherwise.
class BeginLimit {
 public:
  explicit BeginLimit(Seconds begin_within) {
    std::signal(SIGALRM, [](int) {
      constexpr std::string_view text =
          "shiplap: MPI has not begun in time, because a rank did not begin it; find out which one with --folder, by "
          "which ranks send files, or wait longer with --begin-within\n";
      [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
      _exit(static_cast<int>(ExitCode::failure));
    });
    constexpr double longest = 1e9;  // more than the system can count would be no limit at all, or a short one
    alarm(static_cast<unsigned>(std::clamp(begin_within.count(), 1.0, longest)));
  }
  ~BeginLimit() {
    alarm(0);
    std::signal(SIGALRM, SIG_DFL);
  }
  BeginLimit(const BeginLimit&) = delete;
  BeginLimit& operator=(const BeginLimit&) = delete;
};

class LoadedMpiRanks : public MpiCommunicator {
 public:
  explicit LoadedMpiRanks(Seconds begin_within) : mpi_(load()) {
    const BeginLimit limit(begin_within);
    require(mpi_.begin(&rank_, &size_));
  }
  ~LoadedMpiRanks() override {
    if (std::uncaught_exceptions() == 0) end();
  }
  LoadedMpiRanks(const LoadedMpiRanks&) = delete;
  LoadedMpiRanks& operator=(const LoadedMpiRanks&) = delete;

  std::size_t rank() const override { return rank_; }
  std::size_t size() const override { return size_; }
  void send(std::size_t to, const std::string& text) override {
    if (!abandoned_.contains(to)) require(mpi_.send(to, text.data(), text.size()));
  }
  std::optional<RankMessage> receive(const Deadline& deadline) override {
    Seconds pause = shortest_pause;
    for (;;) {
      int found = 0;
      RankMessage message;
      const char* text = nullptr;
      std::size_t length = 0;
      require(mpi_.receive(&found, &message.from, &text, &length));
      if (found != 0) {
        message.text.assign(text, length);
        return message;
      }
      if (deadline.passed()) return std::nullopt;
      sleep_for(std::min(deadline.left(), pause));
      pause = std::min(2 * pause, longest_pause);
    }
  }
  void abandon(std::size_t rank) override { abandoned_.insert(rank); }
  void leave() override { is_ended_ = true; }
  void end() override {
    if (!is_ended_) mpi_.end();
    is_ended_ = true;
  }
  bool is_over() const override { return is_ended_; }
  void abort(int exit_code) override {
    if (is_ended_) return;
    leave();
    mpi_.abort(exit_code);
  }

 private:
  void require(int code) const {
    if (code != 0) throw Error(fmt::format("MPI: {}", mpi_.error()));
  }

  MpiLibrary mpi_;
  std::size_t rank_ = 0;
  std::size_t size_ = 1;
  std::set<std::size_t> abandoned_;
  bool is_ended_ = false;
};

}  // namespace

std::unique_ptr<MpiCommunicator> mpi_communicator(Seconds begin_within) {
  return std::make_unique<LoadedMpiRanks>(begin_within);
}

}  // namespace shiplap::cli

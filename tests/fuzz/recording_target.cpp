// Recordings of programs, in shiplap's form and in those of Nsight Systems and the PyTorch profiler, and the advice for
// them.
#include <sys/mman.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "shiplap/advise/advice.hpp"
#include "shiplap/advise/advice_view.hpp"
#include "shiplap/advise/nsys.hpp"
#include "shiplap/advise/recording.hpp"
#include "shiplap/advise/recording_writer.hpp"
#include "shiplap/advise/torch_trace.hpp"
#include "shiplap/document/text.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/report/sections.hpp"
#include "tests/fuzz/target.hpp"

namespace shiplap::fuzz {
namespace {

const std::string recording_name = "recording";

Recording recording_of(std::string_view bytes) {
  std::istringstream in{std::string(bytes)};
  return read_recording(in, recording_name);
}

std::string written(const Recording& recording) {
  std::string lines;
  RecordingWriter writer(recording.program, recording.gpu, [&](std::string_view line) {
    lines += line;
    lines += '\n';
  });
  for (const Record& record : recording.records) writer.write(record);
  if (recording.complete) writer.close(recording.lost);
  return lines;
}

void advise_on(const Recording& recording) {
  static const Profile profile = find_profile("h200");
  read_or_refused([&] {
    const Advised advised = advise(recording, profile);
    to_json(advice_view(advised)).dump(-1, ' ', false, Json::error_handler_t::replace);
    return document::text(document::advice_section(advice_view(advised)));
  });
}

void read_any_recording(std::string_view bytes) {
  const auto recording = read_or_refused([&] { return recording_of(bytes); });
  if (!recording) return;
  const std::string lines = written(*recording);
  require(written(recording_of(lines)) == lines, "a recording that was read is written and read as the same");
  // A recorder that is killed leaves a file that ends anywhere.
  if (const std::size_t header = lines.find('\n'); header + 1 < lines.size()) {
    const std::size_t cut = header + 1 + bytes.size() % (lines.size() - header - 1);
    require(recording_of(std::string_view(lines).substr(0, cut)).records.size() <= recording->records.size(),
            "a recording that was cut off has the records before the cut");
  }
  advise_on(*recording);
}

/// A file in memory, which goes away with the object.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes) : descriptor_(memfd_create("shiplap-fuzz", MFD_CLOEXEC)) {
    if (descriptor_ < 0 || ::write(descriptor_, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
      throw Broken("the system gives no file in memory");
  }
  ~MemoryFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

void read_any_nsys(std::string_view bytes) {
  const MemoryFile file(bytes);
  if (const auto recording = read_or_refused([&] { return read_nsys(file.path()); })) advise_on(*recording);
}

void read_any_torch_trace(std::string_view bytes) {
  const MemoryFile file(bytes);
  const auto recording = read_or_refused([&] { return read_torch_trace(file.path()); });
  if (!recording) return;
  const std::string lines = written(*recording);
  require(written(recording_of(lines)) == lines, "a trace that was read is written and read as the same recording");
  advise_on(*recording);
}

}  // namespace

const Target recording_target{"recording", read_any_recording};
const Target nsys_target{"nsys", read_any_nsys};
const Target torch_trace_target{"torch_trace", read_any_torch_trace};

}  // namespace shiplap::fuzz

#include <fmt/format.h>
#include <zlib.h>

#include <istream>
#include <streambuf>
#include <string>
#include <vector>

#include "shiplap/advise/text_stream.hpp"
#include "shiplap/core/error.hpp"

namespace shiplap {
namespace {

/// The text of a compressed file, of which one block is in memory.
class GzipBuffer : public std::streambuf {
 public:
  explicit GzipBuffer(const std::filesystem::path& file)
      : name_(file.string()), file_(gzopen(file.c_str(), "rb")), block_(std::size_t{64} << 10u) {
    if (!file_) throw Error(fmt::format("{}: it cannot be read; check that the file exists and may be read", name_));
  }

 protected:
  int_type underflow() override {
    const int got = gzread(file_.get(), block_.data(), static_cast<unsigned>(block_.size()));
    if (got < 0 && !breaks_off())
      throw Error(fmt::format(
          "{}: its compressed bytes are damaged, so it cannot be read; copy or export the file again", name_));
    if (got <= 0) return traits_type::eof();
    setg(block_.data(), block_.data(), block_.data() + got);
    return traits_type::to_int_type(block_.front());
  }

 private:
  struct Close {
    void operator()(gzFile_s* file) const { gzclose(file); }
  };
  bool breaks_off() const {
    int error = Z_OK;
    gzerror(file_.get(), &error);
    return error == Z_BUF_ERROR;
  }

  std::string name_;
  std::unique_ptr<gzFile_s, Close> file_;
  std::vector<char> block_;
};

/// A stream that owns its buffer.
class GzipStream : public std::istream {
 public:
  explicit GzipStream(const std::filesystem::path& file) : std::istream(nullptr), buffer_(file) { rdbuf(&buffer_); }

 private:
  GzipBuffer buffer_;
};

}  // namespace

std::unique_ptr<std::istream> open_gzip(const std::filesystem::path& file) {
  return std::make_unique<GzipStream>(file);
}

}  // namespace shiplap

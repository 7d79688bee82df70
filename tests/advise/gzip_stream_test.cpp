#include <gmock/gmock.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <istream>
#include <iterator>
#include <string>

#include "shiplap/advise/recording_file.hpp"
#include "shiplap/advise/text_stream.hpp"
#include "shiplap/core/text_file.hpp"
#include "tests/advise/made_trace.hpp"

namespace shiplap {
namespace {

namespace fs = std::filesystem;
using made_trace::MadeTrace;
using ::testing::HasSubstr;

class GzipFile : public MadeTrace {
 protected:
  fs::path compressed() const { return file().string() + ".gz"; }
  void compress(const std::string& text) const {
    const gzFile out = gzopen(compressed().c_str(), "wb");
    EXPECT_EQ(gzwrite(out, text.data(), static_cast<unsigned>(text.size())), static_cast<int>(text.size()));
    EXPECT_EQ(gzclose(out), Z_OK);
  }
  void overwrite(const std::string& bytes) const { std::ofstream(compressed(), std::ios::binary) << bytes; }
  std::string text() const {
    const auto in = open_text(compressed());
    return {std::istreambuf_iterator<char>(*in), {}};
  }
};

TEST_F(GzipFile, gives_its_text) {
  std::string text_before;
  for (int i = 0; i < 100'000; ++i) text_before += std::to_string(i);
  compress(text_before);
  EXPECT_LT(fs::file_size(compressed()), text_before.size());
  EXPECT_TRUE(is_gzip(compressed()));
  EXPECT_EQ(text(), text_before);
}

TEST_F(GzipFile, of_a_trace_is_read) {
  kernel(1, "k", "1", "1");
  compress(whole());
  EXPECT_EQ(read_recording_file(compressed()).records, read().records);
}

TEST_F(GzipFile, of_a_recording_is_read) {
  const fs::path recording = fs::path(SHIPLAP_SOURCE_DIR) / "tests/advise/recordings/saxpy.jsonl";
  compress(read_text_file(recording.string()));
  EXPECT_EQ(read_recording_file(compressed()).records, read_recording_file(recording).records);
}

TEST_F(GzipFile, that_breaks_off_gives_the_text_before_its_end) {
  for (std::uint64_t number = 1; number <= 5000; ++number) kernel(number, "k", std::to_string(number * number), "1");
  compress(whole());
  const std::string bytes = read_text_file(compressed().string());
  overwrite(bytes.substr(0, bytes.size() / 2));
  const Recording cut = read_recording_file(compressed());
  EXPECT_FALSE(cut.complete);
  EXPECT_GT(cut.records.size(), 1000u);
  EXPECT_LT(cut.records.size(), 4000u);
}

TEST_F(GzipFile, that_is_damaged_is_refused) {
  kernel(1, "k", "1", "1");
  compress(whole());
  std::string bytes = read_text_file(compressed().string());
  for (std::size_t at = 20; at < 60; ++at) bytes[at] = static_cast<char>(~bytes[at]);
  overwrite(bytes);
  EXPECT_THAT(message_of([&] { read_recording_file(compressed()); }), HasSubstr("damaged"));
}

TEST_F(GzipFile, that_is_absent_is_refused) {
  EXPECT_THAT(message_of([&] { open_gzip(compressed()); }), HasSubstr("cannot be read"));
}

}  // namespace
}  // namespace shiplap

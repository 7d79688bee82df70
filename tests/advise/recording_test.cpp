#include "shiplap/advise/recording.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <sstream>

#include "shiplap/advise/recording_writer.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/core/formats.hpp"
#include "tests/support/message_of.hpp"

namespace shiplap {
namespace {

Record random_record(std::mt19937_64& random) {
  const auto below = [&](std::uint64_t n) { return random() % n; };
  const auto time = [&] {
    const std::uint64_t start = below(1'000'000'000'000);
    return Nanoseconds{start, start + below(1'000'000)};
  };
  const auto number = [&] { return static_cast<std::uint32_t>(below(1u << 31)); };
  const auto memory = [&] {
    return std::array{MemoryKind::pageable, MemoryKind::pinned, MemoryKind::managed, MemoryKind::device}[below(4)];
  };
  const auto name = [&] { return "void name<" + std::to_string(below(7)) + ">(\"\\\", µ float const*)"; };
  switch (below(8)) {
    case 0:
      return RecordedCall{random(), number(), time(), name(), below(2) == 0 ? 0 : number()};
    case 1:
      return RecordedCopy{random(), number(), time(),  Bytes{below(1ull << 40)}, memory(), memory(), random(),
                          random(), random(), number()};
    case 2:
      return RecordedKernel{random(), number(), time(), name(), below(1u << 30), number(), number()};
    case 3:
      return RecordedFill{random(), number(), time(), Bytes{below(1u << 30)}, number()};
    case 4:
      return RecordedOrder{random(), static_cast<RecordedOrder::Kind>(below(5)), number(), random(),
                           below(2) == 0 ? RecordedOrder::unknown_gpu : number()};
    case 5:
      return RecordedMigration{time(), Bytes{below(1u << 30)}, below(2) == 1, number()};
    case 6:
      return RecordedPause{time()};
    default:
      return RecordedRange{number(), time(), name()};
  }
}

std::string written(const std::vector<Record>& records, bool closed = true) {
  std::string text;
  RecordingWriter writer("./app --with \"words\"", "a GPU", [&](std::string_view line) {
    EXPECT_EQ(line.find('\n'), std::string_view::npos);
    (text += line) += '\n';
  });
  for (const Record& record : records) writer.write(record);
  if (closed) writer.close();
  return text;
}

Recording read(const std::string& text) {
  std::istringstream in(text);
  return read_recording(in, "a.jsonl");
}

std::string error_of(const std::string& text) {
  try {
    read(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Recordings, come_back_as_they_were_written) {
  std::mt19937_64 random(1);
  std::vector<Record> records;
  for (int i = 0; i < 2000; ++i) records.push_back(random_record(random));
  const Recording recording = read(written(records));
  EXPECT_EQ(recording.program, "./app --with \"words\"");
  EXPECT_EQ(recording.gpu, "a GPU");
  EXPECT_EQ(recording.records, records);
  EXPECT_TRUE(recording.complete);
}

TEST(Recordings, that_are_cut_off_have_what_came_before_wherever_they_are_cut) {
  std::mt19937_64 random(2);
  std::vector<Record> records;
  for (int i = 0; i < 20; ++i) records.push_back(random_record(random));
  const std::string text = written(records);
  const std::size_t first = text.find('\n') + 1;
  for (std::size_t end = first; end < text.size(); ++end) {
    const Recording recording = read(text.substr(0, end));
    ASSERT_LE(recording.records.size(), records.size());
    ASSERT_TRUE(std::equal(recording.records.begin(), recording.records.end(), records.begin())) << end;
  }
  EXPECT_FALSE(read(written(records, false)).complete);
}

TEST(Recordings, have_names_on_one_line_without_what_a_terminal_obeys) {
  const Recording recording = read(written({RecordedRange{0, {1, 2}, "a\nb\x1b[2J"}}));
  ASSERT_EQ(recording.records.size(), 1u);
  EXPECT_EQ(std::get<RecordedRange>(recording.records.front()).name, "a b?[2J");
}

TEST(Recordings, take_less_than_85_bytes_for_a_call_and_its_kernel) {
  std::vector<Record> records;
  for (std::uint64_t i = 1; i <= 1000; ++i) {
    records.push_back(RecordedCall{i, 0, {i * 20'000, i * 20'000 + 3000}, "cudaLaunchKernel"});
    records.push_back(RecordedKernel{i, 7, {i * 20'000 + 5000, i * 20'000 + 19'000}, "saxpy", 1024, 256});
  }
  EXPECT_LT(written(records).size(), 85'000u);
}

TEST(Recordings, say_in_which_line_what_is_wrong) {
  const std::string header = R"({"schema":"shiplap/recording","version":1,"program":"p","gpu":"g"})"
                             "\n";
  const auto expect = [](const std::string& text, const std::string& part) {
    EXPECT_NE(error_of(text).find(part), std::string::npos) << error_of(text);
  };
  expect("", "names no GPU");
  expect(R"({"schema":"shiplap/profile","version":1})"
         "\n",
         "a.jsonl, line 1");
  expect(header + "[\"copy\",1,2,30,20,5,\"pinned\",\"device\",0,0,0,0]\n", "an end that is not before the start");
  expect(header + "[\"copy\",1,2,10,20,5,\"wooden\",\"device\",0,0,0,0]\n", "line 2");
  expect(header + "[\"kernel\",1,2,10,20,0,1,1,0]\n", "a name that has been written before");
  expect(header + "[\"fill\",1,2,10,20,5,6,7]\n", "7 elements");
  expect(header + "[\"dance\",1]\n[\"end\",0,0]\n", "call, copy, kernel");
  expect(header + "[\"end\",3,0]\n", "the number of the records before");
  expect(header + "nonsense\n[\"end\",0,0]\n", "line 2");
}

std::string refusal(const std::string& text) {
  try {
    read(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(RecordingLimits, a_line_without_end_is_refused) {
  const std::string header = written({}, false);
  EXPECT_NE(refusal(header + std::string(limits::line_bytes + 1, ' '))
                .find("a.jsonl, line 2: the line has more than 1 MiB, and no more is read of a recording; give a file"),
            std::string::npos);
  EXPECT_NE(refusal(std::string(limits::line_bytes + 1, '\0')).find("line 1: the line has more than 1 MiB"),
            std::string::npos);
}

TEST(RecordingLimits, names_that_occur_once_in_the_file_and_very_often_in_the_records_are_refused) {
  std::string text = written({}, false) + "[\"name\",0,\"" + std::string(900'000, 'x') + "\"]\n";
  for (int i = 0; i < 400; ++i) text += "[\"range\",0,0,1,0]\n";
  EXPECT_NE(refusal(text).find("expected records whose names have at most"), std::string::npos);
}

TEST(Recording, that_cannot_be_read_names_its_source_and_the_reason) {
  std::ifstream folder(std::string(SHIPLAP_SOURCE_DIR) + "/tests");
  ASSERT_TRUE(folder.is_open()) << "a folder can be opened, and not read";
  const std::string message = message_of([&] { read_recording(folder, "a.jsonl"); });
  EXPECT_NE(message.find("a.jsonl, line 1: it cannot be read: "), std::string::npos) << message;
}

/// What a writer with little room makes of many records.
std::string written(std::uint64_t most_bytes, std::size_t records, const std::string& name) {
  std::string text;
  RecordingWriter writer(
      "./app", "a GPU", [&](std::string_view line) { (text += line) += '\n'; }, most_bytes);
  for (std::size_t i = 0; i < records; ++i) writer.write(RecordedCall{i + 1, 0, {i, i + 1}, name});
  writer.close();
  return text;
}

TEST(RecordingWriter, keeps_within_what_is_read_and_says_that_records_are_lost) {
  constexpr std::uint64_t most = limits::line_bytes + 8192;
  const std::string text = written(most, 10'000, "cudaMalloc");
  EXPECT_LE(text.size(), most);
  std::istringstream in(text);
  const Recording recording = read_recording(in, "recording");
  EXPECT_TRUE(recording.complete);
  EXPECT_GT(recording.records.size(), 50u);
  EXPECT_EQ(recording.lost, 1u);
}

TEST(RecordingWriter, cuts_names_that_no_line_can_hold) {
  std::istringstream in(written(limits::log_bytes, 3, std::string(3 << 20, '\x01')));
  const Recording recording = read_recording(in, "recording");
  ASSERT_EQ(recording.records.size(), 3u);
  EXPECT_EQ(recording.lost, 0u);
}

// Records of a few bytes that refer to one long name take as much memory as that name each.
TEST(RecordingWriter, stops_before_names_take_more_memory_than_a_reader_gives_them) {
  std::istringstream in(written(limits::log_bytes, 4000, std::string(1 << 20, 'x')));
  const Recording recording = read_recording(in, "recording");
  EXPECT_TRUE(recording.complete);
  EXPECT_EQ(recording.lost, 1u);
}

}  // namespace
}  // namespace shiplap

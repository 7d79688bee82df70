#include "shiplap/pipeline/file_copy.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <random>

#include "shiplap/core/error.hpp"
#include "shiplap/device/bindings.hpp"
#include "shiplap/device/device.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/planted_gpu.hpp"
#include "tests/support/temporary_folder.hpp"

namespace shiplap {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

struct FileCopies : ::testing::Test {
  FileCopies() : bytes(7'000'003) {
    std::mt19937 random(3);
    for (char& byte : bytes) byte = static_cast<char>(random());
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    descriptor = open(path.c_str(), O_RDONLY);
  }
  ~FileCopies() override { close(descriptor); }
  FilePart part(std::uint64_t from, std::uint64_t size, std::uint64_t to) const {
    return {.from = {descriptor, from, path}, .size = Bytes{size}, .to = Bytes{to}};
  }

  TemporaryFolder folder;
  std::string path = (folder.path() / "weights").string();
  std::vector<char> bytes;
  int descriptor = -1;
  std::shared_ptr<MeasurableDevice> device = planted_gpu();
  Memory there = device->allocate(Place::gpu(), MemoryKind::device, 8_MiB);
};

TEST_F(FileCopies, bring_random_parts_to_their_places_whatever_the_number_of_threads) {
  std::mt19937 random(5);
  for (const unsigned threads : {1u, 3u, 16u}) {
    FileCopier copier(*device, threads);
    for (int round = 0; round < 12; ++round) {
      std::memset(there.data(), 0, there.size().count);
      std::vector<char> expected(there.size().count);
      std::vector<FilePart> parts;
      std::uint64_t to = 0;
      for (int i = 0; i < 4; ++i) {
        to += random() % 50'000;
        const std::uint64_t size = random() % (round % 2 == 0 ? 3'000 : 1'900'000);
        const std::uint64_t from = random() % (bytes.size() - size);
        parts.push_back(part(from, size, to));
        std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(from), size,
                    expected.begin() + static_cast<std::ptrdiff_t>(to));
        to += size;
      }
      copier.copy(parts, there.data(), there.size());
      ASSERT_EQ(std::memcmp(there.data(), expected.data(), expected.size()), 0) << threads << ", " << round;
    }
  }
}

TEST_F(FileCopies, of_the_same_sizes_read_the_files_that_they_are_given) {
  FileCopier copier(*device, 2);
  for (const std::uint64_t from : {0u, 17u, 4'000'000u}) {
    copier.copy(std::vector{part(from, 2'500'000, 8)}, there.data(), there.size());
    EXPECT_EQ(std::memcmp(there.data() + 8, bytes.data() + from, 2'500'000), 0) << from;
  }
}

TEST_F(FileCopies, say_which_file_ends_where_and_go_on_afterwards) {
  FileCopier copier(*device, 4);
  EXPECT_THAT(message_of<Error>([&] { copier.copy(std::vector{part(6'000'000, 2'000'000, 0)}, there.data(), 8_MiB); }),
              AllOf(HasSubstr(path), HasSubstr("ends at byte 7000003"), HasSubstr("are needed")));
  FilePart closed = part(0, 100, 0);
  closed.from.descriptor = 9999;
  EXPECT_THAT(message_of<Error>([&] { copier.copy(std::vector{closed}, there.data(), 8_MiB); }),
              AllOf(HasSubstr(path), HasSubstr("cannot be read at byte 0")));
  copier.copy(std::vector{part(6'000'000, 1'000'000, 0)}, there.data(), 8_MiB);
  EXPECT_EQ(std::memcmp(there.data(), bytes.data() + 6'000'000, 1'000'000), 0);
}

TEST_F(FileCopies, refuse_destinations_that_are_too_small_or_on_no_gpu) {
  FileCopier copier(*device, 2);
  EXPECT_THROW(copier.copy(std::vector{part(0, 100, 50)}, there.data(), 149_B), UsageError);
  const Memory host = device->allocate(Place::host(), MemoryKind::pinned, 100_B);
  EXPECT_THROW(copier.copy(std::vector{part(0, 100, 0)}, host.data(), 100_B), UsageError);
}

// No other op than a host copy may be given a file instead of memory.
TEST_F(FileCopies, are_of_host_copies_alone) {
  Schedule schedule;
  const BufferId file = schedule.add_buffer({"file", Place::host(), MemoryKind::pinned, 100_B});
  const BufferId gpu = schedule.add_buffer({"gpu", Place::gpu(), MemoryKind::device, 100_B});
  schedule.add({.what = Copy{{file, 0_B, 100_B}, {gpu, 0_B, 100_B}},
                .stream = schedule.add_stream("in"),
                .agent = AgentId{0},
                .after = {}});
  const Bindings bindings{.buffers = {nullptr, there.data()}, .kernels = {}, .files = {{descriptor, 0, path}}};
  EXPECT_THAT(message_of<Error>([&] { device->prepare(schedule, bindings); }),
              HasSubstr("only host copies read files"));
}

}  // namespace
}  // namespace shiplap

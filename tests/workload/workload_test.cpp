#include "shiplap/workload/workload.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "shiplap/core/error.hpp"
#include "shiplap/workload/launches.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/planted_profile.hpp"
#include "tests/support/temporary_folder.hpp"

namespace shiplap {
namespace {

std::string workload_refusal(const std::string& name) {
  try {
    find_workload(name, {});
  } catch (const UsageError& e) {
    return e.what();
  }
  return "not refused";
}

TEST(FindWorkload, names_the_parameter_that_is_wrong) {
  EXPECT_NE(workload_refusal("saxpi").find("saxpy, scalar-add"), std::string::npos);
  EXPECT_NE(workload_refusal("saxpy:m=4").find("no parameter m"), std::string::npos);
  EXPECT_NE(workload_refusal("saxpy:n").find("NAME=VALUE"), std::string::npos);
  EXPECT_NE(workload_refusal("saxpy:n=4,n=5").find("n is given twice"), std::string::npos);
  EXPECT_NE(workload_refusal("saxpy:n=-4").find("n"), std::string::npos);
  EXPECT_NE(workload_refusal("scalar-add:in=7").find("multiple of 4"), std::string::npos);
}

TEST(ScalarAdd, computes_what_its_description_says_for_any_ratio_of_sizes) {
  // 2 inputs and 5 outputs an item, then 5 and 2, checked against the definition written out by hand.
  for (const auto& [in, out] : {std::pair{8u, 20u}, std::pair{20u, 8u}}) {
    const Workload w = find_workload(
        "scalar-add:in=" + std::to_string(4 * in) + ",out=" + std::to_string(4 * out) + ",iterations=2", {});
    ASSERT_EQ(w.job.items, 4u);
    std::vector<std::uint32_t> source(in), target(out);
    for (std::uint32_t i = 0; i < in; ++i) source[i] = 100 * (i + 1);
    std::byte* operands[]{reinterpret_cast<std::byte*>(source.data()), reinterpret_cast<std::byte*>(target.data())};
    const Bytes lengths[]{Bytes{4 * in}, Bytes{4 * out}};
    w.job.binding.host({.items = 4, .operands = operands, .lengths = lengths});
    if (in == 8) {
      EXPECT_EQ(std::vector(target.begin(), target.begin() + 7),
                (std::vector<std::uint32_t>{106, 206, 106, 206, 106, 306, 406}));
    } else {  // output 0 sums inputs 0, 2, 4 of its item, output 1 inputs 1, 3; each plus 6
      EXPECT_EQ(std::vector(target.begin(), target.begin() + 4), (std::vector<std::uint32_t>{918, 612, 2418, 1612}));
    }
  }
}

TEST(ScalarAdd, is_cut_finely_whatever_its_sizes_share) {
  // 1009 and 100003 are prime: one item by their common divisor.
  for (const auto& [in, out] : {std::pair{1009u, 100003u}, std::pair{100003u, 1009u}}) {
    const Workload w = find_workload("scalar-add:in=" + std::to_string(4 * in) + ",out=" + std::to_string(4 * out), {});
    ASSERT_EQ(w.job.items, out > in ? 100003u / 256 : 1009u / 32);
    EXPECT_GE(blocks_of(w.job, w.job.items), out / 512) << "a block for a few hundred outputs";
    std::vector<std::uint32_t> source(in), target(out, 0xdeadbeef);
    for (std::uint32_t i = 0; i < in; ++i) source[i] = i * i + 7;
    // In chunks of 10 items, each handed its own pieces.
    for (std::uint64_t first = 0; first < w.job.items; first += 10) {
      const ItemRange range{first, std::min<std::uint64_t>(10, w.job.items - first)};
      const ByteRange from = owned_bytes(w.job, w.job.arrays[0], range);
      const ByteRange to = owned_bytes(w.job, w.job.arrays[1], range);
      std::byte* operands[]{reinterpret_cast<std::byte*>(source.data()) + from.offset.count,
                            reinterpret_cast<std::byte*>(target.data()) + to.offset.count};
      const Bytes lengths[]{from.length, to.length};
      const Bytes origins[]{from.offset, to.offset};
      w.job.binding.host({.first_item = range.first,
                          .items = range.count,
                          .operands = operands,
                          .lengths = lengths,
                          .origins = origins});
    }
    // By the definition: item i has inputs and outputs from its share of each on.
    std::vector<std::uint32_t> expected(out, 0);
    for (std::uint64_t item = 0; item < w.job.items; ++item) {
      const std::uint64_t a0 = in * item / w.job.items, a1 = in * (item + 1) / w.job.items;
      const std::uint64_t b0 = out * item / w.job.items, b1 = out * (item + 1) / w.job.items;
      if (b1 - b0 >= a1 - a0)
        for (std::uint64_t t = 0; t < b1 - b0; ++t) expected[b0 + t] = source[a0 + t % (a1 - a0)] + 3;
      else
        for (std::uint64_t s = 0; s < a1 - a0; ++s) expected[b0 + s % (b1 - b0)] += source[a0 + s] + 3;
    }
    EXPECT_EQ(target, expected) << in << " to " << out;
  }
}

TEST(Workloads, find_a_single_wrong_byte_in_outputs_and_in_inputs) {
  for (const Workload& w : {find_workload("saxpy:n=5000", {}), find_workload("scalar-add:in=20000,out=20000", {}),
                            stated_workload({.in = Bytes{20000}, .out = Bytes{20000}}, {})}) {
    std::vector<std::vector<std::byte>> memory;
    for (const Array& a : w.job.arrays) memory.emplace_back(a.size.count);
    std::vector<std::span<std::byte>> arrays(memory.begin(), memory.end());
    std::vector<std::byte*> operands{memory[0].data(), memory[1].data()};
    const std::vector<Bytes> lengths{w.job.arrays[0].size, w.job.arrays[1].size};
    w.fill(arrays);
    EXPECT_NE(w.verify(arrays), "") << w.job.name << ": the kernel has not run yet";
    w.job.binding.host({.items = w.job.items, .operands = operands, .lengths = lengths});
    EXPECT_EQ(w.verify(arrays), "") << w.job.name;
    for (std::size_t a = 0; a < 2; ++a) {
      memory[a][19999] ^= std::byte{1};
      EXPECT_NE(w.verify(arrays), "") << w.job.name << ", array " << a;
      memory[a][19999] ^= std::byte{1};
    }
  }
}

TEST(WithItems, gives_a_workload_as_many_items_and_keeps_its_other_parameters) {
  for (const char* name :
       {"saxpy", "saxpy:n=1Ki", "arccos:calls=2", "histogram:width=176,frames=3,height=144", "grayscale:output=both",
        "convolution:width=64", "pop-state:nx=8,ny=8", "pop-buoydiff:nx=8"}) {
    const auto ten = with_items(name, 10, {});
    ASSERT_TRUE(ten) << name;
    EXPECT_EQ(ten->job.items, 10u) << name;
  }
  EXPECT_EQ(with_items("histogram:width=176,frames=3,height=144", 10, {})->job.name,
            find_workload("histogram:frames=10,width=176,height=144", {}).job.name);
  for (const char* name : {"scalar-add", "mine.json", "nothing", ""}) EXPECT_FALSE(with_items(name, 10, {})) << name;
}

TEST(StatedWorkload, allows_no_input_or_no_output_but_not_neither) {
  EXPECT_NO_THROW(stated_workload({.in = 1_MiB, .out = 0_B}, {}));
  EXPECT_NO_THROW(stated_workload({.in = 0_B, .out = 1_MiB}, {}));
  EXPECT_THROW(stated_workload({.in = 0_B, .out = 0_B}, {}), UsageError);
}

TEST(StatedWorkload, offers_zero_copy_only_where_it_is_stated_that_bytes_are_accessed_once) {
  const auto offers = [](std::optional<bool> once) {
    return offers_zero_copy(stated_workload({.in = 1_MiB, .out = 1_MiB, .each_byte_once = once}, {}).job);
  };
  EXPECT_FALSE(offers(std::nullopt));
  EXPECT_FALSE(offers(false));
  EXPECT_TRUE(offers(true));
}

TEST(StatedWorkload, is_cut_along_the_items_that_are_stated) {
  const Job job = stated_workload({.in = 1_MiB, .out = 256_KiB, .item = 4_KiB, .before = 2, .after = 1}, {}).job;
  EXPECT_EQ(job.items, 256u);
  const ByteRange reach = reach_of(job, job.arrays[0], {.first = 10, .count = 5});
  EXPECT_EQ(reach.offset, 32_KiB);
  EXPECT_EQ(reach.length, 32_KiB);
  EXPECT_EQ(stated_workload({.out = 1_MiB, .item = 8_KiB}, {}).job.items, 128u);
  EXPECT_THROW(stated_workload({.in = 1_MiB, .out = 100_B, .item = 4_KiB}, {}), UsageError);
  EXPECT_THROW(stated_workload({.in = 1_MiB, .item = 3_MiB}, {}), UsageError);
  EXPECT_THROW(stated_workload({.in = 1_MiB, .before = 1}, {}), UsageError) << "of unknown items";
  EXPECT_THROW(stated_workload({.out = 1_MiB, .item = 4_KiB, .after = 1}, {}), UsageError) << "of no input";
}

TEST(StatedWorkload, can_be_cut_into_chunks_also_when_the_sizes_have_little_in_common) {
  EXPECT_EQ(stated_workload({.in = Bytes{1'000'000'000}, .out = 1_GiB}, {}).job.items, 512u);
  EXPECT_EQ(stated_workload({.in = 1_GiB, .out = 512_MiB}, {}).job.items, 131072u);
}

TEST(WorkloadFile, is_read_and_refused_with_the_file_and_the_key) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "workload.json";
  const auto write = [&](const std::string& text) { std::ofstream(path) << text; };
  write(R"({"schema":"shiplap/workload","version":1,"in":"1GiB","out":"512MiB","kernel":"12ms"})");
  const Workload w = find_workload(path.string(), {});
  EXPECT_EQ(w.job.arrays[0].size, 1_GiB);
  EXPECT_NEAR(in_milliseconds(w.job.cost.launch_time(w.job.items)), 12, 1e-9);
  EXPECT_EQ(bytes_read(w.job), 1_GiB);
  write(R"({"schema":"shiplap/workload","version":1,"in":"1GiB","out":"512MiB","kernel":"12ms","reads":3})");
  EXPECT_EQ(bytes_read(find_workload(path.string(), {}).job), 3_GiB);
  write(R"({"schema":"shiplap/workload","version":1,"workload":"pop-buoydiff:nx=4,ny=4,nz=2","reads":2.5})");
  EXPECT_EQ(bytes_read(find_workload(path.string(), {}).job), 1280_B) << "two fields of 32 doubles";
  write(R"({"schema":"shiplap/workload","version":2,"in":"1GiB","out":"512MiB","kernel":"12ms"})");
  EXPECT_THROW(find_workload(path.string(), {}), Error);
  write(R"({"schema":"shiplap/workload","version":1,"out":"1GiB","kernel":"0","memory":"pageable","item":"1MiB"})");
  const Job one_way = find_workload(path.string(), {}).job;
  EXPECT_EQ(bytes_in(one_way), 0_B);
  EXPECT_EQ(one_way.items, 1024u);
  EXPECT_EQ(one_way.arrays[1].memory, MemoryKind::pageable);
  for (const auto& [text, key] : {std::pair(R"("in":"1GiB")", "kernel"), std::pair(R"("kernel":"1ms")", "`in`"),
                                  std::pair(R"("kernel":"1ms","in":"1GiB","access":"twice")", "access"),
                                  std::pair(R"("kernel":"1ms","in":"1GiB","halo":{"before":1})", "after"),
                                  std::pair(R"("workload":"saxpy","out":"1GiB")", "out")}) {
    write(std::string(R"({"schema":"shiplap/workload","version":1,)") + text + "}");
    const std::string message = message_of([&] { find_workload(path.string(), {}); });
    EXPECT_NE(message.find(key), std::string::npos) << message;
  }
}

TEST(DerivedCost, is_the_larger_of_bytes_and_operations_over_what_the_kernel_reaches_of_the_limits_and_says_so) {
  const Profile profile = planted_profile();  // 4300 GB/s and 60 Tflop/s
  const Workload light = find_workload("saxpy:n=1000000", {});
  EXPECT_NEAR(in_microseconds(derived_cost(light.job, profile).launch_time(1000000)), 12e6 / 4300e9 * 1e6 / 0.9, 1e-9);
  const Workload heavy = find_workload("scalar-add:in=4000000,out=4000000,iterations=1000", {});
  EXPECT_NEAR(in_microseconds(derived_cost(heavy.job, profile).launch_time(1000000)), 1e9 / 60e12 * 1e6 / 0.88, 1e-6);
  EXPECT_NE(derived_cost(light.job, profile).origin.find("derived from bytes and operations over 90 %"),
            std::string::npos);
  const Workload twice_as_wide =
      find_workload("pop-state:nx=1000,ny=1000,nz=1", {});  // 40 operations and 24 bytes a point
  EXPECT_NEAR(in_microseconds(derived_cost(twice_as_wide.job, profile).launch_time(1)), 24e6 / 4300e9 * 1e6 / 0.73,
              1e-6);
}

}  // namespace
}  // namespace shiplap

#include "shiplap/workload/step_parts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/workload/described_job.hpp"
#include "tests/support/message_of.hpp"

namespace shiplap {
namespace {

using ::testing::HasSubstr;

/// A job over the elements of two spans, each an array of its own.
Job copying(const char* name, std::span<const std::uint32_t> from, std::span<std::uint32_t> to,
            const Reach& reach = own_items) {
  return Job{to.size(), name}.in("from", from, reach).out("to", to).host_kernel([](Chunk chunk, auto in, auto out) {
    for (std::uint64_t i = chunk.first; i < chunk.end(); ++i) out[i] = in[i] + 1;
  });
}

const Job& job_of(const Step& step, std::size_t part) { return std::get<Job>(step.parts[part]); }

TEST(StepParts, that_do_not_overlap_stay_as_they_are) {
  std::vector<std::uint32_t> memory(300);
  const std::span all(memory);
  const Step step = Step{"apart"}.kernel(copying("a", all.first(100), all.subspan(100, 100)));
  const Step same = with_whole_arrays(step);
  EXPECT_EQ(job_of(same, 0).arrays[0].name, "from");
  EXPECT_FALSE(job_of(same, 0).arrays[0].reach.elements);
  EXPECT_EQ(job_of(same, 0).arrays[1].data, job_of(step, 0).arrays[1].data);
}

TEST(StepParts, become_mappings_into_the_memory_of_all_of_them) {
  std::vector<std::uint32_t> u(100);
  std::vector<std::uint32_t> v(100);
  const std::span in(u);
  const std::span out(v);
  const Step step = Step{"parts"}
                        .kernel(copying("all", in, out))
                        .kernel(copying("part", out.subspan(30, 20), in.subspan(40, 20), halo(2, 3)));
  const Step whole = with_whole_arrays(step);
  const Array& part_of_v = job_of(whole, 1).arrays[0];
  EXPECT_EQ(part_of_v.data, reinterpret_cast<std::byte*>(v.data()));
  EXPECT_EQ(part_of_v.size, Bytes{400});
  EXPECT_EQ(part_of_v.name, "from") << "names of a job are its own";
  EXPECT_EQ(part_of_v.part_of, "to");
  // The halo ends where the part ends, and not where the whole does.
  const ByteRange middle = reach_of(job_of(whole, 1), part_of_v, {5, 5});
  EXPECT_EQ(middle.offset, Bytes{4 * 33});
  EXPECT_EQ(middle.length, Bytes{4 * 10});
  const ByteRange begin = reach_of(job_of(whole, 1), part_of_v, {0, 1});
  EXPECT_EQ(begin.offset, Bytes{4 * 30});
  EXPECT_EQ(begin.length, Bytes{4 * 4});
  // By names: v is "to" of the first kernel and "from" of the second.
  const StepArrays arrays = arrays_of(whole);
  ASSERT_EQ(arrays.arrays.size(), 2u);
  EXPECT_EQ(arrays.arrays[0].array.name, "from");
  EXPECT_EQ(arrays.arrays[1].array.name, "to");
  EXPECT_EQ(find_array(arrays, "to", "step"), 1u) << "the name of the whole comes first";
  EXPECT_EQ(find_array(arrays, "edge", "step"), std::nullopt);
}

TEST(StepParts, that_overlap_in_a_chain_are_one_array) {
  std::vector<std::uint32_t> memory(100);
  std::vector<std::uint32_t> results(100);
  const std::span all(memory);
  const Step step = Step{"chain"}
                        .kernel(copying("a", all.subspan(10, 30), std::span(results).first(30)))
                        .kernel(copying("b", all.subspan(30, 30), std::span(results).subspan(30, 30)))
                        .kernel(copying("c", all.subspan(50, 30), std::span(results).subspan(60, 30)));
  const Step whole = with_whole_arrays(step);
  for (std::size_t part = 0; part < 3; ++part) {
    EXPECT_EQ(job_of(whole, part).arrays[0].data, reinterpret_cast<std::byte*>(&memory[10]));
    EXPECT_EQ(job_of(whole, part).arrays[0].size, Bytes{4 * 70});
    EXPECT_FALSE(job_of(whole, part).arrays[1].reach.elements) << "arrays that touch do not overlap";
  }
}

TEST(StepParts, keep_the_indices_of_their_kernels) {
  std::vector<std::uint32_t> u(100, 7);
  std::vector<std::uint32_t> v(100);
  const Step whole =
      with_whole_arrays(Step{"indices"}
                            .kernel(copying("all", u, v))
                            .kernel(copying("part", std::span(u).subspan(30, 20), std::span(v).subspan(50, 20))));
  const Job& part = job_of(whole, 1);
  std::vector<std::byte*> operands;
  std::vector<Bytes> lengths;
  std::vector<Bytes> origins;
  for (const Array& array : part.arrays) {
    const ByteRange reach = reach_of(part, array, {4, 8});
    operands.push_back(array.data + reach.offset.count);
    lengths.push_back(reach.length);
    origins.push_back(reach.offset);
  }
  part.binding.host({.first_item = 4, .items = 8, .operands = operands, .lengths = lengths, .origins = origins});
  for (std::size_t i = 0; i < v.size(); ++i) EXPECT_EQ(v[i], i >= 54 && i < 62 ? 8u : 0u) << i;
}

TEST(StepParts, are_named_by_their_own_names_too) {
  std::vector<std::uint32_t> u(100);
  std::vector<std::uint32_t> v(100);
  Job edge = copying("edge", std::span(u).first(10), std::span(v).first(10));
  edge.arrays[0].name = "edge of u";
  const Step step = Step{"names"}.kernel(copying("all", u, v)).kernel(edge).stays_on_gpu("edge of u");
  const StepArrays arrays = arrays_of(with_whole_arrays(step));
  EXPECT_EQ(arrays.arrays[0].array.name, "from");
  EXPECT_EQ(arrays.arrays[0].between, Between::gpu);
}

TEST(StepParts, of_one_kernel_that_writes_one_of_them_are_refused_by_their_names) {
  std::vector<std::uint32_t> u(100);
  std::vector<std::uint32_t> v(100);
  const Step step = Step{"both"}
                        .kernel(copying("within", std::span(u).first(50), std::span(u).subspan(50, 50)))
                        .kernel(copying("all", u, v));
  const std::string message = message_of<UsageError>([&] { arrays_of(with_whole_arrays(step)); });
  EXPECT_THAT(message, HasSubstr("within has arrays from and to in one memory"));
}

TEST(StepParts, that_are_kept_are_refused) {
  std::vector<std::uint32_t> table(100);
  std::vector<std::uint32_t> v(100);
  std::vector<std::uint32_t> w(100);
  const Job kept =
      Job{100, "kept"}.kept("table", std::span(table).first(10)).out("w", w).host_kernel([](Chunk, auto, auto) {});
  const Step step = Step{"kept"}.kernel(kept).kernel(copying("all", table, v));
  EXPECT_THAT(message_of<UsageError>([&] { with_whole_arrays(step); }), HasSubstr("table of kept is kept"));
}

TEST(StepParts, of_other_elements_are_refused) {
  std::vector<std::uint32_t> memory(100);
  std::vector<std::uint32_t> results(100);
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(memory.data()) + 2, 40);
  std::vector<std::byte> out(40);
  const Job unaligned = Job{10, "unaligned"}.in("bytes", bytes).out("out", out).host_kernel([](Chunk, auto, auto) {});
  EXPECT_NO_THROW(with_whole_arrays(Step{"bytes"}.kernel(copying("all", memory, results)).kernel(unaligned)));
  const std::span<const std::uint32_t> odd(reinterpret_cast<const std::uint32_t*>(bytes.data()), 8);  // not read
  const Step step =
      Step{"odd"}.kernel(copying("all", memory, results)).kernel(copying("odd", odd, std::span(results).first(8)));
  EXPECT_THAT(message_of<UsageError>([&] { with_whole_arrays(step); }), HasSubstr("from of odd overlaps"));
}

}  // namespace
}  // namespace shiplap

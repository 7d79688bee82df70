#include "shiplap/workload/described_job.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/workload/workload.hpp"
#include "tests/support/message_of.hpp"

namespace shiplap {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// A class that stands for a pointer, as thrust::pointer does.
template <class T>
struct FancyPointer {
  T* address;
  T* get() const { return address; }
  T& operator*() const { return *address; }
};

/// A vector whose data() is such a class, as thrust::universal_vector is.
template <class T>
class FancyVector {
 public:
  explicit FancyVector(std::size_t size) : elements_(size) {}
  FancyPointer<T> data() { return {elements_.data()}; }
  FancyPointer<const T> data() const { return {elements_.data()}; }
  std::size_t size() const { return elements_.size(); }

 private:
  std::vector<T> elements_;
};

/// A view that the standard library does not know as one, as cuda::std::span is.
template <class T>
struct ForeignSpan {
  T* first;
  std::size_t count;
  T* data() const { return first; }
  std::size_t size() const { return count; }
};

// Signed numbers and others are a status; what is refused is in tests/compile_errors.
static_assert(!detail::may_be_a_size<void> && !detail::may_be_a_size<int> && !detail::may_be_a_size<bool>);
static_assert(!detail::may_be_a_size<const long&> && !detail::may_be_a_size<unsigned char>);
static_assert(!detail::may_be_a_size<double> && !detail::may_be_a_size<std::string>);
static_assert(detail::may_be_a_size<unsigned> && detail::may_be_a_size<std::uint64_t>);
static_assert(detail::may_be_a_size<const std::size_t&>);

template <class... Elements>
std::size_t bytes_from(const DescribedJob<Elements...>& job, const void* data) {
  EXPECT_EQ(static_cast<const void*>(job.arrays.back().data), data);
  return job.arrays.back().size.count;
}

TEST(DescribedJob, takes_every_contiguous_range_where_it_is) {
  std::vector<float> vector(10);
  const std::vector<float> constant(10);
  std::array<double, 10> array{};
  int c_array[10] = {};
  FancyVector<float> fancy(10);
  const Job job{10};
  EXPECT_EQ(bytes_from(job.in("x", vector), vector.data()), 40u);
  EXPECT_EQ(bytes_from(job.in("x", constant), constant.data()), 40u);
  EXPECT_EQ(bytes_from(job.out("x", array), array.data()), 80u);
  EXPECT_EQ(bytes_from(job.inout("x", c_array), c_array), 40u);
  EXPECT_EQ(bytes_from(job.out("x", fancy), fancy.data().get()), 40u);
  EXPECT_EQ(bytes_from(job.in("x", std::as_const(fancy)), fancy.data().get()), 40u);
  EXPECT_EQ(bytes_from(job.broadcast("x", std::span(vector).first(3)), vector.data()), 12u) << "a temporary view";
  EXPECT_EQ(bytes_from(job.carried("x", ForeignSpan<float>{vector.data(), 7}), vector.data()), 28u);
}

TEST(DescribedJob, takes_a_pointer_and_a_number_of_elements) {
  std::vector<float> memory(10);
  const float* const constant = memory.data();
  const Job job{10};
  EXPECT_EQ(bytes_from(job.in("x", constant, 10), constant), 40u);
  EXPECT_EQ(bytes_from(job.in("x", memory.data(), 10u), constant), 40u);
  EXPECT_EQ(bytes_from(job.out("x", memory.data(), 10), constant), 40u);
  EXPECT_EQ(bytes_from(job.inout("x", memory.data(), std::size_t{5}), constant), 20u);
  EXPECT_EQ(bytes_from(job.broadcast("x", constant, 3), constant), 12u);
  EXPECT_EQ(bytes_from(job.carried("x", memory.data(), 1), constant), 4u);
  const auto with_halo = job.in("x", memory.data(), 10, halo(1, 2));
  EXPECT_EQ(with_halo.arrays.back().reach.before, 1u);
  EXPECT_EQ(with_halo.arrays.back().reach.after, 2u);
}

TEST(DescribedJob, knows_views_from_what_owns_its_elements) {
  static_assert(detail::is_view<std::span<float>>() && detail::is_view<std::span<const float, 3>>());
  static_assert(detail::is_view<ForeignSpan<float>>() && detail::is_view<ForeignSpan<const float>>());
  static_assert(!detail::is_view<std::vector<float>>() && !detail::is_view<FancyVector<float>>());
  static_assert(!detail::is_view<std::array<const float, 3>>() && !detail::is_view<float[3]>());
}

TEST(DescribedJob, refuses_an_array_without_elements_and_a_null_pointer) {
  std::vector<float> nothing;
  float* const nowhere = nullptr;
  const Job job{10, "mine"};
  EXPECT_THAT(message_of<UsageError>([&] { static_cast<void>(job.in("x", nothing)); }),
              HasSubstr("mine: array x has no elements"));
  EXPECT_THAT(message_of<UsageError>([&] { static_cast<void>(job.out("x", nowhere, 10)); }),
              HasSubstr("array x is a null pointer"));
  EXPECT_EQ(job.shaped<float>("x", Role::out, 10).arrays.size(), 1u) << "of which only the shape is known";
}

/// As Kokkos::View answers.
struct StridedView {
  float* begin;
  bool whole;
  float* data() const { return begin; }
  std::size_t size() const { return 3; }
  bool span_is_contiguous() const { return whole; }
};

/// As Eigen::Block answers: a row of a matrix, whose elements are columns apart.
struct BlockOfMatrix : StridedView {
  bool span_is_contiguous() const = delete;
  std::ptrdiff_t innerStride() const { return whole ? 1 : 3; }
  std::ptrdiff_t outerStride() const { return 3; }
  std::ptrdiff_t innerSize() const { return 3; }
  std::ptrdiff_t outerSize() const { return 1; }
};

/// Columns of a matrix that has more rows than the block.
struct SomeRowsOfMatrix : StridedView {
  bool span_is_contiguous() const = delete;
  std::ptrdiff_t innerStride() const { return 1; }
  std::ptrdiff_t outerStride() const { return whole ? 1 : 2; }
  std::ptrdiff_t innerSize() const { return 1; }
  std::ptrdiff_t outerSize() const { return 3; }
};

template <class View>
void expect_whole_or_refused(const Job& job, float* memory) {
  const View whole{{memory, true}};
  EXPECT_EQ(bytes_from(job.in("x", whole), memory), 12u);
  const View strided{{memory, false}};
  const auto refused = HasSubstr("do not follow one another in memory");
  EXPECT_THAT(message_of<UsageError>([&] { static_cast<void>(job.in("x", strided)); }), refused);
  EXPECT_THAT(message_of<UsageError>([&] { static_cast<void>(job.inout("x", strided)); }), refused);
  EXPECT_THAT(message_of<UsageError>([&] { static_cast<void>(job.broadcast("x", strided)); }), refused);
}

struct PlainView : StridedView {};

TEST(DescribedJob, refuses_views_that_leave_out_elements) {
  float memory[9];
  expect_whole_or_refused<PlainView>(Job{3}, memory);
  expect_whole_or_refused<SomeRowsOfMatrix>(Job{3}, memory);
  expect_whole_or_refused<BlockOfMatrix>(Job{3}, memory);
}

TEST(DescribedJob, refuses_a_length_below_zero_as_what_it_is) {
  float memory[9];
  for (const std::int64_t length : {-1, -1000})
    EXPECT_THAT(message_of<UsageError>([&] { static_cast<void>(Job{3}.in("x", &memory[0], length)); }),
                HasSubstr("is its length negative?"));
  std::uint8_t bytes[9];
  EXPECT_THAT(message_of<UsageError>([&] { static_cast<void>(Job{3}.out("x", &bytes[0], -1)); }),
              HasSubstr("is its length negative?"));
}

TEST(DescribedJob, says_the_same_before_the_kernel_and_after_it) {
  std::vector<float> x(10);
  const auto nothing = [](Chunk, auto) {};
  const auto array = Job{10}.inout("x", x);
  const auto said = [](const auto& job) {
    return job.takes_any_grid(1024, 128, 3)
        .zero_copy_suits()
        .with_flops(1e9)
        .with_device_traffic(80_B)
        .with_efficiency(0.5);
  };
  for (const Job& job : {Job(said(array).host_kernel(nothing)), Job(said(array.host_kernel(nothing)))}) {
    EXPECT_TRUE(job.any_grid);
    EXPECT_EQ(job.items_per_block, 1024u);
    EXPECT_EQ(job.threads_per_block, 128u);
    EXPECT_EQ(job.blocks_per_item_group, 3u);
    EXPECT_EQ(job.each_byte_once, true);
    EXPECT_EQ(job.flops, 1e9);
    EXPECT_FALSE(job.double_precision);
    EXPECT_EQ(job.device_traffic, 80_B);
    EXPECT_EQ(job.efficiency, 0.5);
    EXPECT_TRUE(job.binding.host);
  }
  EXPECT_TRUE(array.with_double_precision_flops(2).double_precision);
  EXPECT_EQ(array.touches_bytes_repeatedly().each_byte_once, false);
  EXPECT_FALSE(array.with_blocks(4, 256).any_grid);
}

TEST(DescribedJob, has_a_kernel_of_its_own_grid_and_unknown_accesses_unless_it_says_otherwise) {
  std::vector<float> x(10);
  const Job job = Job{10}.inout("x", x).kernel([](CUstream_st*, Chunk, auto) {});
  EXPECT_FALSE(job.any_grid);
  EXPECT_FALSE(job.each_byte_once.has_value());
  EXPECT_EQ(job.launches, 1u);
}

TEST(RequireValid, refuses_a_job_without_items_in_the_words_of_its_author) {
  EXPECT_THAT(message_of<UsageError>([] {
                require_valid(Job{0, "mine"});
              }),
              HasSubstr("`Job{items}` wants at least 1"));
}

TEST(RequireValid, refuses_kernel_times_that_are_none) {
  std::vector<float> x(10);
  const auto job = Job{10}.inout("x", x);
  for (const double wrong : {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    EXPECT_THAT(message_of<UsageError>([&] { require_valid(job.kernel_time(Seconds{wrong})); }),
                HasSubstr("`.kernel_time`"));
  EXPECT_NO_THROW(require_valid(job.kernel_time(Seconds{0})));
}

TEST(RequireValid, refuses_numbers_that_are_out_of_range) {
  std::vector<float> x(10);
  const auto job = Job{10}.inout("x", x);
  for (const auto& wrong :
       {job.with_blocks(0, 256), job.with_blocks(1, 0), job.takes_any_grid(1, 256, 0), job.with_flops(-1),
        job.with_efficiency(0), job.with_efficiency(-0.5), job.with_efficiency(50), job.reads("x", 0.5),
        job.reads("x", std::numeric_limits<double>::quiet_NaN()), job.reads("x", 1e10)})
    EXPECT_THROW(require_valid(wrong), UsageError);
}

TEST(RequireValid, refuses_multiple_reads_of_arrays_that_do_not_cross_the_link_in_chunks) {
  std::vector<float> x(10), y(10);
  const auto job = Job{10}.in("x", x).out("y", y).broadcast("table", x);
  EXPECT_NO_THROW(require_valid(job.reads("x", 3)));
  EXPECT_EQ(bytes_read(job.reads("x", 2.5)), 100_B);
  EXPECT_THROW(require_valid(job.reads("y", 3)), UsageError);
  EXPECT_THROW(require_valid(job.reads("table", 3)), UsageError);
  EXPECT_THAT(message_of<UsageError>([&] { static_cast<void>(job.reads("z", 3)); }), HasSubstr("the array z"));
}

TEST(RequireValid, refuses_two_arrays_of_one_name) {
  std::vector<float> x(10);
  std::vector<float> y(10);
  EXPECT_THAT(message_of<UsageError>([&] { require_valid(Job{10}.in("x", x).out("x", y)); }),
              HasSubstr("two arrays are called x"));
}

TEST(RequireValid, refuses_arrays_with_too_few_elements_for_the_items) {
  std::vector<float> nine(9);
  std::vector<float> eleven(11);
  const Job job{10, "mine"};
  for (const Job& wrong :
       {Job(job.in("x", nine)), Job(job.out("x", nine)), Job(job.inout("x", nine)), Job(job.scratch<float>("x", 9))})
    EXPECT_THAT(message_of<UsageError>([&] { require_valid(wrong); }), HasSubstr("9 elements for 10 items"));
  EXPECT_NO_THROW(require_valid(job.carried("sum", nine))) << "is not cut";
  EXPECT_NO_THROW(require_valid(job.out("x", nine, mapped_by([](ItemRange) { return ElementRange{0, 9}; }))));
}

TEST(RequireValid, refuses_arrays_of_which_items_own_different_numbers_of_elements) {
  std::vector<float> eleven(11);
  const Job job{10, "mine"};
  for (const Job& wrong : {Job(job.out("x", eleven)), Job(job.in("x", eleven, halo(1, 0)))})
    EXPECT_THAT(message_of<UsageError>([&] { require_valid(wrong); }),
                AllOf(HasSubstr("array x has 11 elements for 10 items"), HasSubstr("`mapped_by`")));
}

TEST(RequireValid, refuses_a_job_without_a_result) {
  std::vector<float> x(10);
  EXPECT_THAT(message_of<UsageError>([&] {
                require_valid(Job{10, "mine"}.in("x", x).scratch<float>("s", 10));
              }),
              HasSubstr("mine: no array is written"));
}

/// What a host kernel that asks its view for element `index` of an array of 8 items with 4 elements each is told.
std::string message_on_index(std::uint64_t index) {
  std::vector<float> x(32);
  const auto job = Job{8, "mine"}.inout("x", x).host_kernel([&](Chunk, View<float> view) { view[index] = 0; });
  return message_of([&] {
    job.binding.host({.first_item = 2,
                      .items = 2,
                      .operands = std::vector<std::byte*>{reinterpret_cast<std::byte*>(x.data() + 8)},
                      .lengths = std::vector<Bytes>{Bytes{32}},
                      .origins = std::vector<Bytes>{Bytes{32}}});
  });
}

TEST(HostKernel, is_told_what_an_item_owns_and_where_the_array_ends) {
  EXPECT_THAT(message_on_index(4), AllOf(HasSubstr("x[4] is not among the elements [8, 16)"),
                                         HasSubstr("item i owns the elements [4 i, 4 (i + 1)) of x")));
  EXPECT_THAT(message_on_index(32), HasSubstr("x[32] is beyond the end of x, which has 32 elements"));
  EXPECT_THAT(message_on_index(std::uint64_t{0} - 1), HasSubstr("x[-1] is before the first element of x"));
}

TEST(AView, can_be_made_without_the_name_of_an_array) {
  float x[4] = {0, 1, 2, 3};
  const View<float> view(x, 10, 4);
  EXPECT_EQ(view[12], 2.0f);
}

TEST(DescribedJob, refuses_a_prefix_of_what_is_no_input_or_is_blocks_or_has_other_elements) {
  std::vector<float> x(10);
  std::vector<int> indices(10);
  const Job job{10, "mine"};
  const auto refusal_of_prefix = [](const auto& of) {
    return message_of<UsageError>([&] { static_cast<void>(of.template prefix_of<float>("x", "head", 4)); });
  };
  EXPECT_THAT(refusal_of_prefix(job.in("y", x)), HasSubstr("mine: head is a prefix of x, which is no input"));
  EXPECT_THAT(refusal_of_prefix(job.out("x", x)), HasSubstr("which is no input that is described before it"));
  EXPECT_THAT(refusal_of_prefix(job.in("x", x, blocks(indices, 4_B))),
              HasSubstr("x, which is blocks of a pool: describe head as an array of its own"));
  EXPECT_THAT(refusal_of_prefix(job.in("x", indices.data(), 3)),
              HasSubstr("head has elements of another size than x, or more of them"));
  EXPECT_EQ(job.in("x", x).prefix_of<float>("x", "head", 4).arrays.back().size, 16_B);
}

TEST(DescribedJob, refuses_indices_that_are_a_null_pointer) {
  std::vector<float> pool(10);
  const ForeignSpan<const int> nowhere{nullptr, 5};
  EXPECT_THAT(message_of<UsageError>([&] {
                static_cast<void>(Job{5, "mine"}.in("x", pool, blocks(nowhere, 8_B)));
              }),
              HasSubstr("mine: the 5 indices of array x are a null pointer"));
}

TEST(RequireValid, refuses_elements_without_bytes) {
  std::vector<float> x(10);
  Job job = Job{10, "mine"}.inout("x", x);
  job.arrays.front().element = 0_B;
  EXPECT_THAT(message_of<UsageError>([&] { require_valid(job); }), HasSubstr("mine: elements of array x have 0 bytes"));
}

TEST(StartOfBlock, outside_of_the_pool_names_the_index_and_its_position) {
  std::vector<float> pool(10);
  const std::vector<int> indices{0, 4, 5, -1};
  const Job job = Job{4, "mine"}.in("x", pool, blocks(indices, 8_B));
  const auto refused = [&](std::uint64_t k) {
    return message_of<UsageError>([&] { static_cast<void>(start_of_block(job.arrays.front(), k)); });
  };
  EXPECT_EQ(start_of_block(job.arrays.front(), 1), 32_B);
  EXPECT_EQ(refused(2), "x: index 5 at position 2 is outside of the pool, which has blocks 0 to 4");
  EXPECT_EQ(refused(3), "x: index -1 at position 3 is outside of the pool, which has blocks 0 to 4");
}

}  // namespace
}  // namespace shiplap

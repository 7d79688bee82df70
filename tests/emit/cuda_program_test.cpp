#include "shiplap/emit/cuda_program.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "shiplap/core/error.hpp"
#include "tests/emit/examples.hpp"
#include "tests/support/message_of.hpp"

namespace shiplap {
namespace {

using testing::example;
using testing::Example;

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

/// What a user takes over.
std::string pipeline(const std::string& program) {
  const auto begin = program.find("// --- pipeline ---");
  return program.substr(begin, program.find("// --- memory, timing ---") - begin);
}

/// The lines of each function of the pipeline.
std::vector<std::size_t> lines_of_functions(const std::string& program) {
  const std::string text = pipeline(program);
  std::vector<std::size_t> lines;
  for (std::size_t at = text.find("\nvoid "); at != std::string::npos;) {
    const std::size_t next = text.find("\nvoid ", at + 1);
    const auto end = next == std::string::npos ? text.end() : text.begin() + static_cast<std::ptrdiff_t>(next);
    lines.push_back(static_cast<std::size_t>(std::count(text.begin() + static_cast<std::ptrdiff_t>(at), end, '\n')));
    at = next;
  }
  return lines;
}

TEST(CudaProgram, has_each_copy_wait_and_launch_of_a_chunk_once_whatever_the_number_of_chunks) {
  for (const char* name : {"three", "large_three"}) {
    const std::string text = pipeline(example(name).program());
    EXPECT_EQ(count(text, "cudaMemcpyHostToDevice"), 2u) << "x and y";
    EXPECT_EQ(count(text, "cudaMemcpyDeviceToHost"), 1u) << "y";
    EXPECT_EQ(count(text, "launch_saxpy("), 1u);
    EXPECT_EQ(count(text, "cudaStreamWaitEvent"), 2u) << "the kernel for its copies, the copy out for the kernel";
    EXPECT_EQ(count(text, "cudaEventRecord"), 2u);
  }
}

TEST(CudaProgram, waits_for_the_room_of_a_ring_from_the_second_round_on) {
  const std::string text = pipeline(example("three_ring").program());
  EXPECT_NE(text.find("constexpr int ring = 3;"), std::string::npos);
  EXPECT_EQ(count(text, "if (c >= ring) check(cudaStreamWaitEvent("), 2u) << "of the input and of the output";
  EXPECT_EQ(count(text, "cudaStreamWaitEvent"), 4u);
}

TEST(CudaProgram, needs_no_event_where_streams_carry_the_order) {
  for (const char* name : {"explicit", "per_chunk", "pageable"}) {
    const std::string text = pipeline(example(name).program());
    EXPECT_EQ(count(text, "cudaStreamWaitEvent") + count(text, "cudaEventRecord"), 0u) << name;
  }
}

TEST(CudaProgram, copies_nothing_that_kernels_reach_themselves) {
  EXPECT_EQ(count(example("implicit").program(), "cudaMemcpyAsync"), 0u);
  EXPECT_EQ(count(example("hybrid").program(), "cudaMemcpyDeviceToHost"), 0u);
  EXPECT_EQ(count(example("hybrid_mirror").program(), "cudaMemcpyHostToDevice"), 0u);
}

TEST(CudaProgram, gets_memory_of_the_kind_that_was_planned_for) {
  EXPECT_EQ(count(example("three").program(), " = pinned("), 2u);
  const std::string staged = example("staged").program();
  EXPECT_EQ(count(staged, " = pageable("), 2u);
  EXPECT_EQ(count(staged, " = pinned("), 3u) << "a ring for each way of each array";
  EXPECT_EQ(count(example("managed").program(), " = managed("), 2u);
  EXPECT_EQ(count(example("managed").program(), "cudaMalloc("), 0u);
}

TEST(CudaProgram, has_functions_of_at_most_forty_lines) {
  for (const Example& each : testing::small_examples()) {
    const std::vector<std::size_t> lines = lines_of_functions(each.program());
    ASSERT_FALSE(lines.empty()) << each.name;
    EXPECT_GE(std::ranges::max(lines), 5u) << each.name;
    EXPECT_LE(std::ranges::max(lines), each.name == "roles" ? 50u : 40u) << each.name;
  }
}

TEST(CudaProgram, has_lines_that_fit) {
  for (const Example& each : testing::small_examples()) {
    const std::string program = each.program();
    for (std::size_t at = 0; at < program.size();) {
      const auto end = program.find('\n', at);
      EXPECT_LE(end - at, 121u) << each.name << ": " << program.substr(at, end - at);
      at = end + 1;
    }
  }
}

TEST(CudaProgram, says_what_it_is_and_what_was_predicted) {
  const Example three = example("three");
  const std::string program =
      cuda_program(three.workload, three.choice, three.schedule(),
                   {.command = "shiplap plan",
                    .profile = "h200 (0123)",
                    .predicted = Interval<Seconds>{milliseconds(2), milliseconds(1), milliseconds(3)}});
  const std::string header = program.substr(0, program.find("#include"));
  for (const char* word : {"saxpy:n=1000003", "12 chunks in ramp", "three streams", "shiplap plan", "2.000 ms",
                           "profile h200 (0123)", "nvcc"})
    EXPECT_NE(header.find(word), std::string::npos) << word << " in " << header;
}

TEST(CudaProgram, marks_where_the_kernel_of_a_stated_workload_goes) {
  EXPECT_EQ(count(example("stated").program(), "PUT YOUR KERNEL HERE"), 1u);
  EXPECT_EQ(count(example("roles").program(), "PUT YOUR KERNEL HERE"), 1u);
  EXPECT_EQ(count(example("three").program(), "PUT YOUR KERNEL HERE"), 0u);
}

TEST(CudaProgram, names_nothing_of_this_project_but_in_comments) {
  for (const Example& each : testing::small_examples()) {
    EXPECT_EQ(count(each.program(), "#include \""), 0u) << each.name;
    EXPECT_EQ(count(each.program(), "shiplap::"), 0u) << each.name;
  }
}

// Neighbouring chunks share a border: it is copied within the GPU, and the kernel's operand begins before what the
// chunk's own copy brings.
TEST(CudaProgram, says_borders_that_chunks_share) {
  constexpr std::uint32_t chunks = 6;
  Workload workload = example("roles").workload;
  workload.job.items = chunks * 1024;
  workload.job.arrays = {{.name = "a", .role = Role::in, .size = Bytes{chunks * 4096}, .element = Bytes{4}}};
  Schedule s;
  const BufferId host = s.add_buffer({"a", Place::host(), MemoryKind::pinned, Bytes{chunks * 4096}});
  const BufferId gpu = s.add_buffer({"a on the GPU", Place::gpu(), MemoryKind::device, Bytes{chunks * 4352}});
  const StreamId in = s.add_stream("in");
  const StreamId compute = s.add_stream("compute");
  const KernelId kernel = s.add_kernel("stencil");
  for (std::uint32_t c = 0; c < chunks; ++c) {
    const Region own{gpu, Bytes{c * 4352 + 256}, 4096_B};
    const OpId copied = s.add({.what = Copy{{host, Bytes{c * 4096}, 4096_B}, own},
                               .stream = in,
                               .agent = AgentId{0},
                               .after = {},
                               .chunk = c});
    if (c > 0)
      s.add({.what = Copy{{gpu, Bytes{(c - 1) * 4352 + 4096}, 256_B}, {gpu, Bytes{c * 4352}, 256_B}},
             .stream = compute,
             .agent = AgentId{0},
             .after = {OpId{copied}},
             .chunk = c});
    Kernel launch{.kernel = kernel, .first_item = c * 1024, .items = 1024, .operands = {}, .flows = {}};
    launch.operands.push_back({{gpu, Bytes{c * 4352}, 4352_B}, AccessMode::read});
    s.add({.what = launch, .stream = compute, .agent = AgentId{0}, .after = {copied}, .chunk = c});
  }
  const std::string text = pipeline(cuda_program(workload, {.chunks = chunks}, s));
  EXPECT_EQ(count(text, "cudaMemcpyDeviceToDevice"), 1u) << text;
  EXPECT_NE(text.find("if (c >= 1) {"), std::string::npos) << text;
  EXPECT_NE(text.find("c * stride_gpu_a + 256"), std::string::npos) << text;
  EXPECT_NE(text.find("c * stride_gpu_a - 256"), std::string::npos) << text;
}

TEST(CudaProgram, has_each_move_of_blocks_once_whatever_the_number_of_chunks) {
  const std::string text = pipeline(example("blocks_kernel_batch").program());
  EXPECT_EQ(count(text, "move_by_kernel<Way::gather>(blocks_of_x("), 1u);
  EXPECT_EQ(count(text, "move_by_kernel<Way::gather>(blocks_of_y("), 1u);
  EXPECT_EQ(count(text, "move_by_batch(Way::scatter, blocks_of_y("), 1u);
  EXPECT_EQ(count(text, "move_by_"), 3u);
  EXPECT_EQ(count(text, "cudaMemcpy"), 0u);
  EXPECT_EQ(count(text, "first * blocks_per_item_x, items * blocks_per_item_x"), 1u);
}

TEST(CudaProgram, moves_all_blocks_of_a_list_at_once_without_chunks) {
  const std::string text = pipeline(example("blocks_explicit").program());
  EXPECT_EQ(count(text, "blocks_of_x(0, count_x, gpu_x), 3, stream)"), 1u);
  EXPECT_EQ(count(text, "blocks_of_y(0, count_y, gpu_y), 3, stream)"), 2u);
}

TEST(CudaProgram, has_the_calls_of_the_movers_of_its_plan_only) {
  const auto defined = [](const char* name) {
    const std::string text = example(name).program();
    std::string found;
    for (const char* mover : {"copies", "batch", "strided_copy", "kernel"})
      if (count(text, std::string("void move_by_") + mover + "(") == 1) found += std::string(mover) + " ";
    return found;
  };
  EXPECT_EQ(defined("blocks_kernel_batch"), "batch kernel ");
  EXPECT_EQ(defined("blocks_copies"), "copies ");
  EXPECT_EQ(defined("blocks_strided"), "strided_copy ");
  EXPECT_EQ(defined("blocks_regular"), "kernel ");
  EXPECT_EQ(defined("blocks_staged"), "") << "host threads move its blocks";
  EXPECT_EQ(defined("three"), "");
}

TEST(CudaProgram, has_the_kernel_of_the_library_that_moves_blocks) {
  const std::string text = example("blocks_kernel_batch").program();
  EXPECT_EQ(count(text, "constexpr unsigned mover_threads = 512;"), 1u);
  EXPECT_EQ(count(text, "constexpr int words_in_flight = 8;"), 1u);
  EXPECT_EQ(count(text, "constexpr unsigned most_indices = 8000;"), 1u);
}

TEST(CudaProgram, gives_a_high_priority_to_streams_in_which_kernels_move_blocks) {
  const std::string gathers = example("blocks_kernel_batch").program();
  EXPECT_EQ(count(gathers, "cudaStreamCreateWithPriority(&in_stream, cudaStreamNonBlocking, highest)"), 1u);
  EXPECT_EQ(count(gathers, "{&compute_stream, &out_stream}) check(cudaStreamCreateWithFlags"), 1u);
  const std::string both = example("blocks_regular").program();
  EXPECT_EQ(count(both, "{&in_stream, &out_stream}) check(cudaStreamCreateWithPriority"), 1u);
  EXPECT_EQ(count(example("blocks_strided").program(), "Priority"), 0u);
}

TEST(CudaProgram, checks_lists_before_a_run_moves_anything) {
  for (const char* name : {"blocks_kernel_batch", "blocks_copies", "blocks_staged", "blocks_stated"}) {
    const std::string text = example(name).program();
    const auto run = text.find("double run() {\n  check_lists();\n");
    EXPECT_NE(run, std::string::npos) << name;
    EXPECT_EQ(count(text, "require_within(\"x\", indices_x, count_x, blocks_in_pool_x);"), 1u) << name;
    EXPECT_EQ(count(text, "require_named_once(\"x\""), 0u) << "blocks of x are only read in " << name;
    EXPECT_EQ(count(text, "require_named_once(\"y\", indices_y, blocks_in_pool_y);"), 1u) << name;
  }
  for (const char* name : {"blocks_strided", "three"}) EXPECT_EQ(count(example(name).program(), "check_lists"), 0u);
}

TEST(CudaProgram, says_that_batches_need_a_new_toolkit) {
  for (const char* name : {"batched", "blocks_batch_kernel"})
    EXPECT_EQ(count(example(name).program(), "#if CUDART_VERSION < 12080\n#error "), 1u) << name;
  for (const char* name : {"three", "blocks_copies"}) EXPECT_EQ(count(example(name).program(), "#error"), 0u) << name;
}

TEST(CudaProgram, refuses_to_verify_a_list_that_is_longer_than_its_pool) {
  Example copies = example("blocks_copies");
  Blocks& blocks = *copies.workload.job.arrays.front().blocks;
  blocks.pool = blocks.pitch * 49;
  EXPECT_THROW(static_cast<void>(copies.program()), Unsupported) << "50 blocks of a pool of 49";
  copies.workload.program = {};
  EXPECT_EQ(count(copies.program(), "constexpr std::uint64_t blocks_in_pool_x = 49;"), 1u);
}

TEST(CudaProgram, refuses_what_it_cannot_say) {
  Schedule s;
  const BufferId host = s.add_buffer({"x", Place::host(), MemoryKind::pinned, 64_KiB});
  const BufferId gpu = s.add_buffer({"x on the GPU", Place::gpu(), MemoryKind::device, 64_KiB});
  const StreamId stream = s.add_stream("in");
  for (std::uint32_t c = 0; c < 2; ++c)
    s.add({.what = Copy{{host, Bytes{c * 1024}, 1_KiB}, {gpu, Bytes{c * 1024}, 1_KiB}},
           .stream = stream,
           .agent = AgentId{0},
           .after = {},
           .chunk = c});
  const Workload workload = example("roles").workload;
  s.buffers[1].place = Place::gpu(1);
  EXPECT_THROW(static_cast<void>(cuda_program(workload, {}, s)), Unsupported);
  EXPECT_THROW(static_cast<void>(cuda_program(workload, {}, Schedule{})), Unsupported);
}

TEST(CudaProgram, refuses_calls_of_the_host_that_no_strategy_makes_and_names_them) {
  const Example three = example("three");
  Schedule s = three.schedule();
  s.add({.what = HostCall{.kind = HostCall::Kind::flush, .region = {BufferId{0}, 0_B, 64_B}},
         .stream = {},
         .agent = AgentId{0},
         .after = {}});
  EXPECT_EQ(message_of<Unsupported>([&] { static_cast<void>(cuda_program(three.workload, three.choice, s)); }),
            "a CUDA program: flush of the CPU's caches cannot be written yet");
}

}  // namespace
}  // namespace shiplap

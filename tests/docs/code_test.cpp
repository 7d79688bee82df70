// The code blocks of README.md and docs/ compile.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/docs/run_command.hpp"
#include "tests/docs/translation_unit.hpp"
#include "tests/support/temporary_folder.hpp"

namespace shiplap::docs {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const std::string source_root = SHIPLAP_SOURCE_DIR;

/// The include folders of MPI as options of a compiler; empty in a build without MPI.
const std::string mpi_includes = SHIPLAP_MPI_INCLUDES;

/// Every block, but those with the preamble of ranks in a build without MPI.
std::vector<Block> code_of_the_project() {
  auto blocks = code_of(pages_of(source_root));
  if (mpi_includes.empty())
    std::erase_if(blocks, [](const Block& block) {
      return std::find(block.preambles.begin(), block.preambles.end(), "ranks") != block.preambles.end();
    });
  return blocks;
}

/// Compiles the unit as a file with this extension.
Outcome compile(const std::string& unit, const std::string& extension, const std::string& command) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / ("unit" + extension);
  std::ofstream(path) << unit;
  return run_command(command + " -std=c++20 -w -I " + quoted(source_root) + " " + mpi_includes + " " +
                     quoted(path.string()));
}

Outcome compile_on_the_host(std::span<const Block> blocks) {
  return compile(translation_unit(blocks, source_root + "/tests/docs/preambles", Compiler::host), ".cpp",
                 quoted(SHIPLAP_CXX) + " -fsyntax-only");
}

TEST(DocsCode, every_block_compiles_with_the_host_compiler) {
  const auto blocks = code_of_the_project();
  ASSERT_THAT(blocks, Not(IsEmpty()));
  const Outcome outcome = compile_on_the_host(blocks);
  EXPECT_EQ(outcome.status, 0) << outcome.output;
}

TEST(DocsCode, every_block_compiles_with_nvcc) {
  const std::string nvcc = SHIPLAP_NVCC;
  if (nvcc.empty()) GTEST_SKIP() << "this build has no CUDA compiler";
  // -cuda stops before the host compiler: device code and host code have been parsed by then.
  const Outcome outcome =
      compile(translation_unit(code_of_the_project(), source_root + "/tests/docs/preambles", Compiler::nvcc), ".cu",
              quoted(nvcc) + " -ccbin " + quoted(SHIPLAP_NVCC_HOST) + " -cuda --extended-lambda -o /dev/null");
  EXPECT_EQ(outcome.status, 0) << outcome.output;
}

TEST(DocsCode, a_broken_block_is_named_by_file_and_line) {
  const Block broken{"docs/some.md", 17, "cpp", {}, "int n = 1;\nn = undeclared;\n"};
  const Outcome outcome = compile_on_the_host({&broken, 1});
  EXPECT_NE(outcome.status, 0);
  EXPECT_THAT(outcome.output, HasSubstr("docs/some.md:18"));
}

TEST(DocsCode, a_launch_is_a_call_for_the_host_compiler) {
  const Block launch{"docs/some.md", 1, "cuda", {}, "__global__ void f(int) {}\nvoid g() { f<<<1,\n2>>>(3); }\n"};
  EXPECT_THAT(translation_unit({&launch, 1}, source_root, Compiler::host), HasSubstr("void g() { f\n(3); }"));
  EXPECT_THAT(translation_unit({&launch, 1}, source_root, Compiler::nvcc), HasSubstr("f<<<1,\n2>>>(3)"));
}

TEST(DocsCode, a_block_with_a_header_of_the_toolkit_is_for_nvcc_alone) {
  const Block thrust{"docs/some.md", 1, "cuda", {}, "#include <thrust/sort.h>\nint marker;\n"};
  EXPECT_THAT(translation_unit({&thrust, 1}, source_root, Compiler::host), Not(HasSubstr("marker")));
  EXPECT_THAT(translation_unit({&thrust, 1}, source_root, Compiler::nvcc), HasSubstr("marker"));
}

TEST(DocsCode, an_unknown_preamble_is_refused) {
  const Block block{"docs/some.md", 1, "cpp", {"nonsense"}, "int n;\n"};
  EXPECT_THROW(translation_unit({&block, 1}, source_root + "/tests/docs/preambles", Compiler::host),
               std::runtime_error);
}

}  // namespace
}  // namespace shiplap::docs

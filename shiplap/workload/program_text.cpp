#include "shiplap/workload/program_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "shiplap/core/error.hpp"

namespace shiplap {
namespace {

// The text between the lines that open and close the namespace.
std::string definitions(const KernelFile& file) {
  constexpr std::string_view opening = "namespace shiplap::kernels {\n";
  constexpr std::string_view closing = "}  // namespace shiplap::kernels\n";
  const auto open = file.text.find(opening);
  const auto close = file.text.find(closing);
  if (open == std::string_view::npos || close == std::string_view::npos)
    throw Error(fmt::format("{}.cuh has no namespace shiplap::kernels", file.name));
  const auto begin = open + opening.size();
  std::string text(file.text.substr(begin, close - begin));
  const auto replace_all = [&](std::string_view what, std::string_view with) {
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
      text.replace(at, what.size(), with);
  };
  replace_all("/// ", "// ");
  replace_all("SHIPLAP_HOST_DEVICE", "__host__ __device__");
  text.erase(0, text.find_first_not_of('\n'));
  text.erase(text.find_last_not_of('\n') + 1);
  return text + "\n";
}

}  // namespace

std::string kernel_text(std::initializer_list<std::string_view> names) {
  std::vector<KernelFile> files = kernel_files();
  std::ranges::copy(mover_files(), std::back_inserter(files));
  std::string text;
  for (const std::string_view name : names) {
    const auto found = std::ranges::find(files, name, &KernelFile::name);
    if (found == files.end()) throw Error(fmt::format("there is no kernel text {}.cuh", name));
    text += (text.empty() ? "" : "\n") + definitions(*found);
  }
  return text;
}

std::string filled(std::string_view text, const std::vector<std::pair<std::string, std::string>>& values) {
  std::string result;
  while (!text.empty()) {
    const auto open = std::min(text.find('{'), text.size());
    result += text.substr(0, open);
    text.remove_prefix(open);
    const auto found = std::ranges::find_if(
        values, [&](const auto& value) { return text.starts_with(fmt::format("{{{}}}", value.first)); });
    if (found != values.end()) {
      result += found->second;
      text.remove_prefix(found->first.size() + 2);
    } else if (!text.empty()) {
      result += text.front();
      text.remove_prefix(1);
    }
  }
  return result;
}

}  // namespace shiplap

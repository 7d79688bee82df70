#include "cli/help.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "cli/common.hpp"

namespace shiplap::cli {
namespace {

constexpr const char* everyday_options = "Options";  // the group that CLI11 puts options into
constexpr std::size_t column_of_descriptions = 24;
constexpr std::size_t widest_help = 100;

/// Where the text of a line begins again when it is broken: in the column of its description, if it has one.
std::size_t indent_of(const std::string& line) {
  const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
  const std::size_t gap = line.find("  ", begin);
  if (begin == 0 || gap == std::string::npos) return begin;
  return std::min(line.find_first_not_of(' ', gap), line.size());
}

std::string fitted(const std::string& text, std::size_t width) {
  std::string out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line); out += "\n") {
    if (display_width(line) <= width) {
      out += line;
      continue;
    }
    const std::size_t indent = indent_of(line);
    std::istringstream parts(wrap(line.substr(indent), width - indent));
    std::string part;
    std::getline(parts, part);
    out += line.substr(0, indent) + part;
    while (std::getline(parts, part)) out += "\n" + std::string(indent, ' ') + part;
  }
  return out;
}

class Help : public CLI::Formatter {
 public:
  Help() { column_width(column_of_descriptions); }

  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    is_full_ = mode != CLI::AppFormatMode::Normal;
    const std::string text = is_full_
                                 ? CLI::Formatter::make_help(app, std::move(name), mode)
                                 : make_description(app) + make_usage(app, std::move(name)) + make_positionals(app) +
                                       short_groups(app) + make_subcommands(app, mode) + "\n" + make_footer(app);
    return fitted(text, std::min(style_of_stdout().width, widest_help));
  }

  std::string short_groups(const CLI::App* app) const {
    const auto is_shown = [app](const std::string& group) {
      return [app, group](const CLI::Option* option) {
        return option->get_group() == group && option->nonpositional() && option != app->get_help_all_ptr();
      };
    };
    std::string out = make_group(everyday_options, false, app->get_options(is_shown(everyday_options)));
    std::vector<std::string> others;
    for (const std::string& group : app->get_groups())
      if (!group.empty() && group != everyday_options && !app->get_options(is_shown(group)).empty())
        others.push_back(group);
    if (!others.empty()) out += fmt::format("\nMore options with --help-all: {}.\n", fmt::join(others, "; "));
    return out;
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    if (is_full_) return CLI::Formatter::make_option_opts(option);
    // Neither the range of a number nor which options exclude each other: an error says so.
    std::string type = option->get_type_size() == 0 ? "" : option->get_type_name();
    if (const std::size_t range = type.find(':'); range != std::string::npos && type[range + 1] != '{')
      type.resize(range);
    std::string text = type.empty() ? "" : " " + type;
    if (!option->get_default_str().empty()) text += "=" + option->get_default_str();
    if (option->get_expected_max() == CLI::detail::expected_max_vector_size) text += " ...";
    return text;
  }

  std::string make_footer(const CLI::App* app) const override {
    const std::string footer = app->get_footer();
    const std::string shown = is_full_ ? footer : footer.substr(0, footer.find("\n\n"));
    return shown.empty() ? "" : shown + "\n";
  }

 private:
  mutable bool is_full_ = false;  // CLI11 does not tell it the functions that make parts of the help
};

void prepare(CLI::App& app, const std::shared_ptr<Help>& help) {
  app.formatter(help);
  app.set_help_flag("-h,--help", "this text; --help-all shows every option");
  app.set_help_all_flag("--help-all", "every option");
  for (CLI::App* command : app.get_subcommands({})) prepare(*command, help);
}

}  // namespace

void put_into_group(CLI::App& command, const char* group, std::initializer_list<const char*> options) {
  for (const char* name : options) command.get_option(name)->group(group);
}

void prepare_help(CLI::App& app) { prepare(app, std::make_shared<Help>()); }

}  // namespace shiplap::cli

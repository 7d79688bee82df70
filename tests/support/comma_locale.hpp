// A locale with a decimal comma, as a program in Germany has, for as long as it lives.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <clocale>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <locale>
#include <string>

#include "tests/support/temporary_folder.hpp"

namespace shiplap {

/// Sets the locale of C, which localedef makes here, so that none needs to be installed, and the global one of C++.
class CommaLocale {
 public:
  CommaLocale() : before_(std::locale::global(std::locale(std::locale::classic(), new Comma))) {
    const std::string name = folder().string();
    std::ofstream(folder() / "source") << "comment_char %\nescape_char /\nLC_NUMERIC\ndecimal_point \",\"\n"
                                          "thousands_sep \".\"\ngrouping 3;3\nEND LC_NUMERIC\n";
    const std::string command =
        "localedef -c -i '" + name + "/source' -f ANSI_X3.4-1968 '" + name + "/comma' >/dev/null 2>&1";
    if (std::system(command.c_str()) < 0) return;
    setenv("LOCPATH", name.c_str(), 1);
    is_set_ = std::setlocale(LC_ALL, "comma") != nullptr;
  }
  ~CommaLocale() {
    std::setlocale(LC_ALL, "C");
    unsetenv("LOCPATH");
    std::locale::global(before_);
  }
  CommaLocale(const CommaLocale&) = delete;
  CommaLocale& operator=(const CommaLocale&) = delete;

  bool is_set() const { return is_set_; }
  const std::filesystem::path& folder() const { return folder_.path(); }

 private:
  class Comma : public std::numpunct<char> {
   protected:
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
  };
  std::locale before_;
  TemporaryFolder folder_;
  bool is_set_ = false;
};

}  // namespace shiplap

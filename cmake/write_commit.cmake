# Writes OUT, a C++ source with the git commit of the checkout SOURCE; "unknown" when SOURCE is none. The build runs this
# each time, and OUT changes only when the commit does.
cmake_minimum_required(VERSION 3.22)
find_package(Git QUIET)
set(commit unknown)
if(GIT_FOUND)
  set(git ${GIT_EXECUTABLE} -c safe.directory=${SOURCE} -C ${SOURCE})
  set(ENV{GIT_OPTIONAL_LOCKS} 0)
  execute_process(COMMAND ${git} rev-parse --show-toplevel OUTPUT_VARIABLE top OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  # The sources of a source distribution may lie in the checkout of another project.
  if(top STREQUAL SOURCE)
    execute_process(COMMAND ${git} describe --always --dirty --exclude=* --abbrev=12 OUTPUT_VARIABLE described
                    RESULT_VARIABLE status OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(status EQUAL 0)
      set(commit ${described})
    endif()
  endif()
endif()
file(CONFIGURE OUTPUT ${OUT} @ONLY CONTENT
"// Made by cmake/write_commit.cmake.
#include \"cli/version.hpp\"

namespace shiplap::cli {
const char* commit() { return \"@commit@\"; }
}  // namespace shiplap::cli
")

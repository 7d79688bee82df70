# What a program pays for including shiplap/shiplap.hpp, where no clock can make the answer uncertain: the headers that it
# reaches, and its size after preprocessing relative to <vector> and <string>. Times are in docs or changelogs, as nvcc
# and a quiet machine are needed for them.
# Wants: source, work, compiler.
cmake_minimum_required(VERSION 3.22)
file(REMOVE_RECURSE ${work})
file(WRITE ${work}/base.cpp "#include <string>\n#include <vector>\n")
file(WRITE ${work}/public.cpp "#include \"shiplap/shiplap.hpp\"\n")

# compile(OUT ARGUMENT…): the output of the compiler.
function(compile out)
  execute_process(COMMAND ${compiler} -std=c++20 -I ${source} ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output
                  ERROR_VARIABLE error)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${compiler} ${ARGN} ended with ${status}: ${error}")
  endif()
  set(${out} "${output}" PARENT_SCOPE)
endfunction()

# Each of these took 0.3 s or more of nvcc, or drags such headers in.
compile(reached -M ${work}/public.cpp)
foreach(heavy filesystem future thread deque regex iostream locale nlohmann/json.hpp fmt/format.h)
  if(reached MATCHES "/${heavy}[ \\\n]")
    message(FATAL_ERROR "shiplap/shiplap.hpp reaches <${heavy}>: include it in the sources, or in a header that only its "
                        "users include")
  endif()
endforeach()

compile(base -E -P ${work}/base.cpp)
compile(public -E -P ${work}/public.cpp)
string(LENGTH "${base}" base)
string(LENGTH "${public}" public)
math(EXPR percent "100 * ${public} / ${base}")
message(STATUS "shiplap/shiplap.hpp has ${public} characters after preprocessing, ${percent} % of <vector> and <string>")
set(most 340)
if(percent GREATER most)
  message(FATAL_ERROR "${percent} % is more than the ${most} % that are allowed: what does the newest include bring?")
endif()

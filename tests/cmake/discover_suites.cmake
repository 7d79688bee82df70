# Writes FILE, by which ctest knows the suites of PROGRAM, a test each: all tests of a suite run in one process, except
# those that LEFT_OUT, the end of a filter of GoogleTest, takes out. The longest suites begin first: those with the most
# tests, of which each counts as EACH. Programs of another machine run in EMULATOR.
separate_arguments(EMULATOR)
execute_process(COMMAND ${EMULATOR} ${PROGRAM} --gtest_list_tests OUTPUT_VARIABLE listed COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE "[][;]" "_" listed "${listed}")
string(REPLACE "\n" ";" lines "${listed}")
set(suites)
foreach(line IN LISTS lines)
  if(line MATCHES "^([A-Za-z0-9_/]+)\\.($| )")
    set(suite ${CMAKE_MATCH_1})
    list(APPEND suites ${suite})
    set(tests_of_${suite} 0)
  elseif(line MATCHES "^  [^ ]")
    math(EXPR tests_of_${suite} "${tests_of_${suite}} + 1")
  endif()
endforeach()
if(NOT suites)
  message(FATAL_ERROR "${PROGRAM} lists no suite of tests")
endif()

set(text "")
string(JOIN " " emulator ${EMULATOR})
foreach(suite IN LISTS suites)
  math(EXPR cost "${EACH} * ${tests_of_${suite}}")
  string(APPEND text "add_test([==[${NAME}.${suite}]==] ${emulator} [==[${PROGRAM}]==] [==[--gtest_filter=${suite}.*${LEFT_OUT}]==])\n"
                     "set_tests_properties([==[${NAME}.${suite}]==] PROPERTIES COST ${cost} TIMEOUT ${TIMEOUT} "
                     "ENVIRONMENT [==[${ENVIRONMENT}]==])\n")
endforeach()
file(WRITE ${FILE} "${text}")

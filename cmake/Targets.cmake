# unwrite_library(NAME SOURCES ... [HEADERS ...] [DEPENDS ...] [PRIVATE_DEPENDS ...])
#   A static library with the project's options. DEPENDS are public (their headers show
#   through), PRIVATE_DEPENDS are not.
#
# unwrite_executable(NAME SOURCES ... [DEPENDS ...])
#   A program, placed at the top of the build directory.
#
# unwrite_test(NAME SOURCES ... [DEPENDS ...] [LABELS ...] [TIMEOUT seconds] [SERIAL])
#   A GoogleTest program whose cases become ctest tests named NAME.Suite.Case. Without
#   LABELS the label is the name of the folder below tests/, plus "unit" for a layer that
#   is tested without a mount. A test that must not run beside others names SERIAL.
#   Where UNWRITE_SHARDS says a number, a program becomes so many tests instead, NAME.1 and so on,
#   each with its part of the cases: a sanitizer takes 0.15 s to start and end, many cases take less.
#
# unwrite_script_test(NAME COMMAND ... [LABELS ...] [TIMEOUT seconds] [SERIAL])
#   A script run by ctest. Exit status 77 means skipped.
#
# unwrite_in_modes(NAME COMMAND ... MODES ... [LABELS ...] [DEPENDS ...] [TIMEOUT seconds])
#   The same script in other modes than the usual one: NAME.passthrough and so on, with the
#   label "modes" besides. tests/README.md has the modes and what they are.
#
# Every test gets UNWRITE_SOURCE_DIR and UNWRITE_BUILD_DIR in its environment. The target
# tests_<label> builds what the tests with that label need and nothing else.

# A python3 in PATH may be a version manager's: a script that takes ten times as long to start as
# what it is started for, some thousand times. The system's goes first, and nothing else of /usr/bin.
if(EXISTS /usr/bin/python3)
    file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/path")
    file(CREATE_LINK /usr/bin/python3 "${PROJECT_BINARY_DIR}/path/python3" SYMBOLIC)
endif()

set(unwrite_unit_folders base journal edit git overlay control mcp cli)
foreach(label IN ITEMS unit model fs crash)
    add_custom_target(tests_${label})
endforeach()

function(unwrite_library name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;HEADERS;DEPENDS;PRIVATE_DEPENDS")
    unwrite_check_arguments(unwrite_library ${name})
    add_library(${name} STATIC ${arg_SOURCES} ${arg_HEADERS})
    target_link_libraries(${name} PUBLIC unwrite_options ${arg_DEPENDS}
                                  PRIVATE ${arg_PRIVATE_DEPENDS})
endfunction()

function(unwrite_executable name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;HEADERS;DEPENDS")
    unwrite_check_arguments(unwrite_executable ${name})
    add_executable(${name} ${arg_SOURCES} ${arg_HEADERS})
    target_link_libraries(${name} PRIVATE unwrite_options ${arg_DEPENDS})
    if(UNWRITE_SELF_CONTAINED)
        target_link_options(${name} PRIVATE -static-libstdc++ -static-libgcc)
    endif()
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
endfunction()

function(unwrite_test name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "SERIAL" "TIMEOUT" "SOURCES;HEADERS;DEPENDS;LABELS")
    unwrite_check_arguments(unwrite_test ${name})
    unwrite_test_defaults()
    add_executable(${name} ${arg_SOURCES} ${arg_HEADERS})
    target_link_libraries(${name} PRIVATE
        unwrite_options ${arg_DEPENDS} GTest::gmock GTest::gtest GTest::gtest_main)
    unwrite_test_group(${name})
    # Those that take long are few, and begin one by one.
    if(UNWRITE_SHARDS GREATER 0 AND arg_TIMEOUT LESS_EQUAL 300)
        unwrite_test_shards(${name})
        return()
    endif()
    include(GoogleTest)
    gtest_discover_tests(${name} TEST_PREFIX "${name}." TEST_LIST ${name}_cases
                         DISCOVERY_TIMEOUT 60)
    # gtest_discover_tests flattens list values, so properties that are lists are set by
    # a script of their own, which ctest reads after the one with the discovered tests.
    set(properties "${CMAKE_CURRENT_BINARY_DIR}/${name}_properties.cmake")
    file(CONFIGURE OUTPUT "${properties}" @ONLY CONTENT [==[
foreach(case IN LISTS @name@_cases)
    set_tests_properties("${case}" PROPERTIES
        LABELS "@arg_LABELS@" TIMEOUT @arg_TIMEOUT@ COST @unwrite_test_cost@ RUN_SERIAL @arg_SERIAL@
        ENVIRONMENT "@unwrite_test_environment@"
        ENVIRONMENT_MODIFICATION "@unwrite_test_modification@")
endforeach()
]==])
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${properties}")
endfunction()

function(unwrite_script_test name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "SERIAL" "TIMEOUT" "COMMAND;LABELS;DEPENDS")
    unwrite_check_arguments(unwrite_script_test ${name})
    unwrite_test_defaults()
    add_test(NAME ${name} COMMAND ${arg_COMMAND}
             WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
    set_tests_properties(${name} PROPERTIES
        LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT} COST ${unwrite_test_cost} RUN_SERIAL ${arg_SERIAL}
        SKIP_RETURN_CODE 77 ENVIRONMENT "${unwrite_test_environment}"
        ENVIRONMENT_MODIFICATION "${unwrite_test_modification}")
    unwrite_test_group(${arg_DEPENDS})
endfunction()

function(unwrite_in_modes name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "COMMAND;MODES;LABELS;DEPENDS")
    unwrite_check_arguments(unwrite_in_modes ${name})
    set(passthrough UNWRITE_DATA_PATH=passthrough)
    set(short UNWRITE_CACHES=short)
    set(compressed UNWRITE_COMPRESS_AFTER=0)
    set(unprivileged)
    set(waiting UNWRITE_SPIN=no UNWRITE_IDLE=asleep)
    set(awake UNWRITE_IDLE=awake)
    foreach(mode IN LISTS arg_MODES)
        set(command ${arg_COMMAND})
        if(mode STREQUAL unprivileged)
            list(PREPEND command ${unwrite_as_user})
        endif()
        unwrite_script_test(${name}.${mode} COMMAND ${command} LABELS ${arg_LABELS} modes
                            DEPENDS ${arg_DEPENDS} TIMEOUT ${arg_TIMEOUT})
        set_property(TEST ${name}.${mode} APPEND PROPERTY ENVIRONMENT ${${mode}})
    endforeach()
endfunction()

# The rest is for the functions above only.

macro(unwrite_check_arguments function name)
    if(arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "${function}(${name}): unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
    endif()
endmacro()

macro(unwrite_test_defaults)
    if(NOT arg_LABELS)
        cmake_path(GET CMAKE_CURRENT_SOURCE_DIR FILENAME arg_LABELS)
    endif()
    if(NOT arg_TIMEOUT)
        set(arg_TIMEOUT 300)
    endif()
    # What may take long begins first, so that no processor waits for it at the end.
    set(unwrite_test_cost 0)
    if(arg_TIMEOUT GREATER 300)
        set(unwrite_test_cost ${arg_TIMEOUT})
    endif()
    if(arg_LABELS IN_LIST unwrite_unit_folders AND NOT "unit" IN_LIST arg_LABELS)
        list(APPEND arg_LABELS unit)
    endif()
    set(unwrite_test_environment
        "UNWRITE_SOURCE_DIR=${PROJECT_SOURCE_DIR}" "UNWRITE_BUILD_DIR=${PROJECT_BINARY_DIR}")
    set(unwrite_test_modification "PATH=path_list_prepend:${PROJECT_BINARY_DIR}/path")
endmacro()

macro(unwrite_test_shards name)
    math(EXPR last "${UNWRITE_SHARDS} - 1")
    foreach(shard RANGE ${last})
        math(EXPR number "${shard} + 1")
        add_test(NAME ${name}.${number} COMMAND ${name} --gtest_brief=1
                 WORKING_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")
        set_tests_properties(${name}.${number} PROPERTIES
            LABELS "${arg_LABELS}" TIMEOUT 1200 RUN_SERIAL ${arg_SERIAL}
            ENVIRONMENT "${unwrite_test_environment};GTEST_TOTAL_SHARDS=${UNWRITE_SHARDS};GTEST_SHARD_INDEX=${shard}"
            ENVIRONMENT_MODIFICATION "${unwrite_test_modification}")
    endforeach()
endmacro()

macro(unwrite_test_group)
    foreach(label IN LISTS arg_LABELS)
        if(NOT TARGET tests_${label})
            add_custom_target(tests_${label})
        endif()
        foreach(target IN ITEMS ${ARGN})
            add_dependencies(tests_${label} ${target})
        endforeach()
    endforeach()
endmacro()

# Language level, warnings and sanitizers, all carried by the interface target
# unwrite_options. Every library, test and program of the project links it.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

option(UNWRITE_WERROR "Treat warnings as errors" ON)
set(UNWRITE_SANITIZE "" CACHE STRING "Value for -fsanitize=, for example address,undefined")
set(UNWRITE_SHARDS 0 CACHE STRING "Into how many tests a test program is divided; 0: one for each case")

find_program(UNWRITE_CCACHE ccache)
if(UNWRITE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER "${UNWRITE_CCACHE}")
endif()

add_library(unwrite_options INTERFACE)
target_compile_features(unwrite_options INTERFACE cxx_std_20)
target_include_directories(unwrite_options INTERFACE "${PROJECT_SOURCE_DIR}")
target_compile_definitions(unwrite_options INTERFACE
    _GNU_SOURCE _FILE_OFFSET_BITS=64 UNWRITE_VERSION="${PROJECT_VERSION}")
target_compile_options(unwrite_options INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast
    -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-qual -Wformat=2 -Wimplicit-fallthrough)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(unwrite_options INTERFACE -Wduplicated-cond -Wlogical-op)
    # gcc 12 reports members of a moved std::optional or std::variant as uninitialized once it
    # inlines; clang-tidy's analyser looks for the real cases.
    target_compile_options(unwrite_options INTERFACE -Wno-maybe-uninitialized)
    # gcc 12 reports false null dereferences once sanitizers or a high optimisation
    # level change what is inlined, so the warning stays where it is quiet.
    if(NOT UNWRITE_SANITIZE AND CMAKE_BUILD_TYPE STREQUAL "Debug")
        target_compile_options(unwrite_options INTERFACE -Wnull-dereference)
    endif()
endif()
if(UNWRITE_WERROR)
    target_compile_options(unwrite_options INTERFACE -Werror)
endif()

if(UNWRITE_SANITIZE)
    target_compile_options(unwrite_options INTERFACE
        -fsanitize=${UNWRITE_SANITIZE} -fno-omit-frame-pointer)
    target_link_options(unwrite_options INTERFACE -fsanitize=${UNWRITE_SANITIZE})
    # At a fixed address: what the sanitizers note of each check and each global has pointers, three
    # million of them in `unwrite`, which the loader would adjust for half a second at every start.
    target_link_options(unwrite_options INTERFACE -no-pie)
    if(UNWRITE_SANITIZE MATCHES "undefined")
        target_compile_options(unwrite_options INTERFACE -fno-sanitize-recover=undefined)
    endif()
    if(UNWRITE_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        target_compile_options(unwrite_options INTERFACE -Wno-tsan)
    endif()
endif()

# It links in half the time, where it is installed. What users install is linked as usual.
find_program(UNWRITE_GOLD ld.gold)
if(UNWRITE_GOLD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT CMAKE_BUILD_TYPE STREQUAL "Release")
    target_link_options(unwrite_options INTERFACE -fuse-ld=gold)
endif()

find_package(Threads REQUIRED)
target_link_libraries(unwrite_options INTERFACE Threads::Threads)

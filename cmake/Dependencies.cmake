# Everything the project links from outside. After this file these targets exist:
#   unwrite::fuse  unwrite::sqlite  unwrite::nettle  unwrite::zstd  unwrite::fmt
#   CLI11::CLI11  nlohmann_json::nlohmann_json  unwrite::toml
#   unwrite::curses  GTest::gtest_main  GTest::gmock
# All of them come from the distribution, except that a newer static libfuse is taken
# from build/libfuse when tools/build-libfuse has made one there.

function(unwrite_missing what package)
    message(FATAL_ERROR
        "${what} was not found (Debian package: ${package}).\n"
        "Install everything this project needs with: ./tools/setup")
endfunction()

find_package(PkgConfig)
if(NOT PkgConfig_FOUND)
    unwrite_missing("pkg-config" "pkg-config")
endif()

# libfuse: the static build first, then the system's.
set(UNWRITE_LIBFUSE_PREFIX "${PROJECT_SOURCE_DIR}/build/libfuse" CACHE PATH
    "Where tools/build-libfuse put its static library")
add_library(unwrite_fuse INTERFACE)
add_library(unwrite::fuse ALIAS unwrite_fuse)
set(unwrite_fuse_pc "${UNWRITE_LIBFUSE_PREFIX}/lib/pkgconfig/fuse3.pc")
if(EXISTS "${unwrite_fuse_pc}")
    # No pkg-config call: it would answer for the system's library if both are known.
    file(STRINGS "${unwrite_fuse_pc}" unwrite_fuse_version REGEX "^Version:")
    string(REGEX REPLACE "^Version:[ \t]*" "" UNWRITE_FUSE_VERSION "${unwrite_fuse_version}")
    target_include_directories(unwrite_fuse SYSTEM INTERFACE
        "${UNWRITE_LIBFUSE_PREFIX}/include/fuse3")
    target_link_libraries(unwrite_fuse INTERFACE
        "${UNWRITE_LIBFUSE_PREFIX}/lib/libfuse3.a" Threads::Threads ${CMAKE_DL_LIBS} rt)
    set(unwrite_fuse_from "static, ${UNWRITE_LIBFUSE_PREFIX}")
else()
    pkg_check_modules(UNWRITE_SYSTEM_FUSE IMPORTED_TARGET fuse3>=3.14)
    if(NOT UNWRITE_SYSTEM_FUSE_FOUND)
        unwrite_missing("libfuse 3.14 or newer" "libfuse3-dev")
    endif()
    set(UNWRITE_FUSE_VERSION "${UNWRITE_SYSTEM_FUSE_VERSION}")
    target_link_libraries(unwrite_fuse INTERFACE PkgConfig::UNWRITE_SYSTEM_FUSE)
    set(unwrite_fuse_from "system")
endif()
# The newest interface that the found header knows: 3.17 brought kernel passthrough.
if(UNWRITE_FUSE_VERSION VERSION_GREATER_EQUAL 3.18)
    target_compile_definitions(unwrite_fuse INTERFACE FUSE_USE_VERSION=318)
elseif(UNWRITE_FUSE_VERSION VERSION_GREATER_EQUAL 3.17)
    target_compile_definitions(unwrite_fuse INTERFACE FUSE_USE_VERSION=317)
else()
    target_compile_definitions(unwrite_fuse INTERFACE FUSE_USE_VERSION=314)
endif()
message(STATUS "libfuse ${UNWRITE_FUSE_VERSION} (${unwrite_fuse_from})")

# Most of the time of a short command is the dynamic loader's: ten shared libraries, among them
# that of C++, cost 3.5 ms of 6. What is installed therefore brings what it can along, where the
# system has it; the loader is left with the C library.
set(unwrite_is_release OFF)
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT UNWRITE_SANITIZE)
    set(unwrite_is_release ON)
endif()
option(UNWRITE_SELF_CONTAINED "Link libraries into the program" ${unwrite_is_release})

# Has `target` link the archives of those names instead of the shared libraries, where all exist.
function(unwrite_prefer_archives target)
    set(archives)
    foreach(name IN LISTS ARGN)
        find_library(UNWRITE_ARCHIVE_${name} NAMES "lib${name}.a")
        if(NOT UNWRITE_SELF_CONTAINED OR NOT UNWRITE_ARCHIVE_${name})
            return()
        endif()
        list(APPEND archives "${UNWRITE_ARCHIVE_${name}}")
    endforeach()
    set_property(TARGET ${target} PROPERTY INTERFACE_LINK_LIBRARIES "${archives}")
endfunction()

find_package(SQLite3 3.35)
if(NOT SQLite3_FOUND)
    unwrite_missing("SQLite 3.35 or newer" "libsqlite3-dev")
endif()
add_library(unwrite_sqlite INTERFACE)
target_include_directories(unwrite_sqlite SYSTEM INTERFACE ${SQLite3_INCLUDE_DIRS})
target_link_libraries(unwrite_sqlite INTERFACE SQLite::SQLite3)
unwrite_prefer_archives(unwrite_sqlite sqlite3)
add_library(unwrite::sqlite ALIAS unwrite_sqlite)

# SHA-256 alone is wanted; OpenSSL, which has it too, takes a millisecond of every start.
pkg_check_modules(UNWRITE_NETTLE IMPORTED_TARGET nettle>=3.4)
if(NOT UNWRITE_NETTLE_FOUND)
    unwrite_missing("Nettle 3.4 or newer" "nettle-dev")
endif()
unwrite_prefer_archives(PkgConfig::UNWRITE_NETTLE nettle)
add_library(unwrite::nettle ALIAS PkgConfig::UNWRITE_NETTLE)

pkg_check_modules(UNWRITE_ZSTD IMPORTED_TARGET libzstd>=1.4)
if(NOT UNWRITE_ZSTD_FOUND)
    unwrite_missing("zstd 1.4 or newer" "libzstd-dev")
endif()
unwrite_prefer_archives(PkgConfig::UNWRITE_ZSTD zstd)
add_library(unwrite::zstd ALIAS PkgConfig::UNWRITE_ZSTD)

find_package(fmt 9 QUIET)
if(NOT fmt_FOUND)
    unwrite_missing("fmt 9 or newer" "libfmt-dev")
endif()
add_library(unwrite_fmt INTERFACE)
if(UNWRITE_SELF_CONTAINED)
    target_link_libraries(unwrite_fmt INTERFACE fmt::fmt-header-only)
else()
    target_link_libraries(unwrite_fmt INTERFACE fmt::fmt)
endif()
add_library(unwrite::fmt ALIAS unwrite_fmt)

find_package(CLI11 2 QUIET)
if(NOT CLI11_FOUND)
    unwrite_missing("CLI11 2 or newer" "libcli11-dev")
endif()

find_package(nlohmann_json 3.10 QUIET)
if(NOT nlohmann_json_FOUND)
    unwrite_missing("nlohmann-json 3.10 or newer" "nlohmann-json3-dev")
endif()

# toml++ has a CMake package in some versions and only a pkg-config file in others.
find_package(tomlplusplus 3 QUIET)
if(NOT TARGET tomlplusplus::tomlplusplus)
    pkg_check_modules(UNWRITE_TOMLPLUSPLUS IMPORTED_TARGET tomlplusplus>=3)
    if(NOT UNWRITE_TOMLPLUSPLUS_FOUND)
        unwrite_missing("toml++ 3 or newer" "libtomlplusplus-dev")
    endif()
    add_library(tomlplusplus::tomlplusplus ALIAS PkgConfig::UNWRITE_TOMLPLUSPLUS)
endif()
add_library(unwrite_toml INTERFACE)
if(UNWRITE_SELF_CONTAINED)
    target_compile_definitions(unwrite_toml INTERFACE TOML_HEADER_ONLY=1)
else()
    target_link_libraries(unwrite_toml INTERFACE tomlplusplus::tomlplusplus)
endif()
add_library(unwrite::toml ALIAS unwrite_toml)

# The one with wide characters: names and files are shown as they are.
pkg_check_modules(UNWRITE_NCURSESW IMPORTED_TARGET ncursesw>=6.1)
if(NOT UNWRITE_NCURSESW_FOUND)
    unwrite_missing("ncurses 6.1 or newer" "libncurses-dev")
endif()
unwrite_prefer_archives(PkgConfig::UNWRITE_NCURSESW ncursesw tinfo)
add_library(unwrite::curses ALIAS PkgConfig::UNWRITE_NCURSESW)

if(BUILD_TESTING)
    find_package(GTest 1.12 QUIET)
    if(NOT GTest_FOUND)
        unwrite_missing("GoogleTest 1.12 or newer" "libgtest-dev libgmock-dev")
    endif()
    find_package(Python3 3.9 COMPONENTS Interpreter QUIET)
    if(NOT Python3_Interpreter_FOUND)
        unwrite_missing("Python 3.9 or newer (for the tests)" "python3")
    endif()
endif()

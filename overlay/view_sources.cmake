# The read-only half of the overlay: states beside the live one, differences, reports. Included by CMakeLists.txt.
set(UNWRITE_OVERLAY_VIEW_SOURCES
    changes.cpp
    content.cpp
    differences.cpp
    file_pairs.cpp
    inspector.cpp
    layers.cpp
    line_diff.cpp
    live_names_of.cpp
    patch_headers.cpp
    revert_plan.cpp
    revert_touches.cpp
    view.cpp
    view_listing.cpp)

# libgit2 finds the lines that differ (line_diff.cpp), as git does.
pkg_check_modules(UNWRITE_LIBGIT2 IMPORTED_TARGET libgit2>=1.1)
if(NOT UNWRITE_LIBGIT2_FOUND)
    unwrite_missing("libgit2 1.1 or newer" "libgit2-dev")
endif()
set(UNWRITE_OVERLAY_VIEW_LIBRARIES PkgConfig::UNWRITE_LIBGIT2)

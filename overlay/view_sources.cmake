# The read-only half of the overlay: states beside the live one, differences, reports. Included by CMakeLists.txt.
set(UNWRITE_OVERLAY_VIEW_SOURCES
    changes.cpp
    content.cpp
    differences.cpp
    file_pairs.cpp
    inspector.cpp
    keep_plan.cpp
    layers.cpp
    line_diff.cpp
    live_names_of.cpp
    patch_headers.cpp
    revert_merge.cpp
    revert_plan.cpp
    revert_touches.cpp
    tally.cpp
    view.cpp
    view_listing.cpp)

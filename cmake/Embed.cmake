# unwrite_embed(TARGET HEADER FUNCTION DIRECTORY FILE...)
#   Puts the texts of files into a library: FUNCTION, which HEADER declares in unwrite::cli, answers a file's name with its
#   text (nothing for any other name). The files stay the one place where the texts are written.
function(unwrite_embed target header function directory)
    set(rows)
    foreach(file IN LISTS ARGN)
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${directory}/${file}")
        file(READ "${directory}/${file}" text)
        string(APPEND rows "    if (name == \"${file}\") return R\"embedded(${text})embedded\";\n")
    endforeach()
    set(source "${CMAKE_CURRENT_BINARY_DIR}/${function}.cpp")
    file(CONFIGURE OUTPUT "${source}" @ONLY CONTENT
         "#include \"@header@\"\n\nnamespace unwrite::cli {\n\nstd::string_view @function@(std::string_view name) {\n@rows@    return {};\n}\n\n}  // namespace unwrite::cli\n")
    target_sources(${target} PRIVATE "${source}")
endfunction()

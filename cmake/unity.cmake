# LibTorch's headers cost each compilation two seconds, precompiled: a whole build is twice as fast with the files of a
# folder in one. For a change to one file it is slower (the preset dev).
option(CMAKE_UNITY_BUILD "Compile the files of a folder as one" ON)

# penumbra_unity(<target>): by folder, so that only neighbours must have different names for what is theirs alone.
function(penumbra_unity target)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    cmake_path(GET source PARENT_PATH folder)
    string(MAKE_C_IDENTIFIER "${folder}" group)
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
endfunction()

# Tables of everything that can be named in a configuration or on the command line.
#
# A source file registers a thing with one line at file scope,
#     extern const SamplerEntry apmc_pnp{...};
# and the build collects these lines into <Kind>Entry tables, so that nobody keeps two lists in step.

# penumbra_registry(<Kind> <namespace> <header> <output> <files>...): writes a source file that defines
# `<namespace>::<kind>_entries()`, every <Kind>Entry of the files in the order of their names; its path is in <output>.
function(penumbra_registry kind namespace header output)
  set(names "")
  foreach(file IN LISTS ARGN)
    file(STRINGS ${file} lines REGEX "^extern const ${kind}Entry [a-z0-9_]+")
    if(lines)
      # Each has a `make` or `declare` of its own.
      set_source_files_properties(${file} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
    foreach(line IN LISTS lines)
      string(REGEX REPLACE "^extern const ${kind}Entry ([a-z0-9_]+).*" "\\1" name "${line}")
      list(APPEND names ${name})
    endforeach()
  endforeach()
  list(SORT names)
  set(declarations "")
  set(rows "")
  foreach(name IN LISTS names)
    string(APPEND declarations "extern const ${kind}Entry ${name};\n")
    string(APPEND rows "&${name}, ")
  endforeach()
  string(REGEX REPLACE "([a-z])([A-Z])" "\\1_\\2" snake ${kind})
  string(TOLOWER ${snake} snake)
  string(CONCAT text "// Written by cmake/registry.cmake.\n#include \"${header}\"\nnamespace ${namespace} {\n"
         "${declarations}"
         "const std::vector<const ${kind}Entry*>& ${snake}_entries() {\n"
         "  static const std::vector<const ${kind}Entry*> entries{${rows}};\n  return entries;\n}\n}\n")
  set(path ${PROJECT_BINARY_DIR}/registry/${snake}_entries.cpp)
  file(GENERATE OUTPUT ${path} CONTENT "${text}")
  set(${output} ${path} PARENT_SCOPE)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ARGN})
endfunction()

# HDF5 and ISMRMRD, for the files of scanners: without them those files are refused, with a message that says why.
# Their folders are given to the few sources that need them, not to the target: every other file compiles as before.
find_path(hdf5_include hdf5.h PATH_SUFFIXES hdf5/serial)
find_library(hdf5_library NAMES hdf5_serial hdf5 PATH_SUFFIXES hdf5/serial)
find_path(ismrmrd_include ismrmrd/xml.h)
find_library(ismrmrd_library ismrmrd)
set(scanner_definitions "")
set(scanner_includes "")
set(scanner_libraries "")
if(hdf5_include AND hdf5_library)
  list(APPEND scanner_definitions PENUMBRA_HDF5)
  list(APPEND scanner_includes ${hdf5_include})
  list(APPEND scanner_libraries ${hdf5_library})
  if(ismrmrd_include AND ismrmrd_library)
    list(APPEND scanner_definitions PENUMBRA_ISMRMRD)
    list(APPEND scanner_includes ${ismrmrd_include})
    list(PREPEND scanner_libraries ${ismrmrd_library})
  endif()
endif()
# Named again, the compiler's own folders would come in another order, which its headers do not bear.
list(REMOVE_ITEM scanner_includes ${CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES})
message(STATUS "k-space files: ${scanner_definitions}")

# penumbra_scanner_files(<files>...): these sources of this folder use the libraries. A definition of their own keeps
# them from the precompiled header.
function(penumbra_scanner_files)
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_DEFINITIONS "${scanner_definitions}" INCLUDE_DIRECTORIES
                              "${scanner_includes}" SKIP_PRECOMPILE_HEADERS ON)
endfunction()

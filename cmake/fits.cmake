# CFITSIO, for an interferometer's data and for images as astronomers keep them: without it those files are refused, with
# a message that says why.
find_path(fits_include fitsio.h PATH_SUFFIXES cfitsio)
find_library(fits_library cfitsio)
set(fits_libraries "")
if(fits_include AND fits_library)
  set(fits_libraries ${fits_library})
endif()
message(STATUS "FITS files: ${fits_libraries}")

# penumbra_fits_files(<files>...): these sources use the library where it is there.
function(penumbra_fits_files)
  if(fits_libraries)
    set(includes ${fits_include})
    list(REMOVE_ITEM includes ${CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES})
    set_source_files_properties(${ARGN} PROPERTIES COMPILE_DEFINITIONS PENUMBRA_FITS INCLUDE_DIRECTORIES "${includes}"
                                SKIP_PRECOMPILE_HEADERS ON)
  endif()
endfunction()

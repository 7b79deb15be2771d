# What LibTorch can connect processes with (src/team). Its own headers need those of Gloo (libgloo-dev) and NCCL (NVIDIA's
# Python package puts them beside LibTorch); without either the program builds, and runs as one process.
include(CheckCXXSourceCompiles)
set(backend_source ${PROJECT_SOURCE_DIR}/src/team/backend.cpp)
find_path(nccl_include nccl.h HINTS ${TORCH_INSTALL_PREFIX}/../nvidia/nccl/include)
if(nccl_include)
  set_property(SOURCE ${backend_source} APPEND PROPERTY INCLUDE_DIRECTORIES ${nccl_include})
endif()

# Defines <name> where this LibTorch was built with <macro> and its <class> compiles: the headers that it needs may be
# missing, or of another version.
function(penumbra_backend name macro class)
  set(CMAKE_REQUIRED_QUIET ON)
  set(CMAKE_REQUIRED_LIBRARIES ${TORCH_LIBRARIES})
  set(CMAKE_REQUIRED_INCLUDES ${TORCH_INCLUDE_DIRS})
  if(nccl_include)
    list(APPEND CMAKE_REQUIRED_INCLUDES ${nccl_include})
  endif()
  check_cxx_source_compiles("
    #ifndef ${macro}
    #error
    #endif
    #include <torch/csrc/distributed/c10d/${class}.hpp>
    int main() { return sizeof(c10d::${class}) == 0; }" ${name})
  if(${name})
    set_property(SOURCE ${backend_source} APPEND PROPERTY COMPILE_DEFINITIONS ${name})
  endif()
  message(STATUS "${name}: ${${name}}")
endfunction()
penumbra_backend(PENUMBRA_GLOO USE_C10D_GLOO ProcessGroupGloo)
penumbra_backend(PENUMBRA_NCCL USE_C10D_NCCL ProcessGroupNCCL)

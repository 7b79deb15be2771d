# What LibTorch can connect processes with (src/team). Its own headers need those of Gloo (libgloo-dev) and NCCL (NVIDIA's
# Python package puts them beside LibTorch); without either the program builds, and runs as one process.
include(CheckCXXSourceCompiles)
set(backend_source ${PROJECT_SOURCE_DIR}/src/team/backend.cpp)
find_path(nccl_include nccl.h HINTS ${TORCH_INSTALL_PREFIX}/../nvidia/nccl/include)
if(nccl_include)
  set_property(SOURCE ${backend_source} APPEND PROPERTY INCLUDE_DIRECTORIES ${nccl_include})
endif()

# What LibTorch says it was built with. Its targets cannot be used in a trial compilation: they name others (CUDA's) that
# are not known there.
set(torch_definitions "")
foreach(target torch torch_cpu torch_cuda)
  if(TARGET ${target})
    get_target_property(definitions ${target} INTERFACE_COMPILE_DEFINITIONS)
    if(definitions)
      list(APPEND torch_definitions ${definitions})
    endif()
  endif()
endforeach()

# Defines <name> where this LibTorch was built with <macro> and its <class> compiles: the headers that it needs may be
# missing, or of another version.
function(penumbra_backend name macro class)
  set(CMAKE_REQUIRED_QUIET ON)
  set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
  set(CMAKE_REQUIRED_DEFINITIONS -D${macro})
  set(CMAKE_REQUIRED_INCLUDES ${TORCH_INCLUDE_DIRS} ${CUDA_INCLUDE_DIRS} ${CUDAToolkit_INCLUDE_DIRS})
  if(nccl_include)
    list(APPEND CMAKE_REQUIRED_INCLUDES ${nccl_include})
  endif()
  if(${macro} IN_LIST torch_definitions)
    check_cxx_source_compiles("
      #include <torch/csrc/distributed/c10d/${class}.hpp>
      int size() { return sizeof(c10d::${class}); }" ${name})
  endif()
  if(${name})
    set_property(SOURCE ${backend_source} APPEND PROPERTY COMPILE_DEFINITIONS ${name})
  endif()
  message(STATUS "${name}: ${${name}}")
endfunction()
penumbra_backend(PENUMBRA_GLOO USE_C10D_GLOO ProcessGroupGloo)
penumbra_backend(PENUMBRA_NCCL USE_C10D_NCCL ProcessGroupNCCL)

# Our own CUDA kernels. They know no LibTorch, so they are compiled wherever nvcc is, and linked where LibTorch has CUDA.
include(CheckLanguage)
check_language(CUDA)
if(CMAKE_CUDA_COMPILER)
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 80 90)
  endif()
  enable_language(CUDA)
  file(GLOB_RECURSE kernel_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*.cu)
  add_library(penumbra_kernels OBJECT ${kernel_sources})
  target_include_directories(penumbra_kernels PRIVATE ${PROJECT_SOURCE_DIR}/src)
  # Debian 12's CMake does not know that CUDA 13 speaks C++20.
  set_target_properties(penumbra_kernels PROPERTIES CUDA_STANDARD 17 POSITION_INDEPENDENT_CODE ON UNITY_BUILD OFF)
endif()
# The few files that know both sides. Apart in every build, so that the others are grouped alike with and without CUDA.
set(bridges ${PROJECT_SOURCE_DIR}/src/core/cuda_device.cpp ${PROJECT_SOURCE_DIR}/src/core/cuda_random.cpp ${PROJECT_SOURCE_DIR}/src/core/device_memory.cpp
            ${PROJECT_SOURCE_DIR}/src/likelihoods/cuda_closures.cpp ${PROJECT_SOURCE_DIR}/src/networks/cuda_features.cpp ${PROJECT_SOURCE_DIR}/src/networks/cuda_norm.cpp
            ${PROJECT_SOURCE_DIR}/src/run/recorded_work.cpp ${PROJECT_SOURCE_DIR}/src/samplers/cuda_langevin.cpp)
set_source_files_properties(${bridges} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
if(CMAKE_CUDA_COMPILER AND TARGET torch_cuda)
  target_sources(penumbra PRIVATE $<TARGET_OBJECTS:penumbra_kernels>)
  set_source_files_properties(${bridges} PROPERTIES COMPILE_DEFINITIONS PENUMBRA_CUDA SKIP_PRECOMPILE_HEADERS ON)
endif()

# The library: everything in src but the program.
file(GLOB_RECURSE penumbra_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*.cpp)
list(FILTER penumbra_sources EXCLUDE REGEX "/src/app/")

penumbra_registry(ForwardModel penumbra models/forward_model.h forward_models ${penumbra_sources})
penumbra_registry(Likelihood penumbra likelihoods/likelihood.h likelihoods ${penumbra_sources})
penumbra_registry(Prior penumbra priors/score.h priors ${penumbra_sources})
penumbra_registry(Schedule penumbra samplers/schedule.h schedules ${penumbra_sources})
penumbra_registry(Sampler penumbra samplers/sampler.h samplers ${penumbra_sources})

add_library(penumbra STATIC ${penumbra_sources} ${forward_models} ${likelihoods} ${priors} ${schedules} ${samplers})
add_library(penumbra::penumbra ALIAS penumbra)
penumbra_unity(penumbra)
target_include_directories(penumbra PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>
                                           $<INSTALL_INTERFACE:include/penumbra>)
# Before LibTorch: its binary releases export an old, broken part of std::filesystem that must not win.
target_link_libraries(penumbra PUBLIC "-Wl,--push-state,--no-as-needed,-lstdc++,--pop-state")
# Newer LibTorch brings headers of another fmt than the installed library: those can only be used header-only.
find_path(bundled_fmt fmt/format.h PATHS ${TORCH_INCLUDE_DIRS} NO_DEFAULT_PATH)
set(fmt_target fmt::fmt)
if(bundled_fmt AND NOT bundled_fmt STREQUAL "/usr/include")
  set(fmt_target fmt::fmt-header-only)
endif()
# LibTorch's parallel_for is a template over OpenMP pragmas: without the flag it runs on one thread.
target_link_libraries(penumbra PUBLIC ${TORCH_LIBRARIES} ${fmt_target} nlohmann_json::nlohmann_json yaml-cpp PNG::PNG
                                      OpenMP::OpenMP_CXX)
if(JPEG_FOUND)
  target_link_libraries(penumbra PUBLIC JPEG::JPEG)
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/io/jpeg.cpp PROPERTIES COMPILE_DEFINITIONS PENUMBRA_JPEG)
endif()
set(io_folder ${PROJECT_SOURCE_DIR}/src/io)
penumbra_scanner_files(${io_folder}/hdf5_file.cpp ${io_folder}/hdf5_kspace.cpp ${io_folder}/fastmri.cpp
                       ${io_folder}/ismrmrd.cpp ${io_folder}/ismrmrd_readout.cpp)
penumbra_fits_files(${io_folder}/fits_reader.cpp ${io_folder}/fits_writer.cpp)
target_link_libraries(penumbra PUBLIC ${scanner_libraries} ${fits_libraries})
target_compile_features(penumbra PUBLIC cxx_std_20)
target_compile_options(penumbra PRIVATE -Wall -Wextra)
target_compile_definitions(penumbra PRIVATE PENUMBRA_VERSION="${PROJECT_VERSION}")
# LibTorch's headers are not ours to warn about.
set_property(TARGET penumbra PROPERTY NO_SYSTEM_FROM_IMPORTED OFF)
target_include_directories(penumbra SYSTEM PUBLIC ${TORCH_INCLUDE_DIRS})
target_precompile_headers(penumbra PRIVATE <ATen/ATen.h> <fmt/format.h> <nlohmann/json.hpp> <algorithm> <cmath>
                          <filesystem> <fstream> <map> <memory> <numeric> <optional> <span> <string> <vector>)
# The noise must have the same bits on every machine: no contraction into fused multiply-adds there.
# Without errno and traps the compiler may use vector registers. (The precompiled header is made with other options.)
set_source_files_properties(
  ${PROJECT_SOURCE_DIR}/src/core/random.cpp
  PROPERTIES COMPILE_OPTIONS "-O3;-ffp-contract=off;-fno-math-errno;-fno-trapping-math" SKIP_PRECOMPILE_HEADERS ON)
# Loops that the compiler should turn into vector code: no errno, no traps.
set_source_files_properties(
  ${PROJECT_SOURCE_DIR}/src/networks/cpu_norm.cpp ${PROJECT_SOURCE_DIR}/src/networks/pixel_ops.cpp
  PROPERTIES COMPILE_OPTIONS "-O3;-fno-math-errno;-fno-trapping-math;-fno-signed-zeros" SKIP_PRECOMPILE_HEADERS ON)
# A definition of its own keeps a file from using the precompiled header.
set_source_files_properties(
  ${PROJECT_SOURCE_DIR}/src/priors/shipped.cpp
  PROPERTIES COMPILE_DEFINITIONS PENUMBRA_PRIORS="${PROJECT_SOURCE_DIR}/priors" SKIP_PRECOMPILE_HEADERS ON)
# Classes with a member of the file's own type: where the file is included by another, the compiler warns of them.
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/core/settings.cpp ${PROJECT_SOURCE_DIR}/src/networks/realnvp.cpp
                            PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
include(${CMAKE_CURRENT_LIST_DIR}/team.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/kernels.cmake)

if(PENUMBRA_SANITIZE)
  set(sanitize -fsanitize=${PENUMBRA_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
  target_compile_options(penumbra PUBLIC ${sanitize})
  target_link_options(penumbra PUBLIC ${sanitize})
endif()

# The program: command line, wiring, commands and experiments.
file(GLOB_RECURSE app_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/app/*.cpp)
penumbra_registry(Command penumbra::app app/command.h commands ${app_sources})
penumbra_registry(Experiment penumbra::app app/experiment.h experiments ${app_sources})

# A library of its own so that the tests can call the wiring.
set(app_main ${PROJECT_SOURCE_DIR}/src/app/main.cpp)
list(REMOVE_ITEM app_sources ${app_main})
add_library(penumbra_app STATIC ${app_sources} ${commands} ${experiments})
penumbra_unity(penumbra_app)
target_link_libraries(penumbra_app PUBLIC penumbra CLI11::CLI11)
# Nothing here is a hot loop: half a minute more of optimisation would buy nothing. From GCC 13 on, what is precompiled with
# -O3 is refused with -O1 unless both say this of loops.
include(CheckCXXCompilerFlag)
check_cxx_compiler_flag(-munroll-only-small-loops PENUMBRA_UNROLLS_SMALL_LOOPS)
target_compile_options(penumbra_app PRIVATE -Wall -Wextra
                       $<$<CONFIG:Release>:-O1 $<$<BOOL:${PENUMBRA_UNROLLS_SMALL_LOOPS}>:-munroll-only-small-loops>>)
target_compile_definitions(penumbra_app PRIVATE PENUMBRA_VERSION="${PROJECT_VERSION}")
target_precompile_headers(penumbra_app REUSE_FROM penumbra)

add_executable(penumbra_program ${app_main})
set_target_properties(penumbra_program PROPERTIES OUTPUT_NAME penumbra RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
target_link_libraries(penumbra_program PRIVATE penumbra_app)
target_compile_options(penumbra_program PRIVATE -Wall -Wextra)
target_compile_definitions(penumbra_program PRIVATE PENUMBRA_VERSION="${PROJECT_VERSION}")

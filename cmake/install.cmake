include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
install(TARGETS penumbra EXPORT penumbraTargets)
install(TARGETS penumbra_program)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/penumbra
        FILES_MATCHING PATTERN "*.h" PATTERN "app" EXCLUDE)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/priors DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/penumbra
        FILES_MATCHING PATTERN "*.safetensors" PATTERN "*.sd.json" PATTERN "*.md" PATTERN "*.png" PATTERN "*.yaml")
install(EXPORT penumbraTargets NAMESPACE penumbra:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/penumbra)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/penumbraConfig.cmake.in penumbraConfig.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/penumbra)
write_basic_package_version_file(penumbraConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/penumbraConfig.cmake ${PROJECT_BINARY_DIR}/penumbraConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/penumbra)

# SPDX-License-Identifier: Apache-2.0
# Installs the libraries for C++ and for C, their public headers and the package that find_package(espalier) reads.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/espalier)

install(TARGETS espalier EXPORT espalierTargets)
if(ESPALIER_BUILD_C_API)
  install(TARGETS espalier_c EXPORT espalierTargets)
endif()
install(DIRECTORY include/espalier DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT espalierTargets NAMESPACE espalier:: DESTINATION ${package_dir})

configure_package_config_file(
  cmake/espalierConfig.cmake.in ${PROJECT_BINARY_DIR}/espalierConfig.cmake
  INSTALL_DESTINATION ${package_dir})
# Until 1.0 a new minor version may break its users.
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/espalierConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/espalierConfig.cmake
              ${PROJECT_BINARY_DIR}/espalierConfigVersion.cmake
        DESTINATION ${package_dir})

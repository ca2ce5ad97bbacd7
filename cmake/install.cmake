# Installed files: the library with the headers of include/gpulog, its CMake package and pkg-config file; the command
# with its manual page and completions. Components: "command", "development", "library" (shared),
# "arrow" and "mpi".
include(CMakePackageConfigHelpers)

install(TARGETS libgpulog EXPORT gpulog
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development)
install(FILES include/gpulog.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
install(DIRECTORY include/gpulog DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development FILES_MATCHING PATTERN "*.hpp")

# Users of a static library link its dependencies, named as for find_package.
set(gpulog_packages "")
set(gpulog_runtime "")
set(gpulog_private_libraries -pthread)
foreach(library ${CMAKE_DL_LIBS})
  list(APPEND gpulog_private_libraries -l${library})
endforeach()
get_target_property(kind libgpulog TYPE)
if(kind STREQUAL "STATIC_LIBRARY")
  set(gpulog_packages Threads TBB fmt ZLIB zstd SQLite3)
  if(GPULOG_GPU_VENDOR STREQUAL "cuda")
    # In a folder of gpulog, because packages of CUDA install a file of this name beside other libraries.
    file(REAL_PATH "${CUDA_cudart_static_LIBRARY}" runtime)
    install(FILES ${runtime} DESTINATION ${CMAKE_INSTALL_LIBDIR}/gpulog RENAME libcudart_static.a COMPONENT development)
    list(APPEND gpulog_private_libraries "\${libdir}/gpulog/libcudart_static.a" -lrt)
    set(gpulog_runtime [[
if(NOT TARGET gpulog::cuda_runtime)
  add_library(gpulog::cuda_runtime STATIC IMPORTED)
  set_target_properties(
    gpulog::cuda_runtime PROPERTIES IMPORTED_LOCATION "${CMAKE_CURRENT_LIST_DIR}/../../gpulog/libcudart_static.a"
                                    INTERFACE_LINK_LIBRARIES "Threads::Threads;${CMAKE_DL_LIBS};rt")
endif()]])
  elseif(GPULOG_GPU_VENDOR STREQUAL "hip")
    list(APPEND gpulog_private_libraries "${gpulog_hip_library}")
  elseif(GPULOG_GPU_VENDOR STREQUAL "emulated")
    list(APPEND gpulog_packages "Boost COMPONENTS context")
    list(APPEND gpulog_private_libraries -lboost_context)
  endif()
  list(JOIN gpulog_private_libraries " " gpulog_private_libraries)
  # Without a shared library, the dependencies must be public, because users link without --static.
  set(gpulog_requirements "Requires: fmt tbb zlib libzstd sqlite3")
  set(gpulog_linked " ${gpulog_private_libraries}")
else()
  set(gpulog_requirements "")
  set(gpulog_linked "")
endif()
list(TRANSFORM gpulog_packages REPLACE "(.+)" "find_dependency(\\1)")
list(JOIN gpulog_packages "\n" gpulog_packages)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/gpulog)
configure_package_config_file(cmake/gpulog-config.cmake.in ${PROJECT_BINARY_DIR}/package/gpulog-config.cmake
                              INSTALL_DESTINATION ${package_folder} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/gpulog-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/package/gpulog-config.cmake ${PROJECT_BINARY_DIR}/package/gpulog-config-version.cmake
        DESTINATION ${package_folder} COMPONENT development)
install(EXPORT gpulog NAMESPACE gpulog:: FILE gpulog-targets.cmake DESTINATION ${package_folder} COMPONENT development)

# Relative path from the file to the prefix, so that an installed tree can be moved.
set(pkgconfig_folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH gpulog_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" gpulog_prefix "${gpulog_prefix}")
configure_file(cmake/gpulog.pc.in ${PROJECT_BINARY_DIR}/package/gpulog.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/package/gpulog.pc DESTINATION ${pkgconfig_folder} COMPONENT development)

if(GPULOG_ARROW_FOUND)
  install(TARGETS gpulog_arrow DESTINATION ${CMAKE_INSTALL_LIBDIR}/gpulog COMPONENT arrow)
endif()

if(GPULOG_MPI_FOUND)
  install(TARGETS gpulog_mpi DESTINATION ${CMAKE_INSTALL_LIBDIR}/gpulog COMPONENT mpi)
endif()

if(GPULOG_BUILD_COMMAND)
  install(TARGETS gpulog DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT command)
  find_package(Python3 QUIET COMPONENTS Interpreter)
  if(Python3_Interpreter_FOUND)
    set(pages ${PROJECT_BINARY_DIR}/pages)
    set(generator ${PROJECT_SOURCE_DIR}/cmake/command_pages.py)
    add_custom_command(
      OUTPUT ${pages}/gpulog.1 ${pages}/gpulog.bash ${pages}/_gpulog ${pages}/gpulog.fish
      COMMAND Python3::Interpreter ${generator} $<TARGET_FILE:gpulog> ${pages}
      DEPENDS gpulog ${generator}
      COMMENT "Manual page and completions"
      VERBATIM)
    add_custom_target(gpulog_pages ALL DEPENDS ${pages}/gpulog.1)
    install(FILES ${pages}/gpulog.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT command)
    install(FILES ${pages}/gpulog.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME gpulog
            COMPONENT command)
    install(FILES ${pages}/_gpulog DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT command)
    install(FILES ${pages}/gpulog.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT command)
  else()
    message(STATUS "gpulog: no python3 was found; no manual page and no completions are made")
  endif()
endif()

# Debian packages: `cpack -G DEB` in the build folder of the preset "package". One package per component, with
# dependencies found by dpkg-shlibdeps. DEBFULLNAME and DEBEMAIL name the maintainer, as in Debian's tools.
set(CPACK_GENERATOR DEB)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
# "0.3.0~dev" precedes "0.3.0" in Debian's order.
string(REPLACE "-" "~" CPACK_PACKAGE_VERSION ${GPULOG_VERSION})
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION interpreters)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/cmake/package_contact.cmake) # read when cpack runs
set(CPACK_PACKAGE_CONTACT nobody) # a placeholder, which must be set
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Datalog engine for CPUs and GPUs")

# The package of each component: its name and contents.
set(CPACK_COMPONENTS_ALL "")
macro(gpulog_package component name content)
  string(TOUPPER ${component} key)
  list(APPEND CPACK_COMPONENTS_ALL ${component})
  set(CPACK_DEBIAN_${key}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${key}_DESCRIPTION "gpulog evaluates Datalog programs in the dialect of Souffle: the same
text, flags, files and results. It runs on the cores of a CPU, or on a
GPU where it was built for one.
.
${content}")
endmacro()
if(GPULOG_BUILD_COMMAND)
  gpulog_package(command gpulog "This package has the command.")
endif()
set(library_package libgpulog${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
# Headers need the library of the same version, and the libraries that a program links with a static libgpulog.
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
gpulog_package(development libgpulog-dev "This package has what programs in C++ are built with.")
if(BUILD_SHARED_LIBS)
  gpulog_package(library ${library_package} "This package has the library for programs that were built with it.")
  set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
  set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/package/triggers CONTENT "activate-noawait ldconfig\n")
  set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/package/triggers)
  set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "${library_package} (= ${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
else()
  set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libfmt-dev, libsqlite3-dev, libtbb-dev, libzstd-dev, zlib1g-dev")
  if(GPULOG_GPU_VENDOR STREQUAL "emulated")
    string(APPEND CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS ", libboost-context-dev")
  endif()
endif()
if(GPULOG_ARROW_FOUND AND NOT GPULOG_PYARROW) # libraries of a Python package are not a Debian dependency
  gpulog_package(arrow gpulog-arrow "This package lets it read and write files of Parquet and Arrow.")
endif()
if(GPULOG_MPI_FOUND)
  gpulog_package(mpi gpulog-mpi "This package lets it run on several ranks, with MPI.")
  set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS openmpi-bin)
endif()

set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/package_documents.cmake)
include(CPack)

# Each folder of src/ is one library; its links define the allowed dependencies (docs/internals/index.md).
option(GPULOG_BUILD_TESTS "Build gpulog's tests" ${PROJECT_IS_TOP_LEVEL})
option(GPULOG_WARNINGS_AS_ERRORS "Treat warnings as errors" ${PROJECT_IS_TOP_LEVEL})

# gpulog_in_few_units(<target>): unity builds, for complete builds as in scripts/test. One unit per folder: headers and
# templates take more than half of the compile time, so smaller units take longer (bench/results/ci.txt). Names without linkage
# must differ within a folder; g++ reports a name that hides a name of the same or of a different file. The disabled
# warnings are false alarms in unity builds.
option(GPULOG_FEW_UNITS "Compile several files at a time: less time for a whole build, more for one file" OFF)
function(gpulog_in_few_units target)
  if(GPULOG_SANITIZE OR GPULOG_FEW_UNITS)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
    target_compile_options(${target} PRIVATE $<IF:$<COMPILE_LANG_AND_ID:CXX,GNU>,-Wno-subobject-linkage,-Wno-shadow>)
  endif()
endfunction()

# gpulog_own_headers(<target> <scope> <folder> [<excluded sub-folder>...]): an include directory for this folder alone,
# as symbolic links in the build folder: only targets that link <target> can include its headers.
function(gpulog_own_headers target scope folder)
  set(source_folder ${CMAKE_CURRENT_SOURCE_DIR}/${folder})
  set(own_headers ${PROJECT_BINARY_DIR}/headers/${target})
  cmake_path(GET folder PARENT_PATH above)
  file(MAKE_DIRECTORY ${own_headers}/${above})
  if(ARGN)
    file(GLOB entries CONFIGURE_DEPENDS RELATIVE ${source_folder} ${source_folder}/*)
    list(REMOVE_ITEM entries ${ARGN})
    file(MAKE_DIRECTORY ${own_headers}/${folder})
    foreach(entry ${entries})
      file(CREATE_LINK ${source_folder}/${entry} ${own_headers}/${folder}/${entry} SYMBOLIC)
    endforeach()
  else()
    file(CREATE_LINK ${source_folder} ${own_headers}/${folder} SYMBOLIC)
  endif()
  target_include_directories(${target} ${scope} ${own_headers})
endfunction()

# gpulog_library(<folder> [EXCEPT <sub-folder>...] [DEPENDS <library>...]): a library of all *.cpp in the folder and
# below, except these sub-folders; an interface library if the folder has no *.cpp. Only libraries that link it can
# include its headers.
function(gpulog_library folder)
  cmake_parse_arguments(ARG "" "" "EXCEPT;DEPENDS" ${ARGN})
  string(REPLACE "/" "_" name "gpulog_${folder}")
  set(source_folder ${CMAKE_CURRENT_SOURCE_DIR}/${folder})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${source_folder}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/without_packages/")
  list(FILTER sources EXCLUDE REGEX "/gpu/") # src/CMakeLists.txt adds these if there is a GPU backend
  foreach(other ${ARG_EXCEPT})
    list(FILTER sources EXCLUDE REGEX "^${source_folder}/${other}/")
  endforeach()
  if(sources)
    add_library(${name} STATIC ${sources})
    set(scope PUBLIC)
    set(warnings -Wall -Wextra -Wpedantic -Wshadow -Wconversion $<$<BOOL:${GPULOG_WARNINGS_AS_ERRORS}>:-Werror>)
    # g++ 12 takes "x" + std::string for overlapping copies (GCC bug 105651).
    target_compile_options(${name} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${warnings}>"
                                           $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict>)
    # Functions begin at cache lines. Otherwise, changes elsewhere move hot loops: with the same instructions, SG CA-HepTh
    # took 0.25 or 0.30 s and REACH SF.cedge 0.064 or 0.070 s (gpulog -j1 bench/paper/PROGRAM.dl -F DATA/graphs/GRAPH, user
    # time, least of 11).
    target_compile_options(${name} PRIVATE
      $<$<AND:$<CONFIG:Release>,$<COMPILE_LANG_AND_ID:CXX,GNU>>:-falign-functions=64>)
    gpulog_in_few_units(${name})
    set_property(GLOBAL APPEND PROPERTY GPULOG_FOLDERS ${name})
  else()
    add_library(${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  gpulog_own_headers(${name} ${scope} ${folder} ${ARG_EXCEPT})
  target_compile_features(${name} ${scope} cxx_std_20)
  target_link_libraries(${name} ${scope} ${ARG_DEPENDS})
endfunction()

# gpulog_whole_library(<target> [STATIC|SHARED] [EXCLUDE_FROM_ALL]): all folders in one library named libgpulog, with
# the same links. Exports only the API; nlohmann_json is header-only.
function(gpulog_whole_library target)
  add_library(${target} ${ARGN})
  get_property(folders GLOBAL PROPERTY GPULOG_FOLDERS)
  list(TRANSFORM folders REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>")
  target_sources(${target} PRIVATE ${folders})
  target_compile_features(${target} INTERFACE cxx_std_20)
  target_include_directories(${target} INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                                 $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  get_target_property(vendor_libraries gpulog_gpu_vendor INTERFACE_LINK_LIBRARIES)
  if(NOT vendor_libraries)
    set(vendor_libraries "")
  endif()
  target_link_libraries(${target} PRIVATE fmt::fmt TBB::tbb ZLIB::ZLIB zstd::libzstd_shared SQLite::SQLite3 ${vendor_libraries}
                                          Threads::Threads ${CMAKE_DL_LIBS})
  set_target_properties(
    ${target} PROPERTIES OUTPUT_NAME gpulog LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION}
                         SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  get_target_property(kind ${target} TYPE)
  if(kind STREQUAL "SHARED_LIBRARY")
    # Templates of the standard library are visible regardless of compiler options.
    set(exported ${PROJECT_SOURCE_DIR}/cmake/exported_symbols.map)
    target_link_options(${target} PRIVATE "LINKER:--version-script=${exported}")
    set_target_properties(${target} PROPERTIES LINK_DEPENDS ${exported})
    if(NOT GPULOG_SANITIZE)
      target_link_options(${target} PRIVATE LINKER:--no-undefined)
    endif()
  endif()
endfunction()

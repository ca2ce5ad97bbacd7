# Each folder of src/ is one library; what it links *is* the allowed direction of dependencies
# (docs/internals/index.md).
option(GPULOG_BUILD_TESTS "Build gpulog's tests" ${PROJECT_IS_TOP_LEVEL})
option(GPULOG_WARNINGS_AS_ERRORS "Treat warnings as errors" ${PROJECT_IS_TOP_LEVEL})

# gpulog_in_few_units(<target>): for builds that are made anew more often than file by file (those of scripts/test): reading headers is
# most of what compiling a file takes. Names without linkage have to be different within a folder, as they are, and g++ says
# where a name hides one of the same file or of another. That clang does so, too, and that g++ takes the files for a header,
# is no mistake.
option(GPULOG_FEW_UNITS "Compile several files at a time: less time for a whole build, more for one file" OFF)
function(gpulog_in_few_units target)
  if(GPULOG_SANITIZE OR GPULOG_FEW_UNITS)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 16)
    target_compile_options(${target} PRIVATE $<IF:$<COMPILE_LANG_AND_ID:CXX,GNU>,-Wno-subobject-linkage,-Wno-shadow>)
  endif()
endfunction()

# gpulog_own_headers(<target> <scope> <folder> [<sub-folder that is left out>...]): an include directory for this folder alone, as
# a link in the build: who does not link the target does not see it.
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

# gpulog_library(<folder> [EXCEPT <sub-folder>...] [DEPENDS <library>...]): all *.cpp in the folder and below, without these
# sub-folders; an interface library where there is none yet. Other libraries see its headers only if they link it.
function(gpulog_library folder)
  cmake_parse_arguments(ARG "" "" "EXCEPT;DEPENDS" ${ARGN})
  string(REPLACE "/" "_" name "gpulog_${folder}")
  set(source_folder ${CMAKE_CURRENT_SOURCE_DIR}/${folder})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${source_folder}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/gpu/") # src/CMakeLists.txt adds them where there are devices
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

# gpulog_whole_library(<target> [STATIC|SHARED] [EXCLUDE_FROM_ALL]): all folders in one library, which is called libgpulog. It
# links what they do, and shows its users nothing but the API; nlohmann_json has no more than headers.
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
    # Templates of the standard library are visible whatever the compiler is asked for.
    set(exported ${PROJECT_SOURCE_DIR}/cmake/exported_symbols.map)
    target_link_options(${target} PRIVATE "LINKER:--version-script=${exported}")
    set_target_properties(${target} PROPERTIES LINK_DEPENDS ${exported})
    if(NOT GPULOG_SANITIZE)
      target_link_options(${target} PRIVATE LINKER:--no-undefined)
    endif()
  endif()
endfunction()

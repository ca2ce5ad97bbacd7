# Each folder of src/ is one library; what it links *is* the allowed direction of dependencies
# (docs/internals/index.md).
option(GPULOG_BUILD_TESTS "Build gpulog's tests" ${PROJECT_IS_TOP_LEVEL})
option(GPULOG_WARNINGS_AS_ERRORS "Treat warnings as errors" ${PROJECT_IS_TOP_LEVEL})

# gpulog_in_few_units(<target>): for builds that are made anew more often than file by file (those of scripts/test): reading headers is
# most of what compiling a file takes. Names without linkage have to be different within a folder, as they are; that a local
# one is that of another file's is no mistake, nor that g++ takes the files for a header.
option(GPULOG_FEW_UNITS "Compile several files at a time: less time for a whole build, more for one file" OFF)
function(gpulog_in_few_units target)
  if(GPULOG_SANITIZE OR GPULOG_FEW_UNITS)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 10)
    target_compile_options(${target} PRIVATE -Wno-shadow $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
  endif()
endfunction()

# gpulog_library(<folder> [FOLDERS <sub-folder>...] [DEPENDS <library>...]): all *.cpp of the folder and of these in it; an
# interface library where there is none yet.
function(gpulog_library folder)
  cmake_parse_arguments(ARG "" "" "FOLDERS;DEPENDS" ${ARGN})
  string(REPLACE "/" "_" name "gpulog_${folder}")
  list(TRANSFORM ARG_FOLDERS REPLACE "(.+)" "${CMAKE_CURRENT_SOURCE_DIR}/${folder}/\\1/*.cpp")
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cpp ${ARG_FOLDERS})
  if(sources)
    add_library(${name} STATIC ${sources})
    set(scope PUBLIC)
    target_compile_options(${name} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                                           # g++ 12 takes "x" + std::string for overlapping copies (GCC bug 105651).
                                           $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
                                           $<$<BOOL:${GPULOG_WARNINGS_AS_ERRORS}>:-Werror>)
    gpulog_in_few_units(${name})
  else()
    add_library(${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(${name} ${scope} ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  target_compile_features(${name} ${scope} cxx_std_20)
  target_link_libraries(${name} ${scope} ${ARG_DEPENDS})
endfunction()

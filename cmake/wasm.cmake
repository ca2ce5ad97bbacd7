# A build for WebAssembly by emscripten (preset wasm): one thread, and only header-only packages. Defines the targets of
# the packages that src/ links, without code for oneTBB, zlib, zstd and SQLite.
set(GPULOG_GPU off)
set(package_headers ${PROJECT_BINARY_DIR}/package_headers)
file(MAKE_DIRECTORY ${package_headers})
foreach(package fmt nlohmann)
  # Links, because the folder itself also has the headers of this machine's C library.
  find_path(GPULOG_${package}_FOLDER ${package} PATHS /usr/include NO_CMAKE_FIND_ROOT_PATH NO_DEFAULT_PATH REQUIRED)
  file(CREATE_LINK ${GPULOG_${package}_FOLDER}/${package} ${package_headers}/${package} SYMBOLIC)
endforeach()
foreach(target fmt::fmt nlohmann_json::nlohmann_json TBB::tbb ZLIB::ZLIB zstd::libzstd_shared SQLite::SQLite3
               Threads::Threads)
  add_library(${target} INTERFACE IMPORTED GLOBAL)
endforeach()
include_directories(BEFORE SYSTEM ${PROJECT_SOURCE_DIR}/playground/engine/standard_library)
include_directories(SYSTEM ${package_headers})
add_compile_definitions(FMT_HEADER_ONLY GPULOG_WITHOUT_PACKAGES GPULOG_WITHOUT_TBB)
add_compile_options(-fwasm-exceptions)

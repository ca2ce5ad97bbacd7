#pragma once

#include <filesystem>

#include "io/formats/arrow/arrow_interface.hpp"

namespace gpulog::io {

/// Opens a Parquet or Arrow file as a stream of tables. The first call loads Apache Arrow and libgpulog_arrow.so: a run
/// without Arrow files does not pay for loading.
/// @throws user_error if gpulog was built without Arrow, or with Arrow's message about the file
void open_arrow_file(const std::filesystem::path& path, arrow_format format, unsigned threads,
                     arrow_owned<ArrowArrayStream>& rows);

/// @throws user_error where gpulog was built without Arrow
void require_arrow();

/// Writes all tables of a stream to a file, and releases the stream. @throws as open_arrow_file
void save_arrow_file(const std::filesystem::path& path, arrow_format format, ArrowArrayStream* rows);

}  // namespace gpulog::io

#pragma once

#include <filesystem>

#include "io/formats/arrow/arrow_interface.hpp"

namespace gpulog::io {

/// A file of Parquet or Arrow as a stream of tables. Loads Apache Arrow, and with it libgpulog_arrow.so, when it is
/// first called: a run without such files does not pay for it.
/// @throws user_error where gpulog was built without Arrow, or with what Arrow says of the file.
void open_arrow_file(const std::filesystem::path& path, arrow_format format, unsigned threads,
                     arrow_owned<ArrowArrayStream>& rows);

/// @throws user_error where gpulog was built without Arrow
void require_arrow();

/// Writes all tables of a stream to one file, which it releases. @throws as open_arrow_file
void save_arrow_file(const std::filesystem::path& path, arrow_format format, ArrowArrayStream* rows);

}  // namespace gpulog::io

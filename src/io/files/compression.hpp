#pragma once

#include <memory>
#include <string_view>

#include "io/directive_parameters.hpp"
#include "io/files/byte_source.hpp"

/// How files are compressed, and sources of decompressed bytes. A new compression is a value here and a class in
/// compression.cpp.
namespace gpulog::io {

enum class compression { none, gzip, zstd };

/// Returns the compression of a file that starts with these bytes.
[[nodiscard]] compression compression_of(std::string_view first_bytes);

/// Decompresses all members (gzip) or frames (zstd) of a file.
[[nodiscard]] std::unique_ptr<byte_source> decompressed(std::unique_ptr<byte_source> bytes, compression how);

/// The compression of a text output: the parameter compress, else zstd for a file name that ends with .zst. Other names
/// say nothing, as in Soufflé. As in Soufflé, an unknown value of compress means gzip.
[[nodiscard]] compression output_compression(const directive_parameters& parameters);

/// ".gz"; empty for no compression.
[[nodiscard]] std::string_view extension_of(compression how);

}  // namespace gpulog::io

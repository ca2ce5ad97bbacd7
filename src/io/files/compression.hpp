#pragma once

#include <memory>
#include <string_view>

#include "io/directive_parameters.hpp"
#include "io/files/byte_source.hpp"

/// How files are compressed, and their bytes without that. Another compression is a value here and a source there.
namespace gpulog::io {

enum class compression { none, gzip, zstd };

/// Of a file that starts with these bytes.
[[nodiscard]] compression compression_of(std::string_view first_bytes);

/// The decompressed bytes of all members (gzip) or frames (zstd) of a file.
[[nodiscard]] std::unique_ptr<byte_source> decompressed(std::unique_ptr<byte_source> bytes, compression how);

/// What an .output of text writes: compress=true, gzip or zstd, else a file whose name ends with .zst. Another name, as
/// in Soufflé, says nothing. @throws user_error for another value
[[nodiscard]] compression output_compression(const directive_parameters& parameters);

/// ".gz"; empty for none.
[[nodiscard]] std::string_view extension_of(compression how);

}  // namespace gpulog::io

#include "io/files/compression.hpp"

#include "support/error.hpp"

namespace gpulog::io {

compression compression_of(std::string_view first_bytes) {
  if (first_bytes.starts_with("\x1f\x8b")) return compression::gzip;
  if (first_bytes.starts_with("\x28\xb5\x2f\xfd")) return compression::zstd;
  // A frame to skip, as pzstd writes first: the first byte has the frame's number.
  const bool skipped = first_bytes.size() >= 4 && (static_cast<unsigned char>(first_bytes[0]) & 0xf0U) == 0x50U &&
                       first_bytes.substr(1, 3) == "\x2a\x4d\x18";
  return skipped ? compression::zstd : compression::none;
}

compression output_compression(const directive_parameters& parameters) {
  const std::string name = parameters.text("filename", "");
  const std::string by_name = name.ends_with(extension_of(compression::zstd)) ? "zstd" : "false";
  const std::string value = parameters.text("compress", by_name);
  if (value == "false") return compression::none;
  if (value == "zstd") return compression::zstd;
  return compression::gzip;
}

std::string_view extension_of(compression how) {
  switch (how) {
    case compression::none:
      return "";
    case compression::gzip:
      return ".gz";
    case compression::zstd:
      return ".zst";
  }
  throw internal_error("no such compression");
}

}  // namespace gpulog::io

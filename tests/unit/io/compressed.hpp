#pragma once

#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include <string>

namespace gpulog::io {

/// Compresses a text as a gzip file.
inline std::string gzipped(const std::string& text) {
  std::string bytes(text.size() + 1000, '\0');
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(bytes.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  bytes.resize(stream.total_out);
  deflateEnd(&stream);
  return bytes;
}

/// Compresses a text as a zstd file, with a checksum like the command.
inline std::string zstd_compressed(const std::string& text, int window_log = 0) {
  std::string bytes(ZSTD_compressBound(text.size()), '\0');
  ZSTD_CCtx* const state = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(state, ZSTD_c_checksumFlag, 1);
  ZSTD_CCtx_setParameter(state, ZSTD_c_windowLog, window_log);
  ZSTD_CCtx_setParameter(state, ZSTD_c_contentSizeFlag, 0);  // otherwise a small file has a small window
  ZSTD_inBuffer plain{text.data(), text.size(), 0};
  ZSTD_outBuffer room{bytes.data(), bytes.size(), 0};
  if (window_log > 0) ZSTD_compressStream2(state, &room, &plain, ZSTD_e_continue);
  EXPECT_EQ(ZSTD_compressStream2(state, &room, &plain, ZSTD_e_end), 0U);
  ZSTD_freeCCtx(state);
  bytes.resize(room.pos);
  return bytes;
}

}  // namespace gpulog::io

#include "io/formats/text/zstd_text.hpp"

#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <new>
#include <utility>

#include "support/error.hpp"

namespace gpulog::io {
namespace {

/// @return the result of the call
std::size_t checked(std::size_t result) {
  if (ZSTD_isError(result) == 0U) return result;
  if (ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation) throw std::bad_alloc();
  throw internal_error(ZSTD_getErrorName(result));
}

}  // namespace

struct zstd_text::state {
  explicit state(unsigned threads) {
    if (stream == nullptr) throw std::bad_alloc();
    checked(ZSTD_CCtx_setParameter(stream, ZSTD_c_checksumFlag, 1));
    // One worker gives the same bytes as several workers, zero workers do not. A libzstd without threads has no
    // workers.
    static_cast<void>(
        ZSTD_CCtx_setParameter(stream, ZSTD_c_nbWorkers, static_cast<int>(std::clamp(threads, 1U, 200U))));
  }
  state(const state&) = delete;
  state& operator=(const state&) = delete;
  ~state() { ZSTD_freeCCtx(stream); }

  ZSTD_CCtx* stream = ZSTD_createCCtx();
  std::vector<char> compressed = std::vector<char>(ZSTD_CStreamOutSize());
};

zstd_text::zstd_text(unsigned threads, std::function<void(std::string_view)> sink)
    : sink_(std::move(sink)), state_(std::make_unique<state>(threads)) {}

zstd_text::~zstd_text() = default;

void zstd_text::write(std::string_view text) {
  while (!text.empty()) compress(text, false);
}

void zstd_text::end() {
  std::string_view nothing;
  while (compress(nothing, true) > 0) continue;
}

std::size_t zstd_text::compress(std::string_view& text, bool is_last) {
  ZSTD_inBuffer plain{text.data(), text.size(), 0};
  ZSTD_outBuffer compressed{state_->compressed.data(), state_->compressed.size(), 0};
  const ZSTD_EndDirective how = is_last ? ZSTD_e_end : ZSTD_e_continue;
  const std::size_t waiting = checked(ZSTD_compressStream2(state_->stream, &compressed, &plain, how));
  text.remove_prefix(plain.pos);
  if (compressed.pos > 0) sink_({state_->compressed.data(), compressed.pos});
  return waiting;
}

}  // namespace gpulog::io

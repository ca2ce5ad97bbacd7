#include "backend/gpu/primitives.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "backend/gpu/emulated/primitives.hpp"
#include "backend/gpu/emulated/sanitizer.hpp"
#include "backend/gpu/emulated/settings.hpp"

namespace gpulog::backend::gpu {

namespace {

using emulated::scratch_bytes;

/// Extracts bits [first, last) of a key.
template <class Key>
class digits {
 public:
  digits(unsigned first_bit, unsigned last_bit) : first_(first_bit) {
    const unsigned bits = std::min(last_bit, all_bits) - std::min(first_bit, std::min(last_bit, all_bits));
    mask_ = bits == 0 ? 0 : static_cast<Key>(~Key{0}) >> (all_bits - bits);
  }
  [[nodiscard]] Key operator()(Key key) const { return mask_ == 0 ? 0 : (key >> first_) & mask_; }

 private:
  static constexpr unsigned all_bits = std::numeric_limits<Key>::digits;
  unsigned first_;
  Key mask_;
};

/// Writes a result to one of two arrays and fills the unused array with garbage.
template <class T>
void leave(const std::vector<T>& result, T* to, T* useless) {
  if (result.empty()) return;
  std::copy(result.begin(), result.end(), to);
  std::memset(useless, emulated::fresh_byte, result.size() * sizeof(T));
}

}  // namespace

template <class Word>
void exclusive_sum(void* scratch, std::size_t& bytes, const Word* in, Word* out, std::uint64_t n,
                   stream_handle stream) {
  bytes = scratch_bytes;
  if (scratch == nullptr) return;
  emulated::enqueue("exclusive_sum", stream, [in, out, n] { std::exclusive_scan(in, in + n, out, Word{0}); });
}

template <class Key>
void sort_keys(void* scratch, std::size_t& bytes, double_buffer<Key>& keys, std::uint64_t n, unsigned first_bit,
               unsigned last_bit, stream_handle stream) {
  bytes = scratch_bytes;
  if (scratch == nullptr) return;
  const Key* const in = keys.current;
  if (emulated::by_chance()) std::swap(keys.current, keys.other);
  emulated::enqueue("sort_keys", stream, [in, out = keys, n, of = digits<Key>(first_bit, last_bit)] {
    std::vector<Key> sorted(in, in + n);
    std::stable_sort(sorted.begin(), sorted.end(), [&](Key a, Key b) { return of(a) < of(b); });
    leave(sorted, out.current, out.other);
  });
}

template <class Key>
void sort_pairs(void* scratch, std::size_t& bytes, double_buffer<Key>& keys, double_buffer<std::uint32_t>& values,
                std::uint64_t n, unsigned first_bit, unsigned last_bit, stream_handle stream) {
  bytes = scratch_bytes;
  if (scratch == nullptr) return;
  const Key* const in = keys.current;
  const std::uint32_t* const in_values = values.current;
  if (emulated::by_chance()) {
    std::swap(keys.current, keys.other);
    std::swap(values.current, values.other);
  }
  emulated::enqueue("sort_pairs", stream,
                    [in, in_values, out = keys, out_values = values, n, of = digits<Key>(first_bit, last_bit)] {
                      std::vector<std::pair<Key, std::uint32_t>> pairs(n);
                      for (std::uint64_t i = 0; i < n; ++i) pairs[i] = {in[i], in_values[i]};
                      std::stable_sort(pairs.begin(), pairs.end(),
                                       [&](const auto& a, const auto& b) { return of(a.first) < of(b.first); });
                      std::vector<Key> sorted(n);
                      std::vector<std::uint32_t> sorted_values(n);
                      for (std::uint64_t i = 0; i < n; ++i) std::tie(sorted[i], sorted_values[i]) = pairs[i];
                      leave(sorted, out.current, out.other);
                      leave(sorted_values, out_values.current, out_values.other);
                    });
}

template void exclusive_sum(void*, std::size_t&, const std::uint32_t*, std::uint32_t*, std::uint64_t, stream_handle);
template void exclusive_sum(void*, std::size_t&, const std::uint64_t*, std::uint64_t*, std::uint64_t, stream_handle);
template void sort_keys(void*, std::size_t&, double_buffer<std::uint32_t>&, std::uint64_t, unsigned, unsigned,
                        stream_handle);
template void sort_keys(void*, std::size_t&, double_buffer<std::uint64_t>&, std::uint64_t, unsigned, unsigned,
                        stream_handle);
template void sort_pairs(void*, std::size_t&, double_buffer<std::uint32_t>&, double_buffer<std::uint32_t>&,
                         std::uint64_t, unsigned, unsigned, stream_handle);
template void sort_pairs(void*, std::size_t&, double_buffer<std::uint64_t>&, double_buffer<std::uint32_t>&,
                         std::uint64_t, unsigned, unsigned, stream_handle);

void unique(void* scratch, std::size_t& bytes, const std::uint32_t* in, std::uint32_t* out, std::uint64_t* count,
            std::uint64_t n, stream_handle stream) {
  bytes = scratch_bytes;
  if (scratch == nullptr) return;
  emulated::enqueue("unique", stream, [in, out, count, n] {
    *count = static_cast<std::uint64_t>(std::unique_copy(in, in + n, out) - out);
  });
}

void select_flagged(void* scratch, std::size_t& bytes, const std::uint8_t* flags, std::uint32_t* out,
                    std::uint64_t* count, std::uint64_t n, stream_handle stream) {
  bytes = scratch_bytes;
  if (scratch == nullptr) return;
  emulated::enqueue("select_flagged", stream, [flags, out, count, n] {
    std::uint64_t found = 0;
    for (std::uint64_t i = 0; i < n; ++i) {
      if (flags[i] != 0) out[found++] = static_cast<std::uint32_t>(i);
    }
    *count = found;
  });
}

}  // namespace gpulog::backend::gpu

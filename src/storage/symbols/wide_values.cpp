#include "storage/symbols/wide_values.hpp"

namespace gpulog::storage {

namespace {

struct halves {
  explicit halves(wide_word value) : words{static_cast<word>(value), static_cast<word>(value >> 32)} {}
  word words[2];
};

}  // namespace

word wide_values::number_code(wide_word value) { return no_code | numbers_.intern(halves(value).words); }

void wide_values::codes(const wide_word* values, std::uint32_t n, word* codes) {
  struct waiting_value {
    std::uint32_t place;
    std::uint64_t hash;
  };
  constexpr std::uint32_t most_waiting = 64;
  waiting_value waiting[most_waiting];
  std::uint32_t count = 0;
  const auto finish = [&] {
    for (std::uint32_t w = 0; w < count; ++w) {
      const waiting_value& one = waiting[w];
      codes[one.place] = no_code | numbers_.intern(halves(values[one.place]).words, one.hash);
    }
    count = 0;
  };
  for (std::uint32_t i = 0; i < n; ++i) {
    if (has_short_code(values[i], codes[i])) continue;
    const std::uint64_t hash = numbers_.hash_of(halves(values[i]).words);
    numbers_.prefetch(hash);
    waiting[count++] = {i, hash};
    if (count == most_waiting) finish();
  }
  finish();
}

word wide_values::known_number_code(wide_word value) const { return no_code | numbers_.find(halves(value).words); }

}  // namespace gpulog::storage

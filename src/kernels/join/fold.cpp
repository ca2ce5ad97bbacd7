#include "kernels/join/fold.hpp"

#include <algorithm>

#include "kernels/steps/scalar.hpp"

namespace gpulog::kernels {

static_assert(tile_rows < 65535 && (tile_rows & (tile_rows - 1)) == 0);

namespace {

__extension__ using product = unsigned __int128;
__extension__ using signed_product = __int128;

}  // namespace

std::uint32_t fold_state::group(const std::vector<const word*>& columns, std::uint32_t n) {
  if (columns.empty() || n == 1) {
    representatives_[0] = 0;
    std::fill_n(groups_, n, std::uint16_t{0});
    return 1;
  }
  std::fill_n(table_, table_size, std::uint16_t{0});
  std::uint32_t made = 0;
  for (std::uint32_t i = 0; i < n; ++i) {
    std::uint64_t code = 0;
    for (const word* column : columns) code = (code ^ column[i]) * 0x9E3779B97F4A7C15ULL;
    std::uint32_t place = static_cast<std::uint32_t>(code >> 32) & (table_size - 1);
    const auto is_same = [&](std::uint16_t other) {
      return std::all_of(columns.begin(), columns.end(),
                         [&](const word* column) { return column[i] == column[other]; });
    };
    while (table_[place] != 0 && !is_same(representatives_[table_[place] - 1])) place = (place + 1) & (table_size - 1);
    if (table_[place] == 0) {
      representatives_[made] = static_cast<std::uint16_t>(i);
      table_[place] = static_cast<std::uint16_t>(++made);
    }
    groups_[i] = static_cast<std::uint16_t>(table_[place] - 1);
  }
  return made;
}

void fold_state::clear(std::uint32_t groups) {
  std::fill_n(counts_, groups, std::uint64_t{0});
  std::fill_n(values_, groups, wide_word{0});
  std::fill_n(carries_, groups, std::int64_t{0});
  std::fill_n(sums_, groups, 0.0);
}

template <class Word>
void fold_state::add_to_sum(bool is_signed, word group, Word value) {
  wide_word& sum = values_[group];
  if (is_signed) {
    const auto added = static_cast<std::int64_t>(as_number(value));
    std::int64_t result = 0;
    if (__builtin_add_overflow(static_cast<std::int64_t>(sum), added, &result)) carries_[group] += added < 0 ? -1 : 1;
    sum = static_cast<wide_word>(result);
  } else {
    sum += value;
    if (sum < value) ++carries_[group];
  }
}

template <class Word>
void fold_state::add_product(bool is_signed, std::uint32_t group, Word value, std::uint64_t times) {
  wide_word& sum = values_[group];
  if (is_signed) {
    const auto added = static_cast<signed_product>(static_cast<std::int64_t>(as_number(value)));
    const auto all = static_cast<signed_product>(static_cast<std::int64_t>(sum)) + added * times;
    const auto result = static_cast<std::int64_t>(all);
    carries_[group] += static_cast<std::int64_t>((all - result) >> 64);
    sum = static_cast<wide_word>(result);
  } else {
    const product all = static_cast<product>(value) * times + sum;
    carries_[group] += static_cast<std::int64_t>(all >> 64);
    sum = static_cast<wide_word>(all);
  }
}
void fold_state::add_repeated(bool is_signed, std::uint32_t group, std::uint32_t value, std::uint64_t times) {
  add_product(is_signed, group, value, times);
}
void fold_state::add_repeated(bool is_signed, std::uint32_t group, std::uint64_t value, std::uint64_t times) {
  add_product(is_signed, group, value, times);
}

template <class Word>
void fold_state::add_values(fold_op op, bool is_signed, const word* owners, const Word* values, std::uint32_t n) {
  const auto extreme = [&](auto is_better) {
    for (std::uint32_t i = 0; i < n; ++i) {
      const word group = owners[i];
      if (counts_[group]++ == 0 || is_better(values[i], static_cast<Word>(values_[group]))) values_[group] = values[i];
    }
  };
  switch (op) {
    case fold_op::count:
      for (std::uint32_t i = 0; i < n; ++i) ++counts_[owners[i]];
      break;
    case fold_op::sum_number:
      for (std::uint32_t i = 0; i < n; ++i) add_to_sum(is_signed, owners[i], values[i]);
      break;
    case fold_op::sum_float:
    case fold_op::mean:
      for (std::uint32_t i = 0; i < n; ++i) {
        ++counts_[owners[i]];
        sums_[owners[i]] += static_cast<double>(as_float(values[i]));
      }
      break;
    case fold_op::min_number:
      return extreme([](Word a, Word b) { return as_number(a) < as_number(b); });
    case fold_op::min_unsigned:
      return extreme([](Word a, Word b) { return a < b; });
    case fold_op::min_float:
      return extreme([](Word a, Word b) { return as_float(a) < as_float(b); });
    case fold_op::max_number:
      return extreme([](Word a, Word b) { return as_number(a) > as_number(b); });
    case fold_op::max_unsigned:
      return extreme([](Word a, Word b) { return a > b; });
    case fold_op::max_float:
      return extreme([](Word a, Word b) { return as_float(a) > as_float(b); });
    case fold_op::functor:
      break;  // callers use so_far() instead
  }
}

void fold_state::add(fold_op op, bool is_signed, const word* owners, const std::uint32_t* values, std::uint32_t n) {
  add_values(op, is_signed, owners, values, n);
}
void fold_state::add(fold_op op, bool is_signed, const word* owners, const std::uint64_t* values, std::uint32_t n) {
  add_values(op, is_signed, owners, values, n);
}

bool fold_state::wraps_around(fold_op op, bool is_signed, std::uint32_t group, word_size words) const {
  const std::uint64_t all_bits = words == word_size::bits64 ? UINT64_MAX : UINT32_MAX;
  const std::uint64_t largest = is_signed ? all_bits / 2 : all_bits;
  if (op == fold_op::count) return counts_[group] > largest;
  if (op != fold_op::sum_number) return false;
  if (carries_[group] != 0) return true;
  const auto number = static_cast<std::int64_t>(values_[group]);
  if (is_signed && number < 0) return number < -static_cast<std::int64_t>(largest) - 1;
  return values_[group] > largest;
}

bool fold_state::has_value(fold_op op, std::uint32_t group) const {
  return op == fold_op::count || op == fold_op::sum_number || op == fold_op::sum_float || counts_[group] != 0;
}

wide_word fold_state::value(fold_op op, std::uint32_t group, word_size words) const {
  const bool is_wide = words == word_size::bits64;
  const auto real = [&](double value) -> wide_word {
    return is_wide ? from_float(value) : from_float(static_cast<float>(value));
  };
  switch (op) {
    case fold_op::sum_float:
      return real(sums_[group]);
    case fold_op::mean:
      return real(sums_[group] / static_cast<double>(counts_[group]));
    default: {
      const wide_word value = op == fold_op::count ? counts_[group] : values_[group];
      return is_wide ? value : static_cast<std::uint32_t>(value);
    }
  }
}

}  // namespace gpulog::kernels

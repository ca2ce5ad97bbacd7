#include "kernels/steps/registered_call.hpp"

#include <bit>
#include <string>
#include <string_view>
#include <type_traits>

#include "kernels/steps/scalar.hpp"

namespace gpulog::kernels {
namespace {

/// A column in the functor's value type; only one of the arrays is used.
template <class Word, class Text>
struct functor_column {
  std::vector<std::make_signed_t<Word>> numbers;
  std::vector<Word> unsigned_numbers;
  std::vector<float_of<Word>> floats;
  std::vector<Text> texts;

  template <class Visit>
  auto visit(value_kind kind, const Visit& visitor) {
    if (kind == value_kind::number) return visitor(numbers);
    if (kind == value_kind::unsigned_number) return visitor(unsigned_numbers);
    return kind == value_kind::floating ? visitor(floats) : visitor(texts);
  }
};

template <class Word>
void call_with(const user_functor& described, const registered_functor& function,
               const std::vector<const word*>& arguments, std::uint32_t n, word* result, storage::symbol_table& symbols,
               storage::wide_values* wide) {
  std::vector<functor_column<Word, std::string_view>> given(described.parameters.size());
  std::vector<column_values> columns;
  for (std::size_t p = 0; p < given.size(); ++p) {
    columns.push_back(given[p].visit(described.parameters[p], [&]<class Value>(std::vector<Value>& values) {
      values.resize(n);
      for (std::uint32_t i = 0; i < n; ++i) {
        if constexpr (std::is_same_v<Value, std::string_view>) {
          values[i] = symbols.text(arguments[p][i]);
        } else {
          values[i] = std::bit_cast<Value>(static_cast<Word>(storage::value_of(arguments[p][i], wide)));
        }
      }
      return column_values(std::span<const Value>(values));
    }));
  }
  functor_column<Word, std::string> made;
  made.visit(described.result, [&]<class Value>(std::vector<Value>& values) {
    values.resize(n);
    function(columns, result_values(std::span<Value>(values)));
    for (std::uint32_t i = 0; i < n; ++i) {
      if constexpr (std::is_same_v<Value, std::string>) {
        result[i] = symbols.intern(values[i]);
      } else {
        result[i] = storage::word_of(std::bit_cast<Word>(values[i]), wide);
      }
    }
  });
}

}  // namespace

void call_registered(const user_functor& described, const registered_functor& function,
                     const std::vector<const word*>& arguments, std::uint32_t n, word* result,
                     storage::symbol_table& symbols, storage::wide_values* wide) {
  if (wide == nullptr) {
    call_with<std::uint32_t>(described, function, arguments, n, result, symbols, wide);
  } else {
    call_with<std::uint64_t>(described, function, arguments, n, result, symbols, wide);
  }
}

}  // namespace gpulog::kernels

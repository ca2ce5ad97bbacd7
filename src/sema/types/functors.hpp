#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/ids.hpp"
#include "support/operations.hpp"

/// The functors of the language that operate on words: their overloads, and the operations that implement each
/// overload.
namespace gpulog::sema {

/// How an overload is lowered to scalar operations.
enum class lowering : std::uint8_t {
  direct,    ///< op(arguments)
  fold,      ///< n-ary, nested to the left: op(op(a, b), c)
  join,      ///< op(a, b, c), a concatenation
  generate,  ///< produces several values
  retype,    ///< the operand itself, with the kind of the result
  split,     ///< op(text, separator, number) for each number of a part
  format,    ///< op on the pieces of a constant text and the arguments as texts
};

struct functor_overload {
  std::vector<value_kind> parameters;  ///< a single kind for all arguments with lowering::fold; empty: any kind
  value_kind result = value_kind::number;
  scalar_op op = scalar_op::copy;
  lowering how = lowering::direct;

  [[nodiscard]] std::optional<value_kind> parameter(std::size_t position) const {
    if (parameters.empty()) return std::nullopt;
    return parameters[position < parameters.size() ? position : parameters.size() - 1];
  }
};

struct functor_signature {
  std::string_view name;  ///< as in programs: "+", "band", "substr"; the unary minus is "neg"
  std::size_t least_arguments = 0;
  std::size_t most_arguments = 0;  ///< SIZE_MAX: no limit
  std::vector<functor_overload> overloads;
};

/// Returns the texts around the placeholders `{}` of a format, in which `{{` and `}}` are braces.
/// @return nothing for any other brace
[[nodiscard]] std::optional<std::vector<std::string>> pieces_of_format(std::string_view pattern);

/// Returns the signature of a functor, or nullptr if no functor on words has this name.
[[nodiscard]] const functor_signature* find_functor(std::string_view name);

}  // namespace gpulog::sema

#pragma once

#include <optional>
#include <vector>

#include "support/ids.hpp"
#include "syntax/ast.hpp"

namespace gpulog::sema {

/// The value that the literal stands for when it is of this kind; nothing when the kind cannot express it. Unsigned
/// numbers of up to 64 bits wrap around to the word, as in Soufflé.
[[nodiscard]] std::optional<wide_word> literal_value(const syntax::numeric_constant& constant, value_kind kind,
                                                     word_size words);

/// Whether the literal, as an unsigned number, is too large for the word and wraps around.
[[nodiscard]] bool wraps_around(const syntax::numeric_constant& constant, word_size words);

/// Returns the kinds that the form and size of the literal permit, in the order number, unsigned, float.
[[nodiscard]] std::vector<value_kind> literal_kinds(const syntax::numeric_constant& constant, word_size words);

}  // namespace gpulog::sema

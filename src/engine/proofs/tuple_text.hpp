#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/ids.hpp"
#include "support/value_types.hpp"

namespace gpulog::sema {
struct relation;
}

/// Parses and formats tuples and values in the syntax of programs.
namespace gpulog::detail {

struct run_context;

[[nodiscard]] std::string value_text(const run_context& context, word value, const value_type& type);
/// Returns nothing for a text that is not a value of the type. Symbols may be written without quotes.
[[nodiscard]] std::optional<word> value_from_text(run_context& context, std::string_view text, const value_type& type);
/// Formats a tuple, for example reach(1, "b").
[[nodiscard]] std::string tuple_text(const run_context& context, relation_id relation, std::span<const word> words);
/// @throws input_error
[[nodiscard]] std::pair<relation_id, std::vector<word>> tuple_from_text(run_context& context, std::string_view text);

/// A tuple in the syntax of programs: `reach(1, x)`.
struct written_tuple {
  relation_id relation;
  std::vector<std::string_view> values;  ///< one for each attribute of the relation
};
/// @throws input_error
[[nodiscard]] written_tuple written_tuple_of(run_context& context, std::string_view text);
/// Splits the text at commas outside quotes and brackets; ignores a dot at the end.
[[nodiscard]] std::vector<std::string_view> parts_of_tuple(std::string_view text);
/// @throws input_error if the text is not a value of the attribute
[[nodiscard]] word value_of_attribute(run_context& context, std::string_view text, const sema::relation& declared,
                                      std::size_t column);

}  // namespace gpulog::detail

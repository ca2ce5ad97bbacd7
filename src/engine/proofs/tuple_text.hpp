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

/// Tuples and their values as a program writes them.
namespace gpulog::detail {

struct engine_state;

[[nodiscard]] std::string value_text(const engine_state& engine, word value, const value_type& type);
/// Nothing where the text is no value of the type. Texts of symbols may do without quotes.
[[nodiscard]] std::optional<word> value_from_text(engine_state& engine, std::string_view text, const value_type& type);
/// "reach(1, \"b\")"
[[nodiscard]] std::string tuple_text(const engine_state& engine, relation_id relation, std::span<const word> words);
/// @throws input_error
[[nodiscard]] std::pair<relation_id, std::vector<word>> tuple_from_text(engine_state& engine, std::string_view text);

/// A tuple as it is written: `reach(1, x)`.
struct written_tuple {
  relation_id relation;
  std::vector<std::string_view> values;  ///< as many as the relation has attributes
};
/// @throws input_error
[[nodiscard]] written_tuple written_tuple_of(engine_state& engine, std::string_view text);
/// The parts between commas that stand in no quotes and no brackets; a dot may stand at the end.
[[nodiscard]] std::vector<std::string_view> parts_of_tuple(std::string_view text);
/// @throws input_error where the text is no value of the attribute
[[nodiscard]] word value_of_attribute(engine_state& engine, std::string_view text, const sema::relation& declared,
                                      std::size_t column);

}  // namespace gpulog::detail

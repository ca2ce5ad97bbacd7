#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/ids.hpp"
#include "support/value_types.hpp"

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

}  // namespace gpulog::detail

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "backend/array.hpp"
#include "gpulog/value.hpp"
#include "support/ids.hpp"
#include "support/value_types.hpp"

/// Converts between values of callers and words of relations.
namespace gpulog::detail {

struct engine_state;

/// Returns the words of a row; adds texts and records that the engine does not contain yet.
/// @throws input_error unless there is a value of the right type for each attribute, memory_limit_error
[[nodiscard]] std::vector<word> new_row_of(std::span<const value> values, std::uint32_t relation, engine_state& engine);

/// Returns the words of a row; empty if the engine does not contain all values, so that no relation contains the row.
[[nodiscard]] std::optional<std::vector<word>> known_row_of(std::span<const value> values, std::uint32_t relation,
                                                            engine_state& engine);

/// Appends the words of an attribute.
/// @tparam Given value, record, branch or a text
/// @throws as new_row_of; messages begin with the number of the row
template <class Given>
void append_new_words(std::span<const Given> values, std::uint32_t relation, std::size_t column, engine_state& engine,
                      backend::array<word>& words);

/// @throws input_error for a value larger than the limit, memory_limit_error
[[nodiscard]] value value_of(word stored, const value_type& type, const engine_state& engine);

}  // namespace gpulog::detail

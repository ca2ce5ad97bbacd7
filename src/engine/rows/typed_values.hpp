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

struct run_context;

/// Returns the words of a row; adds texts and records that the engine does not contain yet.
/// @throws input_error unless there is a value of the right type for each attribute, memory_limit_error
[[nodiscard]] std::vector<word> new_row_of(std::span<const value> values, std::uint32_t relation, run_context& context);

/// Returns the words of a row; empty if the engine does not contain all values, so that no relation contains the row.
[[nodiscard]] std::optional<std::vector<word>> known_row_of(std::span<const value> values, std::uint32_t relation,
                                                            run_context& context);

/// Appends the words of an attribute.
/// @tparam Given value, record, branch or a text
/// @throws as new_row_of; messages begin with the number of the row
template <class Given>
void append_new_words(std::span<const Given> values, std::uint32_t relation, std::size_t column, run_context& context,
                      backend::array<word>& words);

/// @throws input_error for a value larger than the limit, memory_limit_error
[[nodiscard]] value value_of(word stored, const value_type& type, const run_context& context);

}  // namespace gpulog::detail

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

/// Values as callers have them, and words as relations store them.
namespace gpulog::detail {

struct engine_state;

/// The words of a row; texts and records that the engine does not have yet are added. @throws input_error unless there
/// is a value of its type for each attribute, memory_limit_error
[[nodiscard]] std::vector<word> new_row_of(std::span<const value> values, std::uint32_t relation, engine_state& engine);

/// The same, but nothing where the engine does not have all of the values: then no relation does.
[[nodiscard]] std::optional<std::vector<word>> known_row_of(std::span<const value> values, std::uint32_t relation,
                                                            engine_state& engine);

/// Appends the words of an attribute. @tparam Given value, record, branch or a text @throws as new_row_of, with the
/// number of the row in front
template <class Given>
void append_new_words(std::span<const Given> values, std::uint32_t relation, std::size_t column, engine_state& engine,
                      backend::array<word>& words);

/// @throws input_error for one that is larger than a value may be, memory_limit_error
[[nodiscard]] value value_of(word stored, const value_type& type, const engine_state& engine);

}  // namespace gpulog::detail

#pragma once

#include "lsp/features/place.hpp"
#include "lsp/names/name_index.hpp"

namespace gpulog::lsp {

/// Returns the symbol at an offset: of a use, or by its name in an item that cannot be parsed; nullptr if unknown.
[[nodiscard]] const named_symbol* symbol_at(const file_view& view, std::size_t offset);

[[nodiscard]] json definition_at(const file_view& view, std::size_t offset);
[[nodiscard]] json references_at(const file_view& view, std::size_t offset, bool with_declaration);
/// Returns the uses in the file, with kinds: written in a head or declaration, otherwise read.
[[nodiscard]] json highlights_at(const file_view& view, std::size_t offset);
[[nodiscard]] json hover_at(const file_view& view, std::size_t offset);

/// Returns the call hierarchy item of the relation at the offset.
[[nodiscard]] json prepared_hierarchy(const file_view& view, std::size_t offset);
/// Returns the relations whose rules read the relation.
[[nodiscard]] json incoming_calls(const file_view& view, std::size_t offset);
/// Returns the relations that the rules of the relation in this file read.
[[nodiscard]] json outgoing_calls(const file_view& view, std::size_t offset);

}  // namespace gpulog::lsp

#pragma once

#include "lsp/features/place.hpp"

namespace gpulog::lsp {

/// Kinds of symbols, by the numbers of the protocol.
enum class symbol_kind : int {
  module = 2,
  class_ = 5,
  method = 6,
  field = 8,
  enum_ = 10,
  function = 12,
  object = 19,
  enum_member = 22,
  struct_ = 23,
  type_parameter = 26,
};

/// Returns the document symbols: declarations, components with their content, and rules.
[[nodiscard]] json document_symbols(const file_view& view);

}  // namespace gpulog::lsp

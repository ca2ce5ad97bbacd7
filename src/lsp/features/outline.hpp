#pragma once

#include <map>
#include <string>

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

/// Returns the document symbols: declarations, components with all items, and rules.
[[nodiscard]] json document_symbols(const file_view& view);

/// Returns the declarations with names that contain the query, at most 1,000.
[[nodiscard]] json workspace_symbols(const workspace& all,
                                     const std::map<std::string, const compiled_program*>& programs,
                                     const std::string& query);

}  // namespace gpulog::lsp

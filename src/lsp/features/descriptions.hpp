#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lsp/features/place.hpp"
#include "lsp/names/name_index.hpp"

namespace gpulog::lsp {

/// The form of an atom, a constructor or a call.
struct call_signature {
  std::string label;                    ///< "edge(x:number, y:symbol)"
  std::vector<std::string> parameters;  ///< parts of the label
};

/// Returns the signature of `edge`, `c.edge`, `$Branch`, `@functor` or a functor of the language; nothing for unknown
/// names.
[[nodiscard]] std::optional<call_signature> signature_of(const compiled_program& program, const std::string& name);
[[nodiscard]] call_signature signature_of(const std::string& name, const std::vector<syntax::attribute>& attributes);

/// Returns the text of a declaration, shortened.
[[nodiscard]] std::string declaration_text(const named_symbol& symbol);

/// Returns the comment directly above a declaration, without `//` and `*/`; empty without a comment.
[[nodiscard]] std::string documentation_of(const source_span& declaration);

/// Returns the declared type of a variable: the type of the first attribute with this variable as argument.
[[nodiscard]] std::optional<std::string> type_of_variable(const compiled_program& program, const source_span& clause,
                                                          const std::string& variable);

/// The same, but only in these literals.
[[nodiscard]] std::optional<std::string> type_of_variable(const compiled_program& program,
                                                          const std::vector<const syntax::literal*>& parts,
                                                          const std::string& variable);

/// Returns the type of a variable or constant; `number` if unknown.
[[nodiscard]] std::string type_of_argument(const compiled_program& program, const source_span& clause,
                                           const syntax::argument& argument);

}  // namespace gpulog::lsp

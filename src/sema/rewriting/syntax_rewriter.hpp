#pragma once

#include <functional>

#include "syntax/ast.hpp"

namespace gpulog::sema {

/// Renames names in a syntax tree in place.
class syntax_rewriter {
 public:
  using renaming = std::function<void(syntax::qualified_name&)>;

  /// Each function is called for each use and each declaration of a name: `relations` for relations, `types` for types,
  /// `branches` for branches of algebraic data types.
  syntax_rewriter(renaming relations, renaming types, renaming branches)
      : relation_(std::move(relations)), type_(std::move(types)), branch_(std::move(branches)) {}

  void rewrite(syntax::clause& clause) const;
  void rewrite(syntax::subsumption& subsumption) const;
  void rewrite(syntax::relation_declaration& declaration) const;
  void rewrite(syntax::type_declaration& declaration) const;
  void rewrite(syntax::lattice_declaration& declaration) const;
  void rewrite(syntax::directive& directive) const;

 private:
  void rewrite(syntax::identifier& name, const renaming& rename) const;
  void rewrite(std::vector<syntax::attribute>& attributes) const;
  void rewrite(syntax::atom& atom) const;
  void rewrite(std::vector<syntax::conjunction>& alternatives) const;
  void rewrite(syntax::literal& literal) const;
  void rewrite(syntax::argument& term) const;
  void rewrite(std::vector<syntax::argument>& terms) const;

  renaming relation_;
  renaming type_;
  renaming branch_;
};

}  // namespace gpulog::sema

#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lsp/names/name_index.hpp"
#include "lsp/names/name_scopes.hpp"

namespace gpulog::lsp {

/// Fills an index: first declares the names of all items, then resolves uses of names.
class name_collector {
 public:
  explicit name_collector(name_index& out) : out_(out) {}

  void run(const syntax::program& tree);

 private:
  // ---- declarations (name_declarations.cpp) ----
  void declare(const std::vector<syntax::item>& items, name_scope& scope);
  void declare(const syntax::relation_declaration& node, name_scope& scope);
  void declare(const syntax::type_declaration& node, name_scope& scope);
  void declare(const syntax::functor_declaration& node, name_scope& scope);
  void declare(const syntax::component& node, name_scope& scope);
  void declare(const syntax::component_instance& node, name_scope& scope);
  template <class Other>
  void declare(const Other& /*node*/, name_scope& /*scope*/) {}
  /// Adds a symbol and its declaration. A name that is declared twice keeps its first symbol.
  named_symbol& add(name_scope::names& names, name_kind kind, const syntax::identifier& name, const source_span& whole);
  void declare_fields(const std::vector<syntax::attribute>& fields, const std::string& owner);
  void add_members(const name_scope& scope);

  // ---- uses (name_collector.cpp) ----
  void resolve(const std::vector<syntax::item>& items, const name_scope& scope);
  void resolve(const syntax::clause& node, const name_scope& scope);
  void resolve(const syntax::subsumption& node, const name_scope& scope);
  void resolve(const syntax::relation_declaration& node, const name_scope& scope);
  void resolve(const syntax::type_declaration& node, const name_scope& scope);
  void resolve(const syntax::lattice_declaration& node, const name_scope& scope);
  void resolve(const syntax::functor_declaration& node, const name_scope& scope);
  void resolve(const syntax::directive& node, const name_scope& scope);
  void resolve(const syntax::pragma& /*node*/, const name_scope& /*scope*/) {}
  void resolve(const syntax::component& node, const name_scope& scope);
  void resolve(const syntax::component_instance& node, const name_scope& scope);
  void resolve(const syntax::override_declaration& node, const name_scope& scope);

  void resolve_body(const std::vector<syntax::conjunction>& body, const name_scope& scope);
  void resolve_literal(const syntax::literal& part, const name_scope& scope);
  void resolve_atom(const syntax::atom& atom, const name_scope& scope, name_role role);
  void resolve_term(const syntax::argument& term, const name_scope& scope);
  void resolve_fields(const std::vector<syntax::attribute>& fields, const name_scope& scope);
  void resolve_type(const syntax::qualified_name& name, const name_scope& scope);
  void resolve_component(const syntax::component_type& type, const name_scope& scope);
  /// Resolves `a.b.c`, where `a` and `b` are instances.
  void resolve_qualified(const syntax::qualified_name& name, const name_scope& scope,
                         name_scope::names name_scope::*kind, name_role role);
  void use_variable(const std::string& name, const source_span& span);
  void use_functor(const std::string& name, const source_span& span, const name_scope& scope);
  void use(std::uint32_t symbol, const source_span& span, std::string_view name, name_role role);
  void begin_clause(const source_span& span, bool is_fact);
  void end_clause();

  name_index& out_;
  std::deque<name_scope> scopes_;
  std::map<const syntax::component*, name_scope*> scope_of_;
  std::map<const syntax::attribute*, std::uint32_t> fields_;
  std::uint32_t clause_ = name_use::no_clause;
  std::map<std::string, std::uint32_t, std::less<>> variables_;  ///< of the clause
};

}  // namespace gpulog::lsp

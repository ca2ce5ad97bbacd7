#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "sema/program.hpp"
#include "sema/types/types.hpp"
#include "support/diagnostics.hpp"
#include "syntax/ast.hpp"

namespace gpulog::sema {

/// The declarations of a program: types, relations, functors, directives, pragmas. Resolves names.
class declarations {
 public:
  /// Fills relations and pragmas of `program`. Reports errors and continues with the valid declarations.
  /// @param pragmas override the pragmas of the items
  declarations(const std::vector<syntax::item>& items, program& program, diagnostics& diagnostics,
               const std::map<std::string, std::string>& pragmas = {});

  [[nodiscard]] const type_environment& types() const { return types_; }
  [[nodiscard]] word_size words() const { return program_.words; }
  [[nodiscard]] bool is_legacy() const { return program_.pragmas.contains("legacy"); }
  [[nodiscard]] std::optional<relation_id> find_relation(const std::string& name) const;
  /// Returns the type of a column; invalid if the declaration named an unknown type (already reported).
  [[nodiscard]] type_id column_type(relation_id relation, std::size_t column) const {
    return column_types_[relation.value][column];
  }
  [[nodiscard]] const syntax::attribute& column_declaration(relation_id relation, std::size_t column) const {
    return (*attributes_[relation.value])[column];
  }
  /// A branch of an algebraic data type.
  struct known_branch {
    type_id type;
    std::uint32_t number = 0;  ///< index in the lexical order of the type's branches
  };
  [[nodiscard]] const known_branch* find_branch(const std::string& name) const;
  [[nodiscard]] const std::vector<type_id>& branch_fields(const known_branch& branch) const {
    return types_.structure(types_[branch.type].structure).branches[branch.number];
  }
  /// Returns whether all branches of the type have no fields, so that the values are numbers.
  [[nodiscard]] bool is_enumeration(const known_branch& branch) const {
    return program_.structures[types_[branch.type].structure.value].is_enumeration();
  }
  [[nodiscard]] std::vector<std::string> branch_names() const;

  /// A functor of a library.
  struct known_functor {
    const syntax::functor_declaration* declaration;
    std::vector<type_id> parameters;  ///< invalid: unknown type, already reported
    type_id result;
    std::uint32_t number = 0;  ///< index in the program's list
  };
  [[nodiscard]] const known_functor* find_user_functor(const std::string& name) const;
  [[nodiscard]] std::vector<std::string> user_functor_names() const;
  [[nodiscard]] std::size_t arity(relation_id relation) const { return column_types_[relation.value].size(); }
  [[nodiscard]] bool is_inline(relation_id relation) const { return program_[relation].is_inline; }
  [[nodiscard]] source_span relation_span(relation_id relation) const { return program_[relation].span; }
  /// Returns whether the program defines the type with an error that was reported.
  [[nodiscard]] bool is_defined_wrongly(const std::string& type) const {
    return !types_.find(type) && pending_types_.contains(type);
  }
  [[nodiscard]] const std::vector<std::string>& relation_names() const { return relation_names_; }

  /// Adds the relation of a query's head. The types of its columns are not declared.
  /// @param text the query, for messages and plans
  /// @param parameters of the .output directive
  void declare_query(const syntax::atom& head, const std::string& text, std::map<std::string, std::string> parameters);

  /// Reports an unknown relation with a suggestion.
  void report_unknown_relation(const syntax::qualified_name& name) const;

 private:
  enum class progress : std::uint8_t { waiting, done };
  struct pending_type {
    const syntax::type_declaration* declaration;
    progress state = progress::waiting;
  };

  void collect_pragmas(const std::vector<syntax::item>& items, const std::map<std::string, std::string>& outweighing);
  void collect_types(const std::vector<syntax::item>& items);
  /// Returns the type; reports an error and returns nothing for an unknown name.
  /// @param role purpose of the name, for the message
  std::optional<type_id> resolve_type(const syntax::qualified_name& name, const std::string& role);
  /// Reports and rejects types that are defined in terms of themselves.
  void reject_cycles(const std::vector<syntax::item>& items);
  void define_type(pending_type& pending);
  void define(const syntax::type_declaration& declaration, const syntax::subtype_definition& definition);
  void define(const syntax::type_declaration& declaration, const syntax::alias_definition& definition);
  void define(const syntax::type_declaration& declaration, const syntax::union_definition& definition);
  void define(const syntax::type_declaration& declaration, const syntax::record_definition& definition);
  void define(const syntax::type_declaration& declaration, const syntax::adt_definition& definition);

  void add_structure(const syntax::type_declaration& declaration, value_kind kind);
  void complete_structures();
  void check_field_names(const std::vector<syntax::attribute>& fields);
  std::vector<type_id> resolve_fields(const std::vector<syntax::attribute>& fields, std::vector<field_type>& described);
  void complete_branches(const syntax::adt_definition& definition, structure_fields& types, structure_type& described);

  void declare_lattices(const std::vector<syntax::item>& items);
  std::optional<std::uint32_t> check_lattice(const syntax::lattice_declaration& declaration);
  void declare_functor(const syntax::functor_declaration& declaration);
  void declare_relation(const syntax::relation_declaration& declaration);
  void declare_relation(const syntax::relation_declaration& declaration, const syntax::identifier& name);
  void check_debug_delta(const syntax::relation_declaration& declaration) const;
  void check_attribute_names(const syntax::relation_declaration& declaration);
  void apply_qualifiers(const syntax::relation_declaration& declaration, const syntax::identifier& name,
                        relation& relation);
  void check_equivalence(const syntax::identifier& name, const relation& relation, const std::vector<type_id>& types);
  void add_choice_domains(const syntax::relation_declaration& declaration, relation& relation);
  void check_repetition(const syntax::directive& directive, const syntax::qualified_name& relation);
  void add_directive(const syntax::directive& directive);
  void check_inlined_relations();

  program& program_;
  diagnostics& diagnostics_;
  type_environment types_;
  std::unordered_map<std::string, pending_type> pending_types_;
  std::size_t type_depth_ = 0;
  std::vector<const syntax::type_declaration*> structures_;  ///< by structure_id
  struct declared_branch {
    known_branch what;
    source_span span;
  };
  std::unordered_map<std::string, declared_branch> branches_;
  std::unordered_map<std::string, relation_id> relations_;
  std::set<std::string> not_inlined_;  ///< by a pragma
  std::vector<std::string> relation_names_;
  std::unordered_map<std::string, source_span> single_directives_;  ///< by kind and relation
  std::vector<std::vector<type_id>> column_types_;                  ///< by relation
  std::vector<const std::vector<syntax::attribute>*> attributes_;   ///< by relation
  std::deque<std::vector<syntax::attribute>> query_columns_;
  std::unordered_map<std::string, known_functor> user_functors_;
};

/// Reports "<construct> is not supported yet".
void report_unsupported(diagnostics& diagnostics, const source_span& where, const std::string& construct);

}  // namespace gpulog::sema

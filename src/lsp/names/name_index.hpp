#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/source.hpp"
#include "syntax/ast.hpp"

namespace gpulog::lsp {

enum class name_kind : std::uint8_t {
  relation,
  type,
  type_parameter,
  branch,
  functor,
  component,
  instance,
  attribute,  ///< of a relation, a record or a branch
  variable,   ///< of one clause
};

/// Something with a name. The pointers refer to the syntax tree.
struct named_symbol {
  name_kind kind = name_kind::relation;
  std::string name;
  source_span declared;  ///< its name in the declaration, or the first use of a variable
  source_span whole;     ///< the declaration, or the clause of a variable
  std::string owner;     ///< the component, or the type of a branch; empty at the top level
  const std::vector<syntax::attribute>* attributes = nullptr;  ///< of a relation or branch, parameters of a functor
  const syntax::functor_declaration* functor = nullptr;
  const syntax::type_declaration* type = nullptr;
};

enum class name_role : std::uint8_t {
  declaration,
  fills,     ///< in the head of a clause
  reads,     ///< in a body
  mentions,  ///< a directive, a type of an attribute, and the like
};

/// A use of a symbol in the text.
struct name_use {
  static constexpr std::uint32_t no_clause = static_cast<std::uint32_t>(-1);

  source_span span;  ///< the name alone, or the call of a macro that contains the name
  std::uint32_t symbol = 0;
  std::uint32_t clause = no_clause;
  name_role role = name_role::mentions;
  bool is_written = true;  ///< false: the text at `span` is the call of a macro
};

/// A clause, with the relations that it fills.
struct indexed_clause {
  source_span span;
  std::vector<std::uint32_t> heads;
  bool is_fact = false;
};

/// The names of a program, resolved in the tree of the items that could be read.
class name_index {
 public:
  explicit name_index(const syntax::program& tree);

  [[nodiscard]] const std::vector<named_symbol>& symbols() const { return symbols_; }
  /// In order of file and place.
  [[nodiscard]] const std::vector<name_use>& uses() const { return uses_; }
  [[nodiscard]] const std::vector<indexed_clause>& clauses() const { return clauses_; }

  /// Returns the use at an offset of a file, also directly after the name; nullptr if none.
  [[nodiscard]] const name_use* find_use(const source_file& file, std::size_t offset) const;
  /// Returns the symbol of the top level with this name; nullptr if none.
  [[nodiscard]] const named_symbol* find_symbol(name_kind kind, std::string_view name) const;
  /// Returns the relation `c.edge` that a component instance contains, also `edge`.
  [[nodiscard]] const named_symbol* find_relation(std::string_view qualified) const;
  /// Returns the relations of the instance at the top level, with inherited relations.
  [[nodiscard]] std::vector<const named_symbol*> members_of(std::string_view instance) const;

  [[nodiscard]] std::uint32_t number_of(const named_symbol& symbol) const {
    return static_cast<std::uint32_t>(&symbol - symbols_.data());
  }

 private:
  friend class name_collector;

  std::vector<named_symbol> symbols_;
  std::vector<name_use> uses_;
  std::vector<indexed_clause> clauses_;
  struct member {
    std::string instance;
    std::uint32_t relation;
  };
  std::vector<member> members_;
};

}  // namespace gpulog::lsp

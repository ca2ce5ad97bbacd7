#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "support/source.hpp"
#include "syntax/terms.hpp"

/// The abstract syntax of a program, close to its text: nothing is resolved, expanded or typed. All nodes are values:
/// copying copies the tree, == compares trees without their places. The parser limits the depth of trees
/// (parse_options::deepest in parser.hpp), so that recursion over them is safe; destruction is at any depth.
namespace gpulog::syntax {

// ---- clauses --------------------------------------------------------------------------------------------------------

/// `version : (order)`, as written: positions count positive atoms from 1.
struct plan_order {
  std::uint32_t version = 0;
  std::vector<std::uint32_t> order;
  place span;
  friend bool operator==(const plan_order&, const plan_order&) = default;
};

/// A fact, or a rule with one or more heads: `heads :- body. .plan ...`
struct clause {
  std::vector<atom> heads;
  std::vector<conjunction> body;  ///< alternatives joined by `;`; empty for a fact
  std::vector<plan_order> plan;
  place span;
  friend bool operator==(const clause&, const clause&) = default;
};

/// A query: the body of a rule.
struct query {
  std::vector<conjunction> body;  ///< alternatives
  place span;
  friend bool operator==(const query&, const query&) = default;
};

/// `dominated <= dominating :- body.`
struct subsumption {
  atom dominated, dominating;
  std::vector<conjunction> body;
  std::vector<plan_order> plan;
  place span;
  friend bool operator==(const subsumption&, const subsumption&) = default;
};

// ---- declarations ---------------------------------------------------------------------------------------------------

/// `name : type`, `name : type<>` (a lattice)
struct attribute {
  identifier name;  ///< empty for an unnamed parameter of a functor
  qualified_name type;
  bool is_lattice = false;
  place span;
  friend bool operator==(const attribute&, const attribute&) = default;
};

enum class relation_qualifier : std::uint8_t {
  overridable,
  is_inline,
  no_inline,
  magic,
  no_magic,
  brie,
  btree,
  btree_delete,
  eqrel,
  input,      ///< deprecated
  output,     ///< deprecated
  printsize,  ///< deprecated
};

[[nodiscard]] std::string_view spelling(relation_qualifier qualifier);

struct placed_qualifier {
  relation_qualifier what = relation_qualifier::overridable;
  place span;
  friend bool operator==(const placed_qualifier&, const placed_qualifier&) = default;
};

/// One key of a choice-domain: `a` or `(a, b)`
struct choice_key {
  std::vector<identifier> attributes;
  place span;
  friend bool operator==(const choice_key&, const choice_key&) = default;
};

/// `.decl names(attributes) qualifiers choice-domain keys`, `.decl name = debug_delta(other)`
struct relation_declaration {
  std::vector<identifier> names;
  std::vector<attribute> attributes;
  std::vector<placed_qualifier> qualifiers;
  std::vector<choice_key> choice_domain;
  std::optional<identifier> debug_delta_of;
  place span;
  friend bool operator==(const relation_declaration&, const relation_declaration&) = default;
};

/// `.type T <: base`; also `.number_type T`, `.symbol_type T`, `.type T` (deprecated)
struct subtype_definition {
  qualified_name base;
  friend bool operator==(const subtype_definition&, const subtype_definition&) = default;
};

/// `.type T = other`
struct alias_definition {
  qualified_name target;
  friend bool operator==(const alias_definition&, const alias_definition&) = default;
};

/// `.type T = a | b`, with at least two members
struct union_definition {
  std::vector<qualified_name> members;
  friend bool operator==(const union_definition&, const union_definition&) = default;
};

/// `.type T = [a : t, ...]`
struct record_definition {
  std::vector<attribute> fields;
  friend bool operator==(const record_definition&, const record_definition&) = default;
};

/// `Name { a : t, ... }`
struct branch_definition {
  identifier name;
  std::vector<attribute> fields;
  place span;
  friend bool operator==(const branch_definition&, const branch_definition&) = default;
};

/// `.type T = A { a : t } | B {}`
struct adt_definition {
  std::vector<branch_definition> branches;
  friend bool operator==(const adt_definition&, const adt_definition&) = default;
};

struct type_declaration {
  identifier name;
  std::variant<subtype_definition, alias_definition, union_definition, record_definition, adt_definition> definition;
  place span;
  friend bool operator==(const type_declaration&, const type_declaration&) = default;
};

/// `.lattice T<> { Bottom -> a, Lub -> @f(_, _), ... }`
struct lattice_declaration {
  struct operation {
    identifier name;
    argument value;
    friend bool operator==(const operation&, const operation&) = default;
  };
  identifier name;
  std::vector<operation> operations;
  place span;
  friend bool operator==(const lattice_declaration&, const lattice_declaration&) = default;
};

/// `.functor name(parameters) : result stateful`
struct functor_declaration {
  identifier name;
  std::vector<attribute> parameters;
  qualified_name result;
  bool stateful = false;
  place span;
  friend bool operator==(const functor_declaration&, const functor_declaration&) = default;
};

enum class directive_kind : std::uint8_t { input, output, printsize, limitsize };

/// ".input", ...
[[nodiscard]] std::string_view spelling(directive_kind kind);

/// `key = value`; the value without quotes and with escapes resolved
struct directive_parameter {
  identifier key;
  std::string value;
  friend bool operator==(const directive_parameter&, const directive_parameter&) = default;
};

/// `.output a, b(key=value, ...)`: the parameters apply to all relations
struct directive {
  directive_kind kind = directive_kind::input;
  std::vector<qualified_name> relations;
  std::vector<directive_parameter> parameters;
  place span;
  friend bool operator==(const directive&, const directive&) = default;
};

/// `.pragma "name" "value"`
struct pragma {
  std::string name;
  std::string value;
  place span;
  friend bool operator==(const pragma&, const pragma&) = default;
};

// ---- components -----------------------------------------------------------------------------------------------------

/// `Name<A, B>`, in a declaration or a use
struct component_type {
  identifier name;
  std::vector<identifier> parameters;
  place span;
  friend bool operator==(const component_type&, const component_type&) = default;
};

/// `.init name = type`
struct component_instance {
  identifier name;
  component_type type;
  place span;
  friend bool operator==(const component_instance&, const component_instance&) = default;
};

/// `.override name`
struct override_declaration {
  identifier name;
  place span;
  friend bool operator==(const override_declaration&, const override_declaration&) = default;
};

struct item;

/// `.comp type : bases { items }`
struct component {
  component_type type;
  std::vector<component_type> bases;
  std::vector<item> items;
  place span;
  friend bool operator==(const component&, const component&);
};

/// Anything at the top level or in a component: pragma and functor_declaration only at the top level,
/// override_declaration only in a component.
struct item {
  using variant =
      std::variant<clause, subsumption, relation_declaration, type_declaration, lattice_declaration,
                   functor_declaration, directive, pragma, component, component_instance, override_declaration>;
  variant value;

  template <class Node>
  [[nodiscard]] const Node* as() const {
    return std::get_if<Node>(&value);
  }
  template <class Node>
  [[nodiscard]] Node* as() {
    return std::get_if<Node>(&value);
  }
  friend bool operator==(const item&, const item&);
};

struct program {
  std::vector<item> items;  ///< in the order of the text, with included files in place
  /// An expression is deeper than parse_options::deepest, or a body is so long that its plan is as deep.
  bool needs_deep_stack = false;
  bool may_have_text_tests = false;  ///< an atom has the name of a functor that is a test
  friend bool operator==(const program&, const program&) = default;
};

}  // namespace gpulog::syntax

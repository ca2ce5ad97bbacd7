#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "support/child_list.hpp"
#include "support/ids.hpp"
#include "support/operations.hpp"
#include "support/source.hpp"
#include "support/value_types.hpp"

/// The program after semantic analysis: names resolved, every expression typed, disjunctions and multiple heads
/// expanded, rules grouped into strata in evaluation order.
namespace gpulog::sema {

// ---- relations ------------------------------------------------------------------------------------------------------

/// A column of a relation.
struct attribute {
  std::string name;
  std::string type_name;  ///< the declared name
  value_kind kind = value_kind::number;
  structure_id structure;  ///< for kinds record and adt
};

enum class directive_kind : std::uint8_t { input, output, printsize, limitsize };

/// A directive `.input`, `.output`, `.printsize` or `.limitsize` for one relation; values as in the source, without
/// quotes.
struct io_directive {
  directive_kind kind = directive_kind::output;
  std::map<std::string, std::string> parameters;
  source_span span;
};

/// The representation that the declaration requests; the engine may choose another one except for eqrel.
enum class representation : std::uint8_t { unspecified, btree, btree_delete, brie, eqrel };

struct relation {
  std::string name;  ///< qualified with enclosing component instances: "instance.name"
  std::vector<attribute> attributes;
  representation structure = representation::unspecified;
  bool is_inline = false;
  bool is_magic = false;      ///< declared magic: evaluated on demand
  bool is_not_magic = false;  ///< declared no_magic
  /// The choice-domains: each group of columns is a key, and the first tuple for a key wins.
  std::vector<std::vector<std::uint32_t>> choice_domains;
  std::vector<io_directive> directives;
  std::optional<std::uint64_t> size_limit;  ///< .limitsize, checked once per iteration
  std::vector<rule_id> rules;               ///< rules whose head is the relation
  std::vector<std::uint32_t> subsumptions;  ///< indices into program::subsumptions
  /// For a relation with a single subsumption that orders a column: each use of the column in the relation's recursion
  /// is monotone, so that the result does not depend on the order of values, and no rule is known to derive better
  /// values than the values read, so that evaluating the best values first is likely to save work.
  bool priority_delta = false;
  /// A lattice attribute: the relation keeps one tuple for each combination of its other attributes, with the least
  /// upper bound in this attribute.
  struct lattice_attribute {
    std::uint32_t column = 0;
    std::uint32_t least_upper_bound = 0;  ///< index into program::functors
  };
  std::vector<lattice_attribute> lattices;
  bool is_query = false;      ///< made for a query; a program cannot use its name
  bool is_aggregate = false;  ///< the subsumption implements min or max: one value per key stays
  relation_id made_for;       ///< the original relation, if the magic-set transformation made this one
  source_span span;

  [[nodiscard]] std::uint32_t arity() const { return static_cast<std::uint32_t>(attributes.size()); }
  [[nodiscard]] bool has_directive(directive_kind kind) const {
    for (const io_directive& directive : directives) {
      if (directive.kind == kind) return true;
    }
    return false;
  }
};

// ---- expressions ----------------------------------------------------------------------------------------------------

/// A typed expression. Conversions between types of equal words (as(), ord(), to_number of a number and so on) add no
/// node: only `kind` differs from the operand's kind.
struct expression {
  enum class form : std::uint8_t {
    variable,   ///< rule::variables[variable]
    constant,   ///< `constant`; a symbol_id for kind symbol
    unnamed,    ///< `_`; only as an argument of an atom in a body
    operation,  ///< op(arguments); functors with any number of arguments are nested to the left
    /// [arguments]: nested in a head; in a body only as a side of an equality, with variables, constants and unnamed
    /// fields
    record,
    ///< side of an equality
  };
  form what = form::unnamed;
  value_kind kind = value_kind::number;
  std::uint32_t variable = 0;
  wide_word constant = 0;
  scalar_op op = scalar_op::copy;
  structure_id structure;  ///< of a record or constant that a branch constructor makes: its type
  child_list<expression> arguments;
  source_span span;

  [[nodiscard]] bool is_variable() const { return what == form::variable; }
  [[nodiscard]] bool is_constant() const { return what == form::constant; }
  [[nodiscard]] bool is_unnamed() const { return what == form::unnamed; }
  [[nodiscard]] bool is_operation() const { return what == form::operation; }
  [[nodiscard]] bool is_record() const { return what == form::record; }
};

[[nodiscard]] inline child_list<expression>* children_of(expression& tree) { return &tree.arguments; }

// ---- literals and rules ---------------------------------------------------------------------------------------------

/// An atom. In a body, each argument is a variable, a constant or unnamed: `p(x, x+1)` becomes `p(x, t), t = x+1`, so
/// that t may be computed first and used as a search key, or compared. The remaining literals bind all variables of a
/// negated atom. In a head, an argument is any expression except unnamed.
struct atom {
  relation_id relation;
  std::vector<expression> arguments;
  bool negated = false;
  source_span span;
};

/// A constraint `left op right`. If `op` is `equal` or `equal_float` and one side is a variable without any other
/// binding, the constraint binds the variable. The planner finds an order that binds each variable before its use (the
/// analysis has checked that such an order exists). For matches and contains, the pattern is on the left.
struct constraint {
  comparison_op op = comparison_op::equal;
  expression left, right;
  source_span span;

  [[nodiscard]] bool is_equality() const { return op == comparison_op::equal || op == comparison_op::equal_float; }
};

/// A generator: `result` takes each value of range(arguments) in turn. Has two or three arguments of the same kind.
struct generator {
  value_kind kind = value_kind::number;
  expression result;  ///< a variable
  std::vector<expression> arguments;
  source_span span;
};

struct aggregate;
using literal = std::variant<atom, constraint, aggregate, generator>;

/// An aggregate: result = op over the target's values in all matches of the body. With one positive atom, each tuple is
/// a match; with several atoms, each assignment of the named variables. A variable of the body occurs elsewhere in the
/// rule only if it is injected, that is, bound elsewhere in the rule.
struct aggregate {
  fold_op op = fold_op::count;
  std::uint32_t functor = 0;  ///< index in program::functors of the functor that folds
  wide_word initial = 0;      ///< the functor's argument for the first value
  expression result;          ///< a variable
  expression target;          ///< unnamed for count
  std::vector<literal> body;
  std::vector<std::uint32_t> injected;  ///< ascending
  source_span span;
  bool held_aggregate = false;    ///< its body in the source contained an aggregate that was moved out
  bool compares_records = false;  ///< a test that analysis has made: counts 1 where the fields of two records agree
  /// The body reads the rule's own recursion: the count or sum grows with the recursion and is only compared with a
  /// lower bound. The rule also contains a copy of the body.
  bool grows = false;
};

struct variable {
  std::string name;  ///< names introduced by desugaring start with '@'
  value_kind kind = value_kind::number;
};

/// An entry of `.plan`. `version` counts the positive atoms of the rule's own stratum in body order; in version v, the
/// v-th such atom reads the delta. `order` holds 0-based positions among all positive atoms of the body in the source.
struct execution_order {
  std::uint32_t version = 0;
  std::vector<std::uint32_t> order;
};

/// A rule with one head and a conjunction as body. With an empty body the head always holds (its arguments are constant
/// expressions; the rule is no fact because the evaluation may fail or needs the symbol table).
struct rule {
  rule_id id;
  atom head;
  std::vector<literal> body;
  std::vector<variable> variables;
  std::vector<execution_order> plans;
  std::string text;  ///< one line close to the source, for messages and profiles
  source_span span;  ///< span of the whole clause; the same for all rules of one clause
};

/// A tuple in the program text.
struct fact {
  relation_id relation;
  std::vector<wide_word> values;  ///< one per column
  source_span span;
};

// ---- order of evaluation --------------------------------------------------------------------------------------------

/// A dependency: `from` occurs in the body of a rule whose head is `to`.
struct dependency {
  relation_id from, to;
  bool negated = false;
  friend bool operator==(const dependency&, const dependency&) = default;
  friend auto operator<=>(const dependency&, const dependency&) = default;
};

/// A strongly connected component of the dependency graph.
struct stratum {
  std::vector<relation_id> relations;
  bool recursive = false;
  std::vector<rule_id> rules;  ///< rules whose head is in `relations`, in program order
};

struct program {
  word_size words = word_size::bits32;
  std::vector<relation> relations;  ///< by relation_id, in order of declaration
  std::vector<rule> rules;          ///< by rule_id, in program order
  /// `dominated <= dominating :- body` as `dominated :- dominated, dominating, body`. The first two literals are atoms:
  /// the first tuple is deleted if a second, different tuple exists and the body holds. Rules without an id.
  std::vector<rule> subsumptions;
  std::vector<fact> facts;                             ///< in program order, may contain duplicates
  std::vector<stratum> strata;                         ///< in evaluation order; each relation is in exactly one
  std::vector<dependency> dependencies;                ///< sorted, without duplicates
  std::vector<structure_type> structures;              ///< by structure_id
  std::vector<user_functor> functors;                  ///< declared functors of libraries
  std::vector<std::string> symbols;                    ///< by symbol_id, in order of first occurrence in the text
  std::map<wide_word, std::string> symbols_of_engine;  ///< symbols numbered by an engine (number_symbol)
  std::map<std::string, std::string> pragmas;

  /// Returns the text of a constant of kind symbol.
  [[nodiscard]] std::string_view symbol_text(wide_word id) const {
    if (id < symbols.size()) return symbols[static_cast<std::size_t>(id)];
    const auto found = symbols_of_engine.find(id);
    return found == symbols_of_engine.end() ? std::string_view("?") : found->second;
  }
  [[nodiscard]] const relation& operator[](relation_id id) const { return relations[id.value]; }
  [[nodiscard]] const rule& operator[](rule_id id) const { return rules[id.value]; }
  [[nodiscard]] std::optional<relation_id> find_relation(const std::string& name) const {
    for (std::uint32_t number = 0; number < relations.size(); ++number) {
      if (relations[number].name == name) return relation_id(number);
    }
    return std::nullopt;
  }
};

}  // namespace gpulog::sema

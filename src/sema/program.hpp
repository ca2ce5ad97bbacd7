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

/// The program after semantic analysis: names resolved, every expression typed, disjunctions and several heads
/// expanded, rules grouped into strata in evaluation order.
namespace gpulog::sema {

// ---- relations ------------------------------------------------------------------------------------------------------

/// One column of a relation.
struct attribute {
  std::string name;
  std::string type_name;  ///< as declared
  value_kind kind = value_kind::number;
  structure_id structure;  ///< of kind record or adt
};

enum class directive_kind : std::uint8_t { input, output, printsize, limitsize };

/// One `.input`, `.output`, `.printsize` or `.limitsize` of one relation; values as written (texts without quotes).
struct io_directive {
  directive_kind kind = directive_kind::output;
  std::map<std::string, std::string> parameters;
  source_span span;
};

/// What the declaration asks for; the engine is free to choose another structure except for eqrel.
enum class representation : std::uint8_t { unspecified, btree, btree_delete, brie, eqrel };

struct relation {
  std::string name;  ///< qualified by the component instances it lies in: "instance.name"
  std::vector<attribute> attributes;
  representation structure = representation::unspecified;
  bool is_inline = false;
  bool is_magic = false;      ///< declared so: it is evaluated for what is asked for
  bool is_not_magic = false;  ///< declared so
  /// choice-domain: each group of columns is a key of which the first tuple wins.
  std::vector<std::vector<std::uint32_t>> choice_domains;
  std::vector<io_directive> directives;
  std::optional<std::uint64_t> size_limit;  ///< .limitsize, checked once an iteration
  std::vector<rule_id> rules;               ///< with this relation in the head
  std::vector<std::uint32_t> subsumptions;  ///< of this relation: numbers in program::subsumptions
  /// Of a relation with one subsumption, by the order of a column: whatever reads that column in the relation's
  /// recursion is monotone, so that the result is the same in whatever order values come, and no rule is known to make
  /// better values of those that it reads, so that it pays to go on with the best ones.
  bool priority_delta = false;
  /// Of attributes of lattices: one tuple stays for each value of the others, with the least upper bounds there.
  struct lattice_attribute {
    std::uint32_t column = 0;
    std::uint32_t least_upper_bound = 0;  ///< number of a functor
  };
  std::vector<lattice_attribute> lattices;
  bool is_query = false;      ///< what was asked; no program can write its name
  bool is_aggregate = false;  ///< the subsumption stands for min or max: one value of a key stays
  relation_id made_for;       ///< of one that the magic-set transformation has made: the relation of the text
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

/// A typed expression. Conversions between types of equal words (as(), ord(), to_number of a number, ...) leave no
/// node: only `kind` differs from the operand's own.
struct expression {
  enum class form : std::uint8_t {
    variable,   ///< rule::variables[variable]
    constant,   ///< `constant`; of kind symbol: a symbol_id
    unnamed,    ///< `_`; only as an argument of an atom in a body
    operation,  ///< op(arguments); functors of any number of arguments are nested to the left
    record,     ///< [arguments]: nested in a head; in a body of variables, constants and unnamed fields, and only as a
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

/// In a body every argument is a variable, a constant or unnamed: `p(x, x+1)` is written `p(x, t), t = x+1`, so that
/// t may be computed first and searched for, or compared. A negated atom's variables are all bound by other literals.
/// In a head an argument is any expression but unnamed.
struct atom {
  relation_id relation;
  std::vector<expression> arguments;
  bool negated = false;
  source_span span;
};

/// `left op right`. op `equal` or `equal_float` with a variable alone on a side, not bound otherwise, binds it: the
/// planner finds an order in which each variable is bound before it is used (analysis has checked that there is one).
/// For matches and contains the pattern is left.
struct constraint {
  comparison_op op = comparison_op::equal;
  expression left, right;
  source_span span;

  [[nodiscard]] bool is_equality() const { return op == comparison_op::equal || op == comparison_op::equal_float; }
};

/// result = each of the values of range(arguments) in turn; two or three arguments of the kind.
struct generator {
  value_kind kind = value_kind::number;
  expression result;  ///< a variable
  std::vector<expression> arguments;
  source_span span;
};

struct aggregate;
using literal = std::variant<atom, constraint, aggregate, generator>;

/// result = op over the target's values in all matches of the body. One positive atom: a match for each of its tuples;
/// several: one for each assignment of the named variables. A variable of the body occurs in the rest of the rule only
/// when it is injected: bound there.
struct aggregate {
  fold_op op = fold_op::count;
  std::uint32_t functor = 0;  ///< that folds: its number in program::functors
  wide_word initial = 0;      ///< what it gets with the first value
  expression result;          ///< a variable
  expression target;          ///< unnamed for count
  std::vector<literal> body;
  std::vector<std::uint32_t> injected;  ///< ascending
  source_span span;
  bool held_aggregate = false;    ///< one was written in the body that stands outside now
  bool compares_records = false;  ///< a test that analysis has made: counts 1 where the fields of two records agree
  /// The body reads the rule's own recursion: a count or sum that grows with it and is only compared with a lower
  /// bound. A copy of the body stands beside it.
  bool grows = false;
};

struct variable {
  std::string name;  ///< those that desugaring made begin with '@'
  value_kind kind = value_kind::number;
};

/// One `.plan` entry. `version` counts the positive atoms of the rule's own stratum, in body order; for version v the
/// v-th of these reads the delta. `order` are 0-based positions among all positive atoms of the body, as written.
struct execution_order {
  std::uint32_t version = 0;
  std::vector<std::uint32_t> order;
};

/// One head, a conjunction as body. An empty body means that the head holds always (its arguments are then constant
/// expressions, kept as a rule because evaluating them may fail or needs the symbol table).
struct rule {
  rule_id id;
  atom head;
  std::vector<literal> body;
  std::vector<variable> variables;
  std::vector<execution_order> plans;
  std::string text;  ///< one line of source-like text, for messages and profiles
  source_span span;  ///< of the whole clause; the same for all rules that one clause expands to
};

/// A tuple that stands in the program text.
struct fact {
  relation_id relation;
  std::vector<wide_word> values;  ///< one a column
  source_span span;
};

// ---- order of evaluation --------------------------------------------------------------------------------------------

/// `from` occurs in the body of a rule whose head is `to`.
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
  std::vector<rule_id> rules;  ///< with a head in `relations`, in program order
};

struct program {
  word_size words = word_size::bits32;
  std::vector<relation> relations;  ///< by relation_id, in order of declaration
  std::vector<rule> rules;          ///< by rule_id, in program order
  /// `dominated <= dominating :- body` as `dominated :- dominated, dominating, body`, where the first two literals are
  /// atoms: the first tuple goes when there is a second, different one and the body holds. Without an id.
  std::vector<rule> subsumptions;
  std::vector<fact> facts;                             ///< in program order, duplicates possible
  std::vector<stratum> strata;                         ///< evaluation order; each relation is in exactly one
  std::vector<dependency> dependencies;                ///< without duplicates, sorted
  std::vector<structure_type> structures;              ///< by structure_id
  std::vector<user_functor> functors;                  ///< of libraries, as declared
  std::vector<std::string> symbols;                    ///< by symbol_id, in order of first occurrence in the text
  std::map<wide_word, std::string> symbols_of_engine;  ///< those that an engine has numbered (number_symbol)
  std::map<std::string, std::string> pragmas;

  /// The text of a constant of kind symbol.
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

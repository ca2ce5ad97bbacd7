#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "support/child_list.hpp"
#include "support/source.hpp"

/// The parts of clauses: names, arguments and literals. ast.hpp describes the properties of all nodes.
namespace gpulog::syntax {

/// The place of a node. All places compare equal, so that nodes can use the default ==.
struct place : source_span {
  place() = default;
  place(const source_span& span) : source_span(span) {}  // NOLINT: a span is a place
  friend bool operator==(const place&, const place&) { return true; }
};

/// An owned node of a recursive type, which cannot be a direct member. Copies deeply; empty only after a move.
template <class Node>
class box {
 public:
  box(Node node) : node_(std::make_unique<Node>(std::move(node))) {}  // NOLINT: a node is its box
  box(const box& other) : node_(other.node_ ? std::make_unique<Node>(*other.node_) : nullptr) {}
  box(box&&) noexcept = default;
  box& operator=(const box& other) { return *this = box(other); }
  box& operator=(box&&) noexcept = default;
  ~box() = default;

  Node& operator*() { return *node_; }
  const Node& operator*() const { return *node_; }
  Node* operator->() { return node_.get(); }
  const Node* operator->() const { return node_.get(); }
  friend bool operator==(const box& left, const box& right) { return *left == *right; }

 private:
  std::unique_ptr<Node> node_;
};

/// "a.b.c"
struct qualified_name {
  std::string text;
  place span;

  [[nodiscard]] bool is_simple() const { return text.find('.') == std::string::npos; }
  /// Returns "a" of "a.b.c".
  [[nodiscard]] std::string_view first() const { return std::string_view(text).substr(0, text.find('.')); }
  /// Returns "b.c" of "a.b.c", and an empty text of "a".
  [[nodiscard]] std::string_view rest() const {
    const std::size_t dot = text.find('.');
    return dot == std::string::npos ? std::string_view() : std::string_view(text).substr(dot + 1);
  }
  friend bool operator==(const qualified_name&, const qualified_name&) = default;
};

/// A name without dots.
struct identifier {
  std::string text;
  place span;
  friend bool operator==(const identifier&, const identifier&) = default;
};

// ---- arguments ------------------------------------------------------------------------------------------------------

struct argument;
struct literal;

/// Literals joined by `,`
using conjunction = std::vector<literal>;

struct variable {
  std::string name;
  friend bool operator==(const variable&, const variable&) = default;
};

/// `_`
struct unnamed_variable {
  friend bool operator==(const unnamed_variable&, const unnamed_variable&) = default;
};

/// `nil`
struct nil_constant {
  friend bool operator==(const nil_constant&, const nil_constant&) = default;
};

struct string_constant {
  std::string value;  ///< escapes resolved; may contain any byte
  friend bool operator==(const string_constant&, const string_constant&) = default;
};

enum class numeric_form : std::uint8_t {
  untyped,          ///< `5`: number, unsigned or float by inference
  unsigned_number,  ///< `5u`
  floating,         ///< `5.0`
};

/// A number as written: decimal, 0x.., 0b.. or digits.digits, with a leading `-` if negated (`-5` is a constant), and
/// without a final `u`. An IPv4 address is stored as its signed 32-bit number.
struct numeric_constant {
  std::string text;
  numeric_form form = numeric_form::untyped;
  friend bool operator==(const numeric_constant&, const numeric_constant&) = default;
};

/// `autoinc()`, and `$` (deprecated)
struct counter {
  friend bool operator==(const counter&, const counter&) = default;
};

/// `recursive_iteration_cnt()`
struct iteration_counter {
  friend bool operator==(const iteration_counter&, const iteration_counter&) = default;
};

/// The arguments of a constructor or functor call; nullptr for other terms.
[[nodiscard]] child_list<argument>* children_of(argument& term);

/// `[a, b]`
struct record_constructor {
  child_list<argument> fields;
  friend bool operator==(const record_constructor&, const record_constructor&);
};

/// `$Branch(a, b)`, `$Enum` (same as `$Enum()`)
struct branch_constructor {
  qualified_name branch;
  child_list<argument> fields;
  friend bool operator==(const branch_constructor&, const branch_constructor&);
};

enum class functor : std::uint8_t {
  // prefix operators
  negate,
  bit_not,
  logical_not,
  // infix operators
  add,
  subtract,
  multiply,
  divide,
  modulo,
  power,
  bit_and,
  bit_or,
  bit_xor,
  shift_left,
  shift_right,
  shift_right_unsigned,
  logical_and,
  logical_or,
  logical_xor,
  // called by name, with any number of arguments (not checked by the parser)
  cat,
  ord,
  range,
  strlen,
  substr,
  to_float,
  to_number,
  to_string,
  to_unsigned,
  min,
  max,
  // the same, but unknown to Soufflé and no reserved words
  starts_with,
  ends_with,
  index_of,
  replace,
  to_lower,
  to_upper,
  trim,
  split,
  format,
};

/// As in the text: "+", "band", "cat", ...
[[nodiscard]] std::string_view spelling(functor op);
/// Returns the functor that is called by this name and is unknown to Soufflé.
[[nodiscard]] std::optional<functor> extension_named(std::string_view name);
/// Returns whether a call is also a literal: `starts_with(text, start)`.
[[nodiscard]] bool is_test(functor op);
/// Returns the names of all functors that are called by name, in lexical order.
[[nodiscard]] const std::vector<std::string>& functor_names();
[[nodiscard]] bool is_prefix(functor op);
[[nodiscard]] bool is_infix(functor op);

/// An application of an operator or a built-in function.
struct functor_call {
  functor op = functor::add;
  child_list<argument> arguments;
  friend bool operator==(const functor_call&, const functor_call&);
};

/// `@name(arguments)`
struct user_functor_call {
  std::string name;
  child_list<argument> arguments;
  friend bool operator==(const user_functor_call&, const user_functor_call&);
};

/// `as(value, type)`
struct type_cast {
  box<argument> value;
  qualified_name type;
  friend bool operator==(const type_cast&, const type_cast&);
};

enum class aggregate_op : std::uint8_t { count, sum, min, max, mean, user };

/// "count", "sum", ...; "@@" for user
[[nodiscard]] std::string_view spelling(aggregate_op op);

/// `sum target : { body }` or `sum target : atom(..)`; `@@name initial : target, { body }` when op is user.
struct aggregate {
  aggregate_op op = aggregate_op::count;
  std::string user_name;
  std::optional<box<argument>> target;  ///< empty for count
  std::optional<box<argument>> initial;
  std::vector<conjunction> body;  ///< alternatives; Soufflé supports only one
  bool held_aggregate = false;    ///< whether the analysis has moved a nested aggregate out
  bool compares_records = false;  ///< made by the analysis: counts 1 where the fields of two records agree
  friend bool operator==(const aggregate&, const aggregate&);
};

struct argument {
  using variant = std::variant<unnamed_variable, variable, numeric_constant, string_constant, nil_constant, counter,
                               iteration_counter, record_constructor, branch_constructor, functor_call,
                               user_functor_call, type_cast, aggregate>;
  variant value;
  place span;

  template <class Node>
  [[nodiscard]] const Node* as() const {
    return std::get_if<Node>(&value);
  }
  template <class Node>
  [[nodiscard]] Node* as() {
    return std::get_if<Node>(&value);
  }
  friend bool operator==(const argument&, const argument&);
};

// ---- literals -------------------------------------------------------------------------------------------------------

struct atom {
  qualified_name name;
  std::vector<argument> arguments;
  place span;
  friend bool operator==(const atom&, const atom&);
};

enum class constraint_op : std::uint8_t {
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  match,  ///< the left side is the pattern
  not_match,
  contains,  ///< the left side is the text to find
  not_contains,
};

/// "=", "match", ...; the positive name for not_match and not_contains
[[nodiscard]] std::string_view spelling(constraint_op op);
/// Returns the operator that holds if `op` does not hold.
[[nodiscard]] constraint_op negated(constraint_op op);

/// `left op right`, `match(left, right)`
struct constraint {
  constraint_op op = constraint_op::equal;
  argument left, right;
  friend bool operator==(const constraint&, const constraint&);
};

/// `true`, `false`
struct boolean_constant {
  bool value = true;
  friend bool operator==(const boolean_constant&, const boolean_constant&) = default;
};

/// `!inner`
struct negation {
  box<literal> inner;
  friend bool operator==(const negation&, const negation&);
};

/// `(a, b ; c)`
struct group {
  std::vector<conjunction> alternatives;
  friend bool operator==(const group&, const group&);
};

struct literal {
  using variant = std::variant<atom, constraint, boolean_constant, negation, group>;
  variant value;
  place span;

  template <class Node>
  [[nodiscard]] const Node* as() const {
    return std::get_if<Node>(&value);
  }
  template <class Node>
  [[nodiscard]] Node* as() {
    return std::get_if<Node>(&value);
  }
  friend bool operator==(const literal&, const literal&);
};

}  // namespace gpulog::syntax

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "support/ids.hpp"
#include "support/operations.hpp"

/// The program of the executor: every rule as a pipeline of relational operators over slots (registers of one word per
/// binding).
namespace gpulog::plan {

/// The rows of a relation that an operator reads. Rows are append-only: old = [0,d), delta = [d,n), all = [0,n); rows
/// appended by the running phase follow after n and become visible with the relation's next advance.
enum class part : std::uint8_t { all, old, delta };

/// The value of a slot, or a constant.
struct operand {
  bool is_constant = false;
  std::uint32_t value = 0;  ///< slot number
  wide_word literal = 0;    ///< the constant

  static operand constant(wide_word w) { return {true, 0, w}; }
  static operand slot(slot_id s) { return {false, s.value, 0}; }
  friend bool operator==(const operand&, const operand&) = default;
};

/// slot := value of the column in the current row.
struct column_binding {
  std::uint32_t column = 0;
  slot_id slot;
};

/// Binds each row of the part. As the first operator, the scan is split among workers; later it is a Cartesian product.
struct scan {
  relation_id relation;
  part rows = part::all;
  std::vector<column_binding> bindings;
  /// For an equivalence relation, rows delta and a single binding: binds each element that has a pair in delta once.
  bool changed_elements = false;
};

/// An alternative search for the value that a match binds: in the relation of an existence test that follows the match.
struct other_search {
  relation_id relation;
  index_id index;
  std::vector<operand> keys;  ///< at least one
  std::uint32_t column = 0;   ///< column of the relation that holds the value
  std::size_t test = 0;       ///< index of the existence test among the operators of the version
};

/// Binds each row of the part whose key columns (the first keys.size() columns of the index order) equal the keys. Keys
/// are constants or slots bound before. As the first operator, all keys are constants.
struct match {
  relation_id relation;
  part rows = part::all;
  index_id index;
  std::vector<operand> keys;  ///< at least one
  std::vector<column_binding> bindings;
  /// Not empty: one slot is bound and all remaining columns are keys. For each binding any of these relations may be
  /// searched instead, if the remaining tests and this relation's tuple set are tested. Executors that search this
  /// relation and run the tests in place can ignore the alternatives.
  std::vector<other_search> others = {};
};

/// Keeps the binding if a matching row exists (negated: if none exists). Without an index, either all columns are
/// given, in column order, and the tuple set is tested (rows must be all), or there are no keys and the test is whether
/// the part is empty.
struct exists {
  relation_id relation;
  part rows = part::all;
  bool negated = false;
  index_id index;  ///< invalid: tuple set, or emptiness
  std::vector<operand> keys;
};

/// slot := op(arguments).
struct compute {
  scalar_op op = scalar_op::copy;
  slot_id result;
  std::vector<operand> arguments;
};

/// Keeps the binding if the comparison holds.
struct filter {
  comparison_op op = comparison_op::equal;
  operand left, right;
  friend bool operator==(const filter&, const filter&) = default;
};

/// result := the record of the fields. known_only: keeps the binding only if the record already exists; for records
/// that are subsequently searched in a relation.
struct pack {
  slot_id result;
  std::vector<operand> fields;
  bool known_only = false;
};

/// slot := field.
struct field_binding {
  std::uint32_t field = 0;
  slot_id slot;
};

/// Keeps the binding if the record is not nil, and binds its fields.
struct unpack {
  operand record;
  std::uint32_t arity = 0;
  std::vector<field_binding> bindings;
};

/// Binds each value of range(arguments). Two or three arguments of the same kind.
struct generate {
  value_kind kind = value_kind::number;
  std::vector<operand> arguments;
  slot_id result;
};

/// Starts an aggregate: the operators up to the matching fold_end run for each binding and end there; the operators
/// after it continue with the binding at this point.
struct fold_begin {};

/// Ends an aggregate. result := op over the values of all bindings that resulted from one binding before the
/// fold_begin; without any, the binding is dropped, except for count and sums.
struct fold_end {
  fold_op op = fold_op::count;
  operand value;  ///< any constant for count
  slot_id result;
  std::uint32_t functor = 0;  ///< number of the functor that folds
  wide_word initial = 0;      ///< the functor's argument for the first value
};

/// The last operator: inserts the head tuple, a candidate for the relation.
struct insert {
  relation_id relation;
  std::vector<operand> values;  ///< one per column
};

using operation =
    std::variant<scan, match, exists, compute, filter, pack, unpack, generate, fold_begin, fold_end, insert>;

/// Pairs of values in two columns of a relation.
struct column_pairs {
  relation_id relation;
  std::uint32_t key = 0;    ///< column
  std::uint32_t value = 0;  ///< column; may equal the key
  part rows = part::all;
  friend bool operator==(const column_pairs&, const column_pairs&) = default;
};

/// A rule head(x,y) :- from(x,w), to(w,y); without `to`: head(x,y) :- from(x,y).
struct row_source {
  column_pairs from;
  std::optional<column_pairs> to;
};

/// The results of a version, for one value x of the head's first column at a time.
struct row_wise_version {
  row_source source;
  /// Conditions for every result. Slot 0 represents x, slot 1 represents y.
  std::vector<filter> filters;
};

/// Operators [begin, end) that only ask for a match: no operator after them reads their bindings. Therefore a single
/// binding that passes all of them is enough for each binding before them; executors may ignore this and process all
/// bindings.
struct first_match {
  std::size_t begin = 0;  ///< a scan, match or generate
  std::size_t end = 0;
};

/// One semi-naive version of a rule.
struct rule_version {
  rule_id rule;
  relation_id head;
  int delta_atom = -1;  ///< number of the positive body atom that reads delta (0-based, in source order); -1: none
  std::vector<operation> operations;
  std::uint32_t slot_count = 0;
  std::vector<std::string> slot_names;  ///< variables that a slot holds successively, separated by '/'; for explain
  std::vector<value_kind> slot_kinds;   ///< one per slot
  std::string text;                     ///< the rule in the source, for messages and profiles
  std::string location;                 ///< "file [line:column-line:column]"
  std::vector<double> estimates;        ///< expected bindings after each operator; for explain, never for correctness
  std::string order_reason;             ///< reason for the order of the atoms
  std::optional<row_wise_version> row_wise;  ///< an equivalent to the operators
  /// Ordered by `begin`. First matches may be nested, with a smaller end.
  std::vector<first_match> first_matches;
  std::uint32_t former_plans = 0;  ///< number of plans of the version that had other orders and ran before
  bool is_put_back = false;        ///< the order is one from before a change, and stays
  bool is_retired = false;         ///< no longer run: a supplementary relation that it extends or reads was abandoned
};

/// Rule versions that run successively on the same state, then relations whose appended rows become their delta.
struct phase {
  std::vector<rule_version> versions;
  std::vector<relation_id> advance;
};

/// Erases a row of the relation if another row with equal key columns exists such that the pair passes all operators of
/// the version. The first two operators are scans of the relation, for the erased row and the other one, and represent
/// each pair in turn; there is no insert. Only the CPU can run a stratum with subsumptions.
struct subsumption {
  relation_id relation;
  std::vector<std::uint32_t> key_columns;  ///< ascending
  /// Relations of the own stratum that the version reads after the pair: when they change, old pairs must be tested
  /// again.
  std::vector<relation_id> changing;
  rule_version version;
};

/// A relation of a decomposed stratum: the columns that are passed through, and the remaining ones.
struct decomposed_member {
  relation_id relation;
  std::vector<std::uint32_t>
      /// columns; all members have the same number, with corresponding values at the same positions
      invariants;
  std::vector<std::uint32_t> nodes;  ///< columns, ascending; at least one
};

/// Maps the node columns of a member's tuple to the node columns of following tuples: a search in a complete relation.
struct decomposed_step {
  std::uint32_t from = 0;  ///< member
  std::uint32_t to = 0;    ///< member
  relation_id relation;    ///< the searched relation; invalid: no search, a single tuple with existing values follows
  index_id index;          ///< index on the key; invalid: no relation
  std::vector<std::uint32_t> from_columns;  ///< columns of `from` that equal the key
  std::vector<std::uint32_t> key;           ///< columns of the relation, in the same order
  /// Columns of the relation, or of `from` without one: one per node column of `to`.
  std::vector<std::uint32_t> columns;
};

/// A recursive stratum whose rules pass columns (the invariants) through unchanged: results for one combination of
/// their values do not depend on results for any other. Therefore each combination is a separate fixpoint, a search for
/// the tuples of the remaining columns that are reachable from the first ones.
struct decomposition {
  std::vector<decomposed_member> members;  ///< the relations of the stratum
  std::vector<decomposed_step> steps;

  /// Returns whether values of a column lead to values of the same column in a single binary relation.
  [[nodiscard]] bool is_binary() const {
    return members.size() == 1 && members[0].invariants.size() == 1 && members[0].nodes.size() == 1;
  }
};

/// A stratum of one binary relation whose rules are evaluated once, possibly for one value x of the head's first column
/// at a time: then only the results of one row are deduplicated at a time, in the fastest memory.
struct row_wise_evaluation {
  std::vector<row_source> sources;  ///< one per version of `once`
  /// Conditions for every result of every rule. Slot 0 represents x, slot 1 represents y.
  std::vector<filter> filters;
};

/// A rule head(x,y) :- left(x,u), head(u,v), right(v,y), or without the head: head(x,y) :- left(x,u), right(u,y).
struct product_source {
  std::optional<column_pairs> left;   ///< keyed by x; nothing: u is x
  std::optional<column_pairs> right;  ///< keyed by v; nothing: y is v
  friend bool operator==(const product_source&, const product_source&) = default;
};

/// A recursive stratum of one binary relation that grows by products: as matrices, left * head * right.
struct product_recursion {
  relation_id relation;  ///< the remaining relations of the stratum are steps of its rules
  std::vector<product_source> rules;
  std::vector<product_source> first;  ///< the rules in `once`, as rules without the head; empty: not of this form
  bool without_equal = false;         ///< whether all rules test x != y
};

/// A column of a relation.
struct column_place {
  relation_id relation;
  std::uint32_t column = 0;
  friend auto operator<=>(const column_place&, const column_place&) = default;
};

/// The possible values in a column of a stratum's relation: values in its sources when the stratum starts, and
/// constants.
struct column_domain {
  std::vector<column_place> sources;  ///< ascending, including the column itself
  wide_word largest_constant = 0;
};

struct relation_domain {
  relation_id relation;
  std::vector<column_domain> columns;  ///< one per column
};

/// Relations that depend on each other. `once` runs first; its tuples are the first delta; `loop` is repeated until no
/// relation of the stratum has a delta.
struct stratum {
  std::vector<relation_id> relations;
  bool recursive = false;
  phase once;
  std::vector<phase> loop;
  std::optional<decomposition> decomposed;      ///< an equivalent to the loop
  std::optional<row_wise_evaluation> row_wise;  ///< an equivalent to `once`
  std::optional<product_recursion> products;    ///< an equivalent to the loop
  /// Domains of relations whose values are known before the stratum starts.
  std::vector<relation_domain> domains;
  /// Supplementary relations of the loop that a run may abandon (reoptimizer::abandon()).
  std::vector<relation_id> supplementary;
  /// Applied after `once`, and in each iteration before the last advance. The erased rows of a loop's relation may
  /// still be read in the loop: operators that can encounter them (not in delta) test the tuple set.
  std::vector<subsumption> subsumptions;
};

/// A maintained sorted order of a relation. One order serves every search on a prefix.
struct index {
  relation_id relation;
  std::vector<std::uint32_t> order;        ///< columns, the key first
  std::vector<std::uint32_t> key_lengths;  ///< lengths of searched prefixes, each with a hash table, ascending
  std::vector<std::uint32_t> payload;      ///< columns outside the longest key that some match binds
};

/// Of tuples that are equal in all remaining columns one stays: the best in one column, or the least upper bounds of
/// all.
struct best_of_key {
  /// A column in which a functor of a library computes the remaining value from two values.
  struct bounded_column {
    std::uint32_t column = 0;
    std::uint32_t bound = 0;  ///< the functor
  };

  std::uint32_t column = 0;
  comparison_op better = comparison_op::less_number;  ///< or greater; also for unsigned numbers or floats
  /// The result does not depend on the order of values, and evaluating the best ones first is worthwhile.
  bool priority_delta = false;
  std::vector<bounded_column> bounds;  ///< not empty: bounds replace `column` and `better`
};

struct relation {
  std::string name;
  std::vector<std::string> attribute_names;
  std::vector<value_kind> kinds;  ///< one per column
  bool supplementary = false;     ///< created by the planner
  bool needs_set = true;          ///< false: no membership tests occur and rows cannot repeat
  /// Rows derived by rules before the loop, in an initially empty relation, cannot repeat.
  bool begins_distinct = false;
  std::uint64_t size_limit = 0;  ///< .limitsize, 0: none
  /// Each group of columns is a key of which one tuple stays; not empty: only the CPU can hold the relation.
  std::vector<std::vector<std::uint32_t>> choice_domains;
  /// The effect of the stratum's subsumptions, if it is simple enough for the tuple set.
  std::optional<best_of_key> best;
  bool is_equivalence = false;  ///< eqrel: insertions imply further pairs; only the CPU can hold the relation
  bool is_left_out = false;     ///< no output needs the relation: it is in no stratum
  bool is_asked = false;        ///< further relations hold its requested tuples; it has only its facts
};

/// Tuples in the program text, in row-major order.
struct fact_block {
  relation_id relation;
  std::vector<wide_word> values;
  std::uint64_t rows = 0;
};

struct program {
  word_size words = word_size::bits32;
  std::vector<relation> relations;
  std::vector<index> indexes;
  std::vector<stratum> strata;
  std::vector<fact_block> facts;
  std::vector<std::string> symbols;                    ///< symbol_id n is symbols[n]
  std::map<wide_word, std::string> symbols_of_engine;  ///< see sema::program; for explain
  std::vector<std::string> functors;                   ///< names of library functors, by number; for explain
  std::vector<std::string> remarks;                    ///< decisions about supplementary relations, with reasons
  std::map<std::string, double> pass_times;            ///< seconds by name of the pass, for passes that ran
};

}  // namespace gpulog::plan

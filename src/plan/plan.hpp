#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "support/ids.hpp"
#include "support/operations.hpp"
#include "support/row_equations.hpp"

/// The program of the executor: every rule as a pipeline of relational operators over slots (registers of one word per
/// binding).
namespace gpulog::plan {

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
  row_part rows = row_part::all;
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
  row_part rows = row_part::all;
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
  row_part rows = row_part::all;
  bool negated = false;
  index_id index;  ///< invalid: tuple set, or emptiness
  std::vector<operand> keys;
  bool tests_erasure = false;  ///< the relation has a row with the keys, which may have been erased
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
  std::optional<row_equations> rows;    ///< an equivalent to the operators: a rule that joins two relations
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
  /// An equivalent to the loop (steps; rules, whose first rules are equivalent to `once`), or to `once` without a loop.
  std::optional<row_equations> rows;
  /// Domains of relations whose values are known before the stratum starts.
  std::vector<relation_domain> domains;
  /// Supplementary relations that a run may abandon (reoptimizer::abandon()): of the loop; or the only relation of a
  /// stratum without recursion, if rules of later strata read it as a step.
  std::vector<relation_id> supplementary;
  /// Applied after `once`, and in each iteration before the last advance. The erased rows of a loop's relation may
  /// still be read in the loop: operators that can encounter them (not in delta) test the tuple set.
  std::vector<subsumption> subsumptions;

  [[nodiscard]] bool has_row_steps() const { return rows && !rows->steps.empty(); }
  [[nodiscard]] bool has_row_products() const { return rows && recursive && rows->steps.empty(); }
  [[nodiscard]] bool is_row_join() const { return rows && !recursive; }
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

/// A relation has only the rows of another relation that have a partner in a third.
struct semi_join {
  relation_id whole;
  std::vector<std::uint32_t> tested;  ///< columns with a partner
};

struct relation {
  std::string name;
  std::vector<std::string> attribute_names;
  std::vector<value_kind> kinds;          ///< one per column
  bool supplementary = false;             ///< created by the planner
  std::optional<semi_join> reduced = {};  ///< created by the pass semi-join-reduction
  bool needs_set = true;                  ///< false: no membership tests occur and rows cannot repeat
  /// Rows derived by rules before the loop, in an initially empty relation, cannot repeat.
  bool begins_distinct = false;
  /// One version of the loop derives the relation, and no row twice. Only the CPU omits the set.
  bool loops_distinct = false;
  std::uint64_t size_limit = 0;  ///< .limitsize, 0: none
  /// Each group of columns is a key of which one tuple stays; not empty: only the CPU can hold the relation.
  std::vector<std::vector<std::uint32_t>> choice_domains;
  /// The effect of the stratum's subsumptions, if it is simple enough for the tuple set.
  std::optional<best_of_key> best;
  bool is_equivalence = false;  ///< eqrel: insertions imply further pairs; only the CPU can hold the relation
  bool is_left_out = false;     ///< no output needs the relation: it is in no stratum
  bool loses_tuples = false;    ///< between two continuations; only the CPU erases rows
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

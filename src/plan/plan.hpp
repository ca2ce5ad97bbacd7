#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "support/ids.hpp"
#include "support/operations.hpp"

/// What the executor runs: every rule as a pipeline of relational operators over slots (registers of one word for each
/// binding).
namespace gpulog::plan {

/// Rows of a relation that an operator reads. Rows are append-only: old = [0,d), delta = [d,n), all = [0,n); what the
/// running phase appends lies behind n and is seen after the relation's next advance.
enum class part : std::uint8_t { all, old, delta };

/// A slot's value or a constant.
struct operand {
  bool is_constant = false;
  std::uint32_t value = 0;  ///< slot number
  wide_word literal = 0;    ///< the constant

  static operand constant(wide_word w) { return {true, 0, w}; }
  static operand slot(slot_id s) { return {false, s.value, 0}; }
  friend bool operator==(const operand&, const operand&) = default;
};

/// slot := value of the column in the row that was read.
struct column_binding {
  std::uint32_t column = 0;
  slot_id slot;
};

/// For each row of the part: bind. First in a pipeline it is split among workers; later it is a Cartesian product.
struct scan {
  relation_id relation;
  part rows = part::all;
  std::vector<column_binding> bindings;
  /// Of an equivalence relation, rows delta, one binding: only once for each element that has a pair in delta.
  bool changed_elements = false;
};

/// Another search for the value that a match binds: in the relation of an existence test that follows the match.
struct other_search {
  relation_id relation;
  index_id index;
  std::vector<operand> keys;  ///< at least one
  std::uint32_t column = 0;   ///< of the relation: holds the value
  std::size_t test = 0;       ///< the existence test, by its place among the operators of the version
};

/// For each row of the part whose key columns (the first keys.size() columns of the index order) equal the keys: bind.
/// Keys are constants or slots bound before. First in a pipeline all keys are constants.
struct match {
  relation_id relation;
  part rows = part::all;
  index_id index;
  std::vector<operand> keys;  ///< at least one
  std::vector<column_binding> bindings;
  /// Not empty: one slot is bound and all other columns are keys. For each binding any one of these relations may be
  /// searched, if the other tests and then this relation's tuple set are asked; who searches this relation and runs the
  /// tests where they stand needs to know nothing of the others.
  std::vector<other_search> others = {};
};

/// Keep the binding when a matching row exists (negated: when none does). Without an index: all columns are given, in
/// column order, and the tuple set answers (rows must be all), or there are no keys and the question is whether the
/// part is empty.
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

/// Keep the binding when the comparison holds.
struct filter {
  comparison_op op = comparison_op::equal;
  operand left, right;
  friend bool operator==(const filter&, const filter&) = default;
};

/// result := the record of the fields. known_only: keep the binding only when the record exists already; for records
/// that are then looked for in a relation.
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

/// Keep the binding when the record is not nil, and bind fields of it.
struct unpack {
  operand record;
  std::uint32_t arity = 0;
  std::vector<field_binding> bindings;
};

/// For each value of range(arguments): bind. Two or three arguments of the kind.
struct generate {
  value_kind kind = value_kind::number;
  std::vector<operand> arguments;
  slot_id result;
};

/// Begins an aggregate: the operators up to the matching fold_end run for each binding and end there; the operators
/// behind it go on with the binding as it was here.
struct fold_begin {};

/// Ends an aggregate. result := op over the values of all bindings that came here from one binding in front of the
/// fold_begin; the binding is dropped when there were none, but for count and sums.
struct fold_end {
  fold_op op = fold_op::count;
  operand value;  ///< any constant for count
  slot_id result;
  std::uint32_t functor = 0;  ///< that folds, by its number
  wide_word initial = 0;      ///< what it gets with the first value
};

/// The last operator: the head tuple, a candidate for the relation.
struct insert {
  relation_id relation;
  std::vector<operand> values;  ///< one a column
};

using operation =
    std::variant<scan, match, exists, compute, filter, pack, unpack, generate, fold_begin, fold_end, insert>;

/// Pairs of values that stand in two columns of a relation.
struct column_pairs {
  relation_id relation;
  std::uint32_t key = 0;    ///< column
  std::uint32_t value = 0;  ///< column; may be the same one
  part rows = part::all;
  friend bool operator==(const column_pairs&, const column_pairs&) = default;
};

/// One rule head(x,y) :- from(x,w), to(w,y); without `to`: head(x,y) :- from(x,y).
struct row_source {
  column_pairs from;
  std::optional<column_pairs> to;
};

/// What a version gives, for one value x of the head's first column at a time.
struct row_wise_version {
  row_source source;
  /// That every result has to pass. Slot 0 stands for x, slot 1 for y.
  std::vector<filter> filters;
};

/// Operators [begin, end) that only ask: what they bind is read by none behind them. So for each binding in front of
/// them one that passes all of them is enough; who goes on with all of these needs to know nothing of it.
struct first_match {
  std::size_t begin = 0;  ///< a scan, match or generate
  std::size_t end = 0;
};

/// One semi-naive version of a rule.
struct rule_version {
  rule_id rule;
  relation_id head;
  int delta_atom = -1;  ///< which positive body atom (0-based, as written) reads delta; -1: none
  std::vector<operation> operations;
  std::uint32_t slot_count = 0;
  std::vector<std::string> slot_names;  ///< variables a slot holds, one after another, separated by '/'; for explain
  std::vector<value_kind> slot_kinds;   ///< one a slot
  std::string text;                     ///< the rule as written, for messages and profiles
  std::string location;                 ///< "file [line:column-line:column]"
  std::vector<double> estimates;        ///< bindings expected behind each operator; for explain, never for correctness
  std::string order_reason;             ///< why the atoms are in this order
  std::optional<row_wise_version> row_wise;  ///< another way to do what the operators do
  /// By `begin`. One may lie within another, with a smaller end.
  std::vector<first_match> first_matches;
  bool is_retired = false;  ///< no longer run: a supplementary relation that it extends or reads was abandoned
};

/// Rule versions that run one after another on the same state, then relations whose appended rows become their delta.
struct phase {
  std::vector<rule_version> versions;
  std::vector<relation_id> advance;
};

/// A row of the relation goes when there is another one, equal to it in the key columns, so that the pair passes all
/// operators of the version. Its first two are scans of the relation, for the row that goes and the other one, and
/// stand for each pair in turn; it has no insert. Only the CPU can run a stratum with subsumptions.
struct subsumption {
  relation_id relation;
  std::vector<std::uint32_t> key_columns;  ///< ascending
  /// Relations of the own stratum that the version reads behind the pair: when they change, old pairs count again.
  std::vector<relation_id> changing;
  rule_version version;
};

/// A relation of a stratum that falls apart: which of its columns are passed through, and the others.
struct decomposed_member {
  relation_id relation;
  std::vector<std::uint32_t>
      invariants;                    ///< columns; all members have as many, and the same one stands for the same value
  std::vector<std::uint32_t> nodes;  ///< columns, ascending; at least one
};

/// From the node columns of a member's tuple to those of the tuples that follow it: a search in a relation that is
/// complete.
struct decomposed_step {
  std::uint32_t from = 0;  ///< member
  std::uint32_t to = 0;    ///< member
  relation_id relation;    ///< that is searched; invalid: none, one tuple follows, of values that are there
  index_id index;          ///< by the key; invalid: no relation
  std::vector<std::uint32_t> from_columns;  ///< of `from`: equal to the key
  std::vector<std::uint32_t> key;           ///< columns of the relation, as many
  std::vector<std::uint32_t> columns;       ///< of the relation, else of `from`: one a node column of `to`
};

/// A recursive stratum whose rules pass columns through unchanged (the invariants): what holds for their values depends
/// on nothing that holds for others, so each combination of them is a fixpoint of its own, a search of the tuples of
/// other columns that can be reached from the first ones.
struct decomposition {
  std::vector<decomposed_member> members;  ///< the relations of the stratum
  std::vector<decomposed_step> steps;

  /// One binary relation: values of a column lead to values of the same column.
  [[nodiscard]] bool is_binary() const {
    return members.size() == 1 && members[0].invariants.size() == 1 && members[0].nodes.size() == 1;
  }
};

/// A stratum of one binary relation whose rules are evaluated once, and can be for one value x of the head's first
/// column at a time: then only the results of one row are told from its duplicates, where the fastest memory is.
struct row_wise_evaluation {
  std::vector<row_source> sources;  ///< one a version of `once`
  /// That every result has to pass, whatever rule it comes from. Slot 0 stands for x, slot 1 for y.
  std::vector<filter> filters;
};

/// One rule head(x,y) :- left(x,u), head(u,v), right(v,y), or without the head: head(x,y) :- left(x,u), right(u,y).
struct product_source {
  std::optional<column_pairs> left;   ///< by x; nothing: u is x
  std::optional<column_pairs> right;  ///< by v; nothing: y is v
  friend bool operator==(const product_source&, const product_source&) = default;
};

/// A recursive stratum of one binary relation that grows by products: seen as a matrix, by left * head * right.
struct product_recursion {
  relation_id relation;  ///< others of the stratum are steps of its rules
  std::vector<product_source> rules;
  std::vector<product_source> first;  ///< what `once` does, as rules without the head; empty: they are none
  bool without_equal = false;         ///< all these rules ask for x != y
};

/// A column of a relation.
struct column_place {
  relation_id relation;
  std::uint32_t column = 0;
  friend auto operator<=>(const column_place&, const column_place&) = default;
};

/// What a column of a stratum's relation can hold: values that its sources hold when the stratum begins, and constants.
struct column_domain {
  std::vector<column_place> sources;  ///< ascending; the column itself is one
  wide_word largest_constant = 0;
};

struct relation_domain {
  relation_id relation;
  std::vector<column_domain> columns;  ///< one a column
};

/// What an atom of a restricted rule reads, and what it would read without the restriction; the same one: all of it.
struct restricted_read {
  relation_id copy;
  relation_id whole;
};

/// A relation of which a recursion computes what it asks for, and which is computed in full behind
/// (plan/passes/demand/magic_sets.hpp).
struct watched_restriction {
  relation_id relation;    ///< as written
  relation_id restricted;  ///< in its place
  /// By rule that joins: what its atoms read, without those that no copy can be made of. None is empty.
  std::vector<std::vector<restricted_read>> rules;
};

/// When a recursion with restricted relations is given up: where rules read much of what they would read without the
/// restriction, as much is computed in the recursion as behind it. But what it has done will be done again: either many
/// rows are still to be joined, or what was done is little beside all there is to do.
struct restriction_watch {
  std::vector<watched_restriction> relations;
  double largest_share = 0.1;           ///< of the rows
  double largest_row_wise_share = 0.6;  ///< where the relation is evaluated row by row behind, at little cost
  std::uint64_t least_rows = 1000;      ///< of all rules together: fewer tell nothing, and cost little
  double largest_joined_share = 0.7;    ///< of the rows; or
  double largest_lost_share = 0.1;      ///< of the candidates that are expected without restrictions
};

/// Of a stratum that is run or not: whether another one before it was given up.
struct stratum_condition {
  std::size_t stratum = 0;
  bool given_up = false;
};

/// Relations that depend on each other. `once` is run first; its tuples are the first delta; `loop` is repeated until
/// no relation of the stratum has a delta.
struct stratum {
  std::vector<relation_id> relations;
  bool recursive = false;
  phase once;
  std::vector<phase> loop;
  std::optional<decomposition> decomposed;      ///< another way to do what the loop does
  std::optional<row_wise_evaluation> row_wise;  ///< another way to do what `once` does
  std::optional<product_recursion> products;    ///< another way to do what the loop does
  std::vector<relation_domain> domains;         ///< of those relations whose values are known before it begins
  /// Supplementary relations of the loop that a run may abandon (reoptimizer::abandon()).
  std::vector<relation_id> supplementary;
  /// Applied behind `once`, and in each iteration in front of the last advance. Rows that they take from a relation of
  /// a loop may still be read there: whoever can meet them (not delta) tests the tuple set.
  std::vector<subsumption> subsumptions;
  /// It may be given up before any phase. Its relations then have some of their rows, and a stratum behind that has
  /// them as well goes on from these: in a stratum with a loop, `once` adds to what is there and all of it is delta.
  std::optional<restriction_watch> watch;
  std::optional<stratum_condition> only_if;  ///< else it is not run
};

/// A sorted order of a relation that is kept up to date. One order serves every search on a prefix of it.
struct index {
  relation_id relation;
  std::vector<std::uint32_t> order;        ///< columns, the key first
  std::vector<std::uint32_t> key_lengths;  ///< prefix lengths that are searched, each with a hash table, ascending
  std::vector<std::uint32_t> payload;      ///< columns outside the longest key that some match binds
};

/// Of tuples that are equal in all other columns one stays, the best in one column, or the least upper bounds of all.
struct best_of_key {
  /// Of two values in a column the one that stays is what a functor of a library gives.
  struct bounded_column {
    std::uint32_t column = 0;
    std::uint32_t bound = 0;  ///< the functor
  };

  std::uint32_t column = 0;
  comparison_op better = comparison_op::less_number;  ///< or greater, of unsigned numbers or of floats
  bool priority_delta = false;  ///< the result is the same in whatever order values come, and the best ones first pay
  std::vector<bounded_column> bounds;  ///< not empty: these are the columns; `column` and `better` say nothing
};

struct relation {
  std::string name;
  std::vector<std::string> attribute_names;
  std::vector<value_kind> kinds;  ///< one a column
  bool supplementary = false;     ///< made by the planner
  bool needs_set = true;          ///< false: nothing asks it for membership and its rows cannot repeat
  bool begins_distinct = false;   ///< what the rules in front of its loop make, in an empty relation, cannot repeat
  std::uint64_t size_limit = 0;   ///< .limitsize, 0: none
  /// Each group of columns is a key of which one tuple stays; not empty: only the CPU can hold the relation.
  std::vector<std::vector<std::uint32_t>> choice_domains;
  /// What the subsumptions of its stratum amount to, when they are that simple: the tuple set can do it.
  std::optional<best_of_key> best;
  bool is_equivalence = false;  ///< eqrel: what is inserted implies other pairs; only the CPU can hold the relation
  bool is_left_out = false;     ///< no output needs it: it is in no stratum
  bool is_asked = false;        ///< relations made for it have what is asked for; it has only its facts
};

/// Tuples that stand in the program text; row-major.
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
  std::map<wide_word, std::string> symbols_of_engine;  ///< as sema::program has it; for explain
  std::vector<std::string> functors;                   ///< names of those of libraries, by number; for explain
  std::vector<std::string> remarks;                    ///< decisions about supplementary relations, with their reasons
  std::map<std::string, double> pass_times;            ///< by name of the pass, seconds; those that ran
};

}  // namespace gpulog::plan

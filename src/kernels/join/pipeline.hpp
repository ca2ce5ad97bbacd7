#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "kernels/steps/rule_fault.hpp"
#include "storage/records/record_table.hpp"
#include "storage/symbols/symbol_table.hpp"
#include "storage/symbols/wide_values.hpp"
#include "support/operations.hpp"

/// A rule version in terms of registers and numbered relations: what every backend's runner executes over tiles of
/// bindings (docs/internals/the-way-of-a-tuple.md).
namespace gpulog::kernels {

class functor_table;
class fold_memory;
class run_windows;

/// A relation of the program: its relation_id's value.
using relation_number = std::uint32_t;

enum class row_part : std::uint8_t { all, old, delta };

/// A register: one word for each binding of a tile. Constants have registers of their own behind the rule's slots.
///
/// With words of 64 bits a register holds codes (storage::wide_values). What a step computes has no code before
/// somebody asks for it, since most of such values are only computed with: two registers hold its halves.
using register_number = std::uint32_t;
constexpr register_number no_register = UINT32_MAX;

/// What a scan reads of an equivalence relation: its pairs; its elements, where one column at most is wanted; elements
/// that have a pair in delta.
enum class scan_kind : std::uint8_t { rows, elements, changed_elements };

struct binding {
  register_number target;
  /// Of the relation's columns; for a match in `hash` mode, of the layout's stored columns.
  std::uint32_t column;
};

enum class step_kind : std::uint8_t {
  compute,
  filter,
  exists_tuple,
  exists_key,
  exists_any,
  pack,
  find_record,
  unpack
};

/// A step that makes no new bindings: computes a register, or keeps some bindings.
struct step {
  step_kind kind;
  scalar_op scalar{};
  comparison_op comparison{};
  bool negated = false;
  row_part part = row_part::all;
  relation_number source = 0;
  std::size_t index = 0;
  std::size_t level = 0;
  std::vector<register_number> arguments;
  register_number result = 0;
  bool is_wide = false;  ///< of compute and filter: it works on values of 64 bits
  /// Of a wide step, by argument: the register of its upper half; no_register: the argument is a code.
  std::vector<register_number> upper;
  register_number upper_result = no_register;  ///< likewise
  bool known_only = false;                     ///< no code is made for the result: no_code stands for it
  storage::record_table* records = nullptr;    ///< of pack, find_record, unpack; of wide steps: of the values
  std::vector<binding> bindings;               ///< of unpack: fields
  std::vector<register_number> live;  ///< registers that are read behind this step: what compaction has to keep
};

/// One of several searches for the same values, of which each binding makes the one with the fewest rows.
struct search_choice {
  relation_number source = 0;
  std::size_t index = 0;
  std::size_t level = 0;
  std::vector<register_number> keys;
  binding bound{};
  std::vector<step> checks;  ///< that the value found is in the relations of the other searches
};

/// What filters behind a scan ask of one of its columns: rows outside of the window need not be read.
struct window {
  /// A constant, or a register of the segment before.
  struct known_value {
    register_number value = 0;
    register_number upper = no_register;  ///< with words of 64 bits: no_register, the value is a code
  };
  struct summand {
    known_value value;
    bool is_subtracted = false;
  };
  /// The column, or a sum of it and of what is known, is compared with a value. Sums wrap around.
  struct bound {
    known_value value;
    bool is_upper = false;
    bool is_strict = false;
    bool is_column_subtracted = false;
    std::vector<summand> summands = {};  ///< beside the column

    [[nodiscard]] bool is_of_sum() const { return is_column_subtracted || !summands.empty(); }
  };
  std::uint32_t column = 0;
  bool is_signed = false;
  std::vector<bound> bounds;  ///< none: all rows are read
};

/// fold: the distinct tuples of the carried registers, each once, on which the body of an aggregate or of a first match
/// runs; unfold: the
/// bindings of the segment before the fold, with their results. Only for devices: unit, not first: the bindings as they
/// are; host: the same, and its steps run on the host; lookups: the same, and its steps need one table, of records of
/// one arity or of values of 64 bits.
enum class expansion_kind : std::uint8_t { unit, scan, match, range, fold, unfold, host, lookups };

/// Whether a step looks for a record by its fields, or works on values of 64 bits; a device does so for all bindings
/// together.
[[nodiscard]] inline bool needs_lookup(const step& one) {
  return one.kind == step_kind::pack || one.kind == step_kind::find_record || one.is_wide;
}

/// A step that makes bindings out of bindings, and the steps that follow it.
struct segment {
  expansion_kind kind = expansion_kind::unit;
  row_part part = row_part::all;
  relation_number source = 0;
  scan_kind scanned = scan_kind::rows;
  std::size_t index = 0;
  std::size_t level = 0;
  std::vector<register_number> keys;  ///< of a match; of a range: its arguments
  std::vector<binding> bindings;      ///< of a range: its value
  value_kind value{};                 ///< of a range: its kind
  /// With words of 64 bits, upper halves: of a range's arguments, its value, what is folded, and, on a device, of the
  /// value of an unfold.
  std::vector<register_number> upper_keys;
  register_number upper_value = no_register;
  register_number upper_folded = no_register;
  /// Of a fold: the register that numbers its tuples, and the segment that unfolds it.
  register_number owner = 0;
  std::size_t unfold = 0;
  /// Of a fold: it only asks whether its body has a match; bindings without one end there.
  bool first_match = false;
  /// On a device, of the last segment of a first match: the first one of it. Once a binding has come through this
  /// segment, these segments need no further row.
  std::optional<std::size_t> first_match_from;
  std::size_t first_match_around = 0;  ///< the innermost fold around, if it only asks for a first match; 0: none
  /// Of an unfold: the register of the result. Of a body's last segment: the fold that it ends, what is folded and how.
  register_number result = 0;
  std::size_t ended_fold = 0;  ///< 0: it does not end one
  register_number folded = 0;
  fold_op fold{};
  bool is_signed = true;  ///< of a count or sum: its result is a number, not an unsigned number
  /// Of a body's last segment: what is folded depends on none of its rows, so that their number is enough.
  bool folds_row_counts = false;
  word called = 0;                       ///< the number of the functor that folds
  word initial = 0;                      ///< what it gets with the first value
  window limits;                         ///< of a scan; who reads all rows needs to know nothing of it
  std::vector<search_choice> choices;    ///< of a match: none, or several, the own search first
  std::vector<register_number> carried;  ///< registers of the segment before that are read from here on
  std::vector<step> steps;
};

/// Whether a body's last segment only says how often a value is counted or added.
[[nodiscard]] inline bool needs_row_counts_only(const segment& last) {
  const bool reads_rows = last.kind == expansion_kind::match || last.kind == expansion_kind::scan;
  if (!reads_rows || last.scanned != scan_kind::rows || !last.steps.empty() || !last.choices.empty()) return false;
  if (last.fold == fold_op::count) return true;
  const auto is_folded = [&last](const binding& bound) { return bound.target == last.folded; };
  // A sum of floats depends on the order and the number of additions.
  return last.fold == fold_op::sum_number && std::none_of(last.bindings.begin(), last.bindings.end(), is_folded);
}

/// Brings an index up to date before its first search.
class index_refresher {
 public:
  index_refresher() = default;
  index_refresher(const index_refresher&) = delete;
  index_refresher& operator=(const index_refresher&) = delete;
  virtual ~index_refresher() = default;
  virtual void refresh(relation_number relation, std::size_t index) = 0;
};

/// How far a run of a pipeline is, for other threads.
struct pipeline_progress {
  std::atomic<std::uint64_t> rows = 0;  ///< of its first expansion, that were taken through it
  std::atomic<std::uint64_t> candidates = 0;
};

/// How many bindings came to each place of a pipeline, over all of its runs. A CPU counts at all places; a device knows
/// what expansions give, and what goes on from a segment to the next one.
struct step_counts {
  static constexpr std::uint32_t no_place = UINT32_MAX;

  /// By segment: the place of what its expansion gives. Then come what the checks of its choices leave, and what each
  /// step leaves.
  std::vector<std::uint32_t> first;
  std::vector<std::uint32_t>
      operators;                      ///< by operator of the plan's version: its place; no_place: nothing counts there
  std::vector<std::uint64_t> counts;  ///< by place
  std::uint64_t runs = 0;             ///< that were counted

  /// Where the bindings of a segment's expansion are counted. @param has_choices whether it has made one of several
  /// searches
  [[nodiscard]] std::uint32_t place_of_expansion(std::size_t segment, bool has_choices) const {
    return first[segment] + (has_choices ? 0 : 1);
  }
  [[nodiscard]] std::uint32_t last_place(std::size_t segment) const {
    return (segment + 1 < first.size() ? first[segment + 1] : static_cast<std::uint32_t>(counts.size())) - 1;
  }
};

struct pipeline {
  std::vector<segment> segments;
  std::vector<register_number> head;  ///< one a column
  relation_number target = 0;
  std::uint32_t slot_count = 0;
  std::vector<word> constants;  ///< register slot_count + i holds constants[i]
  storage::symbol_table* symbols = nullptr;
  const functor_table* functors = nullptr;    ///< of call_functor
  std::atomic<wide_word>* counter = nullptr;  ///< of next_counter
  const word* iteration = nullptr;            ///< of iteration_number
  storage::wide_values* wide = nullptr;       ///< nullptr: words have 32 bits
  /// On a CPU, what aggregates gave in earlier runs, where that is still true; nullptr: nothing is.
  std::shared_ptr<fold_memory> folded;
  /// What runs keep of the order of rows; nullptr: each run begins anew.
  std::shared_ptr<run_windows> windows;
  bool may_remember = true;  ///< false: there is nothing that `folded` or `windows` would hold
  /// Gets true where a count or sum needs more bits than words have; nullptr: nobody asks.
  std::shared_ptr<std::atomic<bool>> wraps_around;
  index_refresher* indexes = nullptr;     ///< on a CPU; nullptr: indexes are up to date
  pipeline_progress* progress = nullptr;  ///< on a CPU; nullptr: nobody asks
  std::shared_ptr<step_counts> counted;   ///< nullptr: nobody asks, or who runs it does not count

  /// Whether results of aggregates, or orders of rows, are kept during a run.
  [[nodiscard]] bool has_memory() const {
    return std::any_of(segments.begin(), segments.end(), [](const segment& one) {
      return one.kind == expansion_kind::fold || !one.limits.bounds.empty();
    });
  }
  /// Whether a step can tell how often, and after what, it is taken.
  [[nodiscard]] bool observes_order() const {
    return std::any_of(segments.begin(), segments.end(), [](const segment& one) {
      return std::any_of(one.steps.begin(), one.steps.end(), [](const step& taken) {
        return taken.kind == step_kind::compute &&
               (taken.scalar == scalar_op::next_counter || taken.scalar == scalar_op::call_functor);
      });
    });
  }
  /// Whether nothing is left to do once the head's relation has all that it can have: the empty tuple.
  [[nodiscard]] bool ends_when_full() const { return head.empty() && !observes_order(); }
};

/// Rows [first, second) of a part.
struct part_rows {
  std::uint64_t begin;
  std::uint64_t end;
};
template <class Relation>
[[nodiscard]] part_rows rows_of(const Relation& source, row_part part) {
  switch (part) {
    case row_part::old:
      return {0, source.old_rows()};
    case row_part::delta:
      return {source.old_rows(), source.rows()};
    case row_part::all:
      break;
  }
  return {0, source.rows()};
}

/// Rows that a scan reads: of an equivalence relation its elements by number, or the pairs of the part (or changed
/// elements), counted from 0.
template <class Relation>
[[nodiscard]] part_rows rows_of(const Relation& source, const segment& scan) {
  if constexpr (requires { source.as_equivalence(); }) {
    if (const auto* classes = source.as_equivalence()) {
      const bool with_old = scan.part != row_part::delta;
      const bool with_delta = scan.part != row_part::old;
      if (scan.scanned == scan_kind::rows) return {0, classes->pair_count(with_old, with_delta)};
      if (scan.scanned == scan_kind::changed_elements) return {0, classes->changed_elements()};
      return {with_old ? 0 : classes->old_elements(), with_delta ? classes->elements() : classes->old_elements()};
    }
  }
  return rows_of(source, scan.part);
}

/// The relations of a running program, by number.
template <class Relation>
using relation_list = std::vector<std::unique_ptr<Relation>>;

/// Rows that the first expansion of a pipeline reads; 1 for a unit or a match on constants.
template <class Relation>
[[nodiscard]] std::uint64_t input_rows(const pipeline& program, const relation_list<Relation>& relations) {
  const segment& first = program.segments.front();
  if (first.kind != expansion_kind::scan) return 1;
  const part_rows rows = rows_of(*relations[first.source], first);
  return rows.end - rows.begin;
}

/// A fault in an arithmetic operation; the executor adds the rule.
class arithmetic_fault {};
/// The run was interrupted.
class interrupted {};
/// Reading a factorized relation has cost more than was granted: it is to be run again over columns.
class costly_reading {};

}  // namespace gpulog::kernels

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
#include "support/row_equations.hpp"

/// A rule version in terms of registers and numbered relations: the program that every backend runs over tiles of
/// bindings (docs/internals/the-way-of-a-tuple.md).
namespace gpulog::kernels {

class functor_table;
class fold_memory;
class run_windows;

/// The value of a relation_id.
using relation_number = std::uint32_t;

/// A register: one word per binding of a tile. Constants have registers after the rule's slots.
///
/// In 64-bit programs a register holds codes (storage::wide_values). A computed value gets a code only on demand,
/// because most computed values are only intermediate: until then, two registers hold its halves.
using register_number = std::uint32_t;
constexpr register_number no_register = UINT32_MAX;

/// What a scan of an equivalence relation reads: the pairs; the elements, if at most one column is needed; or the
/// elements that have a pair in delta.
enum class scan_kind : std::uint8_t { rows, elements, changed_elements };

struct binding {
  register_number target;
  /// In the relation's columns; for a match in `hash` mode, in the layout's stored columns.
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

/// A step that creates no bindings: computes a register, or drops bindings.
struct step {
  step_kind kind;
  scalar_op scalar{};
  comparison_op comparison{};
  bool negated = false;
  bool tests_erasure = false;  ///< for exists_tuple: the relation has a row with the tuple, which may have been erased
  row_part part = row_part::all;
  relation_number source = 0;
  std::size_t index = 0;
  std::size_t level = 0;
  std::vector<register_number> arguments;
  register_number result = 0;
  bool is_wide = false;  ///< for compute and filter: whether the step works on 64-bit values
  /// Wide steps, by argument: the register of the upper half; no_register: the argument is a code.
  std::vector<register_number> upper;
  register_number upper_result = no_register;  ///< upper half of the result, or no_register
  bool known_only = false;                     ///< do not create a code for the result: use no_code if none exists
  /// For pack, find_record, unpack: the record table; for wide steps: the value table.
  storage::record_table* records = nullptr;
  std::vector<binding> bindings;      ///< for unpack: fields
  std::vector<register_number> live;  ///< registers that later steps read, which compaction must keep
};

/// One of several alternative searches for a value; each binding uses the search with the fewest rows.
struct search_choice {
  relation_number source = 0;
  std::size_t index = 0;
  std::size_t level = 0;
  std::vector<register_number> keys;
  binding bound{};
  std::vector<step> checks;  ///< semi-joins with the relations of the remaining searches
};

/// Bounds on a column of a scan, derived from later filters: the scan may skip rows outside the window.
struct window {
  /// A constant, or a register of the previous segment.
  struct known_value {
    register_number value = 0;
    register_number upper = no_register;  ///< in 64-bit programs; no_register: the value is a code
  };
  struct summand {
    known_value value;
    bool is_subtracted = false;
  };
  /// A comparison of the column, or of a sum with the column, with a known value. Sums wrap around.
  struct bound {
    known_value value;
    bool is_upper = false;
    bool is_strict = false;
    bool is_column_subtracted = false;
    std::vector<summand> summands = {};  ///< in addition to the column

    [[nodiscard]] bool is_of_sum() const { return is_column_subtracted || !summands.empty(); }
  };
  std::uint32_t column = 0;
  bool is_signed = false;
  std::vector<bound> bounds;  ///< none: the scan reads all rows
};

/// fold: the distinct tuples of the carried registers, on which the body of an aggregate or of a first match runs;
/// unfold: the bindings of the segment before the fold, with their results. Only on devices: unit, not first: the
/// unchanged bindings; host: the same, with steps that run on the host; lookups: the same, with steps that need one
/// table, of records of one arity or of 64-bit values.
enum class expansion_kind : std::uint8_t { unit, scan, match, range, fold, unfold, host, lookups };

/// Returns whether a step looks up a record by its fields, or works on 64-bit values; a device runs such steps for all
/// bindings together.
[[nodiscard]] inline bool needs_lookup(const step& one) {
  return one.kind == step_kind::pack || one.kind == step_kind::find_record || one.is_wide;
}

/// An operator that creates bindings from bindings, and the steps after it.
struct segment {
  expansion_kind kind = expansion_kind::unit;
  row_part part = row_part::all;
  relation_number source = 0;
  scan_kind scanned = scan_kind::rows;
  std::size_t index = 0;
  std::size_t level = 0;
  std::vector<register_number> keys;  ///< keys of a match; arguments of a range
  std::vector<binding> bindings;      ///< for a range: its value
  value_kind value{};                 ///< for a range: its kind
  /// In 64-bit programs, upper halves: of a range's arguments and value, of the folded value, and, on a device, of the
  /// result of an unfold.
  std::vector<register_number> upper_keys;
  register_number upper_value = no_register;
  register_number upper_folded = no_register;
  /// For a fold: the register that numbers the tuples, and the segment that unfolds.
  register_number owner = 0;
  std::size_t unfold = 0;
  /// For a fold: tests only whether the body has a match, and drops bindings without a match.
  bool first_match = false;
  /// For the last segment of a first match on a device: the first segment of the first match. A binding that passes
  /// needs no further row of these segments.
  std::optional<std::size_t> first_match_from;
  std::size_t first_match_steps = 0;   ///< of `steps`, how many belong to the first match; the others follow it
  std::size_t first_match_around = 0;  ///< innermost enclosing fold if it is a first match; 0: none
  /// For an unfold: the register of the result. For the last segment of a body: the fold that ends here, and how to
  /// fold which register.
  register_number result = 0;
  std::size_t ended_fold = 0;  ///< 0: no fold ends here
  register_number folded = 0;
  fold_op fold{};
  bool is_signed = true;  ///< for a count or sum: whether the result is signed
  /// For the last segment of a body: the folded value does not depend on the matching rows, so their number is enough.
  bool folds_row_counts = false;
  word called = 0;                       ///< number of the functor that folds
  word initial = 0;                      ///< initial accumulated value of the functor
  window limits;                         ///< for a scan; a reader that reads all rows may ignore the window
  std::vector<search_choice> choices;    ///< for a match: empty, or several searches, this segment's own search first
  std::vector<register_number> carried;  ///< registers of the previous segment that this or a later segment reads
  std::vector<step> steps;
};

/// Returns whether the last segment of a body only determines how often a value is counted or added.
[[nodiscard]] inline bool needs_row_counts_only(const segment& last) {
  const bool reads_rows = last.kind == expansion_kind::match || last.kind == expansion_kind::scan;
  if (!reads_rows || last.scanned != scan_kind::rows || !last.steps.empty() || !last.choices.empty()) return false;
  if (last.fold == fold_op::count) return true;
  const auto is_folded = [&last](const binding& bound) { return bound.target == last.folded; };
  // A sum of floats depends on the order and the number of additions.
  return last.fold == fold_op::sum_number && std::none_of(last.bindings.begin(), last.bindings.end(), is_folded);
}

/// Refreshes an index before its first search.
class index_refresher {
 public:
  index_refresher() = default;
  index_refresher(const index_refresher&) = delete;
  index_refresher& operator=(const index_refresher&) = delete;
  virtual ~index_refresher() = default;
  virtual void refresh(relation_number relation, std::size_t index) = 0;
};

/// Progress of a running pipeline, for different threads.
struct pipeline_progress {
  std::atomic<std::uint64_t> rows = 0;  ///< processed rows of the first expansion
  std::atomic<std::uint64_t> candidates = 0;
};

/// Bindings counted at each place of a pipeline, over all runs. A CPU counts at every place; a device counts the
/// results of expansions and the bindings passed to the next segment.
struct step_counts {
  static constexpr std::uint32_t no_place = UINT32_MAX;

  /// By segment: the place after the expansion. The next places are after the checks of its choices, and after each
  /// step.
  std::vector<std::uint32_t> first;
  std::vector<std::uint32_t> operators;  ///< by operator of the plan's version: its place; no_place: not counted
  std::vector<std::uint64_t> counts;     ///< by place
  std::uint64_t runs = 0;                ///< number of counted runs

  /// Returns where the results of a segment's expansion are counted.
  /// @param has_choices whether the expansion chose between several searches
  [[nodiscard]] std::uint32_t place_of_expansion(std::size_t segment, bool has_choices) const {
    return first[segment] + (has_choices ? 0 : 1);
  }
  [[nodiscard]] std::uint32_t last_place(std::size_t segment) const {
    return (segment + 1 < first.size() ? first[segment + 1] : static_cast<std::uint32_t>(counts.size())) - 1;
  }
};

/// A run has spent its budget (work_budget).
class over_budget {};

/// What the runs of some versions may spend, in bindings: bindings cost 1, stored rows `row_cost`, and each duplicate
/// saves `duplicate_gain`. Shared by workers.
struct work_budget {
  double row_cost = 0;
  double duplicate_gain = 0;
  std::atomic<double> left = 0;
  std::atomic<bool> ended_run = false;

  /// @param candidates derived tuples, including duplicates
  [[nodiscard]] double cost_of_results(std::uint64_t candidates, std::uint64_t fresh) const {
    return row_cost * static_cast<double>(fresh) - duplicate_gain * static_cast<double>(candidates - fresh);
  }
  /// Returns how many candidates the rest of the budget pays for.
  /// @param share expected fresh tuples per candidate
  [[nodiscard]] double affordable_candidates(double share) const { return left / (1 + row_cost * share); }
  /// Takes the cost of work that is complete, even beyond the budget.
  void take(double cost) { left.fetch_sub(cost); }
  /// @throws over_budget
  void spend(double cost) {
    if (left.fetch_sub(cost) >= cost) return;
    ended_run = true;
    throw over_budget{};
  }
  void grant(double amount) {
    left = amount;
    ended_run = false;
  }
  /// Returns whether work has exceeded the budget since the last grant. Duplicates of other workers may raise `left`
  /// again after a run has ended.
  [[nodiscard]] bool is_exceeded() const { return ended_run || left < 0; }
};

struct pipeline {
  std::vector<segment> segments;
  std::vector<register_number> head;  ///< one register per column
  relation_number target = 0;
  std::uint32_t slot_count = 0;
  std::vector<word> constants;  ///< register slot_count + i holds constants[i]
  storage::symbol_table* symbols = nullptr;
  const functor_table* functors = nullptr;    ///< for call_functor
  std::atomic<wide_word>* counter = nullptr;  ///< for next_counter
  const word* iteration = nullptr;            ///< for iteration_number
  storage::wide_values* wide = nullptr;       ///< nullptr: words have 32 bits
  /// On a CPU, results of aggregates from earlier runs that are still valid; nullptr: none.
  std::shared_ptr<fold_memory> folded;
  /// Sort orders shared between runs; nullptr: each run sorts anew.
  std::shared_ptr<run_windows> windows;
  bool may_remember = true;  ///< false: `folded` and `windows` would hold nothing
  /// Set if a count or sum overflows the word size; nullptr: not reported.
  std::shared_ptr<std::atomic<bool>> wraps_around;
  index_refresher* indexes = nullptr;     ///< on a CPU; nullptr: indexes are up to date
  pipeline_progress* progress = nullptr;  ///< on a CPU; nullptr: not reported
  work_budget* budget = nullptr;          ///< nullptr: runs may spend anything
  std::shared_ptr<step_counts> counted;   ///< nullptr: not counted, or not supported by the machine

  /// Returns whether a run stores results of aggregates or orders of rows.
  [[nodiscard]] bool has_memory() const {
    return std::any_of(segments.begin(), segments.end(), [](const segment& one) {
      return one.kind == expansion_kind::fold || !one.limits.bounds.empty();
    });
  }
  /// Returns whether a step can observe how often and in which order steps run.
  [[nodiscard]] bool observes_order() const {
    return std::any_of(segments.begin(), segments.end(), [](const segment& one) {
      return std::any_of(one.steps.begin(), one.steps.end(), [](const step& taken) {
        return taken.kind == step_kind::compute &&
               (taken.scalar == scalar_op::next_counter || taken.scalar == scalar_op::call_functor);
      });
    });
  }
  /// Returns whether a segment is in the body of an aggregate or of a first match.
  [[nodiscard]] bool is_in_fold(std::size_t number) const {
    return std::any_of(
        segments.begin(), segments.begin() + static_cast<std::ptrdiff_t>(number),
        [number](const segment& one) { return one.kind == expansion_kind::fold && one.unfold > number; });
  }
  /// Returns whether the run is complete once the head contains the empty tuple.
  [[nodiscard]] bool ends_when_full() const { return head.empty() && !observes_order(); }
};

/// Rows [begin, end) of a part.
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

/// Returns the rows that a scan reads. For an equivalence relation: its elements by number, or the pairs of the part
/// (or the changed elements), counted from 0.
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

/// Returns the number of rows that the first expansion of a pipeline reads; 1 for a unit or a match on constants.
template <class Relation>
[[nodiscard]] std::uint64_t input_rows(const pipeline& program, const relation_list<Relation>& relations) {
  const segment& first = program.segments.front();
  if (first.kind != expansion_kind::scan) return 1;
  const part_rows rows = rows_of(*relations[first.source], first);
  return rows.end - rows.begin;
}

/// An arithmetic fault; the executor adds the rule.
class arithmetic_fault {};
/// Thrown when a run is interrupted.
class interrupted {};
/// Thrown when lookups in a matrix exceed its cost limit: run again over columns.
class costly_reading {};

}  // namespace gpulog::kernels

#include "exec/fixpoint/scan_windows.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "plan/rules/constant_folding.hpp"
#include "support/orderings.hpp"
#include "support/value_table.hpp"

namespace gpulog::exec {

namespace {

using kernels::expansion_kind;
using kernels::register_number;
using kernels::segment;
using kernels::step;
using kernels::step_kind;

/// Returns whether the operation never fails and has no side effect.
bool is_plain(scalar_op op) {
  using enum scalar_op;
  return is_one_of(
      op, {copy, add_number, subtract_number, multiply_number, negate_number, bit_and, bit_or, bit_xor, bit_not,
           shift_left, shift_right_number, shift_right_unsigned, min_number, max_number, min_unsigned, max_unsigned});
}

/// Returns whether a computation is cheap and cannot fail.
bool is_plain(const step& made, const kernels::pipeline& program) {
  if (is_plain(made.scalar)) return true;
  if (made.arguments.size() != 2 || made.arguments[1] < program.slot_count) return false;
  const word divisor = program.constants[made.arguments[1] - program.slot_count];
  return plan::cannot_trap_with(made.scalar, storage::value_of(divisor, program.wide),
                                program.wide == nullptr ? word_size::bits32 : word_size::bits64);
}

using kernels::window;

/// Finds the filters after a scan or search that compare a column, or a sum of the column and known values, with a
/// value known before the scan. The filters remain.
class window_finder {
 public:
  window_finder(segment& scan, const kernels::pipeline& program) : scan_(scan), program_(program) {
    for (const kernels::binding& bound : scan.bindings) {
      columns_[bound.target] = {bound.column, false, {}};
      made_.insert(bound.target);
    }
  }

  void run() {
    for (const step& one : scan_.steps) {
      if (one.kind == step_kind::compute && is_plain(one, program_)) {
        see_computation(one);
      } else if (one.kind == step_kind::filter) {
        see_filter(one);
      } else if (one.kind != step_kind::exists_tuple && one.kind != step_kind::exists_key &&
                 one.kind != step_kind::exists_any) {
        break;
      }
    }
    for (const auto& [column, bounds] : found_) {
      if (scan_.limits.bounds.empty() || (is_closed(bounds) && !is_closed(scan_.limits.bounds))) {
        scan_.limits = {column.first, column.second, bounds};
      }
    }
  }

 private:
  /// Content of a register: a column with known values added, or subtracted from known values.
  struct column_sum {
    std::uint32_t column = 0;
    bool is_subtracted = false;
    std::vector<window::summand> summands;
  };

  static window::known_value argument_of(const step& one, std::size_t side) {
    return {one.arguments[side], one.is_wide ? one.upper[side] : kernels::no_register};
  }
  /// With words of 64 bits, a column's register holds codes, and a sum's register the lower halves.
  [[nodiscard]] const column_sum* sum_of(const window::known_value& argument) const {
    const auto found = columns_.find(argument.value);
    if (found == columns_.end()) return nullptr;
    const bool is_sum = found->second.is_subtracted || !found->second.summands.empty();
    const bool has_upper = argument.upper != kernels::no_register;
    return program_.wide == nullptr || is_sum == has_upper ? &found->second : nullptr;
  }
  [[nodiscard]] bool is_known(const window::known_value& argument) const { return !made_.contains(argument.value); }

  void see_computation(const step& one) {
    std::optional<column_sum> made = sum_made_by(one);
    columns_.erase(one.result);
    made_.insert({one.result, one.upper_result});
    if (made) columns_[one.result] = std::move(*made);
  }
  [[nodiscard]] std::optional<column_sum> sum_made_by(const step& one) const {
    const bool is_sum = one.scalar == scalar_op::add_number || one.scalar == scalar_op::subtract_number;
    if (program_.wide != nullptr && !one.is_wide) return std::nullopt;
    if (one.scalar == scalar_op::negate_number) {
      const column_sum* const negated = sum_of(argument_of(one, 0));
      return negated == nullptr ? std::nullopt : std::optional(minus(*negated));
    }
    if (!is_sum) return std::nullopt;
    for (const std::size_t side : {0U, 1U}) {
      const column_sum* const of_column = sum_of(argument_of(one, side));
      const window::known_value other = argument_of(one, 1 - side);
      if (of_column == nullptr || !is_known(other)) continue;
      const bool is_difference = one.scalar == scalar_op::subtract_number;
      column_sum sum = is_difference && side == 1 ? minus(*of_column) : *of_column;
      sum.summands.push_back({other, is_difference && side == 0});
      return sum;
    }
    return std::nullopt;
  }
  static column_sum minus(column_sum sum) {
    sum.is_subtracted = !sum.is_subtracted;
    for (window::summand& one : sum.summands) one.is_subtracted = !one.is_subtracted;
    return sum;
  }

  void see_filter(const step& one) {
    const std::optional<ordering> told = ordering_of(one.comparison);
    if (!told || told->kind == value_kind::floating) return;
    for (const std::size_t side : {0U, 1U}) {
      const column_sum* const compared = sum_of(argument_of(one, side));
      const window::known_value other = argument_of(one, 1 - side);
      if (compared == nullptr || !is_known(other)) continue;
      found_[{compared->column, told->kind == value_kind::number}].push_back(
          {other, told->is_less == (side == 0), told->is_strict, compared->is_subtracted, compared->summands});
    }
  }

  static bool is_closed(const std::vector<window::bound>& bounds) {
    const auto is_above = [](const window::bound& bound) { return bound.is_upper != bound.is_column_subtracted; };
    return std::any_of(bounds.begin(), bounds.end(), is_above) && !std::all_of(bounds.begin(), bounds.end(), is_above);
  }

  segment& scan_;
  const kernels::pipeline& program_;
  std::map<register_number, column_sum> columns_;
  std::set<register_number> made_;
  std::map<std::pair<std::uint32_t, bool>, std::vector<window::bound>> found_;  // by column and signedness
};

}  // namespace

bool can_go_before_expansion(const step& made, const kernels::pipeline& program) {
  if (!is_plain(made, program) || program.segments.size() < 2) return false;
  const segment& last = program.segments.back();
  const bool is_search = last.kind == expansion_kind::match && last.choices.empty();
  if (last.kind != expansion_kind::scan && !is_search) return false;
  std::set<register_number> written;
  for (const kernels::binding& bound : last.bindings) written.insert(bound.target);
  for (const step& one : last.steps) {
    if (one.kind != step_kind::filter) written.insert({one.result, one.upper_result});
    for (const kernels::binding& field : one.bindings) written.insert(field.target);
  }
  // registers that the step must not write if it moves before the expansion
  std::set<register_number> touched = written;
  touched.insert(last.keys.begin(), last.keys.end());
  for (const step& one : last.steps) {
    touched.insert(one.arguments.begin(), one.arguments.end());
    touched.insert(one.upper.begin(), one.upper.end());
  }
  for (std::set<register_number>* const set : {&written, &touched}) set->erase(kernels::no_register);
  if (touched.contains(made.result) || touched.contains(made.upper_result)) return false;
  // The segment may read the step's arguments, but must not write them.
  const auto is_made = [&written](register_number number) { return written.contains(number); };
  return std::none_of(made.arguments.begin(), made.arguments.end(), is_made) &&
         std::none_of(made.upper.begin(), made.upper.end(), is_made);
}

void find_windows(kernels::pipeline& made, const plan::program& program) {
  for (std::size_t number = 1; number < made.segments.size(); ++number) {
    segment& scan = made.segments[number];
    const bool is_scan = scan.kind == expansion_kind::scan && scan.scanned == kernels::scan_kind::rows;
    const bool is_search = scan.kind == expansion_kind::match && scan.choices.empty();
    if (!is_scan && !is_search) continue;
    if (!program.relations[scan.source].is_equivalence) window_finder(scan, made).run();
  }
}

}  // namespace gpulog::exec

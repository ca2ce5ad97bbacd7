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

/// Operations that never fail and that nobody can see happen.
bool is_plain(scalar_op op) {
  using enum scalar_op;
  return is_one_of(
      op, {copy, add_number, subtract_number, multiply_number, negate_number, bit_and, bit_or, bit_xor, bit_not,
           shift_left, shift_right_number, shift_right_unsigned, min_number, max_number, min_unsigned, max_unsigned});
}

/// Whether a computation costs next to nothing and cannot fail.
bool is_plain(const step& made, const kernels::pipeline& program) {
  if (is_plain(made.scalar)) return true;
  if (made.arguments.size() != 2 || made.arguments[1] < program.slot_count) return false;
  const word divisor = program.constants[made.arguments[1] - program.slot_count];
  return plan::cannot_trap_with(made.scalar, storage::value_of(divisor, program.wide),
                                program.wide == nullptr ? word_size::bits32 : word_size::bits64);
}

/// Finds the filters behind a scan or search that compare a column with what is known in front of it. The filters
/// stay.
void find_window(segment& scan, const kernels::pipeline& program) {
  const bool is_scan = scan.kind == expansion_kind::scan && scan.scanned == kernels::scan_kind::rows;
  const bool is_search = scan.kind == expansion_kind::match && scan.choices.empty();
  if (!is_scan && !is_search) return;
  std::map<register_number, std::uint32_t> columns;  // registers that still hold one
  std::set<register_number> made;
  for (const kernels::binding& bound : scan.bindings) {
    columns[bound.target] = bound.column;
    made.insert(bound.target);
  }
  std::map<std::pair<std::uint32_t, bool>, std::vector<kernels::window::bound>> found;
  for (const step& one : scan.steps) {
    if (one.kind == step_kind::compute && is_plain(one, program)) {
      columns.erase(one.result);
      made.insert({one.result, one.upper_result});
      continue;
    }
    const bool only_tests = one.kind == step_kind::filter || one.kind == step_kind::exists_tuple ||
                            one.kind == step_kind::exists_key || one.kind == step_kind::exists_any;
    if (!only_tests) break;
    if (one.kind != step_kind::filter) continue;
    const std::optional<ordering> told = ordering_of(one.comparison);
    if (!told || told->kind == value_kind::floating) continue;
    const bool is_signed = told->kind == value_kind::number;
    for (const bool is_left : {true, false}) {
      const auto column = columns.find(one.arguments[is_left ? 0 : 1]);
      const register_number other = one.arguments[is_left ? 1 : 0];
      if (column == columns.end() || made.contains(other)) continue;
      if (one.is_wide && one.upper[is_left ? 0 : 1] != kernels::no_register) continue;  // no longer the column
      found[{column->second, is_signed}].push_back({other, told->is_less == is_left, told->is_strict});
    }
  }
  const auto is_closed = [](const std::vector<kernels::window::bound>& bounds) {
    const auto is_upper = [](const kernels::window::bound& bound) { return bound.is_upper; };
    return std::any_of(bounds.begin(), bounds.end(), is_upper) && !std::all_of(bounds.begin(), bounds.end(), is_upper);
  };
  for (const auto& [column, bounds] : found) {
    if (scan.limits.bounds.empty() || (is_closed(bounds) && !is_closed(scan.limits.bounds))) {
      scan.limits = {column.first, column.second, bounds};
    }
  }
}

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
  std::set<register_number> touched = written;  // there, where the step would no longer be in between
  touched.insert(last.keys.begin(), last.keys.end());
  for (const step& one : last.steps) {
    touched.insert(one.arguments.begin(), one.arguments.end());
    touched.insert(one.upper.begin(), one.upper.end());
  }
  for (std::set<register_number>* const set : {&written, &touched}) set->erase(kernels::no_register);
  if (touched.contains(made.result) || touched.contains(made.upper_result)) return false;
  // Arguments may be read there, but not made.
  const auto is_made = [&written](register_number number) { return written.contains(number); };
  return std::none_of(made.arguments.begin(), made.arguments.end(), is_made) &&
         std::none_of(made.upper.begin(), made.upper.end(), is_made);
}

void find_windows(kernels::pipeline& made, const plan::program& program) {
  for (std::size_t number = 1; number < made.segments.size(); ++number) {
    segment& scan = made.segments[number];
    if (!program.relations[scan.source].is_equivalence) find_window(scan, made);
  }
}

}  // namespace gpulog::exec

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "plan/versions/liveness.hpp"
#include "plan/versions/version_builder.hpp"

/// Simplifies the operators of a version: removes unread values and replaces searches with tests.
namespace gpulog::plan {
namespace {

/// Removes, in one pass from the end, values that no later operator reads.
void drop_unread(version_builder& version) {
  std::set<slot_id> live;
  for (std::size_t position = version.operations.size(); position-- > 0;) {
    operation& op = version.operations[position].op;
    const auto drop_bindings = [&live](std::vector<column_binding>& bindings) {
      std::erase_if(bindings, [&live](const column_binding& binding) { return !live.contains(binding.slot); });
    };
    if (auto* generator = std::get_if<scan>(&op)) drop_bindings(generator->bindings);
    if (auto* generator = std::get_if<match>(&op)) drop_bindings(generator->bindings);
    if (const auto* computed = std::get_if<compute>(&op); computed != nullptr && !live.contains(computed->result)) {
      version.operations.erase(version.operations.begin() + static_cast<std::ptrdiff_t>(position));
      continue;
    }
    if (const auto* packed = std::get_if<pack>(&op); packed != nullptr && !live.contains(packed->result)) {
      version.operations.erase(version.operations.begin() + static_cast<std::ptrdiff_t>(position));
      continue;
    }
    if (auto* unpacked = std::get_if<unpack>(&op)) {
      std::erase_if(unpacked->bindings, [&live](const field_binding& binding) { return !live.contains(binding.slot); });
    }
    for (const slot_id slot : slots_written(op)) live.erase(slot);
    for (const slot_id slot : slots_read(op)) live.insert(slot);
  }
}

/// Returns whether every column is a key, so that at most one row matches.
bool finds_one_row_at_most(const operator_builder& candidate, const std::vector<std::uint32_t>& arities) {
  const auto* const found = std::get_if<match>(&candidate.op);
  return found != nullptr && found->rows == row_part::all &&
         candidate.key_columns.size() == arities[found->relation.value];
}

/// Returns whether the result is the same if a value occurs repeatedly, as for minimum and maximum.
bool ignores_repetition(fold_op op) {
  switch (op) {
    case fold_op::min_number:
    case fold_op::min_unsigned:
    case fold_op::min_float:
    case fold_op::max_number:
    case fold_op::max_unsigned:
    case fold_op::max_float:
      return true;
    default:
      return false;
  }
}

/// Returns, by operator, whether an aggregate depends on the number of matching rows.
std::vector<bool> repetitions_that_count(const std::vector<operator_builder>& operations) {
  std::vector<bool> count(operations.size());
  std::vector<bool> around;  // by enclosing aggregate
  for (std::size_t position = operations.size(); position-- > 0;) {
    const operation& op = operations[position].op;
    if (const auto* const end = std::get_if<fold_end>(&op)) around.push_back(!ignores_repetition(end->op));
    count[position] = !around.empty() && around.back();
    if (std::holds_alternative<fold_begin>(op)) around.pop_back();
  }
  return count;
}

void turn_into_exists(operator_builder& candidate) {
  exists test;
  if (auto* all_rows = std::get_if<scan>(&candidate.op); all_rows != nullptr && all_rows->bindings.empty()) {
    test.relation = all_rows->relation;
    test.rows = all_rows->rows;
  } else if (auto* found = std::get_if<match>(&candidate.op); found != nullptr && found->bindings.empty()) {
    test.relation = found->relation;
    test.rows = found->rows;
    test.keys = std::move(found->keys);
  } else {
    return;
  }
  candidate.op = std::move(test);
}

}  // namespace

void simplify(version_builder& version, const std::vector<std::uint32_t>& arities) {
  drop_unread(version);
  std::vector<operator_builder>& operations = version.operations;
  const std::vector<bool> counts = repetitions_that_count(operations);
  for (std::size_t position = 0; position < operations.size(); ++position) {
    operator_builder& candidate = operations[position];
    if (!counts[position] || finds_one_row_at_most(candidate, arities)) turn_into_exists(candidate);
    auto* test = std::get_if<exists>(&candidate.op);
    if (test == nullptr || candidate.key_columns.size() != arities[test->relation.value]) continue;
    // The tuple set can test only all rows. Deriving a pair in two versions costs less than an index.
    if (test->rows == row_part::old && !test->keys.empty()) test->rows = row_part::all;
  }
  const auto first_generator =
      std::find_if(operations.begin(), operations.end(), [](const operator_builder& one) { return is_loop(one.op); });
  if (first_generator != operations.end()) {
    const bool is_read =
        std::holds_alternative<scan>(first_generator->op) || std::holds_alternative<match>(first_generator->op);
    if (!is_read) return;
    const std::vector<slot_id> needed = slots_read(first_generator->op);
    if (needed.empty()) std::rotate(operations.begin(), first_generator, first_generator + 1);
    return;
  }
  // Without a generator, a search for constants in some columns moves to the start of the pipeline, where it may become
  // a scan.
  for (auto candidate = operations.begin(); candidate != operations.end(); ++candidate) {
    const auto* test = std::get_if<exists>(&candidate->op);
    if (test == nullptr || test->negated || test->keys.empty() || !slots_read(candidate->op).empty()) continue;
    if (candidate->key_columns.size() == arities[test->relation.value] && test->rows == row_part::all) continue;
    candidate->op = match{test->relation, test->rows, {}, std::vector<operand>(test->keys), {}};
    std::rotate(operations.begin(), candidate, candidate + 1);
    return;
  }
}

void scan_instead_of_search(version_builder& version) {
  operator_builder& first = version.operations.front();
  match search = std::get<match>(std::move(first.op));
  const std::vector<std::uint32_t> columns = std::exchange(first.key_columns, {});
  const double bindings = first.bindings;
  scan all_rows{search.relation, search.rows, std::move(search.bindings)};
  std::vector<operator_builder> comparisons;
  for (std::size_t number = 0; number < columns.size(); ++number) {
    const slot_id slot = version.new_slot(no_variable, value_kind::number);
    all_rows.bindings.push_back({columns[number], slot});
    comparisons.push_back({filter{comparison_op::equal, operand::slot(slot), search.keys[number]}, {}, bindings});
  }
  first.op = std::move(all_rows);
  for (operator_builder& later : version.operations) {
    auto* const search_later = std::get_if<match>(&later.op);
    if (search_later == nullptr) continue;
    for (other_search& other : search_later->others) other.test += comparisons.size();
  }
  version.operations.insert(version.operations.begin() + 1, comparisons.begin(), comparisons.end());
}

void test_instead_of_search(version_builder& version) { turn_into_exists(version.operations.front()); }

}  // namespace gpulog::plan

#include "plan/passes/recursions/row_products.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "plan/pass.hpp"
#include "plan/passes/recursions/row_wise_evaluation.hpp"
#include "plan/reads.hpp"

namespace gpulog::plan {
namespace {

/// A column of a head: the value of a column of the delta, or the values that a relation maps it to (key: the delta's
/// value).
struct passed_side {
  std::uint32_t from = 0;
  std::optional<column_pairs> step;
};

/// Effect of a version: from a row of the delta to a row of the head.
struct passing_version {
  relation_id from;
  relation_id head;
  std::array<passed_side, 2> sides;
  bool without_equal = false;
};

bool is_without_equal(const filter& one, const operand& x, const operand& y) {
  const bool is_of_both = (one.left == x && one.right == y) || (one.left == y && one.right == x);
  return one.op == comparison_op::not_equal && is_of_both;
}

class passing_reader {
 public:
  passing_reader(const program& plan, const stratum& considered) : plan_(plan), considered_(considered) {}

  /// @return empty if the version has any other operator
  std::optional<passing_version> read(const rule_version& version) {
    const scan* const first = std::get_if<scan>(&version.operations.front());
    if (first == nullptr || first->rows != part::delta) return std::nullopt;
    for (const column_binding& bound : first->bindings) held_[bound.slot] = {bound.column, std::nullopt};
    const insert* head = nullptr;
    for (std::size_t i = 1; i < version.operations.size(); ++i) {
      const operation& one = version.operations[i];
      if (const auto* joined = std::get_if<match>(&one)) {
        if (!add(*joined)) return std::nullopt;
      } else if (const auto* compared = std::get_if<filter>(&one)) {
        filters_.push_back(*compared);
      } else {
        head = std::get_if<insert>(&one);
        if (head == nullptr) return std::nullopt;
      }
    }
    if (head == nullptr || head->values.size() != 2) return std::nullopt;
    passing_version passing{first->relation, head->relation, {}, false};
    std::size_t steps = 0;
    for (std::size_t column = 0; column < 2; ++column) {
      const passed_side* const side = side_of(head->values[column]);
      if (side == nullptr) return std::nullopt;
      passing.sides[column] = *side;
      if (side->step) ++steps;
    }
    // Each column of the delta leads to one column of the head, and no match only tests whether a row exists.
    if (passing.sides[0].from == passing.sides[1].from || steps != steps_) return std::nullopt;
    for (const filter& one : filters_) {
      if (!is_without_equal(one, head->values[0], head->values[1])) return std::nullopt;
      passing.without_equal = true;
    }
    return passing;
  }

 private:
  [[nodiscard]] const passed_side* side_of(const operand& value) const {
    const auto found = value.is_constant ? held_.end() : held_.find(slot_id(value.value));
    return found == held_.end() ? nullptr : &found->second;
  }
  [[nodiscard]] bool add(const match& joined) {
    const auto& own = considered_.relations;
    if (std::find(own.begin(), own.end(), joined.relation) != own.end()) return false;
    if (plan_.relations[joined.relation.value].is_equivalence || joined.rows != part::all) return false;
    if (joined.keys.size() != 1 || joined.bindings.size() != 1 || !joined.others.empty()) return false;
    const passed_side* const key = side_of(joined.keys.front());
    if (key == nullptr || key->step) return false;
    const std::uint32_t column = plan_.indexes[joined.index.value].order.front();
    held_[joined.bindings.front().slot] = {
        key->from, column_pairs{joined.relation, column, joined.bindings.front().column, part::all}};
    ++steps_;
    return true;
  }

  const program& plan_;
  const stratum& considered_;
  std::map<slot_id, passed_side> held_;
  std::vector<filter> filters_;
  std::size_t steps_ = 0;
};

/// Composes two versions.
/// @return empty if both versions join the same column
std::optional<passing_version> compose(const passing_version& first, const passing_version& second) {
  if (first.without_equal) return std::nullopt;
  passing_version both{first.from, second.head, {}, second.without_equal};
  for (std::size_t column = 0; column < 2; ++column) {
    const passed_side& before = first.sides[second.sides[column].from];
    if (before.step && second.sides[column].step) return std::nullopt;
    both.sides[column] = {before.from, before.step ? before.step : second.sides[column].step};
  }
  return both;
}

/// Returns whether only the loop of its stratum uses a relation.
bool is_only_of_loop(const program& plan, std::size_t number, relation_id id) {
  if (!plan.relations[id.value].supplementary) return false;
  for (const rule_version& version : plan.strata[number].once.versions) {
    if (version.head == id) return false;
  }
  bool is_read = false;
  for (std::size_t other = 0; other < plan.strata.size(); ++other) {
    if (other == number) continue;
    const auto& others = plan.strata[other].relations;
    if (std::find(others.begin(), others.end(), id) != others.end()) return false;
    for_each_version(plan.strata[other], [&](const rule_version& version) {
      for_each_read(
          version, [&](relation_id read, index_id, bool) { is_read = is_read || read == id; }, true);
    });
  }
  return !is_read;
}

/// Returns the source of a rule before the loop.
std::optional<product_source> first_source(const program& plan, const rule_version& version, bool without_equal) {
  const auto made = find_version_source(plan, version);
  if (!made) return std::nullopt;
  for (const filter& one : made->filters) {
    if (!without_equal || !is_without_equal(one, operand::slot(slot_id(0)), operand::slot(slot_id(1))))
      return std::nullopt;
  }
  if (made->filters.empty() && without_equal) return std::nullopt;
  return product_source{made->source.from, made->source.to};
}

}  // namespace

std::optional<product_recursion> find_product_recursion(const program& plan, std::size_t number) {
  const stratum& considered = plan.strata[number];
  if (!considered.recursive || considered.decomposed || !considered.subsumptions.empty()) return std::nullopt;
  product_recursion result;
  for (const relation_id id : considered.relations) {
    if (!has_rows(plan.relations[id.value])) return std::nullopt;
    if (is_only_of_loop(plan, number, id)) continue;
    if (result.relation.valid()) return std::nullopt;
    result.relation = id;
  }
  if (!result.relation.valid()) return std::nullopt;
  std::vector<passing_version> versions;
  for (const phase& repeated : considered.loop) {
    for (const rule_version& version : repeated.versions) {
      const auto read = passing_reader(plan, considered).read(version);
      if (!read) return std::nullopt;
      versions.push_back(*read);
    }
  }
  std::vector<passing_version> rules;
  for (const passing_version& last : versions) {
    if (last.head != result.relation) {
      // Supplementary relations read the relation of the recursion.
      if (last.from != result.relation) return std::nullopt;
      continue;
    }
    if (last.from == result.relation) {
      rules.push_back(last);
      continue;
    }
    for (const passing_version& first : versions) {
      if (first.head != last.from) continue;
      auto both = compose(first, last);
      if (!both) return std::nullopt;
      rules.push_back(*both);
    }
  }
  if (rules.empty()) return std::nullopt;
  result.without_equal = rules.front().without_equal;
  for (const passing_version& rule : rules) {
    const auto& [left, right] = rule.sides;
    if (left.from != 0 || right.from != 1 || rule.without_equal != result.without_equal) return std::nullopt;
    product_source& made = result.rules.emplace_back();
    if (left.step) {
      made.left = left.step;
      std::swap(made.left->key, made.left->value);  // keyed by x
    }
    made.right = right.step;
  }
  for (const rule_version& version : considered.once.versions) {
    const auto source = first_source(plan, version, result.without_equal);
    if (!source) {
      result.first.clear();
      break;
    }
    result.first.push_back(*source);
  }
  return result;
}

void find_product_recursions(planning& shared) {
  for (std::size_t number = 0; number < shared.result.strata.size(); ++number)
    shared.result.strata[number].products = find_product_recursion(shared.result, number);
}

}  // namespace gpulog::plan

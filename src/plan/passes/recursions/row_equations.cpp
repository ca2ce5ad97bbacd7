#include "plan/passes/recursions/row_equations.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "plan/pass.hpp"
#include "plan/passes/recursions/joining_version.hpp"
#include "plan/reads.hpp"
#include "plan/rules/passages.hpp"

namespace gpulog::plan {
namespace {

using column_numbers = std::vector<std::uint32_t>;

/// Returns the pairs of an atom that is joined on one value.
std::optional<column_pairs> pairs_of(const program& plan, const joining_version::atom& joined, std::uint32_t value) {
  if (joined.keys.size() != 1 || !joined.keys[0]) return std::nullopt;
  return column_pairs{joined.relation, plan.indexes[joined.index.value].order.front(), value, joined.rows};
}

column_pairs turned(column_pairs pairs) {
  std::swap(pairs.key, pairs.value);
  return pairs;
}

/// Returns whether a relation can be computed row by row: it has two columns and keeps every derived tuple.
bool has_rows(const relation& declared) { return may_have_steps(declared) && declared.kinds.size() == 2; }

/// @return empty if a comparison reads a value that is neither source nor target
std::optional<std::vector<row_filter>> filters_of(const joining_version& version) {
  std::vector<row_filter> filters;
  for (const joining_version::comparison& one : version.comparisons) {
    row_filter& made = filters.emplace_back();
    made.op = one.compared.op;
    const auto put = [&](const operand& value, const std::optional<value_origin>& origin, row_filter::side& side,
                         wide_word& constant) {
      constant = value.literal;
      side = !origin                       ? row_filter::side::constant
             : origin == version.values[0] ? row_filter::side::source
                                           : row_filter::side::target;
      return !origin || origin == version.values[0] || origin == version.values[1];
    };
    if (!put(one.compared.left, one.left, made.left, made.left_constant) ||
        !put(one.compared.right, one.right, made.right, made.right_constant))
      return std::nullopt;
  }
  return filters;
}

/// Returns whether the filters are `x != y` at most.
bool only_exclude_equal(const std::vector<row_filter>& filters) {
  using side = row_filter::side;
  return std::all_of(filters.begin(), filters.end(), [](const row_filter& one) {
    return one.op == comparison_op::not_equal && one.left != one.right && one.left != side::constant &&
           one.right != side::constant;
  });
}

// Steps.

class step_search {
 public:
  step_search(const program& plan, const stratum& considered) : plan_(plan), considered_(considered) {
    for (const relation_id id : considered.relations) {
      numbers_.emplace(id, static_cast<std::uint32_t>(numbers_.size()));
      arities_.push_back(static_cast<std::uint32_t>(plan.relations[id.value].kinds.size()));
    }
  }

  [[nodiscard]] std::optional<row_equations> find() {
    for (const rule_version& version : considered_.loop.front().versions) {
      auto read = read_joining_version(plan_, version);
      const bool is_linear = read && read->atoms.size() <= 2 && read->comparisons.empty() &&
                             read->atoms[0].rows == row_part::delta && numbers_.contains(read->atoms[0].relation);
      if (!is_linear) return std::nullopt;
      versions_.push_back(*std::move(read));
    }
    auto result = find_linear();
    if (!result) result = find_doubling(0);
    return result ? result : find_doubling(1);
  }

 private:
  [[nodiscard]] bool joins_member(const joining_version& version) const {
    return version.atoms.size() == 2 && numbers_.contains(version.atoms[1].relation);
  }

  /// Returns the steps if all versions pass the same columns through.
  [[nodiscard]] std::optional<row_equations> find_linear() const {
    std::vector<passage> passages;
    for (const joining_version& version : versions_) {
      if (joins_member(version)) return std::nullopt;
      passages.push_back(passage_of(version));
    }
    const auto sources = find_invariant_columns(arities_, passages);
    if (sources.empty()) return std::nullopt;
    row_equations result = begin_with(sources);
    for (const joining_version& version : versions_) {
      auto step = step_of(version, result.members);
      if (!step) return std::nullopt;
      result.steps.push_back(std::move(*step));
    }
    return result;
  }

  /// Returns the steps of one binary relation with doubling rules, by one of its columns.
  [[nodiscard]] std::optional<row_equations> find_doubling(std::uint32_t source) const {
    if (arities_ != column_numbers{2}) return std::nullopt;
    row_equations result = begin_with({{source}});
    const row_equations other = begin_with({{1 - source}});
    std::map<rule_id, bool> is_covered;
    for (std::size_t v = 0; v < versions_.size(); ++v) {
      const joining_version& version = versions_[v];
      if (version.atoms.size() != 2) return std::nullopt;
      const rule_id rule = considered_.loop.front().versions[v].rule;
      is_covered.try_emplace(rule, false);
      if (auto step = step_of(version, result.members)) {
        is_covered[rule] = true;
        result.steps.push_back(std::move(*step));
        continue;
      }
      // One version of a doubling rule is enough; the second version passes the second column.
      if (!joins_member(version) || !step_of(version, other.members)) return std::nullopt;
    }
    const bool all_covered =
        std::all_of(is_covered.begin(), is_covered.end(), [](const auto& one) { return one.second; });
    if (!all_covered || result.steps.empty()) return std::nullopt;
    return result;
  }

  /// Returns the columns that the version passes through without using them as a key.
  [[nodiscard]] passage passage_of(const joining_version& version) const {
    passage way{numbers_.at(version.atoms[0].relation), numbers_.at(version.head), {}};
    for (std::uint32_t column = 0; column < version.values.size(); ++column) {
      const auto& value = version.values[column];
      if (!value || value->atom != 0) continue;
      const origins& keys = version.atoms.back().keys;
      if (std::find(keys.begin(), keys.end(), value) == keys.end()) way.columns.emplace_back(value->column, column);
    }
    return way;
  }

  [[nodiscard]] row_equations begin_with(const std::vector<column_numbers>& sources) const {
    row_equations made;
    for (std::size_t number = 0; number < arities_.size(); ++number) {
      row_member& member = made.members.emplace_back(row_member{considered_.relations[number], sources[number], {}});
      for (std::uint32_t column = 0; column < arities_[number]; ++column) {
        if (std::find(member.sources.begin(), member.sources.end(), column) == member.sources.end())
          member.targets.push_back(column);
      }
    }
    return made;
  }

  /// Returns the step from targets to targets, if the version passes sources through without using them as keys.
  [[nodiscard]] std::optional<row_step> step_of(const joining_version& version,
                                                const std::vector<row_member>& members) const {
    row_step step;
    step.from = numbers_.at(version.atoms[0].relation);
    step.to = numbers_.at(version.head);
    const row_member& from = members[step.from];
    const row_member& to = members[step.to];
    for (std::size_t c = 0; c < from.sources.size(); ++c) {
      if (version.values[to.sources[c]] != value_origin{0, from.sources[c]}) return std::nullopt;
    }
    /// Appends the position of a value in the target of `from`.
    const auto add_position = [&](const std::optional<value_origin>& value, column_numbers& positions) {
      if (!value || value->atom != 0) return false;
      const auto position = std::find(from.targets.begin(), from.targets.end(), value->column);
      if (position == from.targets.end()) return false;
      positions.push_back(static_cast<std::uint32_t>(position - from.targets.begin()));
      return true;
    };
    if (version.atoms.size() == 1) {
      for (const std::uint32_t target : to.targets) {
        if (!add_position(version.values[target], step.columns)) return std::nullopt;
      }
      return step;
    }
    const joining_version::atom& joined = version.atoms[1];
    step.relation = joined.relation;
    step.index = joined.index;
    const column_numbers& order = plan_.indexes[step.index.value].order;
    for (std::size_t key = 0; key < joined.keys.size(); ++key) {
      // In e(y,y,z) a value occurs twice in the key, and no level of the index contains the value alone.
      if (std::count(joined.keys.begin(), joined.keys.end(), joined.keys[key]) != 1) return std::nullopt;
      if (!add_position(joined.keys[key], step.from_targets)) return std::nullopt;
      step.key.push_back(order[key]);
    }
    for (const std::uint32_t target : to.targets) {
      const auto& value = version.values[target];
      const auto key = std::find(joined.keys.begin(), joined.keys.end(), value);
      if (value && value->atom == 1) {
        step.columns.push_back(value->column);
      } else if (value && key != joined.keys.end()) {
        step.columns.push_back(order[static_cast<std::size_t>(key - joined.keys.begin())]);
      } else {
        return std::nullopt;
      }
    }
    return step;
  }

  const program& plan_;
  const stratum& considered_;
  std::map<relation_id, std::uint32_t> numbers_;  // by relation of the stratum
  column_numbers arities_;
  std::vector<joining_version> versions_;
};

std::optional<row_equations> row_steps_of(const program& plan, const stratum& considered) {
  if (!considered.recursive || considered.loop.size() != 1 || !considered.subsumptions.empty()) return std::nullopt;
  const bool may = std::all_of(considered.relations.begin(), considered.relations.end(),
                               [&plan](relation_id id) { return may_have_steps(plan.relations[id.value]); });
  return may ? step_search(plan, considered).find() : std::nullopt;
}

// Joins.

/// Returns a version as one rule, without conditions on the stratum.
std::optional<row_equations> row_join_of(const program& plan, const rule_version& version) {
  const auto read = read_joining_version(plan, version);
  if (!read || read->atoms.size() > 2 || read->values.size() != 2 || !read->values[0] || !read->values[1])
    return std::nullopt;
  auto filters = filters_of(*read);
  if (!filters) return std::nullopt;
  const auto& [source, target] = std::pair(*read->values[0], *read->values[1]);
  const joining_version::atom& first = read->atoms[0];
  row_rule rule{{}, {}, false, true};
  if (read->atoms.size() == 1) {
    rule.left = {first.relation, source.column, target.column, first.rows};
  } else {
    const bool begins_at_second = source.atom == 1;
    const auto second = pairs_of(plan, read->atoms[1], (begins_at_second ? source : target).column);
    if (!second || source.atom == target.atom) return std::nullopt;
    const column_pairs other = {first.relation, read->atoms[1].keys[0]->column,
                                (begins_at_second ? target : source).column, first.rows};
    // From the source to the join variable, then to the target.
    rule.left = turned(begins_at_second ? *second : other);
    rule.right = begins_at_second ? other : *second;
  }
  return row_equations{{{read->head, {0}, {1}}}, {}, {rule}, *std::move(filters)};
}

std::optional<row_equations> row_joins_of(const program& plan, const stratum& considered) {
  if (considered.recursive || considered.relations.size() != 1 || !considered.subsumptions.empty()) return std::nullopt;
  if (!has_rows(plan.relations[considered.relations.front().value])) return std::nullopt;
  std::optional<row_equations> result;
  for (const rule_version& version : considered.once.versions) {
    auto made = row_join_of(plan, version);
    if (!made || (result && made->filters != result->filters)) return std::nullopt;
    if (!result) {
      result = std::move(made);
    } else {
      result->rules.push_back(made->rules.front());
    }
  }
  // Rules that only copy a relation produce few duplicates.
  const bool joins = result && std::any_of(result->rules.begin(), result->rules.end(),
                                           [](const row_rule& rule) { return rule.right.has_value(); });
  return joins ? result : std::nullopt;
}

/// Recognizes a version in any stratum. The relation may already have tuples.
std::optional<row_equations> row_join_in(const program& plan, const stratum& considered, const rule_version& version) {
  if (!considered.subsumptions.empty() || !has_rows(plan.relations[version.head.value])) return std::nullopt;
  auto made = row_join_of(plan, version);
  if (made && !made->rules.front().right) return std::nullopt;
  return made;
}

// Products.

/// Effect of a version: from a row of the delta to a row of the head.
struct passing_version {
  /// A column of the head: the value of a column of the delta, or the values that a relation maps the value to.
  struct side {
    std::uint32_t from = 0;
    std::optional<column_pairs> step;
  };
  relation_id from;
  relation_id head;
  std::array<side, 2> sides;
  std::vector<row_filter> filters;
};

/// @return empty if the version has a different form
std::optional<passing_version> passing_version_of(const program& plan, const stratum& considered,
                                                  const rule_version& version) {
  const auto read = read_joining_version(plan, version);
  if (!read || read->atoms[0].rows != row_part::delta || read->values.size() != 2) return std::nullopt;
  auto filters = filters_of(*read);
  if (!filters || !only_exclude_equal(*filters)) return std::nullopt;
  filters->resize(std::min<std::size_t>(filters->size(), 1));
  for (std::size_t atom = 1; atom < read->atoms.size(); ++atom) {
    const joining_version::atom& joined = read->atoms[atom];
    const auto& members = considered.relations;
    if (std::find(members.begin(), members.end(), joined.relation) != members.end() || joined.rows != row_part::all ||
        joined.bindings != 1)
      return std::nullopt;
  }
  passing_version passing{read->atoms[0].relation, read->head, {}, *std::move(filters)};
  std::size_t steps = 0;
  for (std::size_t column = 0; column < 2; ++column) {
    const auto& value = read->values[column];
    if (!value) return std::nullopt;
    if (value->atom == 0) {
      passing.sides[column] = {value->column, std::nullopt};
      continue;
    }
    const auto& key = read->atoms[value->atom].keys.front();
    const auto step = pairs_of(plan, read->atoms[value->atom], value->column);
    if (!step || key->atom != 0) return std::nullopt;
    passing.sides[column] = {key->column, step};
    ++steps;
  }
  // Each column of the delta leads to one column of the head, and no match only tests whether a row exists.
  if (passing.sides[0].from == passing.sides[1].from || steps + 1 != read->atoms.size()) return std::nullopt;
  return passing;
}

/// Composes two versions.
/// @return empty if both versions join the same column
std::optional<passing_version> compose(const passing_version& first, const passing_version& second) {
  if (!first.filters.empty()) return std::nullopt;
  passing_version both{first.from, second.head, {}, second.filters};
  for (std::size_t column = 0; column < 2; ++column) {
    const passing_version::side& before = first.sides[second.sides[column].from];
    if (before.step && second.sides[column].step) return std::nullopt;
    both.sides[column] = {before.from, before.step ? before.step : second.sides[column].step};
  }
  return both;
}

/// Returns whether only the loop of a stratum uses a relation.
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

/// Returns the relation that grows by products; the remaining relations are steps of the rules.
relation_id growing_relation(const program& plan, std::size_t number) {
  relation_id growing;
  for (const relation_id id : plan.strata[number].relations) {
    if (!has_rows(plan.relations[id.value])) return {};
    if (is_only_of_loop(plan, number, id)) continue;
    if (growing.valid()) return {};
    growing = id;
  }
  return growing;
}

/// Returns the rules of a loop, composed with rules of supplementary relations; empty if a rule has a different form.
std::vector<passing_version> passing_rules(const program& plan, const stratum& considered, relation_id growing) {
  std::vector<passing_version> versions;
  for (const phase& repeated : considered.loop) {
    for (const rule_version& version : repeated.versions) {
      auto read = passing_version_of(plan, considered, version);
      // Supplementary relations read the relation of the recursion.
      if (!read || (read->head != growing && read->from != growing)) return {};
      versions.push_back(*std::move(read));
    }
  }
  std::vector<passing_version> rules;
  for (const passing_version& last : versions) {
    if (last.head != growing) continue;
    if (last.from == growing) {
      rules.push_back(last);
      continue;
    }
    for (const passing_version& first : versions) {
      if (first.head != last.from) continue;
      auto both = compose(first, last);
      if (!both) return {};
      rules.push_back(*std::move(both));
    }
  }
  return rules;
}

/// Adds the rules before the loop, unless a rule has a different form.
void add_first_rules(const program& plan, const stratum& considered, row_equations& products) {
  std::vector<row_rule> rules = products.rules;
  for (const rule_version& version : considered.once.versions) {
    auto made = row_join_of(plan, version);
    if (!made || !only_exclude_equal(made->filters) || made->filters.empty() != products.filters.empty()) return;
    row_rule& rule = made->rules.front();
    const auto known = std::find_if(rules.begin(), rules.end(), [&rule](const row_rule& one) {
      return one.left == rule.left && one.right == rule.right;
    });
    if (known == rules.end()) {
      rules.push_back(rule);
    } else {
      known->is_first = true;
    }
  }
  products.rules = std::move(rules);
}

std::optional<row_equations> row_products_of(const program& plan, std::size_t number) {
  const stratum& considered = plan.strata[number];
  if (!considered.recursive || !considered.subsumptions.empty()) return std::nullopt;
  const relation_id growing = growing_relation(plan, number);
  if (!growing.valid()) return std::nullopt;
  row_equations result{{{growing, {0}, {1}}}, {}, {}, {}};
  for (const passing_version& rule : passing_rules(plan, considered, growing)) {
    const auto& [left, right] = rule.sides;
    if (result.rules.empty()) result.filters = rule.filters;
    if (left.from != 0 || right.from != 1 || rule.filters.empty() != result.filters.empty()) return std::nullopt;
    row_rule& made = result.rules.emplace_back(row_rule{{}, right.step, true, false});
    if (left.step) made.left = turned(*left.step);
  }
  if (result.rules.empty()) return std::nullopt;
  add_first_rules(plan, considered, result);
  return result;
}

}  // namespace

bool may_have_steps(const relation& declared) {
  return declared.kinds.size() >= 2 && declared.size_limit == 0 && declared.choice_domains.empty() &&
         !declared.is_equivalence;
}

void find_row_equations(planning& shared) {
  if (shared.chosen.rows == row_mode::off) return;
  program& plan = shared.result;
  for (std::size_t number = 0; number < plan.strata.size(); ++number) {
    stratum& one = plan.strata[number];
    if (!one.recursive) {
      one.rows = row_joins_of(plan, one);
    } else if (shared.chosen.rows != row_mode::loops) {
      one.rows = row_steps_of(plan, one);
      if (!one.rows) one.rows = row_products_of(plan, number);
    }
    if (!one.is_row_join()) find_row_joins(shared, one, one.once.versions);
    for (phase& repeated : one.loop) find_row_joins(shared, one, repeated.versions);
  }
}

void find_row_joins(const planning& shared, const stratum& considered, std::span<rule_version> versions) {
  if (shared.chosen.rows == row_mode::off) return;
  for (rule_version& version : versions) version.rows = row_join_in(shared.result, considered, version);
}

}  // namespace gpulog::plan

#include "plan/passes/relations/needless_sets.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <variant>
#include <vector>

#include "plan/versions/liveness.hpp"

namespace gpulog::plan {
namespace {

/// A value that a slot holds temporarily. Slots are reused, so each write gets a new number.
using value_number = std::size_t;

/// Checks for one version whether different combinations of rows give different heads.
class injectivity {
 public:
  /// @param in_any_order whether to check for all orders of the body's atoms: a test of a row may become a search
  explicit injectivity(const program& plan, bool in_any_order = false) : plan_(plan), in_any_order_(in_any_order) {}

  [[nodiscard]] bool holds(const rule_version& version) {
    for (const operation& one : version.operations) {
      if (!std::visit([this](const auto& op) { return this->enter(op); }, one)) return false;
    }
    add_what_follows();
    return std::includes(known_.begin(), known_.end(), read_.begin(), read_.end());
  }

 private:
  struct consequence {
    std::set<value_number> from;
    value_number to;
  };

  /// Adds to known_ the values that the known values determine.
  void add_what_follows() {
    std::vector<std::vector<std::size_t>> consequences_of(next_);
    std::vector<std::size_t> unknown_sources;
    std::vector<value_number> followed;
    for (std::size_t number = 0; number < consequences_.size(); ++number) {
      const consequence& one = consequences_[number];
      unknown_sources.push_back(one.from.size());
      for (const value_number source : one.from) consequences_of[source].push_back(number);
      if (one.from.empty()) followed.push_back(one.to);
    }
    followed.insert(followed.end(), known_.begin(), known_.end());
    known_.clear();
    while (!followed.empty()) {
      const value_number value = followed.back();
      followed.pop_back();
      if (!known_.insert(value).second) continue;
      for (const std::size_t number : consequences_of[value]) {
        if (--unknown_sources[number] == 0) followed.push_back(consequences_[number].to);
      }
    }
  }

  value_number write(slot_id slot) { return current_[slot.value] = next_++; }

  void add_value(const operand& from, std::set<value_number>& values) const {
    if (!from.is_constant) values.insert(current_.at(from.value));
  }
  [[nodiscard]] std::set<value_number> values_of(const std::vector<operand>& operands) const {
    std::set<value_number> values;
    for (const operand& one : operands) add_value(one, values);
    return values;
  }

  /// Enters a row that the columns of the row determine together.
  bool enter_row(relation_id relation, const std::vector<operand>& keys, const std::vector<column_binding>& bindings) {
    const struct relation& source = plan_.relations[relation.value];
    std::set<std::uint32_t> bound;
    for (const column_binding& binding : bindings) bound.insert(binding.column);
    if (keys.size() + bound.size() != source.kinds.size() || source.is_equivalence) return false;
    for (const operand& key : keys) add_value(key, read_);
    for (const column_binding& binding : bindings) read_.insert(write(binding.slot));
    return true;
  }

  bool enter(const scan& op) { return enter_row(op.relation, {}, op.bindings); }
  bool enter(const match& op) {
    // An alternative search finds a value once per row of the relation, so the search must bind whole rows.
    for (const other_search& other : op.others) {
      if (other.keys.size() + 1 != plan_.relations[other.relation.value].kinds.size()) return false;
    }
    return enter_row(op.relation, op.keys, op.bindings);
  }
  bool enter(const exists& op) { return !in_any_order_ || op.negated || enter_row(op.relation, op.keys, {}); }
  bool enter(const filter& op) {
    if (op.op != comparison_op::equal) return true;
    const std::set<value_number> left = values_of({op.left});
    const std::set<value_number> right = values_of({op.right});
    for (const value_number value : left) consequences_.push_back({right, value});
    for (const value_number value : right) consequences_.push_back({left, value});
    return true;
  }
  bool enter(const compute& op) {
    // Equal arguments do not determine the result of a counter or of a library functor.
    const bool is_function = op.op != scalar_op::next_counter && op.op != scalar_op::call_functor;
    std::set<value_number> from = values_of(op.arguments);
    const value_number to = write(op.result);
    if (is_function) consequences_.push_back({std::move(from), to});
    return true;
  }
  bool enter(const pack& op) {
    const std::set<value_number> fields = values_of(op.fields);
    const value_number record = write(op.result);
    for (const value_number field : fields) consequences_.push_back({{record}, field});
    consequences_.push_back({fields, record});
    return true;
  }
  bool enter(const unpack& op) {
    const std::set<value_number> record = values_of({op.record});
    std::set<value_number> fields;
    for (const field_binding& binding : op.bindings) {
      const value_number field = write(binding.slot);
      consequences_.push_back({record, field});
      fields.insert(field);
    }
    if (fields.size() != op.arity) return true;
    for (const value_number whole : record) consequences_.push_back({fields, whole});
    return true;
  }
  // These operators produce several bindings per row, or one binding for many rows.
  static bool enter(const generate&) { return false; }
  static bool enter(const fold_begin&) { return false; }
  static bool enter(const fold_end&) { return false; }
  bool enter(const insert& op) {
    known_ = values_of(op.values);
    return true;
  }

  const program& plan_;
  bool in_any_order_;
  value_number next_ = 0;
  std::map<std::uint32_t, value_number> current_;  ///< by slot
  std::vector<consequence> consequences_;
  std::set<value_number> read_;   ///< values that determine the rows
  std::set<value_number> known_;  ///< values that the head determines
};

class needless_sets {
 public:
  explicit needless_sets(program& plan)
      : plan_(plan),
        makers_(plan.relations.size()),
        needed_(plan.relations.size()),
        is_tested_(plan.relations.size()) {}

  void drop() {
    for (const fact_block& facts : plan_.facts) needed_[facts.relation.value] = true;
    for (const stratum& one : plan_.strata) {
      for (const rule_version& version : one.once.versions) note(version);
      for (const phase& repeated : one.loop) {
        for (const rule_version& version : repeated.versions) note(version);
      }
      for (const subsumption& made : one.subsumptions) {
        note(made.version);
        needed_[made.relation.value] = true;
      }
      if (!one.recursive) continue;
      for (const relation_id relation : one.relations) needed_[relation.value] = true;
    }
    for (std::size_t number = 0; number < plan_.relations.size(); ++number) {
      relation& target = plan_.relations[number];
      if (needed_[number] || is_tested_[number] || !is_plain(target) || makers_[number].size() != 1) continue;
      target.needs_set = !injectivity(plan_).holds(*makers_[number].front());
    }
    for (const stratum& one : plan_.strata) {
      if (!one.recursive) continue;
      find_distinct_beginnings(one);
      find_distinct_loops(one);
    }
  }

  void check(const stratum& one) {
    if (one.recursive) {
      find_distinct_beginnings(one);
      return;
    }
    for (const rule_version& version : one.once.versions) {
      if (!version.head.valid()) continue;
      relation& target = plan_.relations[version.head.value];
      target.needs_set = target.needs_set || !injectivity(plan_).holds(version);
    }
  }

 private:
  void find_distinct_beginnings(const stratum& one) {
    for (const relation_id member : one.relations) {
      std::vector<const rule_version*> makers;
      for (const rule_version& version : one.once.versions) {
        if (version.head == member) makers.push_back(&version);
      }
      relation& target = plan_.relations[member.value];
      target.begins_distinct =
          is_plain(target) && (makers.empty() || (makers.size() == 1 && injectivity(plan_).holds(*makers.front())));
    }
  }
  /// A row of a delta is in no other delta, so one version of a loop repeats no row if the version is injective. Rows
  /// of a relation that loses rows or improves them may be in several deltas.
  void find_distinct_loops(const stratum& one) {
    const bool loses_rows =
        !one.subsumptions.empty() || std::any_of(one.relations.begin(), one.relations.end(),
                                                 [this](relation_id id) { return plan_.relations[id.value].best; });
    for (const relation_id member : one.relations) {
      relation& target = plan_.relations[member.value];
      const std::vector<const rule_version*>& makers = makers_[member.value];
      target.loops_distinct = target.supplementary && !loses_rows && is_plain(target) && !is_tested_[member.value] &&
                              makers.size() == 1 && makers.front()->delta_atom >= 0 &&
                              injectivity(plan_, true).holds(*makers.front());
    }
  }
  [[nodiscard]] static bool is_plain(const relation& target) {
    return target.choice_domains.empty() && !target.best && !target.is_equivalence && !target.kinds.empty();
  }

  void note(const rule_version& version) {
    if (version.head.valid()) makers_[version.head.value].push_back(&version);
    for (const operation& one : version.operations) {
      if (const auto* const test = std::get_if<exists>(&one); test != nullptr && !test->index.valid()) {
        is_tested_[test->relation.value] = true;
      }
      // A binding that uses an alternative search tests membership in this relation.
      const auto* const search = std::get_if<match>(&one);
      if (search != nullptr && !search->others.empty()) is_tested_[search->relation.value] = true;
    }
  }

  program& plan_;
  std::vector<std::vector<const rule_version*>> makers_;  ///< by relation
  std::vector<bool> needed_;                              ///< by relation
  std::vector<bool> is_tested_;                           ///< by relation: for membership
};

}  // namespace

void drop_needless_sets(program& plan) { needless_sets(plan).drop(); }

void check_needless_sets(program& plan, const stratum& reordered) { needless_sets(plan).check(reordered); }

}  // namespace gpulog::plan

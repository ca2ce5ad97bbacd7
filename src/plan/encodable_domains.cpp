#include "plan/encodable_domains.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <utility>
#include <variant>

#include "support/orderings.hpp"

namespace gpulog::plan {
namespace {

/// Class of values that a column, or a slot from its binding on, holds. Nodes that exchange values are joined.
using node = std::uint32_t;

class class_search {
 public:
  explicit class_search(program& plan) : plan_(plan) {
    for (const relation& one : plan.relations) {
      first_node_.push_back(static_cast<node>(parents_.size()));
      for (std::size_t column = 0; column < one.kinds.size(); ++column) add_node();
    }
  }

  [[nodiscard]] std::vector<encodable_domain> find() {
    for (std::uint32_t id = 0; id < plan_.relations.size(); ++id) add_relation(relation_id(id));
    for (fact_block& block : plan_.facts) add_facts(block);
    for (stratum& one : plan_.strata) {
      for (rule_version& version : one.once.versions) add_version(version);
      for (phase& repeated : one.loop) {
        for (rule_version& version : repeated.versions) add_version(version);
      }
      for (subsumption& applied : one.subsumptions) add_version(applied.version);
      if (one.rows) add_row_filters(*one.rows);
    }
    return classes();
  }

 private:
  struct properties {
    bool is_computed = false;
    bool is_ordered = false;
    std::optional<value_kind> order;  ///< kind of the values that are compared by order
    std::vector<wide_word*> constants;
  };

  node add_node() {
    const auto added = static_cast<node>(parents_.size());
    parents_.push_back(added);
    properties_.emplace_back();
    return added;
  }
  [[nodiscard]] node root(node of) {
    while (parents_[of] != of) of = parents_[of] = parents_[parents_[of]];
    return of;
  }
  [[nodiscard]] node column(relation_id relation, std::uint32_t column) const {
    return first_node_[relation.value] + column;
  }

  void join(node left, node right) {
    left = root(left);
    right = root(right);
    if (left == right) return;
    parents_[right] = left;
    properties& kept = properties_[left];
    properties& given = properties_[right];
    kept.is_computed |= given.is_computed || (kept.order && given.order && *kept.order != *given.order);
    kept.is_ordered |= given.is_ordered;
    if (!kept.order) kept.order = given.order;
    kept.constants.insert(kept.constants.end(), given.constants.begin(), given.constants.end());
    given.constants.clear();
  }
  void mark_computed(node of) { properties_[root(of)].is_computed = true; }

  /// Joins the operand's values with the class of the node.
  void join(operand& value, node with) {
    if (value.is_constant) {
      properties_[root(with)].constants.push_back(&value.literal);
    } else {
      join(held_.at(slot_id(value.value)), with);
    }
  }
  void mark_computed(const operand& value) {
    if (!value.is_constant) mark_computed(held_.at(slot_id(value.value)));
  }
  void make(slot_id slot) {
    held_[slot] = add_node();
    mark_computed(held_[slot]);
  }
  void bind(relation_id relation, const std::vector<column_binding>& bindings) {
    for (const column_binding& bound : bindings) held_[bound.slot] = column(relation, bound.column);
  }

  /// Marks the columns of relations that choose tuples by value, and columns of kinds without exchangeable values.
  void add_relation(relation_id id) {
    const relation& one = plan_.relations[id.value];
    const bool chooses = one.is_equivalence || one.size_limit != 0 || !one.choice_domains.empty() || one.best;
    for (std::uint32_t c = 0; c < one.kinds.size(); ++c) {
      const value_kind kind = one.kinds[c];
      const bool can_be_exchanged =
          kind == value_kind::number || kind == value_kind::unsigned_number || kind == value_kind::symbol;
      if (chooses || !can_be_exchanged) mark_computed(column(id, c));
    }
  }

  void add_facts(fact_block& block) {
    const std::size_t arity = plan_.relations[block.relation.value].kinds.size();
    for (std::size_t i = 0; i < block.values.size(); ++i) {
      const node own = root(column(block.relation, static_cast<std::uint32_t>(i % arity)));
      properties_[own].constants.push_back(&block.values[i]);
    }
  }

  void add_version(rule_version& version) {
    held_.clear();
    held_outside_.clear();
    for (operation& op : version.operations) std::visit([this](auto& visited) { add(visited); }, op);
    if (version.rows) add_row_filters(*version.rows);
  }

  void join_keys(relation_id relation, index_id index, std::vector<operand>& keys) {
    for (std::uint32_t i = 0; i < keys.size(); ++i) {
      const std::uint32_t place = index.valid() ? plan_.indexes[index.value].order[i] : i;
      join(keys[i], column(relation, place));
    }
  }

  void add(scan& read) { bind(read.relation, read.bindings); }
  void add(match& read) {
    join_keys(read.relation, read.index, read.keys);
    bind(read.relation, read.bindings);
    for (other_search& other : read.others) {
      join_keys(other.relation, other.index, other.keys);
      for (const column_binding& bound : read.bindings)
        join(held_.at(bound.slot), column(other.relation, other.column));
    }
  }
  void add(exists& tested) { join_keys(tested.relation, tested.index, tested.keys); }
  void add(compute& computed) {
    if (computed.op == scalar_op::copy) {
      const node made = add_node();
      join(computed.arguments[0], made);
      held_[computed.result] = made;
      return;
    }
    for (const operand& argument : computed.arguments) mark_computed(argument);
    make(computed.result);
  }
  void add(filter& compared) { add_comparison(compared); }
  void add(pack& packed) {
    for (const operand& field : packed.fields) mark_computed(field);
    make(packed.result);
  }
  void add(unpack& unpacked) {
    mark_computed(unpacked.record);
    for (const field_binding& bound : unpacked.bindings) make(bound.slot);
  }
  void add(generate& generated) {
    for (const operand& argument : generated.arguments) mark_computed(argument);
    make(generated.result);
  }
  void add(fold_begin&) { held_outside_.push_back(held_); }
  void add(fold_end& folded) {
    if (folded.op != fold_op::count) mark_computed(folded.value);
    held_ = std::move(held_outside_.back());
    held_outside_.pop_back();
    make(folded.result);
  }
  void add(insert& head) {
    for (std::uint32_t c = 0; c < head.values.size(); ++c) join(head.values[c], column(head.relation, c));
  }

  void add_comparison(filter& compared) {
    const std::optional<ordering> order = ordering_of(compared.op);
    const bool is_equality = compared.op == comparison_op::equal || compared.op == comparison_op::not_equal;
    if (!is_equality && (!order || order->kind == value_kind::floating)) {
      mark_computed(compared.left);
      mark_computed(compared.right);
      return;
    }
    if (compared.left.is_constant && compared.right.is_constant) return;
    const node met = add_node();
    if (order) {
      properties_[met].is_ordered = true;
      properties_[met].order = order->kind;
    }
    join(compared.left, met);
    join(compared.right, met);
  }

  /// Adds the constants of filters, which repeat filters of the versions.
  void add_row_filters(row_equations& rows) {
    for (row_filter& one : rows.filters) {
      const auto add = [&](row_filter::side side, wide_word& constant, row_filter::side other) {
        if (side != row_filter::side::constant || other == row_filter::side::constant) return;
        const node with = column(rows.relation(), other == row_filter::side::source ? 0 : 1);
        properties_[root(with)].constants.push_back(&constant);
      };
      add(one.left, one.left_constant, one.right);
      add(one.right, one.right_constant, one.left);
    }
  }

  [[nodiscard]] std::vector<encodable_domain> classes() {
    std::map<node, encodable_domain> found;
    std::vector<bool> is_mixed(parents_.size());
    for (std::uint32_t id = 0; id < plan_.relations.size(); ++id) {
      const std::vector<value_kind>& kinds = plan_.relations[id].kinds;
      for (std::uint32_t c = 0; c < kinds.size(); ++c) {
        const node own = root(column(relation_id(id), c));
        if (properties_[own].is_computed) continue;
        encodable_domain& its = found[own];
        if (its.columns.empty()) its.kind = kinds[c];
        if (its.kind != kinds[c]) is_mixed[own] = true;
        its.columns.push_back({relation_id(id), c});
      }
    }
    std::vector<encodable_domain> result;
    for (auto& [own, its] : found) {
      properties& known = properties_[own];
      if (is_mixed[own] || (known.order && *known.order != its.kind)) continue;
      its.is_ordered = known.is_ordered;
      its.constants = std::move(known.constants);
      result.push_back(std::move(its));
    }
    return result;
  }

  program& plan_;
  std::vector<node> first_node_;  // by relation: node of its first column
  std::vector<node> parents_;
  std::vector<properties> properties_;  // valid for roots
  std::map<slot_id, node> held_;        // nodes of the slots of the current version
  std::vector<std::map<slot_id, node>> held_outside_;
};

}  // namespace

std::vector<encodable_domain> find_encodable_domains(program& plan) { return class_search(plan).find(); }

}  // namespace gpulog::plan

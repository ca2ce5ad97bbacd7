#pragma once

#include <tuple>

#include "plan/plan.hpp"
#include "ranks/archive.hpp"

/// Fields of plans in messages to followers. Followers run versions as pipelines, and receive no row equations of
/// versions.
namespace gpulog::ranks {

template <>
struct fields_of<plan::operand> {
  static auto of(auto& v) { return std::tie(v.is_constant, v.value, v.literal); }
};

template <>
struct fields_of<plan::column_binding> {
  static auto of(auto& v) { return std::tie(v.column, v.slot); }
};

template <>
struct fields_of<plan::scan> {
  static auto of(auto& v) { return std::tie(v.relation, v.rows, v.bindings, v.changed_elements); }
};

template <>
struct fields_of<plan::other_search> {
  static auto of(auto& v) { return std::tie(v.relation, v.index, v.keys, v.column, v.test); }
};

template <>
struct fields_of<plan::match> {
  static auto of(auto& v) { return std::tie(v.relation, v.rows, v.index, v.keys, v.bindings, v.others); }
};

template <>
struct fields_of<plan::exists> {
  static auto of(auto& v) { return std::tie(v.relation, v.rows, v.negated, v.index, v.keys, v.tests_erasure); }
};

template <>
struct fields_of<plan::compute> {
  static auto of(auto& v) { return std::tie(v.op, v.result, v.arguments); }
};

template <>
struct fields_of<plan::filter> {
  static auto of(auto& v) { return std::tie(v.op, v.left, v.right); }
};

template <>
struct fields_of<plan::pack> {
  static auto of(auto& v) { return std::tie(v.result, v.fields, v.known_only); }
};

template <>
struct fields_of<plan::field_binding> {
  static auto of(auto& v) { return std::tie(v.field, v.slot); }
};

template <>
struct fields_of<plan::unpack> {
  static auto of(auto& v) { return std::tie(v.record, v.arity, v.bindings); }
};

template <>
struct fields_of<plan::generate> {
  static auto of(auto& v) { return std::tie(v.kind, v.arguments, v.result); }
};

template <>
struct fields_of<plan::fold_begin> {
  static auto of(auto&) { return std::tie(); }
};

template <>
struct fields_of<plan::fold_end> {
  static auto of(auto& v) { return std::tie(v.op, v.value, v.result, v.functor, v.initial); }
};

template <>
struct fields_of<plan::insert> {
  static auto of(auto& v) { return std::tie(v.relation, v.values); }
};

template <>
struct fields_of<plan::first_match> {
  static auto of(auto& v) { return std::tie(v.begin, v.end); }
};

template <>
struct fields_of<plan::rule_version> {
  static auto of(auto& v) {
    return std::tie(v.rule, v.head, v.delta_atom, v.operations, v.slot_count, v.slot_names, v.slot_kinds, v.text,
                    v.location, v.estimates, v.first_matches, v.former_plans, v.is_put_back, v.is_retired);
  }
};

template <>
struct fields_of<column_pairs> {
  static auto of(auto& v) { return std::tie(v.relation, v.key, v.value, v.rows); }
};

template <>
struct fields_of<row_member> {
  static auto of(auto& v) { return std::tie(v.relation, v.sources, v.targets); }
};

template <>
struct fields_of<row_step> {
  static auto of(auto& v) { return std::tie(v.from, v.to, v.relation, v.index, v.from_targets, v.key, v.columns); }
};

template <>
struct fields_of<row_rule> {
  static auto of(auto& v) { return std::tie(v.left, v.right, v.is_recursive, v.is_first); }
};

template <>
struct fields_of<row_filter> {
  static auto of(auto& v) { return std::tie(v.op, v.left, v.right, v.left_constant, v.right_constant); }
};

template <>
struct fields_of<row_equations> {
  static auto of(auto& v) { return std::tie(v.members, v.steps, v.rules, v.filters); }
};

template <>
struct fields_of<plan::phase> {
  static auto of(auto& v) { return std::tie(v.versions, v.advance); }
};

template <>
struct fields_of<plan::column_place> {
  static auto of(auto& v) { return std::tie(v.relation, v.column); }
};

template <>
struct fields_of<plan::column_domain> {
  static auto of(auto& v) { return std::tie(v.sources, v.largest_constant); }
};

template <>
struct fields_of<plan::relation_domain> {
  static auto of(auto& v) { return std::tie(v.relation, v.columns); }
};

template <>
struct fields_of<plan::stratum> {
  static auto of(auto& v) {
    return std::tie(v.relations, v.recursive, v.once, v.loop, v.rows, v.domains, v.supplementary);
  }
};

template <>
struct fields_of<plan::index> {
  static auto of(auto& v) { return std::tie(v.relation, v.order, v.key_lengths, v.payload); }
};

template <>
struct fields_of<plan::semi_join> {
  static auto of(auto& v) { return std::tie(v.whole, v.tested); }
};

template <>
struct fields_of<plan::relation> {
  static auto of(auto& v) {
    return std::tie(v.name, v.attribute_names, v.kinds, v.supplementary, v.reduced, v.needs_set, v.begins_distinct,
                    v.loops_distinct);
  }
};

}  // namespace gpulog::ranks

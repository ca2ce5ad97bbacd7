#include "syntax/ast.hpp"

#include <algorithm>
#include <unordered_map>

#include "support/value_table.hpp"

namespace gpulog::syntax {

// Defined here, because the members' types are complete only after all nodes.
bool operator==(const record_constructor&, const record_constructor&) = default;
bool operator==(const branch_constructor&, const branch_constructor&) = default;
bool operator==(const functor_call&, const functor_call&) = default;
bool operator==(const user_functor_call&, const user_functor_call&) = default;
bool operator==(const type_cast&, const type_cast&) = default;
bool operator==(const aggregate&, const aggregate&) = default;
bool operator==(const argument&, const argument&) = default;
bool operator==(const atom&, const atom&) = default;
bool operator==(const constraint&, const constraint&) = default;
bool operator==(const negation&, const negation&) = default;
bool operator==(const group&, const group&) = default;
bool operator==(const literal&, const literal&) = default;
bool operator==(const component&, const component&) = default;
bool operator==(const item&, const item&) = default;

child_list<argument>* children_of(argument& term) {
  if (auto* record = term.as<record_constructor>()) return &record->fields;
  if (auto* branch = term.as<branch_constructor>()) return &branch->fields;
  if (auto* call = term.as<functor_call>()) return &call->arguments;
  if (auto* call = term.as<user_functor_call>()) return &call->arguments;
  return nullptr;
}

std::string_view spelling(functor op) {
  using enum functor;
  static constexpr entry<functor, std::string_view> table[] = {
      {negate, "-"},
      {bit_not, "bnot"},
      {logical_not, "lnot"},
      {add, "+"},
      {subtract, "-"},
      {multiply, "*"},
      {divide, "/"},
      {modulo, "%"},
      {power, "^"},
      {bit_and, "band"},
      {bit_or, "bor"},
      {bit_xor, "bxor"},
      {shift_left, "bshl"},
      {shift_right, "bshr"},
      {shift_right_unsigned, "bshru"},
      {logical_and, "land"},
      {logical_or, "lor"},
      {logical_xor, "lxor"},
      {cat, "cat"},
      {ord, "ord"},
      {range, "range"},
      {strlen, "strlen"},
      {substr, "substr"},
      {to_float, "to_float"},
      {to_number, "to_number"},
      {to_string, "to_string"},
      {to_unsigned, "to_unsigned"},
      {min, "min"},
      {max, "max"},
      {starts_with, "starts_with"},
      {ends_with, "ends_with"},
      {index_of, "index_of"},
      {replace, "replace"},
      {to_lower, "to_lower"},
      {to_upper, "to_upper"},
      {trim, "trim"},
      {split, "split"},
      {format, "format"},
  };
  static_assert(has_all(table, format));
  return find_in(table, op).value();
}

namespace {

/// Calls action(functor) for the functors from `first` on.
template <class Action>
void for_each_functor(functor first, const Action& action) {
  for (auto op = first; op <= functor::format; op = static_cast<functor>(static_cast<int>(op) + 1)) action(op);
}

}  // namespace

std::optional<functor> extension_named(std::string_view name) {
  static const std::unordered_map<std::string_view, functor> by_name = [] {
    std::unordered_map<std::string_view, functor> result;
    for_each_functor(functor::starts_with, [&](functor op) { result.emplace(spelling(op), op); });
    return result;
  }();
  const auto found = by_name.find(name);
  return found == by_name.end() ? std::nullopt : std::optional(found->second);
}

bool is_test(functor op) { return op == functor::starts_with || op == functor::ends_with; }

const std::vector<std::string>& functor_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> result;
    for_each_functor(functor::cat, [&](functor op) { result.emplace_back(spelling(op)); });
    std::sort(result.begin(), result.end());
    return result;
  }();
  return names;
}

bool is_prefix(functor op) { return op <= functor::logical_not; }

bool is_infix(functor op) { return op >= functor::add && op <= functor::logical_xor; }

std::string_view spelling(aggregate_op op) {
  using enum aggregate_op;
  static constexpr entry<aggregate_op, std::string_view> table[] = {{count, "count"}, {sum, "sum"},   {min, "min"},
                                                                    {max, "max"},     {mean, "mean"}, {user, "@@"}};
  static_assert(has_all(table, user));
  return find_in(table, op).value();
}

std::string_view spelling(constraint_op op) {
  using enum constraint_op;
  static constexpr entry<constraint_op, std::string_view> table[] = {
      {equal, "="},           {not_equal, "!="},         {less, "<"},      {less_equal, "<="},
      {greater, ">"},         {greater_equal, ">="},     {match, "match"}, {not_match, "match"},
      {contains, "contains"}, {not_contains, "contains"}};
  static_assert(has_all(table, not_contains));
  return find_in(table, op).value();
}

constraint_op negated(constraint_op op) {
  using enum constraint_op;
  static constexpr entry<constraint_op, constraint_op> table[] = {
      {equal, not_equal},       {not_equal, equal},      {less, greater_equal}, {less_equal, greater},
      {greater, less_equal},    {greater_equal, less},   {match, not_match},    {not_match, match},
      {contains, not_contains}, {not_contains, contains}};
  static_assert(has_all(table, not_contains));
  return find_in(table, op).value();
}

std::string_view spelling(relation_qualifier qualifier) {
  using enum relation_qualifier;
  static constexpr entry<relation_qualifier, std::string_view> table[] = {
      {overridable, "overridable"},
      {is_inline, "inline"},
      {no_inline, "no_inline"},
      {magic, "magic"},
      {no_magic, "no_magic"},
      {brie, "brie"},
      {btree, "btree"},
      {btree_delete, "btree_delete"},
      {eqrel, "eqrel"},
      {input, "input"},
      {output, "output"},
      {printsize, "printsize"},
  };
  static_assert(has_all(table, printsize));
  return find_in(table, qualifier).value();
}

std::string_view spelling(directive_kind kind) {
  using enum directive_kind;
  static constexpr entry<directive_kind, std::string_view> table[] = {
      {input, ".input"}, {output, ".output"}, {printsize, ".printsize"}, {limitsize, ".limitsize"}};
  static_assert(has_all(table, limitsize));
  return find_in(table, kind).value();
}

}  // namespace gpulog::syntax

#include "plan/versions/version_builder.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "plan/rules/constant_folding.hpp"
#include "plan/versions/liveness.hpp"

namespace gpulog::plan {
namespace {

class body_translator {
 public:
  body_translator(const normalized_rule& rule, const version_parts& parts)
      : rule_(&rule), parts_(&parts), values_(rule.variables.size()), definitions_(rule.variables.size()) {
    result_.version.rule = rule.id;
    result_.version.head = rule.head;
    result_.version.delta_atom = parts.delta_atom ? static_cast<int>(*parts.delta_atom) : -1;
    result_.version.text = rule.text;
    result_.version.location = rule.location;
    result_.variables = rule.variables;
    result_.once = !parts.delta_atom.has_value();
  }

  void add(const step& next) {
    bindings_ = next.bindings;
    std::visit([this](const auto& action) { perform(action); }, next.action);
  }

  version_builder finish() {
    insert op;
    op.relation = rule_->head;
    for (const sema::expression& argument : rule_->head_arguments) op.values.push_back(evaluate(argument));
    emit(std::move(op));
    return std::move(result_);
  }

 private:
  void emit(operation op, std::vector<std::uint32_t> key_columns = {}) {
    result_.operations.push_back({std::move(op), std::move(key_columns), bindings_});
  }

  void perform(const read_atom& action) {
    const body_atom& atom = rule_->atoms[action.atom];
    const row_part rows = parts_->atoms[action.atom];
    const bool tested = action.atom < parts_->tested.size() && parts_->tested[action.atom];
    // A delta is small and has no index, so a version that begins with the delta scans it.
    const bool scanned = result_.operations.empty() && rows == row_part::delta && !atom.is_equivalence;
    compute_definitions();

    std::vector<operand> keys;
    std::vector<std::uint32_t> key_columns;
    std::vector<column_binding> bindings;
    std::vector<std::pair<slot_id, operand>> comparisons;
    const auto bind = [&](std::uint32_t column, std::uint32_t variable, value_kind kind) {
      const slot_id slot = result_.new_slot(variable, kind);
      bindings.push_back({column, slot});
      return slot;
    };
    std::set<std::uint32_t> bound_here;
    for (std::uint32_t column = 0; column < atom.arguments.size(); ++column) {
      const term& argument = atom.arguments[column];
      if (argument.is_constant() && scanned) {
        comparisons.emplace_back(bind(column, no_variable, argument.kind), operand::constant(argument.literal));
      } else if (argument.is_constant()) {
        keys.push_back(operand::constant(argument.literal));
        key_columns.push_back(column);
      } else if (argument.is_variable() && bound_here.contains(argument.value)) {
        comparisons.emplace_back(bind(column, no_variable, argument.kind), *values_[argument.value]);
      } else if (argument.is_variable() && is_bound(argument.value)) {
        keys.push_back(value_of(argument.value));
        key_columns.push_back(column);
      } else if (argument.is_variable()) {
        values_[argument.value] = operand::slot(bind(column, argument.value, argument.kind));
        bound_here.insert(argument.value);
      } else if (tested) {
        bind(column, no_variable, argument.kind);
      }
    }
    exists still_there{atom.relation, row_part::all, false, {}, {}, true};
    if (tested) still_there.keys = whole_row(atom.arguments.size(), keys, key_columns, bindings);
    if (keys.empty()) {
      emit(scan{atom.relation, rows, std::move(bindings)});
    } else {
      emit(match{atom.relation, rows, {}, std::move(keys), std::move(bindings)}, key_columns);
    }
    for (const auto& [slot, value] : comparisons) emit(filter{comparison_op::equal, operand::slot(slot), value});
    if (!tested) return;
    key_columns.resize(atom.arguments.size());
    std::iota(key_columns.begin(), key_columns.end(), 0U);
    emit(std::move(still_there), std::move(key_columns));
  }

  /// Returns all columns of the read row, from keys and bindings.
  static std::vector<operand> whole_row(std::size_t arity, const std::vector<operand>& keys,
                                        const std::vector<std::uint32_t>& key_columns,
                                        const std::vector<column_binding>& bindings) {
    std::vector<operand> row(arity);
    for (std::size_t number = 0; number < keys.size(); ++number) row[key_columns[number]] = keys[number];
    for (const column_binding& binding : bindings) row[binding.column] = operand::slot(binding.slot);
    return row;
  }

  void perform(const read_changed_elements& action) {
    const body_atom& atom = rule_->atoms[action.atom];
    const term& argument = atom.arguments[action.column];
    const slot_id slot = result_.new_slot(argument.value, argument.kind);
    values_[argument.value] = operand::slot(slot);
    emit(scan{atom.relation, row_part::delta, {{action.column, slot}}, true});
  }

  void perform(const reject_atom& action) {
    const body_atom& atom = rule_->negations[action.negation];
    exists op;
    op.relation = atom.relation;
    op.negated = true;
    std::vector<std::uint32_t> key_columns;
    for (std::uint32_t column = 0; column < atom.arguments.size(); ++column) {
      const term& argument = atom.arguments[column];
      if (argument.what == term::form::unnamed) continue;
      op.keys.push_back(argument.is_constant() ? operand::constant(argument.literal) : value_of(argument.value));
      key_columns.push_back(column);
    }
    emit(std::move(op), std::move(key_columns));
  }

  void perform(const test_condition& action) {
    const condition& test = rule_->conditions[action.condition];
    const operand left = evaluate(test.left);
    const operand right = evaluate(test.right);
    emit(filter{test.op, left, right});
  }

  void perform(const define_variable& action) { definitions_[action.variable] = action.value; }

  void perform(const match_record& action) {
    unpack op;
    op.record = evaluate(action.record);
    op.arity = static_cast<std::uint32_t>(action.pattern.arguments.size());
    std::vector<std::pair<slot_id, operand>> comparisons;
    for (std::uint32_t field = 0; field < op.arity; ++field) {
      const sema::expression& wanted = action.pattern.arguments[field];
      if (wanted.is_unnamed()) continue;
      const bool binds = wanted.is_variable() && !is_bound(wanted.variable);
      const slot_id slot = result_.new_slot(binds ? wanted.variable : no_variable, wanted.kind);
      op.bindings.push_back({field, slot});
      if (binds) {
        values_[wanted.variable] = operand::slot(slot);
      } else {
        comparisons.emplace_back(slot, evaluate(wanted));
      }
    }
    emit(std::move(op));
    for (const auto& [slot, value] : comparisons) emit(filter{comparison_op::equal, operand::slot(slot), value});
  }

  /// A record that some atom is to hold exists already, and so does a record that is a field of one.
  [[nodiscard]] bool is_known_record(std::uint32_t variable) {
    const auto [found, is_new] = known_records_.try_emplace(rule_);
    if (is_new) found->second = variables_of_known_records();
    return found->second.contains(variable);
  }

  [[nodiscard]] std::set<std::uint32_t> variables_of_known_records() const {
    std::multimap<std::uint32_t, const sema::expression*> patterns;  // by the variable of their record
    for (const condition& test : rule_->conditions) {
      if (test.op != comparison_op::equal) continue;
      if (test.left.is_record() && test.right.is_variable()) patterns.emplace(test.right.variable, &test.left);
      if (test.right.is_record() && test.left.is_variable()) patterns.emplace(test.left.variable, &test.right);
    }
    std::vector<std::uint32_t> reached;
    for (const body_atom& atom : rule_->atoms) append_variables(atom, reached);
    std::set<std::uint32_t> known;
    while (!reached.empty()) {
      const std::uint32_t variable = reached.back();
      reached.pop_back();
      if (!known.insert(variable).second) continue;
      const auto [first, last] = patterns.equal_range(variable);
      for (auto pattern = first; pattern != last; ++pattern) {
        for (const sema::expression& field : pattern->second->arguments) {
          if (field.is_variable()) reached.push_back(field.variable);
        }
      }
    }
    return known;
  }

  void perform(const fold_matches& action) {
    const aggregation& folded = rule_->aggregations[action.aggregation];
    for (const std::uint32_t variable : folded.injected) (void)value_of(variable);
    const std::vector<std::optional<operand>> values = values_;
    const std::vector<std::optional<sema::expression>> definitions = definitions_;
    const std::size_t begin = result_.operations.size();
    const double bindings = bindings_;
    emit(fold_begin{});
    version_parts parts;
    parts.atoms.assign(folded.body.atoms.size(), row_part::all);
    const normalized_rule* const rule_around = std::exchange(rule_, &folded.body);
    const version_parts* const parts_around = std::exchange(parts_, &parts);
    for (const step& next : action.body) add(next);
    fold_end op;
    op.op = folded.op;
    op.functor = folded.functor;
    op.initial = folded.initial;
    op.value = evaluate(folded.body.head_arguments.front());
    rule_ = rule_around;
    parts_ = parts_around;
    values_ = values;
    definitions_ = definitions;
    bindings_ = bindings;
    ended_folds_.emplace_back(begin, result_.operations.size());
    op.result = result_.new_slot(action.compares ? no_variable : folded.result.variable, folded.result.kind);
    const slot_id result = op.result;
    emit(op);
    finish_result(result, folded.result, action.compares);
  }

  void perform(const expand_range& action) {
    const generation& made = rule_->generations[action.generation];
    compute_definitions();
    generate op;
    op.kind = made.kind;
    for (const sema::expression& argument : made.arguments) op.arguments.push_back(evaluate(argument));
    op.result = result_.new_slot(action.compares ? no_variable : made.result.variable, made.kind);
    const slot_id result = op.result;
    emit(std::move(op));
    finish_result(result, made.result, action.compares);
  }

  void finish_result(slot_id slot, const sema::expression& wanted, bool compares) {
    if (!compares) {
      values_[wanted.variable] = operand::slot(slot);
      return;
    }
    const bool is_float = wanted.kind == value_kind::floating;
    const operand other = evaluate(wanted);
    emit(filter{is_float ? comparison_op::equal_float : comparison_op::equal, operand::slot(slot), other});
  }

  /// Returns whether the operator's slots still hold the values that it wrote.
  [[nodiscard]] bool is_visible(std::size_t position) const {
    return std::none_of(ended_folds_.begin(), ended_folds_.end(),
                        [position](const auto& ended) { return position >= ended.first && position < ended.second; });
  }

  [[nodiscard]] bool is_bound(std::uint32_t variable) const {
    return values_[variable].has_value() || definitions_[variable].has_value();
  }

  /// Computes pending definitions before a generator, because a later computation would run for every row. All other
  /// definitions are computed at the first use: earlier tests then save the computation, and operations that may end
  /// the program come as late as possible.
  void compute_definitions() {
    if (result_.operations.empty()) return;
    for (std::uint32_t variable = 0; variable < definitions_.size(); ++variable) {
      if (definitions_[variable] && !values_[variable] && !may_trap_transitively(*definitions_[variable])) {
        (void)value_of(variable);
      }
    }
  }

  [[nodiscard]] bool may_trap_transitively(const sema::expression& tree) const {
    if (may_trap(tree)) return true;
    std::vector<std::uint32_t> variables;
    append_variables(tree, variables);
    return std::any_of(variables.begin(), variables.end(), [this](std::uint32_t variable) {
      return !values_[variable] && definitions_[variable] && may_trap_transitively(*definitions_[variable]);
    });
  }

  operand value_of(std::uint32_t variable) {
    if (!values_[variable]) {
      const sema::expression& definition = *definitions_[variable];
      const operand value =
          definition.is_record() ? evaluate_record(definition, is_known_record(variable)) : evaluate(definition);
      if (!value.is_constant && result_.slot_variables[value.value] == no_variable) {
        result_.slot_variables[value.value] = variable;
      }
      values_[variable] = value;
    }
    return *values_[variable];
  }

  operand evaluate(const sema::expression& tree) {
    if (tree.is_constant()) return operand::constant(tree.constant);
    if (tree.is_variable()) return value_of(tree.variable);
    if (tree.is_record()) return evaluate_record(tree, false);
    compute op;
    op.op = tree.op;
    for (const sema::expression& argument : tree.arguments) op.arguments.push_back(evaluate(argument));
    if (op.op == scalar_op::next_counter) return made_by(std::move(op), tree.kind);
    auto& same = computed_[{op.op, keys_of(op.arguments)}];
    if (const auto value = visible_value(same)) return *value;
    const std::size_t position = result_.operations.size();
    same.emplace_back(position, made_by(std::move(op), tree.kind));
    return same.back().second;
  }

  operand evaluate_record(const sema::expression& tree, bool known_only) {
    pack op;
    op.known_only = known_only;
    for (const sema::expression& field : tree.arguments) op.fields.push_back(evaluate(field));
    auto& same = packed_[keys_of(op.fields)];
    if (const auto value = visible_value(same)) return *value;
    const std::size_t position = result_.operations.size();
    same.emplace_back(position, made_by(std::move(op), tree.kind));
    return same.back().second;
  }

  using operand_keys = std::vector<std::tuple<bool, std::uint32_t, wide_word>>;

  static operand_keys keys_of(const std::vector<operand>& operands) {
    operand_keys keys;
    for (const operand& one : operands) keys.emplace_back(one.is_constant, one.value, one.literal);
    return keys;
  }

  /// Values of equal operations, with the places of these.
  using equal_values = std::vector<std::pair<std::size_t, operand>>;

  [[nodiscard]] std::optional<operand> visible_value(const equal_values& values) const {
    const auto found =
        std::find_if(values.begin(), values.end(), [&](const auto& each) { return is_visible(each.first); });
    return found == values.end() ? std::nullopt : std::optional(found->second);
  }

  template <class Operation>
  operand made_by(Operation op, value_kind kind) {
    op.result = result_.new_slot(no_variable, kind);
    const operand result = operand::slot(op.result);
    emit(std::move(op));
    return result;
  }

  const normalized_rule* rule_;  ///< or the body of the current aggregate
  const version_parts* parts_;
  version_builder result_;
  /// Ranges of earlier operators inside closed aggregates. The slots of these operators no longer hold values.
  std::vector<std::pair<std::size_t, std::size_t>> ended_folds_;
  std::map<std::pair<scalar_op, operand_keys>, equal_values> computed_;
  std::map<operand_keys, equal_values> packed_;
  std::map<const normalized_rule*, std::set<std::uint32_t>> known_records_;  ///< by the body that is translated
  std::vector<std::optional<operand>> values_;
  std::vector<std::optional<sema::expression>> definitions_;
  double bindings_ = 1;
};

}  // namespace

version_builder build_version(const normalized_rule& rule, const version_parts& parts, const schedule& order) {
  body_translator builder(rule, parts);
  for (const step& next : order.steps) builder.add(next);
  version_builder result = builder.finish();
  result.version.order_reason = order.reason;
  result.atom_order = atoms_in_order(order);
  return result;
}

rule_version finish(version_builder version) {
  // last_read: the last operator that reads a slot. depth: the number of generators up to each operator.
  std::vector<std::size_t> last_read(version.slot_variables.size());
  std::vector<std::size_t> depth(version.operations.size());
  std::size_t generators = 0;
  for (std::size_t position = 0; position < version.operations.size(); ++position) {
    if (is_loop(version.operations[position].op)) ++generators;
    depth[position] = generators;
    for (const slot_id slot : slots_read(version.operations[position].op)) last_read[slot.value] = position;
  }

  rule_version result = std::move(version.version);
  const std::vector<value_kind> kinds = std::exchange(result.slot_kinds, {});
  std::map<std::uint32_t, operand> renamed;
  std::map<value_kind, std::vector<slot_id>> free_slots;
  std::vector<std::pair<std::size_t, slot_id>> occupied;  // last reader within one depth
  const auto rename = [&](operand& value) {
    if (!value.is_constant) value = renamed.at(value.value);
  };
  // Depth at which a value is known. A value computed only from values that were known before the innermost generator
  // is also known before that generator. The slot of the value is not shared, so the computation may move before the
  // generator.
  std::vector<std::size_t> known_at(version.slot_variables.size());
  const auto is_known_before = [&](const compute& op, std::size_t position) {
    return std::all_of(op.arguments.begin(), op.arguments.end(), [&](const operand& argument) {
      return argument.is_constant || known_at[argument.value] < depth[position];
    });
  };
  const auto define = [&](slot_id& slot, std::size_t position, bool is_shared = true) {
    const value_kind kind = kinds[slot.value];
    const std::uint32_t variable = version.slot_variables[slot.value];
    const std::string name = variable == no_variable ? std::string() : version.variables[variable].name;
    const std::size_t end = last_read[slot.value];
    slot_id chosen;
    known_at[slot.value] = is_shared ? depth[position] : depth[position] - 1;
    if (auto& candidates = free_slots[kind]; is_shared && !candidates.empty()) {
      chosen = candidates.back();
      candidates.pop_back();
      result.slot_names[chosen.value] += "/" + name;
    } else {
      chosen = slot_id(result.slot_count++);
      result.slot_kinds.push_back(kind);
      result.slot_names.push_back(name);
    }
    if (is_shared && depth[end] == depth[position]) occupied.emplace_back(end, chosen);
    renamed[slot.value] = operand::slot(chosen);
    slot = chosen;
  };

  for (std::size_t position = 0; position < version.operations.size(); ++position) {
    operator_builder& current = version.operations[position];
    // Frees slots whose last reader precedes this operator, never the inputs of this operator.
    std::erase_if(occupied, [&](const auto& entry) {
      if (entry.first >= position) return false;
      free_slots[result.slot_kinds[entry.second.value]].push_back(entry.second);
      return true;
    });
    if (auto* op = std::get_if<scan>(&current.op)) {
      for (column_binding& binding : op->bindings) define(binding.slot, position);
    } else if (auto* searched = std::get_if<match>(&current.op)) {
      for (operand& key : searched->keys) rename(key);
      for (other_search& other : searched->others) {
        for (operand& key : other.keys) rename(key);
      }
      for (column_binding& binding : searched->bindings) define(binding.slot, position);
    } else if (auto* test = std::get_if<exists>(&current.op)) {
      for (operand& key : test->keys) rename(key);
    } else if (auto* computed = std::get_if<compute>(&current.op)) {
      const bool is_shared = depth[position] < 2 || !is_known_before(*computed, position);
      for (operand& argument : computed->arguments) rename(argument);
      define(computed->result, position, is_shared);
    } else if (auto* generated = std::get_if<generate>(&current.op)) {
      for (operand& argument : generated->arguments) rename(argument);
      define(generated->result, position);
    } else if (auto* folded = std::get_if<fold_end>(&current.op)) {
      rename(folded->value);
      define(folded->result, position);
    } else if (auto* condition = std::get_if<filter>(&current.op)) {
      rename(condition->left);
      rename(condition->right);
    } else if (auto* packed = std::get_if<pack>(&current.op)) {
      for (operand& field : packed->fields) rename(field);
      define(packed->result, position);
    } else if (auto* unpacked = std::get_if<unpack>(&current.op)) {
      rename(unpacked->record);
      for (field_binding& binding : unpacked->bindings) define(binding.slot, position);
    } else if (auto* inserted = std::get_if<insert>(&current.op)) {
      for (operand& value : inserted->values) rename(value);
    }
    result.operations.push_back(std::move(current.op));
    result.estimates.push_back(current.bindings);
  }
  return result;
}

}  // namespace gpulog::plan

#include "plan/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "sema/print.hpp"
#include "support/value_table.hpp"

namespace gpulog::plan {
namespace {

std::string_view part_suffix(row_part rows) {
  switch (rows) {
    case row_part::old:
      return " in old";
    case row_part::delta:
      return " in delta";
    case row_part::all:
      break;
  }
  return "";
}

std::string constant_text(const program& plan, wide_word value, value_kind kind) {
  switch (kind) {
    case value_kind::symbol: {
      if (value < plan.symbols.size()) return fmt::format("\"{}\"", plan.symbols[static_cast<std::size_t>(value)]);
      const auto found = plan.symbols_of_engine.find(value);
      return found == plan.symbols_of_engine.end() ? fmt::format("symbol {}", value)
                                                   : fmt::format("\"{}\"", found->second);
    }
    case value_kind::unsigned_number:
      return fmt::format("{}u", value);
    default:
      return sema::number_text(kind, value, plan.words);
  }
}

bool is_float(comparison_op op) { return op >= comparison_op::equal_float && op <= comparison_op::greater_equal_float; }

bool is_float(scalar_op op) {
  return (op >= scalar_op::add_float && op <= scalar_op::negate_float) || op == scalar_op::min_float ||
         op == scalar_op::max_float || op == scalar_op::float_to_number || op == scalar_op::float_to_unsigned ||
         op == scalar_op::float_to_string;
}

/// Returns the kind of a constant argument of an operation.
value_kind kind_of_argument(scalar_op op, std::size_t position) {
  using enum scalar_op;
  if (is_float(op)) return value_kind::floating;
  if (is_one_of(op, {min_symbol, max_symbol, concatenate, string_length, string_to_number, string_to_unsigned,
                     string_to_float, starts_with, ends_with, replace_text, to_lower, to_upper, trim, part_count})) {
    return value_kind::symbol;
  }
  const bool is_text = (op == substring && position == 0) || (is_one_of(op, {index_of, part_of}) && position < 2);
  return is_text ? value_kind::symbol : value_kind::number;
}

/// Prints the operators of one version in order and tracks the variable that each slot holds.
class version_printer {
 public:
  version_printer(const program& plan, const rule_version& version)
      : plan_(plan), version_(version), current_names_(version.slot_count), next_names_(version.slot_count) {}

  std::string print(const operation& op) {
    return std::visit([this](const auto& printed) { return text(printed); }, op);
  }

 private:
  std::string define(slot_id slot) {
    // slot_names lists the variables in the order in which the slot is written.
    std::size_t& next = next_names_[slot.value];
    const std::string_view names = std::string_view(version_.slot_names[slot.value]).substr(next);
    const std::string_view name = names.substr(0, names.find('/'));
    next += std::min(name.size() + 1, names.size());
    current_names_[slot.value] = name.empty() ? fmt::format("${}", slot.value) : std::string(name);
    return current_names_[slot.value];
  }

  [[nodiscard]] std::string text(const operand& value, value_kind kind) const {
    return value.is_constant ? constant_text(plan_, value.literal, kind) : current_names_[value.value];
  }

  [[nodiscard]] value_kind kind_of(const operand& value, value_kind otherwise) const {
    return value.is_constant ? otherwise : version_.slot_kinds[value.value];
  }

  [[nodiscard]] std::string index_text(index_id id) const {
    if (plan_.relations[plan_.indexes[id.value].relation.value].is_equivalence) return "  (classes)";
    return fmt::format("  (index {}: {})", id.value, fmt::join(plan_.indexes[id.value].order, ","));
  }

  [[nodiscard]] value_kind column_kind(relation_id relation, std::uint32_t column) const {
    return plan_.relations[relation.value].kinds[column];
  }

  [[nodiscard]] std::vector<std::string> unnamed_columns(relation_id relation) const {
    return std::vector<std::string>(plan_.relations[relation.value].kinds.size(), "_");
  }

  std::string text(const scan& op) {
    std::vector<std::string> columns = unnamed_columns(op.relation);
    for (const column_binding& binding : op.bindings) columns[binding.column] = define(binding.slot);
    return fmt::format("for {}({}){}{}", name(op.relation), fmt::join(columns, ","), part_suffix(op.rows),
                       op.changed_elements ? "  (elements)" : "");
  }

  std::string text(const match& op) {
    const index& used = plan_.indexes[op.index.value];
    std::vector<std::string> keys;
    for (std::size_t number = 0; number < op.keys.size(); ++number) {
      keys.push_back(text(op.keys[number], column_kind(op.relation, used.order[number])));
    }
    std::vector<std::string> bindings;
    for (const column_binding& binding : op.bindings) {
      const std::string bound = define(binding.slot);
      // With at most two columns, the column that is not the key is obvious.
      const bool clear = plan_.relations[op.relation.value].kinds.size() <= 2;
      bindings.push_back(clear ? bound : fmt::format("{}@{}", bound, binding.column));
    }
    std::string others;
    for (const other_search& other : op.others) {
      std::vector<std::string> columns = unnamed_columns(other.relation);
      const index& order = plan_.indexes[other.index.value];
      for (std::size_t number = 0; number < other.keys.size(); ++number) {
        columns[order.order[number]] = text(other.keys[number], column_kind(other.relation, order.order[number]));
      }
      others += fmt::format("{}{}({}){}", others.empty() ? "  or the fewest rows of " : ", ", name(other.relation),
                            fmt::join(columns, ","), index_text(other.index));
    }
    return fmt::format("match {}[{}]{} -> {}{}{}", name(op.relation), fmt::join(keys, ","), part_suffix(op.rows),
                       fmt::join(bindings, ","), index_text(op.index), others);
  }

  std::string text(const exists& op) {
    std::vector<std::string> columns = unnamed_columns(op.relation);
    for (std::uint32_t number = 0; number < op.keys.size(); ++number) {
      const std::uint32_t column = op.index.valid() ? plan_.indexes[op.index.value].order[number] : number;
      columns[column] = text(op.keys[number], column_kind(op.relation, column));
    }
    return fmt::format("if {}{}({}){}{}", op.negated ? "not " : "", name(op.relation), fmt::join(columns, ","),
                       part_suffix(op.rows), op.index.valid() ? index_text(op.index) : "");
  }

  std::string text(const compute& op) {
    std::vector<std::string> arguments;
    for (const operand& argument : op.arguments) {
      arguments.push_back(text(argument, kind_of(argument, kind_of_argument(op.op, arguments.size()))));
    }
    std::string function(sema::operation_text(op.op));
    if (op.op == scalar_op::call_functor) {
      function = "@" + plan_.functors[static_cast<std::size_t>(op.arguments.front().literal)];
      arguments.erase(arguments.begin());
    }
    const bool is_infix = arguments.size() == 2 && op.op != scalar_op::call_functor &&
                          (function.find_first_of("+-*/%^") != std::string_view::npos || function.starts_with('b') ||
                           function.starts_with('l'));
    const std::string value = is_infix ? fmt::format("{} {} {}", arguments[0], function, arguments[1])
                                       : fmt::format("{}({})", function, fmt::join(arguments, ", "));
    return fmt::format("let {} = {}", define(op.result), value);
  }

  std::string text(const filter& op) {
    const value_kind otherwise = is_float(op.op)                       ? value_kind::floating
                                 : op.op >= comparison_op::less_symbol ? value_kind::symbol
                                                                       : value_kind::number;
    const std::string left = text(op.left, kind_of(op.right, otherwise));
    const std::string right = text(op.right, kind_of(op.left, otherwise));
    if (op.op >= comparison_op::matches) return fmt::format("if {}({}, {})", sema::comparison_text(op.op), left, right);
    return fmt::format("if {} {} {}", left, sema::comparison_text(op.op), right);
  }

  std::string text(const pack& op) {
    std::vector<std::string> fields;
    for (const operand& field : op.fields) fields.push_back(text(field, kind_of(field, value_kind::number)));
    return fmt::format("{} {} = [{}]", op.known_only ? "if known" : "let", define(op.result), fmt::join(fields, ","));
  }

  std::string text(const unpack& op) {
    const std::string record = text(op.record, value_kind::record);
    std::vector<std::string> fields(op.arity, "_");
    for (const field_binding& binding : op.bindings) fields[binding.field] = define(binding.slot);
    return fmt::format("unpack {} -> [{}]", record, fmt::join(fields, ","));
  }

  std::string text(const generate& op) {
    std::vector<std::string> arguments;
    for (const operand& argument : op.arguments) arguments.push_back(text(argument, op.kind));
    const std::string values = fmt::format("range({})", fmt::join(arguments, ", "));
    return fmt::format("for {} in {}", define(op.result), values);
  }

  std::string text(const fold_begin&) { return "aggregate"; }

  std::string text(const fold_end& op) {
    const std::string value = op.op == fold_op::count ? "" : " of " + text(op.value, value_kind::number);
    const std::string name =
        op.op == fold_op::functor ? "@@" + plan_.functors[op.functor] : std::string(sema::fold_text(op.op));
    return fmt::format("let {} = {}{}", define(op.result), name, value);
  }

  std::string text(const insert& op) {
    std::vector<std::string> values;
    for (std::uint32_t column = 0; column < op.values.size(); ++column) {
      values.push_back(text(op.values[column], column_kind(op.relation, column)));
    }
    return fmt::format("insert {}({})", name(op.relation), fmt::join(values, ","));
  }

  [[nodiscard]] const std::string& name(relation_id relation) const { return plan_.relations[relation.value].name; }

  const program& plan_;
  const rule_version& version_;
  std::vector<std::string> current_names_;
  std::vector<std::size_t> next_names_;  // in slot_names: where the name of the next writing of a slot begins
};

std::string operators_text(const program& plan, const rule_version& version, std::string_view indentation) {
  std::string result;
  const std::vector<explained_operator> operators = explain_operators(plan, version);
  for (std::size_t position = 0; position < operators.size(); ++position) {
    const explained_operator& op = operators[position];
    if (op.begins_first_match) result += fmt::format("{}{:{}}first match\n", indentation, "", 2 * (op.depth - 1));
    result += fmt::format("{}{:{}}{}", indentation, "", 2 * op.depth, op.text);
    if (op.reads && position < version.estimates.size())
      result += fmt::format("  ~{:.2g}", version.estimates[position]);
    result += "\n";
  }
  return result;
}

std::string names_text(const program& plan, const std::vector<relation_id>& relations) {
  std::vector<std::string> names;
  for (const relation_id id : relations) names.push_back(plan.relations[id.value].name);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string phase_text(const program& plan, const phase& printed, const std::string& title) {
  std::string result = fmt::format("  {}\n", title);
  for (const rule_version& version : printed.versions) {
    result += fmt::format("    {}{}\n", version.text, version.location.empty() ? "" : "   " + version.location);
    result += fmt::format("      # order: {}\n", version.order_reason);
    if (version.rows) {
      result += fmt::format("      # row-wise: evaluated per {} when duplicates dominate\n",
                            plan.relations[version.head.value].attribute_names.front());
    }
    result += operators_text(plan, version, "      ");
  }
  if (!printed.advance.empty()) result += fmt::format("    advance {}\n", names_text(plan, printed.advance));
  return result;
}

std::string decomposition_text(const program& plan, const row_equations& printed) {
  std::vector<std::string> passed;
  for (const row_member& member : printed.members) {
    const relation& own = plan.relations[member.relation.value];
    std::vector<std::string> names;
    for (const std::uint32_t column : member.sources) names.push_back(own.attribute_names[column]);
    passed.push_back(fmt::format("{} of {}", fmt::join(names, ","), own.name));
  }
  std::string result = fmt::format(
      "  decomposed: the loop passes {} through unchanged, so each {} is a fixpoint of its own",
      fmt::join(passed, ", "), printed.members.front().sources.size() == 1 ? "of its values" : "combination of values");
  if (!printed.is_binary()) result += "; values of the other columns are numbered";
  return result + "\n";
}

/// Returns the line about known values of a recursive stratum. In other strata the values are obvious.
std::string domain_text(const program& plan, const relation_domain& domain, const std::vector<relation_id>& loop) {
  const relation& bounded = plan.relations[domain.relation.value];
  std::vector<std::string> columns;
  for (std::size_t column = 0; column < domain.columns.size(); ++column) {
    std::vector<std::string> sources;
    for (const column_place& source : domain.columns[column].sources) {
      const relation& from = plan.relations[source.relation.value];
      const bool in_loop = std::find(loop.begin(), loop.end(), source.relation) != loop.end();
      if (!in_loop) sources.push_back(fmt::format("{}.{}", from.name, from.attribute_names[source.column]));
    }
    columns.push_back(fmt::format("{} from {}", bounded.attribute_names[column],
                                  sources.empty() ? "constants" : fmt::format("{}", fmt::join(sources, "+"))));
  }
  return fmt::format("  known values: {} ({}); small ones are places in a bit matrix\n", bounded.name,
                     fmt::join(columns, ", "));
}

std::string index_text(const program& plan, std::size_t number) {
  const index& printed = plan.indexes[number];
  const relation& indexed = plan.relations[printed.relation.value];
  std::string result = fmt::format("  index {}: {} by {}; searched by the first {}", number, indexed.name,
                                   fmt::join(printed.order, ","), fmt::join(printed.key_lengths, " and "));
  if (!printed.payload.empty()) result += fmt::format("; carries {}", fmt::join(printed.payload, ","));
  return result + "\n";
}

}  // namespace

std::vector<explained_operator> explain_operators(const program& plan, const rule_version& version) {
  version_printer printer(plan, version);
  std::vector<explained_operator> operators;
  unsigned depth = 0;
  std::vector<unsigned> outside;  // depths around the open aggregates
  // end of each open first match, and the depth around it
  std::vector<std::pair<std::size_t, unsigned>> open_first_matches;
  auto next_first_match = version.first_matches.begin();
  for (std::size_t position = 0; position < version.operations.size(); ++position) {
    const operation& op = version.operations[position];
    while (!open_first_matches.empty() && open_first_matches.back().first == position) {
      depth = open_first_matches.back().second;
      open_first_matches.pop_back();
    }
    const bool begins = next_first_match != version.first_matches.end() && next_first_match->begin == position;
    if (begins) open_first_matches.emplace_back(next_first_match++->end, depth++);
    const bool reads = std::holds_alternative<scan>(op) || std::holds_alternative<match>(op);
    explained_operator& made = operators.emplace_back(explained_operator{printer.print(op), depth, reads});
    made.begins_first_match = begins;
    if (reads || std::holds_alternative<generate>(op)) ++depth;
    if (std::holds_alternative<fold_begin>(op)) outside.push_back(depth++);
    if (std::holds_alternative<fold_end>(op) && !outside.empty()) {
      depth = outside.back();
      outside.pop_back();
    }
    if (outside.empty() && open_first_matches.empty() && position < version.estimates.size())
      made.expected = version.estimates[position];
  }
  return operators;
}

std::string explain(const program& plan, const rule_version& version) { return operators_text(plan, version, ""); }

std::string explain(const program& plan) {
  std::string result;
  for (std::size_t number = 0; number < plan.strata.size(); ++number) {
    const stratum& printed = plan.strata[number];
    result += fmt::format("stratum {}: {}{}\n", number, names_text(plan, printed.relations),
                          printed.recursive ? " (recursive)" : "");
    for (const relation_id id : printed.relations) {
      const auto facts = std::find_if(plan.facts.begin(), plan.facts.end(),
                                      [id](const fact_block& block) { return block.relation == id; });
      if (facts == plan.facts.end()) continue;
      result += fmt::format("  {} facts of {}\n", facts->rows, plan.relations[id.value].name);
    }
    for (const relation_id id : printed.relations) {
      if (plan.relations[id.value].needs_set && !plan.relations[id.value].loops_distinct) continue;
      result += fmt::format("  no tuple set for {}: its rule derives each tuple once\n", plan.relations[id.value].name);
    }
    if (!printed.once.versions.empty()) result += phase_text(plan, printed.once, "once");
    if (printed.is_row_join()) {
      const relation& own = plan.relations[printed.relations.front().value];
      result += fmt::format("  row-wise: {} is evaluated per {} when duplicates dominate, without a tuple set\n",
                            own.name, own.attribute_names.front());
    }
    if (printed.has_row_steps()) result += decomposition_text(plan, *printed.rows);
    if (printed.has_row_products()) {
      const relation& own = plan.relations[printed.rows->relation().value];
      result += fmt::format("  products: {} grows at both sides and can be computed as rows of bits\n", own.name);
    }
    if (printed.recursive) {
      for (const relation_domain& domain : printed.domains) result += domain_text(plan, domain, printed.relations);
    }
    for (std::size_t repeated = 0; repeated < printed.loop.size(); ++repeated) {
      const std::string title =
          printed.loop.size() == 1 ? "loop" : fmt::format("loop, phase {} of {}", repeated + 1, printed.loop.size());
      result += phase_text(plan, printed.loop[repeated], title);
    }
    for (const subsumption& made : printed.subsumptions) {
      result += fmt::format("  subsumption\n    {}   {}\n", made.version.text, made.version.location);
      if (!made.key_columns.empty()) {
        result += fmt::format("      # pairs that are equal in the columns {}\n", fmt::join(made.key_columns, ","));
      }
      if (const auto& best = plan.relations[made.relation.value].best) {
        const std::string kept = best->bounds.empty()       ? "best one"
                                 : best->bounds.size() == 1 ? "least upper bound"
                                                            : "least upper bounds";
        result += fmt::format("      # by the tuple set, which keeps the {}{}\n", kept,
                              best->priority_delta ? "; each iteration takes the best new ones first" : "");
      }
      result += operators_text(plan, made.version, "      ");
    }
  }
  if (!plan.indexes.empty()) result += "indexes\n";
  for (std::size_t number = 0; number < plan.indexes.size(); ++number) result += index_text(plan, number);
  if (!plan.remarks.empty()) result += "remarks\n";
  for (const std::string& remark : plan.remarks) result += fmt::format("  {}\n", remark);
  return result;
}

}  // namespace gpulog::plan

#include "sema/print.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>

#include "sema/rewriting/expressions.hpp"
#include "support/value_table.hpp"
#include "syntax/printer.hpp"

namespace gpulog::sema {

std::string number_text(value_kind kind, wide_word value, word_size words) {
  const bool is_wide = words == word_size::bits64;
  switch (kind) {
    case value_kind::unsigned_number:
      return fmt::format("{}", value);
    case value_kind::floating:
      if (is_wide) return fmt::format("{}", std::bit_cast<double>(value));
      return fmt::format("{}", std::bit_cast<float>(static_cast<std::uint32_t>(value)));
    default:
      return fmt::format("{}", is_wide ? static_cast<std::int64_t>(value) : static_cast<std::int32_t>(value));
  }
}

namespace {

bool is_in_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '?';
}

}  // namespace

std::string without_made_names(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '"') {
      const std::size_t begin = at++;
      while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
      result += text.substr(begin, at + 1 - begin);
    } else if (text[at] == '@' && !result.empty() && is_in_name(result.back())) {
      while (at + 1 < text.size() && (is_in_name(text[at + 1]) || text[at + 1] == '@')) ++at;
    } else {
      result += text[at];
    }
  }
  return result;
}

namespace {

/// @param structure the algebraic data type of a value, if known
std::string constant_text(const program& program, value_kind kind, wide_word value, structure_id structure = {}) {
  if (kind == value_kind::adt && structure.valid()) {
    const structure_type& type = program.structures[structure.value];
    if (type.is_enumeration() && value < type.branches.size())
      return "$" + type.branches[static_cast<std::size_t>(value)].name;
  }
  switch (kind) {
    case value_kind::symbol:
      return syntax::quoted(std::string(program.symbol_text(value)));
    default:
      return number_text(kind, value, program.words);
  }
}

bool is_infix(scalar_op op) {
  using enum scalar_op;
  return is_one_of(
      op, {add_number,         subtract_number,      multiply_number, divide_number, modulo_number,  power_number,
           divide_unsigned,    modulo_unsigned,      power_unsigned,  add_float,     subtract_float, multiply_float,
           divide_float,       power_float,          bit_and,         bit_or,        bit_xor,        shift_left,
           shift_right_number, shift_right_unsigned, logical_and,     logical_or,    logical_xor});
}

std::string atom_text(const program& program, const rule& rule, const atom& atom) {
  std::string result = atom.negated ? "!" : "";
  result += program[atom.relation].name + "(";
  for (std::size_t position = 0; position < atom.arguments.size(); ++position) {
    if (position > 0) result += ",";
    result += to_text(program, rule, atom.arguments[position]);
  }
  return result + ")";
}

std::string_view directive_text(directive_kind kind) {
  using enum directive_kind;
  static constexpr entry<directive_kind, std::string_view> table[] = {
      {input, ".input"}, {output, ".output"}, {printsize, ".printsize"}, {limitsize, ".limitsize"}};
  static_assert(has_all(table, limitsize));
  return find_in(table, kind).value();
}

std::string_view representation_text(representation structure) {
  using enum representation;
  static constexpr entry<representation, std::string_view> table[] = {
      {unspecified, ""}, {btree, " btree"}, {btree_delete, " btree_delete"}, {brie, " brie"}, {eqrel, " eqrel"}};
  static_assert(has_all(table, eqrel));
  return find_in(table, structure).value();
}

/// Returns " choice-domain a, (b, c)"; empty without keys.
std::string choice_text(const relation& relation) {
  std::string result;
  for (const std::vector<std::uint32_t>& key : relation.choice_domains) {
    std::string columns;
    for (const std::uint32_t column : key) {
      columns += (columns.empty() ? "" : ", ") + relation.attributes[column].name;
    }
    result += (result.empty() ? " choice-domain " : ", ") + (key.size() == 1 ? columns : "(" + columns + ")");
  }
  return result;
}

std::string declaration_text(const relation& relation) {
  std::string result = ".decl " + relation.name + "(";
  for (std::size_t column = 0; column < relation.attributes.size(); ++column) {
    if (column > 0) result += ", ";
    result += relation.attributes[column].name + ":" + relation.attributes[column].type_name;
  }
  result += ")";
  result += representation_text(relation.structure);
  if (relation.is_inline) result += " inline";
  if (relation.is_magic) result += " magic";
  result += choice_text(relation);
  result += "\n";
  for (const io_directive& directive : relation.directives) {
    result += fmt::format("{} {}", directive_text(directive.kind), relation.name);
    std::string parameters;
    for (const auto& [key, value] : directive.parameters) {
      parameters += fmt::format("{}{}={}", parameters.empty() ? "" : ", ", key, syntax::quoted(value));
    }
    result += parameters.empty() ? "\n" : "(" + parameters + ")\n";
  }
  return result;
}

std::vector<std::uint32_t> strata_of_relations(const program& program) {
  std::vector<std::uint32_t> stratum_of(program.relations.size());
  for (std::uint32_t number = 0; number < program.strata.size(); ++number) {
    for (relation_id id : program.strata[number].relations) stratum_of[id.value] = number;
  }
  return stratum_of;
}

std::string names(const program& program, const stratum& stratum) {
  std::string result;
  for (relation_id id : stratum.relations) {
    if (!result.empty()) result += ",";
    result += program[id].name;
  }
  return result;
}

}  // namespace

namespace {

/// Appends an expression to a text in time proportional to the size, at any depth.
class expression_printer {
 public:
  expression_printer(const program& program, const rule& rule, std::string& text)
      : program_(program), rule_(rule), text_(text) {}

  void print(const expression& tree) {
    switch (tree.what) {
      case expression::form::variable:
        text_ += rule_.variables[tree.variable].name;
        break;
      case expression::form::constant:
        text_ += constant_text(program_, tree.kind, tree.constant, tree.structure);
        break;
      case expression::form::unnamed:
        text_ += '_';
        break;
      case expression::form::record:
        if (tree.structure.valid() && print_branch(tree)) break;
        print_list('[', tree.arguments, 0, ']');
        break;
      case expression::form::operation:
        print_operation(tree);
        break;
    }
  }

 private:
  void print_list(char open, const std::vector<expression>& trees, std::size_t first, char close) {
    text_ += open;
    for (std::size_t at = first; at < trees.size(); ++at) {
      if (at > first) text_ += ',';
      print(trees[at]);
    }
    text_ += close;
  }

  /// Prints `$Branch(fields)`.
  /// @return false if a variable introduced by desugaring holds the fields
  bool print_branch(const expression& record) {
    const structure_type& type = program_.structures[record.structure.value];
    const branch_type& branch = type.branches[static_cast<std::size_t>(record.arguments[0].constant)];
    const expression& payload = record.arguments[1];
    const std::string_view named = payload.is_variable() ? rule_.variables[payload.variable].name : std::string_view();
    if (branch.fields.size() > 1 && !payload.is_record() && !named.starts_with('[')) return false;
    text_ += '$';
    text_ += branch.name;
    if (branch.fields.size() == 1) {
      text_ += '(';
      print(payload);
      text_ += ')';
    } else if (branch.fields.size() > 1 && payload.is_record()) {
      print_list('(', payload.arguments, 0, ')');
    } else if (branch.fields.size() > 1) {
      text_ += '(';
      text_ += named.substr(1, named.size() - 2);
      text_ += ')';
    }
    return true;
  }

  void print_operation(const expression& tree) {
    const std::string_view name = operation_text(tree.op);
    if (is_infix(tree.op)) {
      const std::string_view space = name.front() >= 'a' && name.front() <= 'z' ? " " : "";
      text_ += '(';
      print(tree.arguments[0]);
      text_ += space;
      text_ += name;
      text_ += space;
      print(tree.arguments[1]);
      text_ += ')';
      return;
    }
    if (tree.op == scalar_op::call_functor) {
      text_ += "@" + program_.functors[static_cast<std::size_t>(tree.arguments.front().constant)].name;
      return print_list('(', tree.arguments, 1, ')');
    }
    const bool is_prefix = tree.op == scalar_op::negate_number || tree.op == scalar_op::negate_float ||
                           tree.op == scalar_op::bit_not || tree.op == scalar_op::logical_not;
    if (is_prefix) {
      text_ += '(';
      text_ += name;
      print(tree.arguments[0]);
      text_ += ')';
      return;
    }
    text_ += name;
    print_list('(', tree.arguments, 0, ')');
  }

  const program& program_;
  const rule& rule_;
  std::string& text_;
};

}  // namespace

std::string to_text(const program& program, const rule& rule, const expression& expression) {
  std::string text;
  expression_printer(program, rule, text).print(expression);
  return text;
}

std::string to_text(const program& program, const rule& rule, const literal& part) {
  if (const atom* body = std::get_if<atom>(&part)) return atom_text(program, rule, *body);
  if (const aggregate* folded = std::get_if<aggregate>(&part)) {
    std::string body;
    for (const literal& inner : folded->body) body += (body.empty() ? "" : ", ") + to_text(program, rule, inner);
    const std::string target = folded->target.is_unnamed() ? "" : " " + to_text(program, rule, folded->target);
    if (folded->op == fold_op::functor) {
      const expression initial = constant_of(program.functors[folded->functor].parameters.front(), folded->initial);
      return fmt::format("{} = @@{}{} : {}, {{ {} }}", to_text(program, rule, folded->result),
                         program.functors[folded->functor].name, target, to_text(program, rule, initial), body);
    }
    return fmt::format("{} = {}{} : {{ {} }}", to_text(program, rule, folded->result), fold_text(folded->op), target,
                       body);
  }
  if (const generator* range = std::get_if<generator>(&part)) {
    std::string arguments;
    for (const expression& argument : range->arguments) {
      arguments += (arguments.empty() ? "" : ",") + to_text(program, rule, argument);
    }
    return fmt::format("{} = range({})", to_text(program, rule, range->result), arguments);
  }
  const constraint& test = std::get<constraint>(part);
  const std::string left = to_text(program, rule, test.left);
  const std::string right = to_text(program, rule, test.right);
  const std::string_view op = comparison_text(test.op);
  if (op.size() > 2) return fmt::format("{}({},{})", op, left, right);
  return fmt::format("{} {} {}", left, op, right);
}

std::string to_text(const program& program, const rule& rule) {
  std::string result = atom_text(program, rule, rule.head);
  for (std::size_t position = 0; position < rule.body.size(); ++position) {
    result += position == 0 ? " :- " : ", ";
    result += to_text(program, rule, rule.body[position]);
  }
  return result + ".";
}

namespace {

bool is_made(const std::string& name) { return name.starts_with('@'); }

/// Returns the variable that desugaring introduced for the literal's result, or nullptr for all other literals.
const expression* made_result(const rule& shown, const literal& part) {
  const auto is_made_variable = [&](const expression& side) {
    return side.what == expression::form::variable && is_made(shown.variables[side.variable].name);
  };
  const expression* result = nullptr;
  if (const auto* folded = std::get_if<aggregate>(&part)) result = &folded->result;
  if (const auto* generated = std::get_if<generator>(&part)) result = &generated->result;
  if (const auto* test = std::get_if<constraint>(&part)) {
    if (comparison_text(test->op) != "=") return nullptr;
    result = is_made_variable(test->left) ? &test->left : &test->right;
  }
  return result != nullptr && is_made_variable(*result) ? result : nullptr;
}

/// Returns the source text of the value that the literal computes.
std::string computed_text(const program& program, const rule& shown, const literal& part, const expression& result) {
  if (const auto* test = std::get_if<constraint>(&part)) {
    return to_text(program, shown, &result == &test->left ? test->right : test->left);
  }
  return to_text(program, shown, part).substr(to_text(program, shown, result).size() + std::string_view(" = ").size());
}

/// Renames variables introduced by desugaring to the expressions that define the variables, and removes the
/// definitions.
void name_made_variables(const program& program, rule& shown, std::vector<literal>& body) {
  constexpr std::size_t longest_text = 1000;
  for (literal& part : body) {
    if (auto* folded = std::get_if<aggregate>(&part)) name_made_variables(program, shown, folded->body);
  }
  for (std::size_t position = 0; position < body.size();) {
    const expression* const result = made_result(shown, body[position]);
    std::string text = result == nullptr ? "" : computed_text(program, shown, body[position], *result);
    // A definition by further such variables is postponed until these have names.
    const bool waits = std::any_of(shown.variables.begin(), shown.variables.end(), [&](const variable& other) {
      return is_made(other.name) && text.find(other.name) != std::string::npos;
    });
    if (result == nullptr || waits || text.size() > longest_text) {
      ++position;
      continue;
    }
    shown.variables[result->variable].name = std::move(text);
    body.erase(body.begin() + static_cast<std::ptrdiff_t>(position));
    position = 0;
  }
}

}  // namespace

rule as_in_source(const program& program, const rule& rule) {
  // Larger rules come from generators; their variables stay.
  constexpr std::size_t most_variables = 200;
  sema::rule shown = rule;
  if (shown.variables.size() <= most_variables) name_made_variables(program, shown, shown.body);
  for (variable& one : shown.variables) {
    if (is_made(one.name)) one.name.front() = '_';
    one.name = without_made_names(one.name);
  }
  return shown;
}

std::string source_text(const program& program, const rule& rule) {
  return to_text(program, as_in_source(program, rule));
}

std::string to_text(const program& program, const fact& fact) {
  std::string text = program[fact.relation].name + "(";
  for (std::size_t column = 0; column < fact.values.size(); ++column) {
    if (column > 0) text += ",";
    const attribute& type = program[fact.relation].attributes[column];
    text += constant_text(program, type.kind, fact.values[column], type.structure);
  }
  return text + ")";
}

std::string to_text(const program& program) {
  std::string result;
  for (const stratum& stratum : program.strata) {
    for (relation_id id : stratum.relations) result += declaration_text(program[id]);
    const std::set<relation_id> members(stratum.relations.begin(), stratum.relations.end());
    for (const fact& fact : program.facts) {
      if (members.contains(fact.relation)) result += to_text(program, fact) + ".\n";
    }
    for (rule_id id : stratum.rules) result += to_text(program, program[id]) + "\n";
    for (relation_id id : stratum.relations) {
      for (const std::uint32_t number : program[id].subsumptions) result += program.subsumptions[number].text + "\n";
    }
  }
  return result;
}

std::string precedence_graph_text(const program& program) {
  std::string result;
  for (std::uint32_t number = 0; number < program.relations.size(); ++number) {
    result += program.relations[number].name + ":";
    for (const dependency& edge : program.dependencies) {
      if (edge.to.value == number) result += fmt::format(" {}{}", edge.negated ? "!" : "", program[edge.from].name);
    }
    result += "\n";
  }
  return result;
}

std::string precedence_graph(const program& program) {
  std::string result = "digraph \"precedence\" {\n";
  for (const relation& relation : program.relations) result += fmt::format("  \"{}\";\n", relation.name);
  for (const dependency& edge : program.dependencies) {
    result += fmt::format("  \"{}\" -> \"{}\"{};\n", program[edge.from].name, program[edge.to].name,
                          edge.negated ? " [style=dashed]" : "");
  }
  return result + "}\n";
}

std::string scc_graph_text(const program& program) {
  const auto stratum_of = strata_of_relations(program);
  std::vector<std::set<std::uint32_t>> needs(program.strata.size());
  for (const dependency& edge : program.dependencies) {
    if (stratum_of[edge.from.value] != stratum_of[edge.to.value]) {
      needs[stratum_of[edge.to.value]].insert(stratum_of[edge.from.value]);
    }
  }
  std::string result;
  for (std::size_t number = 0; number < program.strata.size(); ++number) {
    result += fmt::format("stratum {}{}: {{{}}}", number, program.strata[number].recursive ? " (recursive)" : "",
                          names(program, program.strata[number]));
    std::string needed;
    for (std::uint32_t other : needs[number]) needed += fmt::format("{}{}", needed.empty() ? "" : ", ", other);
    result += needed.empty() ? "\n" : fmt::format(" needs {}\n", needed);
  }
  return result;
}

std::string scc_graph(const program& program) {
  const auto stratum_of = strata_of_relations(program);
  std::string result = "digraph \"strata\" {\n";
  for (std::size_t number = 0; number < program.strata.size(); ++number) {
    result += fmt::format("  s{} [label=\"{}\"{}];\n", number, names(program, program.strata[number]),
                          program.strata[number].recursive ? ", shape=doublecircle" : "");
  }
  std::set<std::pair<std::uint32_t, std::uint32_t>> edges;
  for (const dependency& edge : program.dependencies) {
    const std::uint32_t from = stratum_of[edge.from.value];
    const std::uint32_t to = stratum_of[edge.to.value];
    if (from != to) edges.insert({from, to});
  }
  for (const auto& [from, to] : edges) result += fmt::format("  s{} -> s{};\n", from, to);
  return result + "}\n";
}

}  // namespace gpulog::sema

#include "plan/passes/demand/sideways_passing.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "sema/rewriting/expressions.hpp"

namespace gpulog::plan {
namespace {

using sema::expression;

/// Columns of floats are never bound: NaN does not equal itself, and 0.0 equals -0.0.
bool may_be_bound(const expression& argument) { return argument.kind != value_kind::floating; }

bool is_plain(const expression& value) { return value.is_variable() || value.is_constant(); }

void append_variables_in(const expression& tree, std::vector<std::uint32_t>& variables) {
  if (tree.is_variable()) variables.push_back(tree.variable);
  for (const expression& argument : tree.arguments) append_variables_in(argument, variables);
}

/// Returns the variables of an atom or a constraint.
std::vector<std::uint32_t> variables_in(const sema::literal& part) {
  std::vector<std::uint32_t> variables;
  if (const auto* read = std::get_if<sema::atom>(&part)) {
    for (const expression& argument : read->arguments) append_variables_in(argument, variables);
  } else if (const auto* test = std::get_if<sema::constraint>(&part)) {
    append_variables_in(test->left, variables);
    append_variables_in(test->right, variables);
  }
  return variables;
}

/// Returns whether the constraint cannot fail at run time and creates no value.
bool is_plain_test(const sema::constraint& test) {
  const bool asks_text = test.op == comparison_op::matches || test.op == comparison_op::not_matches ||
                         test.op == comparison_op::contains || test.op == comparison_op::not_contains;
  return !asks_text && is_plain(test.left) && is_plain(test.right);
}

/// State of the variables after some literals of a body.
struct knowledge {
  explicit knowledge(std::size_t variables) : bound(variables), links(variables) {
    std::iota(links.begin(), links.end(), 0U);
  }

  std::vector<bool> bound;  ///< by variable
  std::map<std::uint32_t, expression> constants;
  /// by variable: a connected variable, or the variable itself
  std::vector<std::uint32_t> links;
  std::vector<sema::literal> passed;  ///< literals processed so far

  [[nodiscard]] std::uint32_t group_of(std::uint32_t variable) const {
    while (links[variable] != variable) variable = links[variable];
    return variable;
  }
  [[nodiscard]] bool knows(const expression& value) const {
    return value.is_constant() || (value.is_variable() && bound[value.variable]);
  }
  [[nodiscard]] bool is_constant(const expression& value) const {
    return value.is_constant() || (value.is_variable() && constants.contains(value.variable));
  }
  [[nodiscard]] expression value_of(const expression& value) const {
    if (!value.is_variable()) return value;
    const auto found = constants.find(value.variable);
    return found == constants.end() ? value : found->second;
  }
  void pass(const sema::literal& part) {
    const std::vector<std::uint32_t> variables = variables_in(part);
    for (const std::uint32_t variable : variables) {
      bound[variable] = true;
      links[group_of(variable)] = group_of(variables.front());
    }
    passed.push_back(part);
  }
};

class walk {
 public:
  walk(const sema::rule& written, goal_reader& reader) : rule_(written), reader_(reader) {}

  sema::rule run(const std::optional<goal>& head) {
    std::optional<sema::atom> guard;
    if (head) guard = guard_of(*head);
    knowledge known(rule_.variables.size());
    if (guard) known.pass(*guard);
    pass_body(rule_.body, known);
    if (head) {
      const relation_id answers = reader_.relations_of(*head).answers;
      rule_.head.relation = answers;
      if (!is_implied(*guard, *head)) rule_.body.insert(rule_.body.begin(), *guard);
    }
    return std::move(rule_);
  }

 private:
  // ---- the head ----

  /// Returns the atom that restricts the head to the queried values. Computed head values are not restricted.
  sema::atom guard_of(const goal& head) {
    sema::atom guard;
    guard.relation = reader_.relations_of(head).asked;
    guard.span = rule_.head.span;
    for (std::size_t column = 0; column < head.bound.size(); ++column) {
      if (!head.bound[column]) continue;
      expression& argument = rule_.head.arguments[column];
      if (argument.is_record() && is_made_of_values(argument)) argument = variable_for(argument);
      guard.arguments.push_back(is_plain(argument) ? argument : expression());
    }
    return guard;
  }

  static bool is_made_of_values(const expression& record) {
    return std::all_of(record.arguments.begin(), record.arguments.end(), [](const expression& field) {
      return is_plain(field) || (field.is_record() && is_made_of_values(field));
    });
  }

  /// Replaces the record with a variable and adds an equation of the variable and the record.
  expression variable_for(expression record) {
    for (expression& field : record.arguments) {
      if (field.is_record()) field = variable_for(field);
    }
    const expression made =
        sema::variable_of(record.kind, static_cast<std::uint32_t>(rule_.variables.size()), record.span);
    rule_.variables.push_back({"@" + std::to_string(rule_.variables.size()), record.kind});
    rule_.body.push_back(sema::constraint{comparison_op::equal, made, std::move(record), made.span});
    return made;
  }

  /// Returns whether another atom of the body, an answer to the same goal, implies the guard.
  [[nodiscard]] bool is_implied(const sema::atom& guard, const goal& head) {
    const relation_id answers = reader_.relations_of(head).answers;
    if (!answers.valid()) return false;  // during the search for goals, the relations of all goals look equal
    return std::any_of(rule_.body.begin(), rule_.body.end(), [&](const sema::literal& part) {
      const auto* read = std::get_if<sema::atom>(&part);
      if (read == nullptr || read->negated || read->relation != answers) return false;
      std::size_t place = 0;
      for (std::size_t column = 0; column < head.bound.size(); ++column) {
        if (!head.bound[column]) continue;
        const expression& asked = guard.arguments[place++];
        const expression& found = read->arguments[column];
        const bool same = asked.is_variable() && found.is_variable() && asked.variable == found.variable;
        if (!same) return false;
      }
      return true;
    });
  }

  // ---- the body ----

  void pass_body(std::vector<sema::literal>& body, knowledge& known) {
    std::vector<std::size_t> waiting;
    for (std::size_t place = 0; place < body.size(); ++place) {
      const auto* read = std::get_if<sema::atom>(&body[place]);
      if (read != nullptr && !read->negated) waiting.push_back(place);
    }
    std::set<std::size_t> taken;
    pass_constraints(body, taken, known);
    while (!waiting.empty()) {
      const auto next = std::max_element(waiting.begin(), waiting.end(), [&](std::size_t left, std::size_t right) {
        return rank_of(body, left, known) < rank_of(body, right, known);
      });
      auto& read = std::get<sema::atom>(body[*next]);
      ask(read, known);
      known.pass(read);
      waiting.erase(next);
      pass_constraints(body, taken, known);
    }
    for (sema::literal& part : body) {
      auto* read = std::get_if<sema::atom>(&part);
      if (read != nullptr && read->negated) ask(*read, known);
    }
    for (sema::literal& part : body) {
      auto* folded = std::get_if<sema::aggregate>(&part);
      if (folded == nullptr) continue;
      knowledge inside = known;
      pass_body(folded->body, inside);
    }
  }

  /// Returns the rank of a waiting atom: the kind (goal or complete relation, with or without bound columns), the share
  /// of bound columns, and the position. The atom with the highest rank is next; among equal atoms the first written.
  [[nodiscard]] std::tuple<int, double, std::int64_t> rank_of(const std::vector<sema::literal>& body, std::size_t place,
                                                              const knowledge& known) const {
    const auto& read = std::get<sema::atom>(body[place]);
    const auto bound = std::count_if(read.arguments.begin(), read.arguments.end(),
                                     [&](const expression& argument) { return known.knows(argument); });
    const bool is_goal = reader_.may_ask(read.relation);
    enum : int { unbound_goal, unbound, bound_goal, bound_atom };
    const int kind = bound == 0 ? (is_goal ? unbound_goal : unbound) : (is_goal ? bound_goal : bound_atom);
    const double share =
        read.arguments.empty() ? 1 : static_cast<double>(bound) / static_cast<double>(read.arguments.size());
    return {kind, share, -static_cast<std::int64_t>(place)};
  }

  /// Processes constraints with enough known values.
  static void pass_constraints(const std::vector<sema::literal>& body, std::set<std::size_t>& taken, knowledge& known) {
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t place = 0; place < body.size(); ++place) {
        const auto* test = std::get_if<sema::constraint>(&body[place]);
        if (test == nullptr || taken.contains(place) || !is_known(*test, known)) continue;
        take_constants(*test, known);
        known.pass(*test);
        taken.insert(place);
        changed = true;
      }
    }
  }

  static bool is_known(const sema::constraint& test, const knowledge& known) {
    const auto& [left, right] = std::tie(test.left, test.right);
    if (is_plain_test(test)) {
      return test.is_equality() ? known.knows(left) || known.knows(right) : known.knows(left) && known.knows(right);
    }
    // Opening a known record binds its fields. A constraint never constructs a record here.
    if (test.op != comparison_op::equal) return false;
    const auto opens = [&](const expression& value, const expression& record) {
      return value.is_variable() && known.knows(value) && record.is_record() &&
             std::none_of(record.arguments.begin(), record.arguments.end(),
                          [](const expression& field) { return field.is_operation() || field.is_record(); });
    };
    return opens(left, right) || opens(right, left);
  }

  static void take_constants(const sema::constraint& test, knowledge& known) {
    if (!test.is_equality() || !is_plain_test(test)) return;
    if (test.left.is_variable() && known.is_constant(test.right)) {
      known.constants.emplace(test.left.variable, known.value_of(test.right));
    } else if (test.right.is_variable() && known.is_constant(test.left)) {
      known.constants.emplace(test.right.variable, known.value_of(test.left));
    }
  }

  // ---- goals ----

  /// Replaces the atom with an atom of the relation of answers, and adds the magic rule for the queried values.
  void ask(sema::atom& read, const knowledge& known) {
    if (!reader_.may_ask(read.relation)) return;
    adornment constants(read.arguments.size());
    for (std::size_t column = 0; column < constants.size(); ++column) {
      const expression& argument = read.arguments[column];
      constants[column] = may_be_bound(argument) && known.is_constant(argument);
    }
    const std::optional<goal> asked = reader_.ask(read.relation, constants, bound_columns(read, constants, known));
    if (!asked) return;
    const goal_relations relations = reader_.relations_of(*asked);
    sema::rule magic;
    magic.head.relation = relations.asked;
    magic.head.span = rule_.head.span;
    magic.span = rule_.span;
    for (std::size_t column = 0; column < constants.size(); ++column) {
      if (asked->bound[column]) magic.head.arguments.push_back(known.value_of(read.arguments[column]));
    }
    take_connected(magic, known);
    read.relation = relations.answers;
    if (!says_itself(magic)) reader_.add_magic_rule(std::move(magic));
  }

  /// Returns the columns with constants and the largest group of columns whose values are known together. Values of two
  /// groups would require a Cartesian product.
  [[nodiscard]] static adornment bound_columns(const sema::atom& read, const adornment& constants,
                                               const knowledge& known) {
    std::map<std::uint32_t, adornment> groups;
    for (std::size_t column = 0; column < read.arguments.size(); ++column) {
      const expression& argument = read.arguments[column];
      if (constants[column] || !may_be_bound(argument) || !argument.is_variable() || !known.knows(argument)) continue;
      groups.try_emplace(known.group_of(argument.variable), constants).first->second[column] = true;
    }
    adornment most = constants;
    for (const auto& [group, bound] : groups) {
      if (std::count(bound.begin(), bound.end(), true) > std::count(most.begin(), most.end(), true)) most = bound;
    }
    return most;
  }

  /// Adds the body of a magic rule: the literals connected with its head. The variables get new numbers.
  void take_connected(sema::rule& magic, const knowledge& known) const {
    std::set<std::uint32_t> groups;
    for (const expression& argument : magic.head.arguments) {
      if (argument.is_variable()) groups.insert(known.group_of(argument.variable));
    }
    if (groups.empty()) return;
    for (const sema::literal& part : known.passed) {
      const std::vector<std::uint32_t> variables = variables_in(part);
      if (!variables.empty() && groups.contains(known.group_of(variables.front()))) magic.body.push_back(part);
    }
    number_variables(magic);
  }

  void number_variables(sema::rule& magic) const {
    std::map<std::uint32_t, std::uint32_t> numbers;
    const auto renumber = [&](auto&& self, expression& tree) -> void {
      if (tree.is_variable()) {
        const auto [found, is_new] = numbers.emplace(tree.variable, static_cast<std::uint32_t>(numbers.size()));
        if (is_new) magic.variables.push_back(rule_.variables[tree.variable]);
        tree.variable = found->second;
      }
      for (expression& argument : tree.arguments) self(self, argument);
    };
    for (expression& argument : magic.head.arguments) renumber(renumber, argument);
    for (sema::literal& part : magic.body) {
      if (auto* read = std::get_if<sema::atom>(&part)) {
        for (expression& argument : read->arguments) renumber(renumber, argument);
      } else if (auto* test = std::get_if<sema::constraint>(&part)) {
        renumber(renumber, test->left);
        renumber(renumber, test->right);
      }
    }
  }

  /// Returns whether the head occurs in the body.
  static bool says_itself(const sema::rule& magic) {
    if (!magic.head.relation.valid()) return false;
    return std::any_of(magic.body.begin(), magic.body.end(), [&](const sema::literal& part) {
      const auto* read = std::get_if<sema::atom>(&part);
      if (read == nullptr || read->relation != magic.head.relation) return false;
      return std::equal(read->arguments.begin(), read->arguments.end(), magic.head.arguments.begin(),
                        magic.head.arguments.end(), [](const expression& left, const expression& right) {
                          if (left.is_constant() && right.is_constant()) return left.constant == right.constant;
                          return left.is_variable() && right.is_variable() && left.variable == right.variable;
                        });
    });
  }

  sema::rule rule_;
  goal_reader& reader_;
};

}  // namespace

bool binds_anything(const adornment& bound) { return std::find(bound.begin(), bound.end(), true) != bound.end(); }

std::string to_text(const adornment& bound) {
  std::string text;
  for (const bool is_bound : bound) text += is_bound ? 'b' : 'f';
  return text;
}

sema::rule pass_sideways(const sema::rule& written, const std::optional<goal>& head, goal_reader& reader) {
  return walk(written, reader).run(head);
}

}  // namespace gpulog::plan

#include "oracle/random_program.hpp"

#include <algorithm>
#include <limits>
#include <random>
#include <set>

namespace gpulog::oracle {

namespace {

enum class column_type : std::uint8_t { number, unsigned_number, floating, symbol };

std::string type_name(column_type type) {
  switch (type) {
    case column_type::number:
      return "number";
    case column_type::unsigned_number:
      return "unsigned";
    case column_type::floating:
      return "float";
    case column_type::symbol:
      return "symbol";
  }
  return "?";
}

/// A portable generator: std::uniform_int_distribution differs between libraries.
class random_source {
 public:
  explicit random_source(std::uint64_t seed) : engine_(seed) {}
  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(engine_() % bound); }
  bool chance(std::uint32_t percent) { return below(100) < percent; }
  template <class T>
  const T& pick(const std::vector<T>& items) {
    return items[below(static_cast<std::uint32_t>(items.size()))];
  }

 private:
  std::mt19937_64 engine_;
};

struct relation {
  std::string name;
  std::vector<column_type> columns;
};

struct typed_variable {
  std::string name;
  column_type type;
};

class generator {
 public:
  generator(std::uint64_t seed, const random_program_options& options)
      : random_(seed), options_(options), domain_(4 + random_.below(3)) {}

  random_program run() {
    for (std::uint32_t number = 0; number < options_.base_relations; ++number) {
      const std::string name = "b" + std::to_string(number);
      // Cycles need edges.
      const bool is_graph = number == 0 && options_.cyclic_aggregates != 0;
      relation made = is_graph ? declare(name, {column_type::number, column_type::number})
                               : declare(name, number == 0 ? 2 : random_arity());
      add_facts(made);
      below_.push_back(std::move(made));
    }
    for (std::uint32_t layer = 0; layer < options_.layers; ++layer) {
      if (options_.passages != 0 && random_.chance(options_.passages)) {
        add_passing_layer(layer);
      } else {
        add_layer(layer);
      }
    }
    for (std::uint32_t number = 0; number < options_.goals; ++number) add_goal(number);
    return std::move(result_);
  }

 private:
  std::uint32_t random_arity() {
    // Most programs have two columns, which keeps naive evaluation fast.
    const std::uint32_t draw = random_.below(10);
    const std::uint32_t arity = draw < 1 ? 0 : draw < 3 ? 1 : draw < 7 ? 2 : draw < 9 ? 3 : 4;
    return std::min(arity, options_.largest_arity);
  }

  column_type random_type() {
    const std::uint32_t draw = random_.below(100);
    if (draw < 15) return column_type::unsigned_number;
    if (draw < 35 && options_.symbols) return column_type::symbol;
    if (draw < 42 && options_.floats) return column_type::floating;
    return column_type::number;
  }

  relation declare(std::string name, std::uint32_t arity) {
    std::vector<column_type> types;
    for (std::uint32_t column = 0; column < arity; ++column) types.push_back(random_type());
    return declare(std::move(name), std::move(types));
  }

  relation declare(std::string name, std::vector<column_type> types) {
    relation made{std::move(name), {}};
    const std::size_t arity = types.size();
    std::string attributes;
    for (std::size_t column = 0; column < arity; ++column) {
      made.columns.push_back(types[column]);
      attributes += (column > 0 ? ", " : "") + ("a" + std::to_string(column)) + ":" + type_name(made.columns.back());
    }
    std::string qualifier;
    if (arity == 2 && options_.equivalences != 0 && random_.chance(options_.equivalences)) {
      made.columns[1] = made.columns[0];
      attributes = "a0:" + type_name(made.columns[0]) + ", a1:" + type_name(made.columns[1]);
      qualifier = " eqrel";
    }
    result_.text += ".decl " + made.name + "(" + attributes + ")" + qualifier + "\n";
    if (options_.goals == 0) add_output(made);
    return made;
  }

  void add_output(const relation& made) {
    result_.text += ".output " + made.name + "\n";
    result_.relations.push_back(made.name);
  }

  // ---- goals ----

  void add_goal(std::uint32_t number) {
    relation made = declare("g" + std::to_string(number), 1 + random_.below(2));
    add_output(made);
    for (std::uint32_t rules = 1 + random_.below(2); rules > 0; --rules) {
      variables_.clear();
      fresh_ = 0;
      std::string body = asking_atom(60);
      if (random_.chance(40)) body += ", " + positive_atom(random_.pick(below_));
      if (random_.chance(30)) body += ", " + asking_atom(30);
      if (random_.chance(30)) body += ", " + test_or("true");
      if (random_.chance(30)) body += ", " + negated_atom(random_.pick(below_));
      if (random_.chance(20)) body += ", " + counted_atom();
      result_.text += head_atom(made) + " :- " + body + ".\n";
    }
    if (random_.chance(20)) below_.push_back(std::move(made));
  }

  /// @param percentage of columns with constants
  std::string asking_atom(std::uint32_t percentage) {
    const relation& read = random_.pick(below_);
    std::string arguments;
    for (const column_type type : read.columns) {
      std::string argument = constant(type);
      if (!random_.chance(percentage)) {
        argument = "v" + std::to_string(fresh_++);
        variables_.push_back({argument, type});
      }
      arguments += (arguments.empty() ? "" : ", ") + argument;
    }
    return read.name + "(" + arguments + ")";
  }

  std::string counted_atom() {
    const std::vector<typed_variable> known = variables_;
    const std::string asked = asking_atom(50);
    variables_ = known;
    const std::string result = "n" + std::to_string(fresh_++);
    variables_.push_back({result, column_type::number});
    return result + " = count : { " + asked + " }";
  }

  std::string constant(column_type type) {
    const std::uint32_t value = random_.below(domain_);
    if (options_.wide_numbers && type != column_type::symbol && random_.chance(40)) return wide_constant(type, value);
    switch (type) {
      case column_type::number:
        return random_.chance(10) ? "-" + std::to_string(value) : std::to_string(value);
      case column_type::unsigned_number:
        return std::to_string(value) + (random_.chance(50) ? "u" : "");
      case column_type::floating:
        return std::to_string(value) + (random_.chance(50) ? ".5" : ".25");
      case column_type::symbol:
        return std::string("\"") + static_cast<char>('a' + value) + "\"";
    }
    return "0";
  }

  std::string wide_constant(column_type type, std::uint32_t value) {
    const std::uint64_t near[] = {std::uint64_t{1} << 31, std::uint64_t{1} << 32, std::uint64_t{1} << 40,
                                  (std::uint64_t{1} << 62) + 12345};
    const std::uint64_t magnitude = near[random_.below(4)] + value;
    if (type == column_type::floating) return std::to_string(magnitude) + ".1";
    if (type == column_type::unsigned_number) {
      return std::to_string(random_.chance(50) ? magnitude : ~std::uint64_t{0} - value);
    }
    if (random_.chance(20)) return std::to_string(std::numeric_limits<std::int64_t>::min() + value);
    return (random_.chance(40) ? "-" : "") + std::to_string(magnitude);
  }

  void add_facts(const relation& target) {
    const std::uint32_t count = random_.chance(10) ? 0 : 1 + random_.below(options_.most_facts);
    for (std::uint32_t number = 0; number < count; ++number) {
      std::string arguments;
      for (const column_type type : target.columns) arguments += (arguments.empty() ? "" : ", ") + constant(type);
      result_.text += target.name + "(" + arguments + ").\n";
      if (target.columns.empty()) break;
    }
  }

  void add_layer(std::uint32_t layer) {
    std::vector<relation> members;
    const std::uint32_t count = 1 + random_.below(2);
    for (std::uint32_t number = 0; number < count; ++number) {
      members.push_back(declare("r" + std::to_string(layer) + std::to_string(number), random_arity()));
    }
    for (const relation& head : members) {
      add_rule(head, {}, members);
      const std::uint32_t more = random_.below(3);
      for (std::uint32_t number = 0; number < more; ++number) add_rule(head, members, members);
      if (random_.chance(15)) add_facts(head);
    }
    for (relation& made : members) below_.push_back(std::move(made));
  }

  /// Adds mutually recursive relations with linear rules that pass the same values through.
  void add_passing_layer(std::uint32_t layer) {
    std::vector<column_type> passed;
    for (std::uint32_t count = 1 + random_.below(2); count > 0; --count) passed.push_back(random_type());
    std::vector<relation> members;
    std::vector<std::vector<std::uint32_t>> places;  // by member: positions of the passed columns
    for (std::uint32_t number = random_.below(3) + 1; number > 0; --number) {
      std::vector<column_type> types;
      for (std::uint32_t count = 1 + random_.below(2); count > 0; --count)
        types.push_back(random_.chance(70) ? column_type::number : random_type());
      std::vector<std::uint32_t>& own = places.emplace_back(passed.size());
      for (std::size_t invariant = 0; invariant < passed.size(); ++invariant) {
        const std::uint32_t place = random_.below(static_cast<std::uint32_t>(types.size() + 1));
        types.insert(types.begin() + place, passed[invariant]);
        for (std::size_t before = 0; before < invariant; ++before) own[before] += own[before] >= place ? 1 : 0;
        own[invariant] = place;
      }
      members.push_back(declare("r" + std::to_string(layer) + std::to_string(number), std::move(types)));
    }
    for (std::size_t head = 0; head < members.size(); ++head) {
      if (head == 0 || random_.chance(50)) add_rule(members[head], {}, {members[head]});
      for (std::uint32_t more = 1 + random_.below(2); more > 0; --more) {
        const std::uint32_t from = random_.below(static_cast<std::uint32_t>(members.size()));
        add_passing_rule(members[head], places[head], members[from], places[from]);
      }
    }
    for (relation& made : members) below_.push_back(std::move(made));
  }

  void add_passing_rule(const relation& head, const std::vector<std::uint32_t>& kept, const relation& from,
                        const std::vector<std::uint32_t>& passed) {
    variables_.clear();
    fresh_ = 0;
    std::string reading;
    for (std::uint32_t column = 0; column < from.columns.size(); ++column) {
      const auto place = std::find(passed.begin(), passed.end(), column);
      std::string argument = "p" + std::to_string(place - passed.begin());
      if (place == passed.end()) {
        argument = random_.chance(8) ? constant(from.columns[column]) : "z" + std::to_string(column);
        if (argument.front() == 'z') variables_.push_back({argument, from.columns[column]});
      } else if (random_.chance(4)) {
        variables_.push_back({argument, from.columns[column]});  // requests the value, too
      }
      reading += (reading.empty() ? "" : ", ") + argument;
    }
    std::string body = from.name + "(" + reading + ")";
    if (!random_.chance(15)) {
      body += ", " + positive_atom(random_.pick(below_));
      if (random_.chance(20)) body += ", " + positive_atom(random_.pick(below_));
      if (random_.chance(25)) body += ", " + test_or("true");
      if (random_.chance(15)) body += ", " + negated_atom(random_.pick(below_));
    }
    std::string arguments;
    for (std::uint32_t column = 0; column < head.columns.size(); ++column) {
      const auto place = std::find(kept.begin(), kept.end(), column);
      const auto known = variables_of(head.columns[column]);
      std::string argument = "p" + std::to_string(place - kept.begin());
      if (place == kept.end()) argument = known.empty() ? constant(head.columns[column]) : random_.pick(known);
      arguments += (arguments.empty() ? "" : ", ") + argument;
    }
    result_.text += head.name + "(" + arguments + ") :- " + body + ".\n";
  }

  // ---- one rule ----

  /// `own`: relations of the same layer that the body may read.
  void add_rule(const relation& head, const std::vector<relation>& own, const std::vector<relation>& layer) {
    variables_.clear();
    fresh_ = 0;
    std::string body = conjunction(own);
    if (options_.disjunctions && random_.chance(15)) body = with_alternatives(body);
    std::string heads = head_atom(head);
    if (options_.disjunctions && random_.chance(8)) heads += ", " + head_atom(random_.pick(layer));
    result_.text += heads + " :- " + body + ".\n";
  }

  /// Appends a group of tests on variables bound by the conjunction.
  std::string with_alternatives(const std::string& body) {
    std::string group;
    const std::uint32_t count = 2 + random_.below(2);
    for (std::uint32_t number = 0; number < count; ++number) {
      group += (number > 0 ? " ; " : "") + test_or("true");
    }
    return body + ", (" + group + ")";
  }

  std::string conjunction(const std::vector<relation>& own) {
    std::vector<std::string> literals;
    const std::uint32_t atoms = 1 + random_.below(3);
    bool wide_used = false;
    for (std::uint32_t number = 0; number < atoms; ++number) {
      const bool from_own = !own.empty() && random_.chance(number == 0 ? 70 : 40);
      const relation& read = from_own ? random_.pick(own) : random_.pick(below_);
      const bool wide = read.columns.size() > 2;
      if (wide && wide_used) continue;
      wide_used |= wide;
      const std::size_t first_new = variables_.size();
      literals.push_back(positive_atom(read));
      if (from_own && options_.guards != 0) add_guards(literals, first_new);
    }
    if (literals.empty()) literals.push_back(positive_atom(below_.front()));
    if (options_.first_matches != 0 && random_.chance(options_.first_matches)) add_first_match(literals);
    if (options_.cyclic_aggregates != 0 && random_.chance(options_.cyclic_aggregates))
      literals.push_back(cyclic_aggregate());
    if (random_.chance(25)) add_binding(literals);
    if (random_.chance(35)) literals.push_back(test_or("true"));
    if (random_.chance(35)) literals.push_back(negated_atom(random_.pick(below_)));
    // Body order must not matter.
    for (std::size_t last = literals.size(); last > 1; --last) {
      std::swap(literals[last - 1], literals[random_.below(static_cast<std::uint32_t>(last))]);
    }
    std::string body;
    for (const std::string& literal : literals) body += (body.empty() ? "" : ", ") + literal;
    return body;
  }

  /// Adds atoms of lower relations whose variables are only compared with existing variables, and unused elsewhere.
  void add_first_match(std::vector<std::string>& literals) {
    const std::vector<typed_variable> known = variables_;
    for (std::uint32_t atoms = 1 + random_.below(2); atoms > 0; --atoms) {
      const relation& read = random_.pick(below_);
      if (read.columns.size() <= 2) literals.push_back(positive_atom(read));
    }
    static const std::vector<std::string> comparisons = {"!=", "!=", "<", ">=", "="};
    for (std::size_t asked = known.size(); asked < variables_.size(); ++asked) {
      const std::vector<std::string> others = variables_of(variables_[asked].type);
      literals.push_back(variables_[asked].name + " " + random_.pick(comparisons) + " " + random_.pick(others));
    }
    variables_ = known;
  }

  /// Returns n = count, sum, min or max over a cycle of lower relations, possibly with chords, which may include a
  /// variable of the rule, and with an atom whose variable is only counted.
  std::string cyclic_aggregate() {
    const std::vector<typed_variable> known = variables_;
    std::vector<std::string> nodes;
    for (std::uint32_t more = 2 + random_.below(3); more > 0; --more) nodes.push_back("v" + std::to_string(fresh_++));
    const std::vector<std::string> outer = variables_of(column_type::number);
    if (!outer.empty() && random_.chance(40)) nodes.front() = random_.pick(outer);
    std::string body;
    const auto add_edge = [&](const std::string& from, const std::string& to) {
      body += (body.empty() ? "" : ", ") + edge_atom(from, to);
    };
    for (std::size_t node = 0; node < nodes.size(); ++node) add_edge(nodes[node], nodes[(node + 1) % nodes.size()]);
    while (random_.chance(30)) add_edge(random_.pick(nodes), random_.pick(nodes));
    if (random_.chance(40)) add_edge(random_.pick(nodes), "v" + std::to_string(fresh_++));
    if (random_.chance(20)) body += ", " + nodes.back() + " < " + random_.pick(nodes);
    static const std::vector<std::string> operations = {"count", "count", "sum", "sum", "min", "max"};
    const std::string& operation = random_.pick(operations);
    const std::string target = operation == "count" ? "" : " " + random_.pick(nodes);
    variables_ = known;
    const std::string result = "n" + std::to_string(fresh_++);
    variables_.push_back({result, column_type::number});
    return result + " = " + operation + target + " : { " + body + " }";
  }

  /// Returns an atom that contains both nodes in number columns.
  std::string edge_atom(const std::string& from, const std::string& to) {
    std::vector<const relation*> possible;
    for (const relation& read : below_) {
      if (std::count(read.columns.begin(), read.columns.end(), column_type::number) > 1) possible.push_back(&read);
    }
    const relation& read = *random_.pick(possible);
    std::vector<std::string> ends = {from, to};
    std::string arguments;
    for (const column_type type : read.columns) {
      std::string argument = random_.chance(80) ? "_" : constant(type);
      if (type == column_type::number && !ends.empty()) {
        argument = ends.front();
        ends.erase(ends.begin());
      }
      arguments += (arguments.empty() ? "" : ", ") + argument;
    }
    return read.name + "(" + arguments + ")";
  }

  /// Adds atoms of lower relations that contain a single variable and otherwise only wildcards.
  void add_guards(std::vector<std::string>& literals, std::size_t first_variable) {
    for (std::size_t number = first_variable; number < variables_.size(); ++number) {
      if (!random_.chance(options_.guards)) continue;
      const relation& read = random_.pick(below_);
      const auto holds = std::find(read.columns.begin(), read.columns.end(), variables_[number].type);
      if (holds == read.columns.end()) continue;
      std::string arguments;
      for (auto column = read.columns.begin(); column != read.columns.end(); ++column) {
        arguments += (arguments.empty() ? "" : ", ") + (column == holds ? variables_[number].name : "_");
      }
      literals.push_back(read.name + "(" + arguments + ")");
    }
  }

  std::vector<std::string> variables_of(column_type type) const {
    std::vector<std::string> names;
    for (const typed_variable& variable : variables_) {
      if (variable.type == type) names.push_back(variable.name);
    }
    return names;
  }

  std::string positive_atom(const relation& read) {
    std::string arguments;
    for (const column_type type : read.columns) {
      const auto known = variables_of(type);
      std::string argument;
      if (!known.empty() && random_.chance(60)) {
        argument = random_.pick(known);
      } else if (random_.chance(12)) {
        argument = "_";
      } else if (random_.chance(10)) {
        argument = constant(type);
      } else {
        argument = "v" + std::to_string(fresh_++);
        variables_.push_back({argument, type});
      }
      arguments += (arguments.empty() ? "" : ", ") + argument;
    }
    return read.name + "(" + arguments + ")";
  }

  std::string negated_atom(const relation& read) {
    std::string arguments;
    for (const column_type type : read.columns) {
      const auto known = variables_of(type);
      std::string argument = random_.chance(20) || known.empty() ? "_" : random_.pick(known);
      if (random_.chance(12)) argument = constant(type);
      if (type == column_type::number && random_.chance(10)) argument = bounded_value(type);
      arguments += (arguments.empty() ? "" : ", ") + argument;
    }
    return "!" + read.name + "(" + arguments + ")";
  }

  /// Returns an expression over bound variables whose value is in the domain (or its negative mirror).
  std::string bounded_value(column_type type) {
    const auto known = variables_of(type);
    if (known.empty()) return constant(type);
    const std::string modulus = std::to_string(domain_);
    switch (type) {
      case column_type::number:
      case column_type::unsigned_number: {
        const std::string& x = random_.pick(known);
        const std::string& y = random_.pick(known);
        if (options_.wide_numbers && random_.chance(40)) return wide_value(x, y, modulus);
        switch (random_.below(7)) {
          case 0:
            return "(" + x + " + 1) % " + modulus;
          case 1:
            return "(" + x + " * 3 + " + y + ") % " + modulus;
          case 2:
            return "(" + x + " - " + y + ") % " + modulus;
          case 3:
            return "max(" + x + ", " + y + ")";
          case 4:
            return "min(" + x + ", " + y + ", 2)";
          case 5:
            return "(" + x + " bxor " + y + ") % " + modulus;
          default:
            return x + (options_.wide_numbers ? " / 4294967296" : " / 2");
        }
      }
      default:
        return random_.pick(known);
    }
  }

  /// Returns an expression that depends on bits above the 32nd, possibly only in intermediate results.
  std::string wide_value(const std::string& x, const std::string& y, const std::string& modulus) {
    switch (random_.below(5)) {
      case 0:
        return "(" + x + " * 6364136223846793005 + " + y + ") % " + modulus;
      case 1:
        return "((" + x + " bshl 40) bshr 39) % " + modulus;
      case 2:
        return "(" + x + " bshru (" + y + " band 63)) % " + modulus;
      case 3:
        return "(" + x + " bxor (" + y + " bshl 33)) band 12884901888";
      default:
        return "min(" + x + ", " + y + ") % " + modulus + " + 4294967296";
    }
  }

  void add_binding(std::vector<std::string>& literals) {
    const column_type type = random_.chance(80) ? column_type::number : column_type::unsigned_number;
    if (variables_of(type).empty()) return;
    const std::string value = bounded_value(type);
    const std::string name = "w" + std::to_string(fresh_++);
    variables_.push_back({name, type});
    literals.push_back(random_.chance(50) ? name + " = " + value : value + " = " + name);
  }

  std::string test_or(const std::string& fallback) {
    if (variables_.empty()) return fallback;
    static const std::vector<std::string> operators = {"=", "!=", "<", "<=", ">", ">="};
    const typed_variable left = random_.pick(variables_);
    const auto known = variables_of(left.type);
    const std::string right = random_.chance(50) ? random_.pick(known) : constant(left.type);
    return left.name + " " + random_.pick(operators) + " " + right;
  }

  std::string head_atom(const relation& head) {
    std::string arguments;
    for (const column_type type : head.columns) {
      const auto known = variables_of(type);
      std::string argument;
      if (known.empty() || random_.chance(8)) {
        argument = constant(type);
      } else if (random_.chance(20)) {
        argument = bounded_value(type);
      } else {
        argument = random_.pick(known);
      }
      arguments += (arguments.empty() ? "" : ", ") + argument;
    }
    return head.name + "(" + arguments + ")";
  }

  random_source random_;
  const random_program_options& options_;
  std::uint32_t domain_;
  std::vector<relation> below_;
  std::vector<typed_variable> variables_;
  std::uint32_t fresh_ = 0;
  random_program result_;
};

}  // namespace

random_program make_random_program(std::uint64_t seed, const random_program_options& options) {
  return generator(seed, options).run();
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> make_random_graph(std::uint64_t seed, std::uint32_t nodes,
                                                                       std::uint32_t edges) {
  random_source random(seed);
  std::set<std::pair<std::uint32_t, std::uint32_t>> chosen;
  const std::uint64_t possible = static_cast<std::uint64_t>(nodes) * nodes;
  const auto wanted = std::min<std::uint64_t>(edges, possible);
  while (chosen.size() < wanted) chosen.insert({random.below(nodes), random.below(nodes)});
  return {chosen.begin(), chosen.end()};
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> make_shaped_graph(std::uint64_t seed, std::mt19937_64& random,
                                                                       std::uint32_t most_nodes) {
  const auto nodes = static_cast<std::uint32_t>(random() % (most_nodes - 4) + 5);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> graph;
  switch (random() % 6) {
    case 0:
      for (std::uint32_t i = 1; i < nodes; ++i) graph.emplace_back(i % 3 == 0 ? i : 0, i % 3 == 0 ? 0 : i);
      break;
    case 1:
      for (std::uint32_t i = 0; i < nodes; ++i) graph.emplace_back(i, (i + random() % 2 + 1) % nodes);
      break;
    case 2:
      for (std::uint32_t i = 0; i + 1 < nodes; ++i) graph.emplace_back(i, i + 1);
      break;
    case 3:
      for (std::uint32_t i = 0; i < nodes; ++i) graph.emplace_back(i, i < nodes / 2 ? (i + 1) % (nodes / 2) : i / 2);
      break;
    default:
      graph = make_random_graph(seed, nodes, nodes + static_cast<std::uint32_t>(random() % nodes));
  }
  if (random() % 3 == 0) graph.emplace_back(2, 2);
  const std::uint32_t factor = random() % 3 == 0 ? 100'003 : 1;
  for (auto& [x, y] : graph) {
    x *= factor;
    y *= factor;
  }
  return graph;
}

std::string make_chain_program(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&random](std::uint64_t n) { return random() % n; };
  constexpr const char* relations[] = {"e", "f", "r", "s"};
  std::string text;
  for (const char* const name : relations)
    text += std::string(".decl ") + name + "(x:number, y:number)\n.output " + name + "\n";
  const std::uint64_t values = 4 + below(7);
  for (const char* const base : {"e", "f"}) {
    for (std::uint64_t fact = below(16); fact != 0; --fact)
      text += std::string(base) + "(" + std::to_string(below(values)) + "," + std::to_string(below(values)) + ").\n";
  }
  text += "r(x,y) :- e(x,y).\ns(x,y) :- f(y,x).\n";
  for (std::uint64_t rule = 2 + below(3); rule != 0; --rule) {
    const std::uint64_t atoms = 3 + below(3);
    const std::uint64_t recursive = below(atoms);
    std::string body;
    for (std::uint64_t atom = 0; atom < atoms; ++atom) {
      const char* const relation = relations[atom == recursive ? 2 + below(2) : below(4)];
      std::string from = "v" + std::to_string(atom);
      std::string to = "v" + std::to_string(atom + 1);
      if (below(2) == 0) std::swap(from, to);
      body += (body.empty() ? "" : ", ") + std::string(relation) + "(" + from + "," + to + ")";
    }
    if (below(3) == 0) body += ", v0 != v" + std::to_string(atoms);
    if (below(4) == 0) body += ", !e(v1,v2)";
    text += std::string(relations[2 + below(2)]) + "(v0,v" + std::to_string(atoms) + ") :- " + body + ".\n";
  }
  return text;
}

}  // namespace gpulog::oracle

#include "syntax/printer.hpp"

#include <type_traits>

#include "syntax/precedence.hpp"

namespace gpulog::syntax {

namespace {

/// Prints nodes by appending to one text.
class printer {
 public:
  std::string text;

  template <class Nodes, class Print>
  void list(const Nodes& nodes, const char* separator, Print print_one) {
    bool first = true;
    for (const auto& node : nodes) {
      if (!first) text += separator;
      first = false;
      print_one(node);
    }
  }

  void arguments(const std::vector<argument>& nodes) {
    list(nodes, ", ", [this](const argument& node) { expression(node); });
  }

  // ---- arguments ----

  /// Adds parentheses if the node binds less tightly than `least_precedence`.
  void expression(const argument& node, int least_precedence = 0) {
    const bool parentheses = precedence_of(node) < least_precedence;
    if (parentheses) text += '(';
    std::visit([this](const auto& value) { form(value); }, node.value);
    if (parentheses) text += ')';
  }

  /// Prints the last operand of an operator, where a prefix needs no parentheses: `2 ^ -x`, `a * -b`.
  void last_operand(const argument& node, int least_precedence) {
    const auto* call = node.as<functor_call>();
    const bool has_prefix = (call != nullptr && is_prefix(call->op)) || node.as<numeric_constant>() != nullptr;
    expression(node, has_prefix ? 0 : least_precedence);
  }

  static int precedence_of(const argument& node) {
    if (const auto* call = node.as<functor_call>()) return precedence(call->op);
    // `-5 ^ x` would be parsed as `-(5 ^ x)`.
    if (const auto* number = node.as<numeric_constant>(); number != nullptr && number->text.starts_with('-')) {
      return prefix_precedence;
    }
    return operand_precedence;
  }

  void form(const unnamed_variable&) { text += '_'; }
  void form(const variable& node) { text += node.name; }
  void form(const numeric_constant& node) {
    text += node.text;
    if (node.form == numeric_form::unsigned_number) text += 'u';
  }
  void form(const string_constant& node) { text += quoted(node.value); }
  void form(const nil_constant&) { text += "nil"; }
  void form(const counter&) { text += "autoinc()"; }
  void form(const iteration_counter&) { text += "recursive_iteration_cnt()"; }
  void form(const record_constructor& node) {
    text += '[';
    arguments(node.fields);
    text += ']';
  }
  void form(const branch_constructor& node) {
    text += '$' + node.branch.text + '(';
    arguments(node.fields);
    text += ')';
  }
  void form(const functor_call& node) {
    const int own = precedence(node.op);
    if (is_prefix(node.op) && node.arguments.size() == 1) {
      text += spelling(node.op);
      if (node.op != functor::negate) text += ' ';
      last_operand(node.arguments.front(), power_precedence);
    } else if (is_infix(node.op) && node.arguments.size() == 2) {
      const bool to_the_right = is_right_associative(node.op);
      expression(node.arguments[0], own + (to_the_right ? 1 : 0));
      text += ' ';
      text += spelling(node.op);
      text += ' ';
      last_operand(node.arguments[1], own + (to_the_right ? 0 : 1));
    } else {
      text += spelling(node.op);
      text += '(';
      arguments(node.arguments);
      text += ')';
    }
  }
  void form(const user_functor_call& node) {
    text += '@' + node.name + '(';
    arguments(node.arguments);
    text += ')';
  }
  void form(const type_cast& node) {
    text += "as(";
    expression(*node.value);
    text += ", " + node.type.text + ')';
  }
  void form(const aggregate& node) {
    text += spelling(node.op);
    text += node.user_name;
    if (node.target) {
      text += ' ';
      expression(**node.target);
    }
    text += " : ";
    if (node.initial) {
      expression(**node.initial);
      text += ", ";
    }
    text += "{ ";
    alternatives(node.body);
    text += " }";
  }

  // ---- literals ----

  void alternatives(const std::vector<conjunction>& nodes) {
    list(nodes, "; ",
         [this](const conjunction& node) { list(node, ", ", [this](const literal& inner) { print_literal(inner); }); });
  }

  void print_literal(const literal& node) {
    std::visit([this](const auto& value) { form(value); }, node.value);
  }

  void form(const atom& node) {
    text += node.name.text + '(';
    arguments(node.arguments);
    text += ')';
  }
  void form(const constraint& node) {
    const bool negative = node.op == constraint_op::not_match || node.op == constraint_op::not_contains;
    const bool by_name = negative || node.op == constraint_op::match || node.op == constraint_op::contains;
    if (by_name) {
      if (negative) text += '!';
      text += spelling(node.op);
      text += '(';
      expression(node.left);
      text += ", ";
      expression(node.right);
      text += ')';
      return;
    }
    expression(node.left);
    text += ' ';
    text += spelling(node.op);
    text += ' ';
    expression(node.right);
  }
  void form(const boolean_constant& node) { text += node.value ? "true" : "false"; }
  void form(const negation& node) {
    text += '!';
    print_literal(*node.inner);
  }
  void form(const group& node) {
    text += '(';
    alternatives(node.alternatives);
    text += ')';
  }

  // ---- items ----

  void body_and_plan(const std::vector<conjunction>& body, const std::vector<plan_order>& plan) {
    if (!body.empty()) {
      text += " :- ";
      alternatives(body);
    }
    text += '.';
    if (plan.empty()) return;
    text += "\n.plan ";
    list(plan, ", ", [this](const plan_order& order) {
      text += std::to_string(order.version) + ":(";
      list(order.order, ", ", [this](std::uint32_t position) { text += std::to_string(position); });
      text += ')';
    });
  }

  void form(const clause& node) {
    list(node.heads, ", ", [this](const atom& head) { form(head); });
    body_and_plan(node.body, node.plan);
  }
  void form(const subsumption& node) {
    form(node.dominated);
    text += " <= ";
    form(node.dominating);
    body_and_plan(node.body, node.plan);
  }

  void attributes(const std::vector<attribute>& nodes) {
    list(nodes, ", ", [this](const attribute& node) {
      if (!node.name.text.empty()) text += node.name.text + ": ";
      text += node.type.text;
      if (node.is_lattice) text += "<>";
    });
  }
  void names(const std::vector<identifier>& nodes) {
    list(nodes, ", ", [this](const identifier& name) { text += name.text; });
  }

  void form(const relation_declaration& node) {
    text += ".decl ";
    names(node.names);
    if (node.debug_delta_of) {
      text += " = debug_delta(" + node.debug_delta_of->text + ')';
    } else {
      text += '(';
      attributes(node.attributes);
      text += ')';
    }
    for (const placed_qualifier& qualifier : node.qualifiers) {
      text += ' ';
      text += spelling(qualifier.what);
    }
    if (node.choice_domain.empty()) return;
    text += " choice-domain ";
    list(node.choice_domain, ", ", [this](const choice_key& key) {
      text += '(';
      names(key.attributes);
      text += ')';
    });
  }

  void form(const type_declaration& node) {
    text += ".type " + node.name.text;
    std::visit([this](const auto& definition) { form(definition); }, node.definition);
  }
  void form(const subtype_definition& node) { text += " <: " + node.base.text; }
  void form(const alias_definition& node) { text += " = " + node.target.text; }
  void form(const union_definition& node) {
    text += " = ";
    list(node.members, " | ", [this](const qualified_name& member) { text += member.text; });
  }
  void form(const record_definition& node) {
    text += " = [";
    attributes(node.fields);
    text += ']';
  }
  void form(const adt_definition& node) {
    text += " = ";
    list(node.branches, " | ", [this](const branch_definition& branch) {
      text += branch.name.text + (branch.fields.empty() ? " {" : " { ");
      attributes(branch.fields);
      text += branch.fields.empty() ? "}" : " }";
    });
  }

  void form(const lattice_declaration& node) {
    text += ".lattice " + node.name.text + "<> { ";
    list(node.operations, ", ", [this](const lattice_declaration::operation& operation) {
      text += operation.name.text + " -> ";
      expression(operation.value);
    });
    text += " }";
  }
  void form(const functor_declaration& node) {
    text += ".functor " + node.name.text + '(';
    attributes(node.parameters);
    text += "): " + node.result.text;
    if (node.stateful) text += " stateful";
  }
  void form(const directive& node) {
    text += spelling(node.kind);
    text += ' ';
    list(node.relations, ", ", [this](const qualified_name& name) { text += name.text; });
    if (node.parameters.empty()) return;
    text += '(';
    list(node.parameters, ", ",
         [this](const directive_parameter& parameter) { text += parameter.key.text + '=' + quoted(parameter.value); });
    text += ')';
  }
  void form(const pragma& node) {
    text += ".pragma " + quoted(node.name);
    if (!node.value.empty()) text += ' ' + quoted(node.value);
  }

  void component_name(const component_type& node) {
    text += node.name.text;
    if (node.parameters.empty()) return;
    text += '<';
    names(node.parameters);
    text += '>';
  }
  void form(const component& node) {
    text += ".comp ";
    component_name(node.type);
    if (!node.bases.empty()) {
      text += " : ";
      list(node.bases, ", ", [this](const component_type& base) { component_name(base); });
    }
    text += " {\n";
    for (const item& inner : node.items) print_item(inner);
    text += '}';
  }
  void form(const component_instance& node) {
    text += ".init " + node.name.text + " = ";
    component_name(node.type);
  }
  void form(const override_declaration& node) { text += ".override " + node.name.text; }

  void print_item(const item& node) {
    std::visit([this](const auto& value) { form(value); }, node.value);
    text += '\n';
  }
};

template <class Print>
std::string text_of(const Print& print_into) {
  printer out;
  print_into(out);
  return std::move(out.text);
}

}  // namespace

std::string print(const program& node) {
  return text_of([&node](printer& out) {
    for (const item& inner : node.items) out.print_item(inner);
  });
}
std::string print(const item& node) {
  return text_of([&node](printer& out) { out.print_item(node); });
}
std::string print(const clause& node) {
  return text_of([&node](printer& out) { out.form(node); });
}
std::string print(const literal& node) {
  return text_of([&node](printer& out) { out.print_literal(node); });
}
std::string print(const atom& node) {
  return text_of([&node](printer& out) { out.form(node); });
}
std::string print(const argument& node) {
  return text_of([&node](printer& out) { out.expression(node); });
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    switch (c) {
      case '"':
        result += "\\\"";
        break;
      case '\\':
        result += "\\\\";
        break;
      case '\a':
        result += "\\a";
        break;
      case '\b':
        result += "\\b";
        break;
      case '\f':
        result += "\\f";
        break;
      case '\n':
        result += "\\n";
        break;
      case '\r':
        result += "\\r";
        break;
      case '\t':
        result += "\\t";
        break;
      case '\v':
        result += "\\v";
        break;
      default:
        result += c;
    }
  }
  return result + '"';
}

}  // namespace gpulog::syntax

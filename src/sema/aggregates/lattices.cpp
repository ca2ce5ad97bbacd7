#include "sema/aggregates/lattices.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "sema/rewriting/clause_expansion.hpp"
#include "sema/rewriting/syntax_walk.hpp"
#include "sema/terms.hpp"
#include "support/diagnostics.hpp"

namespace gpulog::sema {

namespace {

struct lattice {
  std::string type;
  std::optional<std::string> lub, glb;  ///< names of functors
  std::optional<syntax::argument> bottom;
};

struct lattice_attribute {
  std::size_t column = 0;
  const lattice* of = nullptr;

  /// Returns whether rules compute greatest lower bounds of the attribute.
  [[nodiscard]] bool has_bounds_below() const { return of->glb && of->bottom; }
};

/// A relation with lattice attributes.
struct lattice_relation {
  std::size_t columns = 0;
  std::vector<lattice_attribute> attributes;
  syntax::place span;
};

syntax::argument call(const std::string& functor, syntax::argument first, syntax::argument second) {
  const syntax::place span = first.span;
  return {syntax::user_functor_call{functor, {std::move(first), std::move(second)}}, span};
}

lattice lattice_of(const syntax::lattice_declaration& declared) {
  lattice result;
  result.type = declared.name.text;
  for (const syntax::lattice_declaration::operation& operation : declared.operations) {
    const auto* functor = operation.value.as<syntax::user_functor_call>();
    if (operation.name.text == "Lub" && functor != nullptr) result.lub = functor->name;
    if (operation.name.text == "Glb" && functor != nullptr) result.glb = functor->name;
    if (operation.name.text == "Bottom") result.bottom = operation.value;
  }
  return result;
}

bool has_variables(const syntax::argument& term) {
  bool found = false;
  walk_terms(term, [&](const syntax::argument& part) {
    found = found || part.as<syntax::variable>() != nullptr || part.as<syntax::unnamed_variable>() != nullptr;
    return true;
  });
  return found;
}

/// Returns whether the term destructures a value.
bool is_pattern(const syntax::argument& term) {
  return (term.as<syntax::record_constructor>() != nullptr || term.as<syntax::branch_constructor>() != nullptr) &&
         has_variables(term);
}

class lattice_operations {
 public:
  explicit lattice_operations(const std::vector<syntax::item>& items) {
    for (const syntax::item& item : items) {
      const auto* declared = item.as<syntax::lattice_declaration>();
      if (declared != nullptr) lattices_.emplace(declared->name.text, lattice_of(*declared));
    }
    for (const syntax::item& item : items) {
      const auto* declared = item.as<syntax::relation_declaration>();
      if (declared == nullptr) continue;
      lattice_relation found{declared->attributes.size(), {}, declared->span};
      for (std::size_t column = 0; column < found.columns; ++column) {
        const syntax::attribute& attribute = declared->attributes[column];
        const auto of = lattices_.find(attribute.type.text);
        if (!attribute.is_lattice || of == lattices_.end() || !of->second.lub) continue;
        found.attributes.push_back({column, &of->second});
      }
      if (found.attributes.empty()) continue;
      for (const syntax::identifier& name : declared->names) relations_[name.text] = found;
    }
  }

  std::vector<syntax::item> apply(std::vector<syntax::item> items) {
    std::vector<syntax::item> result;
    for (syntax::item& item : items) {
      auto* clause = item.as<syntax::clause>();
      if (clause == nullptr || clause->body.empty() || !mentions_lattices(*clause) ||
          !add_alternatives(*clause, result)) {
        result.push_back(std::move(item));
      }
    }
    for (const auto& [name, relation] : relations_) result.push_back({subsumption_of(name, relation)});
    return result;
  }

 private:
  /// Returns the attributes whose bounds matter for a rule with this atom.
  [[nodiscard]] std::vector<lattice_attribute> asked_attributes(const syntax::atom& atom) const {
    std::vector<lattice_attribute> result;
    const auto found = relations_.find(atom.name.text);
    if (found == relations_.end() || atom.arguments.size() != found->second.columns) return result;
    std::copy_if(found->second.attributes.begin(), found->second.attributes.end(), std::back_inserter(result),
                 [](const lattice_attribute& attribute) { return attribute.has_bounds_below(); });
    return result;
  }

  [[nodiscard]] bool mentions_lattices(const syntax::clause& clause) const {
    bool mentioned = std::any_of(clause.heads.begin(), clause.heads.end(),
                                 [this](const syntax::atom& head) { return !asked_attributes(head).empty(); });
    for_each_atom(clause.body, [&](const syntax::atom& atom) { mentioned |= !asked_attributes(atom).empty(); });
    return mentioned;
  }

  /// Adds a clause for each head and each alternative of the body. Returns false if there are too many alternatives; a
  /// later check reports this.
  bool add_alternatives(const syntax::clause& clause, std::vector<syntax::item>& result) {
    diagnostics unseen;
    const auto bodies = expand_body(clause.body, clause.span, unseen);
    if (!bodies) return false;
    for (const syntax::atom& head : clause.heads) {
      for (const flat_conjunction& body : *bodies) {
        syntax::clause alternative;
        alternative.span = clause.span;
        alternative.heads = {head};
        alternative.plan = clause.plan;
        syntax::conjunction& conjunction = alternative.body.emplace_back();
        for (const flat_literal& part : body) {
          syntax::literal& copied = conjunction.emplace_back(*part.literal);
          if (part.negated) copied.value = syntax::negation{*part.literal};
        }
        insert_operations(alternative.heads.front(), conjunction);
        result.push_back({std::move(alternative)});
      }
    }
    return true;
  }

  void insert_operations(syntax::atom& head, syntax::conjunction& body) {
    std::vector<syntax::literal> added;
    const auto differs_from_bottom = [&added](syntax::argument value, const lattice& of) {
      const syntax::place span = value.span;
      syntax::argument bottom{syntax::type_cast{*of.bottom, {of.type, span}}, span};
      added.push_back(
          {syntax::constraint{syntax::constraint_op::not_equal, std::move(value), std::move(bottom)}, span});
    };
    std::map<std::string, const lattice*> asked;                   // lattice of each variable
    std::map<std::string, std::vector<syntax::argument*>> places;  // positions of each variable in the body
    for (syntax::literal& part : body) {
      auto* atom = part.as<syntax::atom>();
      if (atom == nullptr) continue;
      for (const lattice_attribute& attribute : asked_attributes(*atom)) {
        syntax::argument& value = atom->arguments[attribute.column];
        if (value.as<syntax::unnamed_variable>() != nullptr) continue;
        if (const auto* variable = value.as<syntax::variable>()) {
          asked[variable->name] = attribute.of;
          places[variable->name].push_back(&value);
          continue;
        }
        if (is_pattern(value)) continue;
        const syntax::place span = value.span;
        syntax::argument met = variable_term("@lattice" + std::to_string(++made_), span);
        differs_from_bottom(call(*attribute.of->glb, met, std::move(value)), *attribute.of);
        value = std::move(met);
      }
    }
    for (const lattice_attribute& attribute : asked_attributes(head)) {
      const auto* variable = head.arguments[attribute.column].as<syntax::variable>();
      if (variable != nullptr) asked[variable->name] = attribute.of;
    }
    for (const auto& [name, of] : asked) meet(name, *of, places[name], head, body, added, differs_from_bottom);
    std::move(added.begin(), added.end(), std::back_inserter(body));
  }

  /// Makes the variable the greatest lower bound of the values at its positions in the body.
  template <class DiffersFromBottom>
  void meet(const std::string& name, const lattice& of, const std::vector<syntax::argument*>& places,
            const syntax::atom& head, syntax::conjunction& body, std::vector<syntax::literal>& added,
            const DiffersFromBottom& differs_from_bottom) {
    std::size_t in_head = 0;
    for_each_variable(head, [&](const syntax::variable& variable, const syntax::argument&) {
      in_head += variable.name == name ? 1 : 0;
    });
    std::vector<syntax::argument*> others;  // positions that bind the variable outside of lattice attributes
    std::size_t in_body = 0;
    for (syntax::literal& part : body) {
      for_each_variable(part, [&](const syntax::variable& variable, const syntax::argument&) {
        in_body += variable.name == name ? 1 : 0;
      });
      const auto look_at = [&](syntax::argument& term) {
        const auto* variable = term.as<syntax::variable>();
        const bool is_place = std::find(places.begin(), places.end(), &term) != places.end();
        if (variable != nullptr && variable->name == name && !is_place) others.push_back(&term);
      };
      if (auto* atom = part.as<syntax::atom>()) {
        for (syntax::argument& argument : atom->arguments) look_at(argument);
      } else if (auto* equality = part.as<syntax::constraint>();
                 equality != nullptr && equality->op == syntax::constraint_op::equal) {
        if (!has_variables(equality->right)) look_at(equality->left);
        if (!has_variables(equality->left)) look_at(equality->right);
      }
    }
    if (in_body == 0 || in_head + in_body < 2) return;
    const std::size_t met = places.size() + (others.empty() ? 0 : 1);
    const syntax::place span = places.empty() ? head.span : places.front()->span;
    if (met > 1) {
      std::optional<syntax::argument> bound;
      const auto add = [&](const std::vector<syntax::argument*>& renamed) {
        syntax::argument own = variable_term("@" + name + "." + std::to_string(++made_), span);
        for (syntax::argument* const place : renamed) *place = own;
        bound = bound ? call(*of.glb, std::move(own), std::move(*bound)) : std::move(own);
      };
      for (syntax::argument* const place : places) add({place});
      if (!others.empty()) add(others);
      added.push_back(
          {syntax::constraint{syntax::constraint_op::equal, variable_term(name, span), std::move(*bound)}, span});
    }
    differs_from_bottom(variable_term(name, span), of);
  }

  static syntax::subsumption subsumption_of(const std::string& name, const lattice_relation& relation) {
    const syntax::place& span = relation.span;
    const auto value_in = [&](const char* side, std::size_t column) {
      return variable_term("@" + std::string(side) + std::to_string(column), span);
    };
    const auto atom_with = [&](const char* side) {
      syntax::atom result{{name, span}, {}, span};
      for (std::size_t column = 0; column < relation.columns; ++column) {
        result.arguments.push_back(value_in("key", column));
      }
      for (const lattice_attribute& attribute : relation.attributes) {
        result.arguments[attribute.column] = value_in(side, attribute.column);
      }
      return result;
    };
    syntax::subsumption rule;
    rule.span = span;
    rule.dominated = atom_with("lower");
    rule.dominating = atom_with("upper");
    syntax::conjunction& below = rule.body.emplace_back();
    for (const auto& [column, of] : relation.attributes) {
      const syntax::argument upper = value_in("upper", column);
      syntax::argument bound = call(*of->lub, value_in("lower", column), upper);
      below.push_back({syntax::constraint{syntax::constraint_op::equal, std::move(bound), upper}, span});
    }
    return rule;
  }

  std::map<std::string, lattice> lattices_;            ///< by type
  std::map<std::string, lattice_relation> relations_;  ///< by name
  std::size_t made_ = 0;                               ///< number of generated names
};

}  // namespace

bool has_lattices(const std::vector<syntax::item>& items) {
  return std::any_of(items.begin(), items.end(),
                     [](const syntax::item& item) { return item.as<syntax::lattice_declaration>() != nullptr; });
}

std::vector<syntax::item> insert_lattice_operations(std::vector<syntax::item> items) {
  lattice_operations operations(items);
  return operations.apply(std::move(items));
}

}  // namespace gpulog::sema

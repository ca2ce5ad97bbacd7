#include "sema/components/components.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "sema/rewriting/syntax_rewriter.hpp"
#include "support/suggestion.hpp"

namespace gpulog::sema {

namespace {

/// Limits on the size of a program, so that recursive instantiation ends with an error instead of exhausting memory.
constexpr std::size_t deepest_instance = 100;
constexpr std::size_t longest_inheritance = 500;
constexpr std::size_t most_items = 1'000'000;
constexpr std::size_t most_components = 100'000;

/// Values of a component's type parameters: full names of types, or names of components.
using binding = std::map<std::string, std::string>;
using component_table = std::unordered_map<std::string, const syntax::component*>;

/// An instance under construction, with its local names. The program itself is the outermost instance.
struct scope {
  const scope* around = nullptr;
  std::string prefix;  ///< "a.b." or empty
  std::set<std::string, std::less<>> relations, types, branches, instances;
  component_table components;
};

/// An item of an instance, with the parameters of the component that contains the item.
struct content_item {
  const syntax::item* item;
  std::shared_ptr<const binding> parameters;
};

class instantiation {
 public:
  explicit instantiation(diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  std::vector<syntax::item> run(const std::vector<syntax::item>& items) {
    scope program;
    std::vector<content_item> content;
    const auto no_parameters = std::make_shared<const binding>();
    for (const syntax::item& item : items) content.push_back({&item, no_parameters});
    collect_components(content, program);
    check_definitions(program, items, {}, false);
    add_names(content, program);
    check_names(items, program);
    // Top-level names need no renaming, so top-level items are only copied.
    for (const content_item& entry : content) {
      if (const auto* instance = entry.item->as<syntax::component_instance>()) {
        instantiate(*instance, *entry.parameters, program, 1);
      } else if (entry.item->as<syntax::component>() == nullptr) {
        result_.push_back(*entry.item);
      }
    }
    // The items of an endless program would only repeat the errors.
    if (too_large_) result_.clear();
    return std::move(result_);
  }

 private:
  // ---- definitions, with or without instances ----

  void collect_components(const std::vector<content_item>& content, scope& into) {
    for (const content_item& entry : content) {
      const auto* component = entry.item->as<syntax::component>();
      if (component == nullptr) continue;
      const auto [previous, inserted] = into.components.emplace(component->type.name.text, component);
      if (inserted || previous->second == component) continue;
      if (!reported_.insert(component).second) continue;
      diagnostics_.error(component->span, "Redefinition of component " + component->type.name.text)
          .note(previous->second->span, "Previous definition");
    }
  }

  /// Checks that components and instances do not share a name with a type, relation or component.
  void check_names(const std::vector<syntax::item>& items, const scope& program) {
    const auto clashes = [&](const std::string& name) {
      return program.types.contains(name) || program.relations.contains(name);
    };
    for (const syntax::item& item : items) {
      const auto* component = item.as<syntax::component>();
      if (component != nullptr && clashes(component->type.name.text)) {
        diagnostics_.error(component->span, "Name clash on component " + component->type.name.text);
      }
      const auto* instance = item.as<syntax::component_instance>();
      if (instance == nullptr) continue;
      if (clashes(instance->name.text) || program.components.contains(instance->name.text)) {
        diagnostics_.error(instance->span, "Name clash on instantiation " + instance->name.text);
      }
    }
  }

  static const syntax::component* find(const std::string& name, const scope& from) {
    for (const scope* at = &from; at != nullptr; at = at->around) {
      const auto found = at->components.find(name);
      if (found != at->components.end()) return found->second;
    }
    return nullptr;
  }

  /// Returns whether the error is new. Definitions are checked before instances, which would repeat the errors.
  bool is_news(const syntax::component_type& type, const std::string& name) {
    return refused_.emplace(&type, name).second;
  }

  void report_unknown(const syntax::component_type& type, const std::string& name, const scope& from) {
    if (!is_news(type, name)) return;
    std::vector<std::string> candidates;
    for (const scope* at = &from; at != nullptr; at = at->around) {
      for (const auto& [candidate, component] : at->components) candidates.push_back(candidate);
    }
    std::sort(candidates.begin(), candidates.end());
    diagnostics_.error(type.span, "Referencing undefined component " + name)
        .suggest(name, closest_name(name, candidates));
  }

  /// Checks that the number of types equals the component's number of parameters.
  bool check_parameters(const syntax::component_type& type, const std::string& name,
                        const syntax::component& component) {
    const std::size_t formal = component.type.parameters.size();
    if (formal == type.parameters.size()) return true;
    if (is_news(type, name)) {
      diagnostics_
          .error(type.span, "Component " + name + " has " + std::to_string(formal) + " type parameters, " +
                                std::to_string(type.parameters.size()) + " are given")
          .note(component.span, "Declared here");
    }
    return false;
  }

  /// Checks the components that each .init in a component refers to, even if the component is never instantiated.
  void check_instances(const syntax::component& component, const scope& inside, const std::set<std::string>& parameters,
                       bool open) {
    for (const syntax::item& item : component.items) {
      const auto* instance = item.as<syntax::component_instance>();
      if (instance == nullptr || parameters.contains(instance->type.name.text)) continue;
      const std::string& name = instance->type.name.text;
      const syntax::component* const found = find(name, inside);
      if (found != nullptr) {
        check_parameters(instance->type, name, *found);
      } else if (!open) {
        report_unknown(instance->type, name, inside);
      }
    }
  }

  /// @param open whether an enclosing component inherits from a type parameter, so that an instance may define any name
  void check_definitions(const scope& from, const std::vector<syntax::item>& items,
                         const std::set<std::string>& outer_parameters, bool open) {
    for (const syntax::item& item : items) {
      const auto* component = item.as<syntax::component>();
      if (component == nullptr) continue;
      std::set<std::string> parameters = outer_parameters;
      for (const syntax::identifier& parameter : component->type.parameters) parameters.insert(parameter.text);
      check_bases(*component, from, parameters, open);
      check_overrides(*component, from);
      scope inside;
      inside.around = &from;
      std::vector<content_item> content;
      for (const syntax::item& inner : component->items) content.push_back({&inner, nullptr});
      collect_components(content, inside);
      for (const syntax::component* ancestor : ancestors(*component, from)) add_nested(*ancestor, inside);
      const bool is_open = open || has_unknown_base(*component, from);
      check_instances(*component, inside, parameters, is_open);
      check_definitions(inside, component->items, parameters, is_open);
    }
  }

  static void add_nested(const syntax::component& component, scope& into) {
    for (const syntax::item& item : component.items) {
      if (const auto* nested = item.as<syntax::component>()) into.components.emplace(nested->type.name.text, nested);
    }
  }

  void check_bases(const syntax::component& component, const scope& from, const std::set<std::string>& parameters,
                   bool open) {
    for (const syntax::component_type& base : component.bases) {
      if (parameters.contains(base.name.text)) continue;
      const syntax::component* const found = find(base.name.text, from);
      if (found != nullptr) {
        check_parameters(base, base.name.text, *found);
      } else if (!open) {
        report_unknown(base, base.name.text, from);
        unusable_.insert(&component);
      }
    }
    const std::vector<const syntax::component*> all = ancestors(component, from);
    if (std::find(all.begin(), all.end(), &component) == all.end()) return;
    diagnostics_.error(component.span, "Component " + component.type.name.text + " has an inheritance cycle");
    unusable_.insert(&component);
  }

  void check_overrides(const syntax::component& component, const scope& from) {
    for (const syntax::item& item : component.items) {
      const auto* wanted = item.as<syntax::override_declaration>();
      if (wanted == nullptr) continue;
      const syntax::relation_declaration* declaration = find_inherited(component, wanted->name.text, from);
      if (declaration == nullptr) {
        // If a base is a type parameter, its relations are known only in an instance.
        if (has_unknown_base(component, from)) continue;
        diagnostics_.error(component.span, "Overriding of non-existing relation " + wanted->name.text)
            .note(wanted->span, "Override");
      } else if (std::none_of(
                     declaration->qualifiers.begin(), declaration->qualifiers.end(),
                     [](const auto& qualifier) { return qualifier.what == syntax::relation_qualifier::overridable; })) {
        diagnostics_.error(component.span, "Overriding of non-overridable relation " + wanted->name.text)
            .note(wanted->span, "Override")
            .note(declaration->span, "Declared here");
      }
    }
  }

  /// Returns all components that a component inherits from, excluding itself unless the inheritance is cyclic.
  static std::vector<const syntax::component*> ancestors(const syntax::component& component, const scope& from) {
    std::vector<const syntax::component*> result;
    std::vector<const syntax::component*> waiting = {&component};
    while (!waiting.empty()) {
      const syntax::component* current = waiting.back();
      waiting.pop_back();
      for (const syntax::component_type& base : current->bases) {
        const syntax::component* next = find(base.name.text, from);
        if (next == nullptr || std::find(result.begin(), result.end(), next) != result.end()) continue;
        result.push_back(next);
        waiting.push_back(next);
      }
    }
    return result;
  }

  static bool has_unknown_base(const syntax::component& component, const scope& from) {
    std::vector<const syntax::component*> all = ancestors(component, from);
    all.push_back(&component);
    return std::any_of(all.begin(), all.end(), [&](const syntax::component* candidate) {
      return std::any_of(candidate->bases.begin(), candidate->bases.end(),
                         [&](const auto& base) { return find(base.name.text, from) == nullptr; });
    });
  }

  static const syntax::relation_declaration* find_inherited(const syntax::component& component,
                                                            const std::string& relation, const scope& from) {
    for (const syntax::component* ancestor : ancestors(component, from)) {
      for (const syntax::item& item : ancestor->items) {
        const auto* declaration = item.as<syntax::relation_declaration>();
        if (declaration == nullptr) continue;
        for (const syntax::identifier& name : declaration->names) {
          if (name.text == relation) return declaration;
        }
      }
    }
    return nullptr;
  }

  // ---- names ----

  static void add_names(const std::vector<content_item>& content, scope& into) {
    for (const content_item& entry : content) {
      if (const auto* declaration = entry.item->as<syntax::relation_declaration>()) {
        for (const syntax::identifier& name : declaration->names) into.relations.insert(name.text);
      }
      if (const auto* type = entry.item->as<syntax::type_declaration>()) {
        into.types.insert(type->name.text);
        if (const auto* adt = std::get_if<syntax::adt_definition>(&type->definition)) {
          for (const syntax::branch_definition& branch : adt->branches) into.branches.insert(branch.name.text);
        }
      }
      if (const auto* instance = entry.item->as<syntax::component_instance>()) {
        into.instances.insert(instance->name.text);
      }
    }
  }

  /// Returns the full name of `name` in a scope.
  static std::string resolve(const syntax::qualified_name& name, const scope& from,
                             std::set<std::string, std::less<>> scope::*own) {
    for (const scope* at = &from; at != nullptr; at = at->around) {
      const bool known = name.is_simple() ? (at->*own).contains(name.text) : at->instances.contains(name.first());
      if (known) return at->prefix + name.text;
    }
    return name.text;
  }

  static std::string resolve_type(const syntax::qualified_name& name, const binding& parameters, const scope& from) {
    const auto bound = parameters.find(name.text);
    return bound != parameters.end() ? bound->second : resolve(name, from, &scope::types);
  }

  static std::string component_name(const syntax::component_type& type, const binding& parameters) {
    const auto bound = parameters.find(type.name.text);
    return bound != parameters.end() ? bound->second : type.name.text;
  }

  // ---- instances ----

  void instantiate(const syntax::component_instance& instance, const binding& parameters, const scope& around,
                   std::size_t depth) {
    if (too_large_) return;
    scope inside;
    inside.around = &around;
    inside.prefix = around.prefix + instance.name.text + ".";
    // Inside a component, as in Soufflé, two instances with the same name are merged; relations that both declare are
    // reported as redeclared.
    const bool is_outermost = around.around == nullptr;
    if (is_outermost && !instance_names_.insert(inside.prefix).second) {
      diagnostics_.error(instance.span, "Redefinition of component instance " + instance.name.text);
      return;
    }
    if (depth > deepest_instance) {
      give_up(instance.span,
              "Component " + instance.type.name.text + " instantiates itself, or instances are nested too deeply");
      return;
    }
    std::vector<content_item> content;
    collect(instance.type, parameters, around, {}, content, 0);
    collect_components(content, inside);
    add_names(content, inside);
    for (const content_item& entry : content) add(entry, inside, depth);
  }

  /// Appends the content of a component after the content of its bases, without the clauses of overridden relations.
  void collect(const syntax::component_type& type, const binding& outer, const scope& from,
               const std::set<std::string>& overridden, std::vector<content_item>& content, std::size_t depth) {
    const std::string name = component_name(type, outer);
    const syntax::component* component = find(name, from);
    if (component == nullptr) {
      report_unknown(type, name, from);
      return;
    }
    if (unusable_.contains(component) || too_large_) return;
    if (++collected_ > most_components) {
      give_up(type.span, "The instances of components make the program too large");
      return;
    }
    if (depth > longest_inheritance) {
      give_up(type.span, "Component " + name + " inherits from too long a chain of components");
      return;
    }
    const std::vector<syntax::identifier>& formal = component->type.parameters;
    if (!check_parameters(type, name, *component)) return;
    binding own;
    for (std::size_t position = 0; position < formal.size(); ++position) {
      const syntax::identifier& actual = type.parameters[position];
      own[formal[position].text] = resolve_type({actual.text, actual.span}, outer, from);
    }
    std::set<std::string> overridden_below = overridden;
    for (const syntax::item& item : component->items) {
      if (const auto* wanted = item.as<syntax::override_declaration>()) overridden_below.insert(wanted->name.text);
    }
    for (const syntax::component_type& base : component->bases) {
      collect(base, own, from, overridden_below, content, depth + 1);
    }
    const auto shared = std::make_shared<const binding>(std::move(own));
    for (const syntax::item& item : component->items) {
      if (!is_overridden(item, overridden)) content.push_back({&item, shared});
    }
  }

  static bool is_overridden(const syntax::item& item, const std::set<std::string>& overridden) {
    if (const auto* clause = item.as<syntax::clause>()) {
      return std::all_of(clause->heads.begin(), clause->heads.end(),
                         [&](const syntax::atom& head) { return overridden.contains(head.name.text); });
    }
    const auto* subsumption = item.as<syntax::subsumption>();
    return subsumption != nullptr && overridden.contains(subsumption->dominated.name.text);
  }

  void give_up(const source_span& where, std::string reason) {
    if (!too_large_) diagnostics_.error(where, std::move(reason));
    too_large_ = true;
  }

  void add(const content_item& entry, const scope& inside, std::size_t depth) {
    if (const auto* instance = entry.item->as<syntax::component_instance>()) {
      instantiate(*instance, *entry.parameters, inside, depth + 1);
      return;
    }
    if (entry.item->as<syntax::component>() != nullptr || entry.item->as<syntax::override_declaration>() != nullptr) {
      return;
    }
    if (result_.size() > most_items) {
      give_up({}, "The instances of components make the program too large");
      return;
    }
    syntax::item& copy = result_.emplace_back(*entry.item);
    const syntax_rewriter rewriter(
        [&](syntax::qualified_name& name) { name.text = resolve(name, inside, &scope::relations); },
        [&](syntax::qualified_name& name) { name.text = resolve_type(name, *entry.parameters, inside); },
        [&](syntax::qualified_name& name) { name.text = resolve(name, inside, &scope::branches); });
    if (auto* clause = copy.as<syntax::clause>()) rewriter.rewrite(*clause);
    if (auto* subsumption = copy.as<syntax::subsumption>()) rewriter.rewrite(*subsumption);
    if (auto* declaration = copy.as<syntax::relation_declaration>()) rewriter.rewrite(*declaration);
    if (auto* declaration = copy.as<syntax::type_declaration>()) rewriter.rewrite(*declaration);
    if (auto* declaration = copy.as<syntax::lattice_declaration>()) rewriter.rewrite(*declaration);
    if (auto* directive = copy.as<syntax::directive>()) rewriter.rewrite(*directive);
  }

  diagnostics& diagnostics_;
  std::vector<syntax::item> result_;
  std::set<std::string> instance_names_;
  std::set<const syntax::component*> reported_;
  std::set<std::pair<const syntax::component_type*, std::string>> refused_;
  std::set<const syntax::component*> unusable_;  ///< error already reported
  std::size_t collected_ = 0;                    ///< number of collected components
  bool too_large_ = false;
};

}  // namespace

bool has_components(const std::vector<syntax::item>& items) {
  return std::any_of(items.begin(), items.end(), [](const syntax::item& item) {
    return item.as<syntax::component>() != nullptr || item.as<syntax::component_instance>() != nullptr;
  });
}

std::vector<syntax::item> instantiate_components(const std::vector<syntax::item>& items, diagnostics& diagnostics) {
  return instantiation(diagnostics).run(items);
}

}  // namespace gpulog::sema

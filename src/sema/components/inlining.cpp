#include "sema/components/inlining.hpp"

#include <algorithm>
#include <functional>

#include "sema/rewriting/syntax_walk.hpp"
#include "sema/terms.hpp"

namespace gpulog::sema {

namespace {

/// Beyond these limits, an inline relation is evaluated like other relations instead of being copied again.
constexpr std::uint64_t most_copies = 100'000;
constexpr std::size_t deepest_copy = 200;

/// Calls replace(term) for each variable of a tree; the call may replace the term.
class variable_replacer {
 public:
  explicit variable_replacer(std::function<void(syntax::argument&)> replace) : replace_(std::move(replace)) {}

  void apply(std::vector<syntax::conjunction>& alternatives) const {
    for (syntax::conjunction& conjunction : alternatives) apply(conjunction);
  }

  void apply(syntax::conjunction& conjunction) const {
    for (syntax::literal& part : conjunction) apply(part);
  }

  void apply(syntax::argument& term) const {
    if (term.as<syntax::variable>() != nullptr) {
      replace_(term);
      return;
    }
    if (auto* record = term.as<syntax::record_constructor>()) apply(record->fields);
    if (auto* branch = term.as<syntax::branch_constructor>()) apply(branch->fields);
    if (auto* call = term.as<syntax::functor_call>()) apply(call->arguments);
    if (auto* call = term.as<syntax::user_functor_call>()) apply(call->arguments);
    if (auto* cast = term.as<syntax::type_cast>()) apply(*cast->value);
    if (auto* aggregate = term.as<syntax::aggregate>()) {
      if (aggregate->target) apply(**aggregate->target);
      if (aggregate->initial) apply(**aggregate->initial);
      apply(aggregate->body);
    }
  }

 private:
  void apply(std::vector<syntax::argument>& terms) const {
    for (syntax::argument& term : terms) apply(term);
  }

  void apply(syntax::literal& part) const {
    if (auto* atom = part.as<syntax::atom>()) apply(atom->arguments);
    if (auto* constraint = part.as<syntax::constraint>()) {
      apply(constraint->left);
      apply(constraint->right);
    }
    if (auto* negation = part.as<syntax::negation>()) apply(*negation->inner);
    if (auto* group = part.as<syntax::group>()) apply(group->alternatives);
  }

  std::function<void(syntax::argument&)> replace_;
};

bool has_variable_without_value(const syntax::argument& term, const std::map<std::string, syntax::argument>& values) {
  bool found = false;
  for_each_variable(term, [&](const syntax::variable& variable, const syntax::argument&) {
    found = found || !values.contains(variable.name);
  });
  return found;
}

syntax::literal negation_of(syntax::literal inner) {
  const syntax::place span = inner.span;
  return {syntax::negation{std::move(inner)}, span};
}

syntax::literal group_of(std::vector<syntax::conjunction> alternatives, const syntax::place& span) {
  return {syntax::group{std::move(alternatives)}, span};
}

}  // namespace

inliner::inliner(const std::vector<syntax::item>& items, const declarations& declared, diagnostics& diagnostics)
    : declared_(declared) {
  for (const std::string& name : declared.relation_names()) {
    if (declared.is_inline(*declared.find_relation(name))) definitions_[name];
  }
  if (definitions_.empty()) return;
  for (const syntax::item& item : items) {
    const auto* clause = item.as<syntax::clause>();
    if (clause == nullptr) continue;
    for (const syntax::atom& head : clause->heads) {
      const auto found = definitions_.find(head.name.text);
      if (found != definitions_.end()) found->second.push_back({&head, clause});
    }
  }
  if (const auto name = find_cycle()) {
    diagnostics.error(declared.relation_span(*declared.find_relation(*name)),
                      "Cannot inline cyclically dependent relations (" + *name + ")");
    definitions_.clear();
  }
}

/// Returns the name of an inline relation that depends on itself through inline relations only.
std::optional<std::string> inliner::find_cycle() const {
  // A relation is done if its bodies mention only done relations; relations that remain are cyclic or depend on a
  // cycle.
  std::map<std::string, std::set<std::string>> needs;
  for (const auto& [name, definitions] : definitions_) {
    std::set<std::string>& needed = needs[name];
    for (const definition& each : definitions) {
      for_each_atom(each.clause->body, [&](const syntax::atom& atom) {
        if (definitions_.contains(atom.name.text)) needed.insert(atom.name.text);
      });
    }
  }
  std::map<std::string, std::vector<std::string>> users;
  std::vector<std::string> done;
  for (const auto& [name, needed] : needs) {
    for (const std::string& other : needed) users[other].push_back(name);
    if (needed.empty()) done.push_back(name);
  }
  std::size_t finished = 0;
  while (!done.empty()) {
    const std::string name = done.back();
    done.pop_back();
    ++finished;
    for (const std::string& user : users[name]) {
      needs[user].erase(name);
      if (needs[user].empty()) done.push_back(user);
    }
  }
  if (finished == needs.size()) return std::nullopt;
  // From any remaining relation, dependencies lead into a cycle; the first relation seen twice is on the cycle.
  const auto start = std::find_if(needs.begin(), needs.end(), [](const auto& entry) { return !entry.second.empty(); });
  std::set<std::string> seen;
  std::string at = start->first;
  while (seen.insert(at).second) at = *needs[at].begin();
  return at;
}

std::optional<syntax::clause> inliner::expand(const syntax::clause& clause) {
  if (definitions_.empty()) return std::nullopt;
  bool found = false;
  const auto look = [&](const syntax::atom& atom) { found = found || definitions_.contains(atom.name.text); };
  for (const syntax::atom& head : clause.heads) {
    for (const syntax::argument& argument : head.arguments) {
      // Only aggregates contain atoms inside arguments, and atoms in aggregates are not inlined.
      for_each_atom(argument, [&](const syntax::atom& atom) { kept_.insert(atom.name.text); });
    }
  }
  for_each_atom(clause.body, look);
  if (!found) return std::nullopt;
  syntax::clause result = clause;
  replaced_ = false;
  expand(result.body, false, 0);
  if (!replaced_) return std::nullopt;
  // Positions in a plan refer to the atoms as written.
  result.plan.clear();
  return result;
}

void inliner::expand(std::vector<syntax::conjunction>& alternatives, bool negated, std::size_t depth) {
  for (syntax::conjunction& conjunction : alternatives) {
    for (syntax::literal& part : conjunction) expand(part, negated, depth);
  }
}

void inliner::expand(syntax::literal& part, bool negated, std::size_t depth) {
  const auto keep = [&](const syntax::atom& atom) { kept_.insert(atom.name.text); };
  if (const auto* atom = part.as<syntax::atom>()) {
    for (const syntax::argument& argument : atom->arguments) for_each_atom(argument, keep);
    if (definitions_.contains(atom->name.text)) replace(part, negated, depth);
  } else if (const auto* constraint = part.as<syntax::constraint>()) {
    for_each_atom(constraint->left, keep);
    for_each_atom(constraint->right, keep);
  } else if (auto* negation = part.as<syntax::negation>()) {
    expand(*negation->inner, !negated, depth);
  } else if (auto* group = part.as<syntax::group>()) {
    expand(group->alternatives, negated, depth);
  }
}

void inliner::replace(syntax::literal& part, bool negated, std::size_t depth) {
  const syntax::atom atom = *part.as<syntax::atom>();
  const std::vector<definition>& definitions = definitions_.at(atom.name.text);
  bool possible = depth < deepest_copy && copies_ + definitions.size() <= most_copies;
  for (const definition& each : definitions) {
    if (each.head->arguments.size() != atom.arguments.size()) possible = false;
  }
  if (negated && std::any_of(atom.arguments.begin(), atom.arguments.end(), is_unnamed)) possible = false;
  syntax::group alternatives;
  for (const definition& each : definitions) {
    if (!possible) break;
    ++copies_;
    instance_of_body replacement = instance(each, atom, negated);
    possible = !(negated && replacement.has_own_variables);
    if (replacement.can_hold) alternatives.alternatives.push_back(std::move(replacement.body));
  }
  if (!possible) {
    kept_.insert(atom.name.text);
    return;
  }
  expand(alternatives.alternatives, negated, depth + 1);
  part.value = std::move(alternatives);
  replaced_ = true;
}

std::optional<type_id> inliner::field_type(std::optional<type_id> record, std::size_t field) const {
  if (!record || declared_.types().kind(*record) != value_kind::record) return std::nullopt;
  const std::vector<type_id>& fields = declared_.types().structure(declared_.types()[*record].structure).fields;
  if (field >= fields.size() || !fields[field].valid()) return std::nullopt;
  return fields[field];
}

syntax::argument inliner::typed(syntax::argument term, std::optional<type_id> type) {
  // Unnamed fields get names, because the term may be repeated.
  const auto name_open_fields = [&](const auto& self, syntax::argument& inside) -> void {
    auto* record = inside.as<syntax::record_constructor>();
    auto* branch = inside.as<syntax::branch_constructor>();
    if (record == nullptr && branch == nullptr) return;
    for (syntax::argument& field : record != nullptr ? record->fields : branch->fields) {
      if (is_unnamed(field)) {
        field = variable_term("_@" + std::to_string(copies_) + "." + std::to_string(++opened_fields_), field.span);
      }
      self(self, field);
    }
  };
  name_open_fields(name_open_fields, term);
  if (!type || (term.as<syntax::record_constructor>() == nullptr && term.as<syntax::nil_constant>() == nullptr)) {
    return term;
  }
  const syntax::place span = term.span;
  return {syntax::type_cast{std::move(term), {declared_.types()[*type].name, span}}, span};
}

bool inliner::unify(const syntax::argument& formal, const syntax::argument& actual, std::optional<type_id> type,
                    unification& result) {
  if (is_unnamed(actual)) return true;
  const auto* cast = actual.as<syntax::type_cast>();
  const syntax::argument& value = cast != nullptr && cast->value->as<syntax::record_constructor>() != nullptr
                                      ? static_cast<const syntax::argument&>(*cast->value)
                                      : actual;
  const auto* variable = formal.as<syntax::variable>();
  if (variable != nullptr && !result.values.contains(variable->name)) {
    result.values.emplace(variable->name, typed(value, type));
    return true;
  }
  const auto* made_branch = formal.as<syntax::branch_constructor>();
  const auto* matched_branch = value.as<syntax::branch_constructor>();
  if (made_branch != nullptr && matched_branch != nullptr) {
    const declarations::known_branch* formal_branch = declared_.find_branch(made_branch->branch.text);
    const declarations::known_branch* matched = declared_.find_branch(matched_branch->branch.text);
    const bool is_right = formal_branch != nullptr && matched != nullptr && formal_branch->type == matched->type;
    if (is_right && formal_branch->number != matched->number) return false;
    const std::size_t fields = made_branch->fields.size();
    if (is_right && fields == matched_branch->fields.size() &&
        fields == declared_.branch_fields(*formal_branch).size()) {
      bool possible = true;
      for (std::size_t field = 0; field < fields; ++field) {
        const type_id of_field = declared_.branch_fields(*formal_branch)[field];
        const std::optional<type_id> field_type = of_field.valid() ? std::optional(of_field) : std::nullopt;
        possible &= unify(made_branch->fields[field], matched_branch->fields[field], field_type, result);
      }
      return possible;
    }
  }
  const auto* constructor = formal.as<syntax::record_constructor>();
  const auto* matched = value.as<syntax::record_constructor>();
  if (constructor == nullptr || matched == nullptr || constructor->fields.size() != matched->fields.size()) {
    if (result.opens && has_variable_without_value(formal, result.values)) {
      if (const auto possible = open(formal, value, type, result)) return *possible;
    }
    result.equal.emplace_back(typed(formal, type), typed(value, type));
    return true;
  }
  bool possible = true;
  for (std::size_t field = 0; field < constructor->fields.size(); ++field) {
    possible &= unify(constructor->fields[field], matched->fields[field], field_type(type, field), result);
  }
  return possible;
}

std::optional<bool> inliner::open(const syntax::argument& formal, const syntax::argument& value,
                                  std::optional<type_id> type, unification& result) {
  constexpr std::size_t most_others = 16;
  if (value.as<syntax::variable>() == nullptr) return std::nullopt;
  const syntax::place& span = value.span;
  opened_value opened{value, formal, {}};
  std::vector<syntax::argument>* fields = nullptr;
  std::vector<std::optional<type_id>> types;
  if (auto* record = opened.constructor.as<syntax::record_constructor>()) {
    if (!type || declared_.types().kind(*type) != value_kind::record) return std::nullopt;
    fields = &record->fields;
    for (std::size_t field = 0; field < fields->size(); ++field) types.push_back(field_type(type, field));
    opened.others.push_back(typed({syntax::nil_constant{}, span}, type));
  } else if (auto* branch = opened.constructor.as<syntax::branch_constructor>()) {
    const declarations::known_branch* const constructed = declared_.find_branch(branch->branch.text);
    if (constructed == nullptr || declared_.branch_fields(*constructed).size() != branch->fields.size())
      return std::nullopt;
    fields = &branch->fields;
    for (const type_id of_field : declared_.branch_fields(*constructed)) {
      types.push_back(of_field.valid() ? std::optional(of_field) : std::nullopt);
    }
    for (const std::string& name : declared_.branch_names()) {
      const declarations::known_branch& other = *declared_.find_branch(name);
      if (other.type != constructed->type || other.number == constructed->number) continue;
      const std::vector<syntax::argument> any(declared_.branch_fields(other).size(),
                                              syntax::argument{syntax::unnamed_variable{}, span});
      opened.others.push_back({syntax::branch_constructor{{name, span}, any}, span});
    }
    if (opened.others.size() > most_others) return std::nullopt;
  } else {
    return std::nullopt;
  }
  const std::vector<syntax::argument> formals = *fields;
  for (syntax::argument& field : *fields) {
    field = variable_term("_@" + std::to_string(copies_) + "." + std::to_string(++opened_fields_), span);
  }
  const std::vector<syntax::argument> values = *fields;
  opened.constructor = typed(std::move(opened.constructor), type);
  result.opened.push_back(std::move(opened));
  bool possible = true;
  for (std::size_t field = 0; field < formals.size(); ++field) {
    possible &= unify(formals[field], values[field], types[field], result);
  }
  return possible;
}

/// Returns the body of a clause with the atom's arguments instead of the head's arguments, and new names for local
/// variables.
inliner::instance_of_body inliner::instance(const definition& chosen, const syntax::atom& atom, bool negated) {
  const std::string suffix = "@" + std::to_string(copies_);
  unification unified;
  unified.opens = negated;
  instance_of_body result;
  const variable_replacer replacer([&](syntax::argument& term) {
    const std::string& name = term.as<syntax::variable>()->name;
    const auto value = unified.values.find(name);
    result.has_own_variables |= value == unified.values.end();
    term = value != unified.values.end() ? value->second : variable_term(name + suffix, term.span);
  });
  const relation_id relation = *declared_.find_relation(atom.name.text);
  for (std::size_t position = 0; position < atom.arguments.size(); ++position) {
    const type_id type = declared_.column_type(relation, position);
    const std::optional<type_id> column_type = type.valid() ? std::optional(type) : std::nullopt;
    result.can_hold &= unify(chosen.head->arguments[position], atom.arguments[position], column_type, unified);
    if (!result.can_hold) return result;
  }
  for (auto& [formal, actual] : unified.equal) {
    replacer.apply(formal);
    result.body.push_back(equality_of(std::move(formal), std::move(actual), atom.span));
  }
  std::vector<syntax::conjunction> body = chosen.clause->body;
  replacer.apply(body);
  if (body.size() == 1) {
    std::move(body.front().begin(), body.front().end(), std::back_inserter(result.body));
  } else if (body.size() > 1) {
    result.body.push_back(group_of(std::move(body), atom.span));
  }
  if (result.body.empty()) result.body.push_back({syntax::boolean_constant{true}, atom.span});
  if (unified.opened.empty()) return result;
  // The negation holds for every other value of the constructor, and for this value if the rest of the body does not
  // hold.
  syntax::literal negated_rest = negation_of(group_of({std::move(result.body)}, atom.span));
  for (auto opened = unified.opened.rbegin(); opened != unified.opened.rend(); ++opened) {
    std::vector<syntax::conjunction> alternatives;
    for (syntax::argument& other : opened->others) {
      alternatives.push_back({equality_of(opened->value, std::move(other), atom.span)});
    }
    alternatives.push_back(
        {equality_of(opened->value, std::move(opened->constructor), atom.span), std::move(negated_rest)});
    negated_rest = group_of(std::move(alternatives), atom.span);
  }
  result.body.clear();
  result.body.push_back(negation_of(std::move(negated_rest)));
  return result;
}

}  // namespace gpulog::sema

#include "sema/records/anonymous_records.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "sema/rewriting/syntax_walk.hpp"
#include "sema/terms.hpp"
#include "sema/types/clause_types.hpp"

namespace gpulog::sema {

namespace {

using fields = std::vector<syntax::argument>;

/// Limit for the number of terms in all conjunctions visited: n inequalities produce up to k^n conjunctions of records
/// with k fields, and each variable in a chain may double the size of its record.
constexpr std::size_t most_terms = 1'000'000;

class too_many_terms {};

/// An inequality cannot leave a field open.
struct open_field {
  source_span span;
};

const fields* fields_of_record(const syntax::argument& term) {
  const auto* record = term.as<syntax::record_constructor>();
  return record == nullptr ? nullptr : &record->fields;
}

bool compares_records(const std::vector<syntax::conjunction>& alternatives);

template <class Node>
bool aggregates_compare_records(const Node& node) {
  bool compares = false;
  for_each_aggregate(node, [&](const syntax::aggregate& aggregate, const syntax::argument& term) {
    compares = compares || compares_records(aggregate.body) ||
               (aggregate.target && aggregates_compare_records(**aggregate.target));
    static_cast<void>(term);
  });
  return compares;
}

/// Whether a record is compared anywhere.
bool compares_records(const std::vector<syntax::conjunction>& alternatives) {
  const auto compares = [](const syntax::literal& part) {
    if (const auto* group = part.as<syntax::group>()) return compares_records(group->alternatives);
    if (const auto* negation = part.as<syntax::negation>()) return compares_records({{*negation->inner}});
    const auto* test = part.as<syntax::constraint>();
    return aggregates_compare_records(part) ||
           (test != nullptr && (fields_of_record(test->left) != nullptr || fields_of_record(test->right) != nullptr));
  };
  return std::any_of(alternatives.begin(), alternatives.end(), [&](const syntax::conjunction& conjunction) {
    return std::any_of(conjunction.begin(), conjunction.end(), compares);
  });
}

template <class Node>
std::size_t terms_in(const Node& node) {
  std::size_t terms = 0;
  walk_terms(node, [&](const syntax::argument&) { return ++terms != 0; });
  return terms;
}

class record_resolver {
 public:
  record_resolver(const syntax::clause& clause, const declarations& declared) : clause_(clause), declared_(declared) {
    for (const syntax::atom& head : clause.heads) {
      for_each_variable(head, [&](const syntax::variable& each, const syntax::argument&) { fixed_.insert(each.name); });
    }
  }

  /// Returns the alternatives of the clause's body, or nothing if no alternative compares records without a type.
  /// @throws too_many_terms
  std::optional<std::vector<syntax::conjunction>> run() {
    diagnostics unseen;
    const auto bodies = expand_body(clause_.body, clause_.span, unseen);
    if (!bodies) return std::nullopt;
    for (auto body = bodies->rbegin(); body != bodies->rend(); ++body) {
      pending_.push_back(literals_of(*body));
    }
    bool changed = false;
    while (!pending_.empty()) {
      syntax::conjunction next = std::move(pending_.back());
      pending_.pop_back();
      for (const syntax::literal& part : next) count(1 + terms_in(part));
      if (resolve_one(next)) {
        changed = true;
      } else {
        resolved_.push_back(std::move(next));
      }
    }
    return changed ? std::optional(std::move(resolved_)) : std::nullopt;
  }

 private:
  void count(std::size_t terms) {
    if (terms > most_terms - terms_) throw too_many_terms();
    terms_ += terms;
  }

  /// Resolves one comparison and adds the resulting conjunctions to `pending_`.
  /// @return false if the conjunction has no comparison to resolve
  bool resolve_one(const syntax::conjunction& body) {
    diagnostics unseen;
    const std::vector<syntax::conjunction> alone{body};
    const auto flat_bodies = expand_body(alone, clause_.span, unseen);
    if (!flat_bodies || flat_bodies->size() != 1) return false;
    const flat_conjunction& parts = flat_bodies->front();
    const flat_clause flat = flatten(clause_, clause_.heads.front(), parts, declared_, unseen);
    if (unseen.has_errors()) return false;
    const clause_types types(declared_, flat);
    for (std::size_t position = 0; position < parts.size(); ++position) {
      const auto* test = parts[position].literal->as<syntax::constraint>();
      if (test == nullptr) continue;
      const syntax::constraint_op op = parts[position].negated ? syntax::negated(test->op) : test->op;
      if (op == syntax::constraint_op::equal && resolve_equality(body, position, *test, types)) return true;
      if (op == syntax::constraint_op::not_equal && resolve_inequality(body, position, *test, types)) return true;
    }
    return resolve_in_aggregates(alone.front(), flat, types);
  }

  static syntax::conjunction literals_of(const flat_conjunction& parts) {
    syntax::conjunction literals;
    for (const flat_literal& part : parts) {
      literals.push_back(part.negated ? syntax::literal{syntax::negation{*part.literal}, part.literal->span}
                                      : *part.literal);
    }
    return literals;
  }

  /// As resolve_one() does, but an aggregate has no alternatives: an inequality counts the records that are equal.
  bool resolve_in_aggregates(const syntax::conjunction& body, const flat_clause& flat, const clause_types& types) {
    std::size_t number = 0;
    std::optional<syntax::conjunction> resolved;
    for (const syntax::literal& part : body) {
      walk_terms(part, [&](const syntax::argument& term) {
        const auto* aggregate = term.as<syntax::aggregate>();
        if (resolved || aggregate == nullptr) return !resolved;
        resolved = resolved_body(term, flat.aggregates.at(aggregate).body, body, types);
        if (!resolved) ++number;
        return !resolved;
      });
    }
    if (!resolved) return false;
    for (syntax::literal& part : pending_.emplace_back(body)) {
      walk_terms(part, [&](syntax::argument& term) {
        auto* aggregate = term.as<syntax::aggregate>();
        if (aggregate != nullptr && resolved && number-- == 0) {
          aggregate->body = {std::move(*resolved)};
          resolved.reset();
        }
        return resolved.has_value();
      });
    }
    return true;
  }

  std::optional<syntax::conjunction> resolved_body(const syntax::argument& aggregate, const flat_conjunction& parts,
                                                   const syntax::conjunction& around, const clause_types& types) {
    for (std::size_t position = 0; position < parts.size(); ++position) {
      const auto* test = parts[position].literal->as<syntax::constraint>();
      if (test == nullptr) continue;
      const syntax::constraint_op op = parts[position].negated ? syntax::negated(test->op) : test->op;
      std::optional<syntax::conjunction> by;
      if (op == syntax::constraint_op::equal) by = what_equality_says(*test, types);
      if (op == syntax::constraint_op::not_equal && are_foldable(*test, types)) by = {{inequality(*test)}};
      syntax::conjunction changed = literals_of(parts);
      if (by) {
        const auto place = changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(position));
        changed.insert(place, by->begin(), by->end());
        return changed;
      }
      if (op != syntax::constraint_op::equal) continue;
      for (const auto& [side, record] : {std::pair(&test->left, &test->right), std::pair(&test->right, &test->left)}) {
        if (!stands_for(*side, *record, types) || !is_local(*side, aggregate, around)) continue;
        put_in_place(changed, *side, *record);
        return changed;
      }
    }
    return std::nullopt;
  }

  /// Whether the variable occurs in the body of the aggregate only.
  static bool is_local(const syntax::argument& variable, const syntax::argument& aggregate,
                       const syntax::conjunction& around) {
    const std::string& name = variable.as<syntax::variable>()->name;
    const auto count = [&name](const auto& node) {
      std::size_t uses = 0;
      for_each_variable(node,
                        [&](const syntax::variable& each, const syntax::argument&) { uses += each.name == name; });
      return uses;
    };
    return count(std::vector<syntax::conjunction>{around}) == count(aggregate.as<syntax::aggregate>()->body);
  }

  /// A literal that holds where a field differs.
  static syntax::literal inequality(const syntax::constraint& test) {
    const source_span span = test.left.span;
    syntax::conjunction agree = fields_agree(test);
    const fields& left = *fields_of_record(test.left);
    if (left.empty()) return {syntax::boolean_constant{false}, span};
    check_closed(test);
    syntax::aggregate equal_records;
    equal_records.body = {std::move(agree)};
    equal_records.compares_records = true;
    syntax::argument zero{syntax::numeric_constant{"0"}, span};
    return equality_of(std::move(zero), {std::move(equal_records), span}, span);
  }

  /// @throws open_field for an unnamed field
  static void check_closed(const syntax::constraint& test) {
    for (const syntax::argument* side : {&test.left, &test.right}) {
      for (const syntax::argument& field : *fields_of_record(*side)) {
        if (is_unnamed(field)) throw open_field{field.span};
      }
    }
  }

  static syntax::conjunction fields_agree(const syntax::constraint& test) {
    syntax::conjunction agree;
    const fields& left = *fields_of_record(test.left);
    const fields& right = *fields_of_record(test.right);
    for (std::size_t field = 0; field < left.size(); ++field) {
      if (is_unnamed(left[field]) || is_unnamed(right[field])) continue;
      agree.push_back(compare(syntax::constraint_op::equal, left[field], right[field]));
    }
    return agree;
  }

  static bool are_foldable(const syntax::constraint& test, const clause_types& types) {
    const fields* left = fields_of_record(test.left);
    const fields* right = fields_of_record(test.right);
    return left != nullptr && right != nullptr && left->size() == right->size() && types.is_untyped(test.left) &&
           types.is_untyped(test.right);
  }

  /// The literals that say the same as the equality; nothing where it is no equality of records without a type.
  static std::optional<syntax::conjunction> what_equality_says(const syntax::constraint& test,
                                                               const clause_types& types) {
    const auto is_open = [&](const syntax::argument& side, const syntax::argument& other) {
      return is_unnamed(side) && fields_of_record(other) != nullptr;
    };
    if (is_open(test.left, test.right) || is_open(test.right, test.left)) return syntax::conjunction{};
    if (are_foldable(test, types)) return fields_agree(test);
    return std::nullopt;
  }

  bool resolve_equality(const syntax::conjunction& body, std::size_t position, const syntax::constraint& test,
                        const clause_types& types) {
    if (const auto by = what_equality_says(test, types)) {
      replace(body, position, *by);
      return true;
    }
    return substitute(body, test.left, test.right, types) || substitute(body, test.right, test.left, types);
  }

  bool resolve_inequality(const syntax::conjunction& body, std::size_t position, const syntax::constraint& test,
                          const clause_types& types) {
    if (!are_foldable(test, types)) return false;
    check_closed(test);
    const fields& left = *fields_of_record(test.left);
    const fields& right = *fields_of_record(test.right);
    if (left.empty()) replace(body, position, {{syntax::boolean_constant{false}, test.left.span}});
    // The last field comes first because alternatives are taken from the end.
    for (std::size_t field = left.size(); field-- > 0;) {
      replace(body, position, {compare(syntax::constraint_op::not_equal, left[field], right[field])});
    }
    return true;
  }

  /// Whether the variable can be replaced by a record without a type.
  [[nodiscard]] bool stands_for(const syntax::argument& side, const syntax::argument& record,
                                const clause_types& types) const {
    const auto* variable = side.as<syntax::variable>();
    if (variable == nullptr || fields_of_record(record) == nullptr || !types.is_untyped(record)) return false;
    if (fixed_.contains(variable->name)) return false;
    bool contains_itself = false;
    for_each_variable(record, [&](const syntax::variable& each, const syntax::argument&) {
      contains_itself |= each.name == variable->name;
    });
    return !contains_itself;
  }

  /// Substitutes the record for the variable, in its defining equality too: the result is `b = b` for each field, which
  /// another literal has to bind.
  bool substitute(const syntax::conjunction& body, const syntax::argument& side, const syntax::argument& record,
                  const clause_types& types) {
    if (!stands_for(side, record, types)) return false;
    put_in_place(pending_.emplace_back(body), side, record);
    return true;
  }

  void put_in_place(syntax::conjunction& body, const syntax::argument& variable, const syntax::argument& record) {
    const std::string name = variable.as<syntax::variable>()->name;
    const syntax::argument value = record;
    const std::size_t size = terms_in(value);
    for (syntax::literal& part : body) {
      walk_terms(part, [&](syntax::argument& term) {
        const auto* each = term.as<syntax::variable>();
        if (each == nullptr || each->name != name) return true;
        count(size);
        term.value = value.value;
        return false;
      });
    }
  }

  static syntax::literal compare(syntax::constraint_op op, const syntax::argument& left,
                                 const syntax::argument& right) {
    return {syntax::constraint{op, left, right}, left.span};
  }

  void replace(const syntax::conjunction& body, std::size_t position, const syntax::conjunction& by) {
    syntax::conjunction& changed = pending_.emplace_back(body);
    const auto place = changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(position));
    changed.insert(place, by.begin(), by.end());
  }

  const syntax::clause& clause_;
  const declarations& declared_;
  std::set<std::string> fixed_;  ///< variables of heads, typed by the head's columns
  std::vector<syntax::conjunction> pending_, resolved_;
  std::size_t terms_ = 0;  ///< number of terms visited or made
};

}  // namespace

namespace {

/// Puts aggregates of heads beside the body, which is where comparisons are resolved.
syntax::clause with_aggregates_in_body(syntax::clause clause) {
  syntax::conjunction added;
  for (syntax::atom& head : clause.heads) {
    for_each_aggregate(head, [&](const syntax::aggregate&, syntax::argument& term) {
      const syntax::place span = term.span;
      syntax::argument result = variable_term("@head" + std::to_string(added.size()), span);
      added.push_back(equality_of(result, std::exchange(term, result), span));
    });
  }
  if (clause.body.empty()) clause.body.emplace_back();
  for (syntax::conjunction& conjunction : clause.body) {
    conjunction.insert(conjunction.end(), added.begin(), added.end());
  }
  return clause;
}

}  // namespace

std::optional<syntax::clause> resolve_anonymous_records(const syntax::clause& clause, const declarations& declared,
                                                        diagnostics& diagnostics) {
  const bool head_compares = std::any_of(clause.heads.begin(), clause.heads.end(),
                                         [](const syntax::atom& head) { return aggregates_compare_records(head); });
  if (!head_compares && !compares_records(clause.body)) return std::nullopt;
  try {
    syntax::clause result = head_compares ? with_aggregates_in_body(clause) : clause;
    auto bodies = record_resolver(result, declared).run();
    if (!bodies) return std::nullopt;
    result.body = std::move(*bodies);
    return result;
  } catch (const open_field& field) {
    diagnostics.error(field.span, "Underscore in a record that has to be constructed");
    return std::nullopt;
  } catch (const too_many_terms&) {
    diagnostics.error(clause.span, "The comparisons of records without a type make this rule too large");
    return std::nullopt;
  }
}

}  // namespace gpulog::sema

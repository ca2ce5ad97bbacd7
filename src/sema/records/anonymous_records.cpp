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

/// More terms than this, in all conjunctions that are looked at, are refused: n inequalities make up to k^n
/// conjunctions of records with k fields, and each variable in a chain may double the record that stands for it.
constexpr std::size_t most_terms = 1'000'000;

class too_many_terms {};

const fields* fields_of_record(const syntax::argument& term) {
  const auto* record = term.as<syntax::record_constructor>();
  return record == nullptr ? nullptr : &record->fields;
}

/// Whether a record is compared anywhere outside of aggregates.
bool compares_records(const std::vector<syntax::conjunction>& alternatives) {
  const auto compares = [](const syntax::literal& part) {
    if (const auto* group = part.as<syntax::group>()) return compares_records(group->alternatives);
    if (const auto* negation = part.as<syntax::negation>()) return compares_records({{*negation->inner}});
    const auto* test = part.as<syntax::constraint>();
    return test != nullptr && (fields_of_record(test->left) != nullptr || fields_of_record(test->right) != nullptr);
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

  /// The alternatives of the clause's body; nothing when none of them compares records without a type. Throws
  /// too_many_terms.
  std::optional<std::vector<syntax::conjunction>> run() {
    diagnostics unseen;
    const auto bodies = expand_body(clause_.body, clause_.span, unseen);
    if (!bodies) return std::nullopt;
    for (auto body = bodies->rbegin(); body != bodies->rend(); ++body) {
      syntax::conjunction& own = pending_.emplace_back();
      for (const flat_literal& part : *body) {
        own.push_back(part.negated ? syntax::literal{syntax::negation{*part.literal}, part.literal->span}
                                   : *part.literal);
      }
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

  /// False when nothing is left to resolve; otherwise what one comparison says has been put in its place, in one or
  /// several conjunctions that are still to be looked at.
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
    return false;
  }

  static bool are_foldable(const syntax::constraint& test, const clause_types& types) {
    const fields* left = fields_of_record(test.left);
    const fields* right = fields_of_record(test.right);
    return left != nullptr && right != nullptr && left->size() == right->size() && types.is_untyped(test.left) &&
           types.is_untyped(test.right);
  }

  bool resolve_equality(const syntax::conjunction& body, std::size_t position, const syntax::constraint& test,
                        const clause_types& types) {
    const auto is_open = [&](const syntax::argument& side, const syntax::argument& other) {
      return is_unnamed(side) && fields_of_record(other) != nullptr;
    };
    if (is_open(test.left, test.right) || is_open(test.right, test.left)) {
      replace(body, position, {});
      return true;
    }
    if (are_foldable(test, types)) {
      syntax::conjunction fields_agree;
      const fields& left = *fields_of_record(test.left);
      const fields& right = *fields_of_record(test.right);
      for (std::size_t field = 0; field < left.size(); ++field) {
        if (is_unnamed(left[field]) || is_unnamed(right[field])) continue;
        fields_agree.push_back(compare(syntax::constraint_op::equal, left[field], right[field]));
      }
      replace(body, position, std::move(fields_agree));
      return true;
    }
    return substitute(body, test.left, test.right, types) || substitute(body, test.right, test.left, types);
  }

  bool resolve_inequality(const syntax::conjunction& body, std::size_t position, const syntax::constraint& test,
                          const clause_types& types) {
    if (!are_foldable(test, types)) return false;
    const fields& left = *fields_of_record(test.left);
    const fields& right = *fields_of_record(test.right);
    if (left.empty()) replace(body, position, {{syntax::boolean_constant{false}, test.left.span}});
    // The last one first, as the alternatives are taken from the end.
    for (std::size_t field = left.size(); field-- > 0;) {
      replace(body, position, {compare(syntax::constraint_op::not_equal, left[field], right[field])});
    }
    return true;
  }

  /// The record in the place of the variable, in its own equality too: that leaves `b = b` of each of its fields, which
  /// has to be bound by something else.
  bool substitute(const syntax::conjunction& body, const syntax::argument& side, const syntax::argument& record,
                  const clause_types& types) {
    const auto* variable = side.as<syntax::variable>();
    if (variable == nullptr || fields_of_record(record) == nullptr || !types.is_untyped(record)) return false;
    if (fixed_.contains(variable->name)) return false;
    bool contains_itself = false;
    for_each_variable(record, [&](const syntax::variable& each, const syntax::argument&) {
      contains_itself |= each.name == variable->name;
    });
    if (contains_itself) return false;
    const std::string name = variable->name;
    const syntax::argument value = record;
    const std::size_t size = terms_in(value);
    for (const syntax::literal& part : body) {
      for_each_variable(part, [&](const syntax::variable& each, const syntax::argument&) {
        if (each.name == name) count(size);
      });
    }
    syntax::conjunction& changed = pending_.emplace_back(body);
    for (syntax::literal& part : changed) {
      walk_terms(part, [&](syntax::argument& term) {
        const auto* each = term.as<syntax::variable>();
        if (each == nullptr || each->name != name) return true;
        term.value = value.value;
        return false;
      });
    }
    return true;
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
  std::set<std::string> fixed_;  ///< variables of heads, whose columns give them types
  std::vector<syntax::conjunction> pending_, resolved_;
  std::size_t terms_ = 0;  ///< that have been looked at or made
};

}  // namespace

std::optional<syntax::clause> resolve_anonymous_records(const syntax::clause& clause, const declarations& declared,
                                                        diagnostics& diagnostics) {
  if (!compares_records(clause.body)) return std::nullopt;
  try {
    auto bodies = record_resolver(clause, declared).run();
    if (!bodies) return std::nullopt;
    syntax::clause result = clause;
    result.body = std::move(*bodies);
    return result;
  } catch (const too_many_terms&) {
    diagnostics.error(clause.span, "The comparisons of records without a type make this rule too large");
    return std::nullopt;
  }
}

}  // namespace gpulog::sema

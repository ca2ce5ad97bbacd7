#include <algorithm>
#include <utility>

#include "engine/proofs/proof_search.hpp"
#include "engine/proofs/tuple_text.hpp"
#include "engine/run_context.hpp"
#include "exec/calibration.hpp"
#include "gpulog/error.hpp"
#include "sema/print.hpp"
#include "support/source.hpp"

/// Formats proofs and failing rules in terms of the program text.
namespace gpulog::detail {
namespace {

/// The types of a rule's variables, as far as atoms determine them.
class variable_types {
 public:
  variable_types(const sema::program& program, const sema::rule& rule) : program_(&program) {
    for (const sema::variable& one : rule.variables) types_.push_back({one.kind, {}});
    add(rule.head);
    add(rule.body);
  }
  [[nodiscard]] const value_type& operator[](std::size_t variable) const { return types_[variable]; }
  /// Returns whether values can be formatted.
  [[nodiscard]] bool is_known(std::size_t variable) const {
    const value_type& type = types_[variable];
    return (type.kind != value_kind::record && type.kind != value_kind::adt) || type.structure.valid();
  }

 private:
  void add(const sema::atom& read) {
    for (std::size_t column = 0; column < read.arguments.size(); ++column) {
      const sema::attribute& attribute = (*program_)[read.relation].attributes[column];
      const sema::expression& argument = read.arguments[column];
      if (argument.is_variable()) types_[argument.variable] = {attribute.kind, attribute.structure};
    }
  }
  void add(const std::vector<sema::literal>& body) {
    for (const sema::literal& part : body) {
      if (const auto* read = std::get_if<sema::atom>(&part)) add(*read);
      if (const auto* folded = std::get_if<sema::aggregate>(&part)) add(folded->body);
    }
  }

  const sema::program* program_;
  std::vector<value_type> types_;
};

bool is_made(const sema::variable& one) { return one.name.starts_with('@'); }

/// Returns the rule with values as the names of its bound variables, for formatting.
sema::rule named_by_values(const run_context& context, const sema::rule& rule, const expression_values& values) {
  const variable_types types(context.analysed(), rule);
  sema::rule shown = rule;
  for (std::uint32_t variable = 0; variable < rule.variables.size(); ++variable) {
    const bool has_text = values.is_bound(variable) && !is_made(rule.variables[variable]) && types.is_known(variable);
    if (has_text) shown.variables[variable].name = value_text(context, values[variable], types[variable]);
  }
  return shown;
}

/// Formats a literal of such a rule; atoms have the form of tuple_text().
std::string literal_text(const sema::program& program, const sema::rule& shown, const sema::literal& part) {
  const auto* read = std::get_if<sema::atom>(&part);
  if (read == nullptr) return sema::without_made_names(sema::to_text(program, shown, part));
  std::string text = (read->negated ? "!" : "") + program[read->relation].name + "(";
  for (std::size_t column = 0; column < read->arguments.size(); ++column) {
    text += (column > 0 ? ", " : "") + sema::to_text(program, shown, read->arguments[column]);
  }
  return sema::without_made_names(text + ")");
}

std::optional<bool> hold(const std::vector<sema::literal>& parts, rule_matcher& matcher) {
  search_budget budget{exec::calibration::proof_layer_looks};
  try {
    return matcher.hold(parts, budget);
  } catch (const search_budget::spent&) {
    return std::nullopt;
  }
}

/// Marks each literal alone if all variables have values. Otherwise marks literals from left to right while all marked
/// literals have a common match, and then the first literal without a common match.
void mark_parts(const std::vector<sema::literal>& body, rule_matcher& matcher, failed_rule& shown) {
  std::vector<sema::literal> parts;
  for (std::size_t number = 0; number < body.size(); ++number) {
    if (shown.free_variables.empty()) parts.clear();
    parts.push_back(body[number]);
    shown.parts[number].holds = hold(parts, matcher);
    if (shown.free_variables.empty() || !shown.parts[number].holds) continue;
    if (!*shown.parts[number].holds) return;
    // Literals that waited for a later literal to bind their variables hold, too.
    for (std::size_t earlier = 0; earlier < number; ++earlier) shown.parts[earlier].holds = true;
  }
}

}  // namespace

const proof_graph::instance* proof_search::best_instance(number of) const {
  const auto compare = [this](const proof_graph::instance& left, const proof_graph::instance& right) {
    if (left.rule != right.rule) return left.rule < right.rule;
    const auto own = graph_.premises(left);
    const auto other = graph_.premises(right);
    for (std::size_t i = 0; i < std::min(own.size(), other.size()); ++i) {
      const auto a = graph_.words(own[i]);
      const auto b = graph_.words(other[i]);
      if (!std::equal(a.begin(), a.end(), b.begin(), b.end())) {
        return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
      }
    }
    return own.size() < other.size();
  };
  const proof_graph::instance* best = nullptr;
  for (number i = graph_[of].first_instance; i != proof_graph::none; i = graph_.instance_at(i).next) {
    const proof_graph::instance& one = graph_.instance_at(i);
    const auto premises = graph_.premises(one);
    const bool proves = std::all_of(premises.begin(), premises.end(), [&](number premise) {
      return graph_[premise].cone == cone_number_ && graph_[premise].height < graph_[of].height;
    });
    if (proves && (best == nullptr || compare(one, *best))) best = &one;
  }
  return best;
}

proof proof_search::shown(number of, std::size_t depth, bool is_least) {
  const proof_graph::tuple& tuple = graph_[of];
  proof shown;
  shown.text = tuple_text(*context_, tuple.relation, graph_.words(of));
  shown.relation = context_->analysed()[tuple.relation].name;
  if (tuple.is_fact || depth == 0) return shown;
  shown.height = tuple.height;
  shown.is_least = is_least;
  shown.what = proof::kind::cut;
  // A tree may be far larger than its set of tuples.
  if (depth == 1 || tuples_left_ == 0) return shown;
  if (const auto* by = best_instance(of)) show_instance(of, *by, depth, is_least, shown);
  return shown;
}

sema::rule proof_search::with_values(number of, const proof_graph::instance& by) {
  const sema::rule& source = context_->analysed().rules[by.rule];
  rule_matcher& matcher = matcher_of(source.id);
  const auto wanted = graph_.premises(by);
  const std::vector<word> head(graph_.words(of).begin(), graph_.words(of).end());
  sema::rule found = source;
  search_budget all{UINT64_MAX};
  matcher.for_each(head, all, [&] {
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const auto words = graph_.words(wanted[i]);
      const std::vector<word>& there = matcher.premises()[i];
      if (!std::equal(words.begin(), words.end(), there.begin(), there.end())) return true;
    }
    found = named_by_values(*context_, source, matcher.values());
    return false;
  });
  return found;
}

void proof_search::show_instance(number of, const proof_graph::instance& by, std::size_t depth, bool is_least,
                                 proof& into) {
  into.what = proof::kind::derived;
  // The heights of lower tuples are minimal only with respect to the queried tuple.
  const std::vector<number> premises(graph_.premises(by).begin(), graph_.premises(by).end());
  tuples_left_ -= std::min(tuples_left_, premises.size());
  if (by.rule == closure) {
    into.rule = into.relation + " is an equivalence relation";
    for (const number premise : premises) into.premises.push_back(shown(premise, depth - 1, is_least));
    return;
  }
  const sema::program& program = context_->analysed();
  const sema::rule& source = program.rules[by.rule];
  const std::vector<rule_id>& rules = program[source.head.relation].rules;
  into.rule = sema::source_text(program, source);
  into.rule_number = static_cast<std::size_t>(std::find(rules.begin(), rules.end(), source.id) - rules.begin()) + 1;
  into.location = to_string(source.span);
  const sema::rule filled = sema::as_in_source(program, with_values(of, by));
  std::size_t next = 0;
  for (const sema::literal& part : filled.body) {
    if (is_premise(part) && next < premises.size()) {
      into.premises.push_back(shown(premises[next++], depth - 1, is_least));
    } else {
      proof& condition = into.premises.emplace_back();
      condition.what = proof::kind::condition;
      condition.text = literal_text(program, filled, part);
    }
  }
}

failed_rule proof_search::failure_of(relation_id relation, std::size_t rule, std::span<const word> words,
                                     const variable_values& given) {
  const sema::program& program = context_->analysed();
  const sema::rule& source = program[program[relation].rules[rule]];
  const variable_types types(program, source);
  failed_rule shown;
  shown.number = rule + 1;
  shown.rule = sema::source_text(program, source);
  shown.location = to_string(source.span);
  std::vector<std::optional<word>> values(source.variables.size());
  for (std::size_t variable = 0; variable < values.size(); ++variable) {
    const auto found = given.find(source.variables[variable].name);
    if (found == given.end() || !types.is_known(variable)) continue;
    values[variable] = value_from_text(*context_, found->second, types[variable]);
    if (!values[variable]) throw input_error("'" + found->second + "' is no value of variable " + found->first);
  }
  rule_matcher& matcher = matcher_of(source.id);
  shown.fits_head = matcher.assume(words, values);
  if (!shown.fits_head) return shown;
  const sema::rule filled = named_by_values(*context_, source, matcher.values());
  for (std::size_t variable = 0; variable < values.size(); ++variable) {
    const sema::variable& one = source.variables[variable];
    const bool is_free = !matcher.values().is_bound(static_cast<std::uint32_t>(variable)) && !is_made(one);
    if (is_free && types.is_known(variable)) shown.free_variables.push_back(one.name);
  }
  for (const sema::literal& part : source.body) shown.parts.push_back({literal_text(program, filled, part), {}});
  mark_parts(source.body, matcher, shown);
  return shown;
}

std::vector<failed_rule> proof_search::why_not(relation_id relation, std::span<const word> words,
                                               const variable_values& given) {
  std::vector<failed_rule> rules;
  const std::size_t count = context_->analysed()[relation].rules.size();
  for (std::size_t rule = 0; rule < count; ++rule) rules.push_back(failure_of(relation, rule, words, given));
  return rules;
}

}  // namespace gpulog::detail

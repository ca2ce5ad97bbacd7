#include "engine/proofs/rule_matcher.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>
#include <utility>

#include "kernels/steps/ranges.hpp"
#include "sema/rewriting/assignments.hpp"

namespace gpulog::detail {

bool is_premise(const sema::literal& part) {
  const auto* read = std::get_if<sema::atom>(&part);
  return read != nullptr && !read->negated;
}

namespace {

// Costs for choosing the next literal: the literal with the least cost is next. A test costs nothing; an atom costs the
// estimated number of matching rows.
constexpr double never = std::numeric_limits<double>::infinity();
constexpr double cost_of_test = 0;
constexpr double cost_of_lookup = 1;
constexpr double cost_of_range = 64;
constexpr double cost_of_fold = 1024;

void collect(const sema::expression& e, std::set<std::uint32_t>& variables) {
  if (e.is_variable()) variables.insert(e.variable);
  for (const sema::expression& argument : e.arguments) collect(argument, variables);
}

/// Marks the variables that a literal binds.
void bind_all(const sema::literal& part, std::vector<bool>& bound) {
  std::set<std::uint32_t> variables;
  if (const auto* read = std::get_if<sema::atom>(&part)) {
    for (const sema::expression& argument : read->arguments) collect(argument, variables);
  } else if (const auto* tested = std::get_if<sema::constraint>(&part)) {
    if (counts(tested->left) || counts(tested->right)) return;
    collect(tested->left, variables);
    collect(tested->right, variables);
  } else if (const auto* folded = std::get_if<sema::aggregate>(&part)) {
    collect(folded->result, variables);
  } else {
    collect(std::get<sema::generator>(part).result, variables);
  }
  for (const std::uint32_t variable : variables) bound[variable] = true;
}

/// Returns the variables of the positive atoms of a body.
std::vector<std::uint32_t> names_in(const std::vector<sema::literal>& body) {
  std::set<std::uint32_t> names;
  for (const sema::literal& part : body) {
    if (!is_premise(part)) continue;
    for (const sema::expression& argument : std::get<sema::atom>(part).arguments) collect(argument, names);
  }
  return {names.begin(), names.end()};
}

}  // namespace

rule_matcher::rule_matcher(const sema::rule& source, run_context& context, stored_relations& stored)
    : source_(&source),
      context_(&context),
      stored_(&stored),
      values_(context, source.variables.size() + source.head.arguments.size()) {
  const std::size_t arity = source.head.arguments.size();
  std::vector<bool> bound(source.variables.size() + arity);
  for (std::size_t column = 0; column < arity; ++column) {
    const sema::expression& there = source.head.arguments[column];
    sema::expression given;
    given.what = sema::expression::form::variable;
    given.kind = there.kind;
    given.variable = static_cast<std::uint32_t>(source.variables.size() + column);
    bound[given.variable] = true;
    head_.emplace_back(sema::constraint{comparison_op::equal, given, there, there.span});
  }
  premises_.resize(static_cast<std::size_t>(std::count_if(source.body.begin(), source.body.end(), is_premise)));
  if (auto made = order(source.body, std::move(bound))) {
    order_ = std::move(*made);
    has_order_ = true;
  }
}

bool rule_matcher::is_known(const sema::expression& e, const std::vector<bool>& bound) const {
  if (e.is_unnamed()) return false;
  if (e.is_variable()) return bound[e.variable];
  return std::all_of(e.arguments.begin(), e.arguments.end(),
                     [&](const sema::expression& argument) { return is_known(argument, bound); });
}

/// Returns whether a value can be matched against the form, which may bind variables.
bool rule_matcher::can_unify(const sema::expression& form, const std::vector<bool>& bound) const {
  if (!form.is_record()) return !form.is_operation() || is_known(form, bound);
  return std::all_of(form.arguments.begin(), form.arguments.end(),
                     [&](const sema::expression& argument) { return can_unify(argument, bound); });
}

double rule_matcher::readiness(const sema::literal& part, const std::vector<bool>& bound) const {
  if (const auto* read = std::get_if<sema::atom>(&part)) {
    std::size_t known = 0;
    std::size_t named = 0;
    for (const sema::expression& argument : read->arguments) {
      known += is_known(argument, bound) ? 1 : 0;
      named += argument.is_unnamed() ? 0 : 1;
    }
    if (read->negated) return known == named ? cost_of_test : never;
    if (known == read->arguments.size()) return cost_of_lookup;
    const double unknown = static_cast<double>(read->arguments.size() - known);
    const auto rows = static_cast<double>(std::max<std::uint64_t>(stored_->rows(read->relation), 1));
    return cost_of_lookup + std::pow(rows, unknown / static_cast<double>(read->arguments.size()));
  }
  if (const auto* folded = std::get_if<sema::aggregate>(&part)) {
    const bool is_ready = std::all_of(folded->injected.begin(), folded->injected.end(),
                                      [&](std::uint32_t variable) { return bound[variable]; });
    return is_ready ? cost_of_fold : never;
  }
  if (const auto* made = std::get_if<sema::generator>(&part)) {
    const bool is_ready = std::all_of(made->arguments.begin(), made->arguments.end(),
                                      [&](const sema::expression& argument) { return is_known(argument, bound); });
    return is_ready ? cost_of_range : never;
  }
  const auto& tested = std::get<sema::constraint>(part);
  const bool left = counts(tested.left) || is_known(tested.left, bound);
  const bool right = counts(tested.right) || is_known(tested.right, bound);
  if (left && right) return cost_of_test;
  if (!tested.is_equality() || counts(tested.left) || counts(tested.right)) return never;
  return (left && can_unify(tested.right, bound)) || (right && can_unify(tested.left, bound)) ? cost_of_test : never;
}

rule_matcher::step rule_matcher::step_of(const sema::literal& part, const std::vector<bool>& bound) {
  step made;
  made.part = &part;
  if (const auto* read = std::get_if<sema::atom>(&part)) {
    for (std::uint32_t column = 0; column < read->arguments.size(); ++column) {
      if (is_known(read->arguments[column], bound)) made.keys.push_back(column);
    }
  }
  if (const auto* folded = std::get_if<sema::aggregate>(&part)) {
    std::vector<bool> outside(bound.size());
    for (const std::uint32_t variable : folded->injected) outside[variable] = true;
    made.inside = order(folded->body, std::move(outside)).value_or(steps());
    if (sema::counts_assignments(*folded, source_->variables)) made.named = names_in(folded->body);
    made.folding = std::make_shared<kernels::fold_state>();
  }
  return made;
}

std::optional<rule_matcher::steps> rule_matcher::order(const std::vector<sema::literal>& body,
                                                       std::vector<bool> bound) {
  std::vector<const sema::literal*> waiting;
  std::size_t premises = 0;
  std::vector<std::size_t> numbers;
  // The head's values belong to the rule's own body; for an aggregate's body they come from outside.
  if (&body == &source_->body) {
    for (const sema::literal& part : head_) waiting.push_back(&part);
    numbers.resize(waiting.size());
  }
  for (const sema::literal& part : body) {
    waiting.push_back(&part);
    numbers.push_back(is_premise(part) ? premises++ : 0);
  }
  steps ordered;
  while (!waiting.empty()) {
    std::size_t best = 0;
    double least = never;
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      const double cost = readiness(*waiting[i], bound);
      if (cost < least) {
        least = cost;
        best = i;
      }
    }
    if (least == never) return std::nullopt;
    step& next = ordered.emplace_back(step_of(*waiting[best], bound));
    next.is_premise = &body == &source_->body && is_premise(*waiting[best]);
    next.premise = numbers[best];
    bind_all(*waiting[best], bound);
    waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(best));
    numbers.erase(numbers.begin() + static_cast<std::ptrdiff_t>(best));
  }
  return ordered;
}

void rule_matcher::for_each(std::span<const word> head, search_budget& budget, const std::function<bool()>& found) {
  values_.undo(0);
  for (std::size_t column = 0; column < head.size(); ++column) {
    values_.bind(static_cast<std::uint32_t>(source_->variables.size() + column), head[column]);
  }
  budget_ = &budget;
  static_cast<void>(run({order_, 0, found}));
}

/// @return false: stop the search; also propagated by all callers
bool rule_matcher::run(const place& here) {
  if (here.number == here.all.size()) return here.found();
  step& current_step = here.all[here.number];
  if (const auto* tested = std::get_if<sema::constraint>(current_step.part)) return test(*tested, here);
  if (const auto* folded = std::get_if<sema::aggregate>(current_step.part)) return fold(*folded, here);
  if (const auto* made = std::get_if<sema::generator>(current_step.part)) return generate(*made, here);
  const auto& read = std::get<sema::atom>(*current_step.part);
  if (read.negated) return has_match(read, current_step) || go_on(here);
  return match(read, here);
}

const std::vector<word>& rule_matcher::key_of(const sema::atom& read, step& own) {
  own.key.clear();
  for (const std::uint32_t column : own.keys) own.key.push_back(values_.value(read.arguments[column]).value_or(0));
  return own.key;
}

bool rule_matcher::has_match(const sema::atom& read, step& own) {
  budget_->spend();
  if (own.keys.empty()) return stored_->rows(read.relation) != 0;
  if (own.index == nullptr) own.index = &stored_->index(read.relation, own.keys);
  return own.index->contains(key_of(read, own));
}

bool rule_matcher::match(const sema::atom& read, const place& here) {
  step& current_step = here.all[here.number];
  if (current_step.columns == nullptr && !read.arguments.empty())
    current_step.columns = &stored_->columns(read.relation);
  const auto visit = [&](std::uint64_t row) { return match_row(read, row, here); };
  budget_->spend();
  if (!current_step.keys.empty()) {
    if (current_step.index == nullptr) current_step.index = &stored_->index(read.relation, current_step.keys);
    return current_step.index->for_each(key_of(read, current_step), visit);
  }
  const std::uint64_t rows = stored_->rows(read.relation);
  for (std::uint64_t row = 0; row < rows; ++row) {
    if (!visit(row)) return false;
  }
  return true;
}

bool rule_matcher::match_row(const sema::atom& read, std::uint64_t row, const place& here) {
  budget_->spend();
  const step& current_step = here.all[here.number];
  const std::size_t before = values_.mark();
  bool fits = true;
  std::vector<word>* const premise = current_step.is_premise ? &premises_[current_step.premise] : nullptr;
  if (premise != nullptr) premise->clear();
  for (std::size_t column = 0; fits && column < read.arguments.size(); ++column) {
    const word value = (*current_step.columns)[column][row];
    if (premise != nullptr) premise->push_back(value);
    fits = values_.unify(read.arguments[column], value);
  }
  const bool wants_more = !fits || go_on(here);
  values_.undo(before);
  return wants_more;
}

/// Evaluates a constraint; an equality may bind variables.
bool rule_matcher::is_true(const sema::constraint& tested) {
  // A counter cannot be evaluated again: it had its value during the run, and the tuple contains the result.
  if (counts(tested.left) || counts(tested.right)) return true;
  for (const auto& [form, other] : {std::pair(&tested.left, &tested.right), std::pair(&tested.right, &tested.left)}) {
    const bool is_open = form->is_record() || (form->is_variable() && !values_.is_bound(form->variable));
    if (!tested.is_equality() || !is_open || !values_.knows(*other)) continue;
    const auto value = values_.value(*other);
    return value && values_.unify(*form, *value);
  }
  const auto left = values_.value(tested.left);
  const auto right = values_.value(tested.right);
  return left && right && values_.holds(tested.op, *left, *right);
}

bool rule_matcher::test(const sema::constraint& tested, const place& here) {
  const std::size_t before = values_.mark();
  const bool wants_more = !is_true(tested) || go_on(here);
  values_.undo(before);
  return wants_more;
}

bool rule_matcher::generate(const sema::generator& made, const place& here) {
  std::vector<wide_word> ends;
  for (const sema::expression& argument : made.arguments) {
    const auto known = values_.value(argument);
    if (!known) return true;
    ends.push_back(storage::value_of(*known, context_->values.wide_or_none()));
  }
  const auto each = [&](auto from, auto to) {
    using Word = decltype(from);
    const Word distance = ends.size() > 2 ? static_cast<Word>(ends[2]) : kernels::default_step(made.kind, from, to);
    const std::uint64_t size = kernels::range_size(made.kind, from, to, distance);
    for (std::uint64_t number = 0; number < size; ++number) {
      budget_->spend();
      const Word value = kernels::range_value(made.kind, from, distance, number);
      const std::size_t before = values_.mark();
      const bool fits = values_.unify(made.result, storage::word_of(value, context_->values.wide_or_none()));
      const bool wants_more = !fits || go_on(here);
      values_.undo(before);
      if (!wants_more) return false;
    }
    return true;
  };
  if (context_->values.wide) return each(ends[0], ends[1]);
  return each(static_cast<std::uint32_t>(ends[0]), static_cast<std::uint32_t>(ends[1]));
}

void rule_matcher::fold_match(const sema::aggregate& folded, kernels::fold_state& folding) {
  const word group = 0;
  if (folded.target.is_unnamed()) return folding.add_matches(&group, 1);
  const auto known = values_.value(folded.target);
  if (!known) return;
  if (folded.op == fold_op::functor) {
    const word number = folded.functor;
    wide_word& so_far = folding.so_far(0, storage::word_of(folded.initial, context_->values.wide_or_none()));
    const auto before = static_cast<word>(so_far);
    word result = 0;
    context_->functors.table()->call({&number, &before, &*known}, 1, &result);
    so_far = result;
  } else if (context_->values.wide) {
    const wide_word value = context_->values.wide->value(*known);
    folding.add(folded.op, true, &group, &value, 1);
  } else {
    folding.add(folded.op, true, &group, &*known, 1);
  }
}

std::optional<word> rule_matcher::fold_value(const sema::aggregate& folded, step& own) {
  kernels::fold_state& folding = *own.folding;
  folding.clear(1);
  std::set<std::vector<word>> seen;
  const std::function<bool()> found = [&] {
    std::vector<word> names;
    for (const std::uint32_t variable : own.named) names.push_back(values_[variable]);
    if (own.named.empty() || seen.insert(std::move(names)).second) fold_match(folded, folding);
    return true;
  };
  static_cast<void>(run({own.inside, 0, found}));
  if (!folding.has_value(folded.op, 0)) return std::nullopt;
  if (folded.op == fold_op::functor) return static_cast<word>(folding.value(folded.op, 0, word_size::bits32));
  return storage::word_of(folding.value(folded.op, 0, context_->source->words), context_->values.wide_or_none());
}

/// Returns whether an aggregate's value equals the value of its variable. A sum of floats depends on the order of its
/// matches.
bool rule_matcher::fits(const sema::aggregate& folded, word value) {
  if (values_.unify(folded.result, value)) return true;
  if (folded.op != fold_op::sum_float && folded.op != fold_op::mean) return false;
  const auto wanted = values_.value(folded.result);
  if (!wanted) return false;
  const auto real = [this](word stored) {
    if (context_->values.wide) return kernels::as_float(context_->values.wide->value(stored));
    return double{kernels::as_float(stored)};
  };
  constexpr double rounding = 1e-4;
  return std::abs(real(*wanted) - real(value)) <= rounding * std::max(std::abs(real(*wanted)), std::abs(real(value)));
}

bool rule_matcher::fold(const sema::aggregate& folded, const place& here) {
  const auto value = fold_value(folded, here.all[here.number]);
  const std::size_t before = values_.mark();
  const bool wants_more = !value || !fits(folded, *value) || go_on(here);
  values_.undo(before);
  return wants_more;
}

bool rule_matcher::assume(std::span<const word> head, const std::vector<std::optional<word>>& given) {
  values_.undo(0);
  for (std::size_t column = 0; column < head.size(); ++column) {
    const sema::expression& there = source_->head.arguments[column];
    const auto known = std::get<sema::constraint>(head_[column]).left.variable;
    values_.bind(known, head[column]);
    if (can_unify(there, known_variables()) && !values_.unify(there, head[column])) return false;
  }
  for (std::uint32_t variable = 0; variable < given.size(); ++variable) {
    if (given[variable] && !values_.is_bound(variable)) values_.bind(variable, *given[variable]);
  }
  while (assume_equalities()) {
  }
  return true;
}

/// Binds variables through equalities with a known side.
/// @return whether a variable was bound
bool rule_matcher::assume_equalities() {
  const std::size_t before = values_.mark();
  for (const sema::literal& part : source_->body) {
    const auto* tested = std::get_if<sema::constraint>(&part);
    if (tested == nullptr || !tested->is_equality() || values_.knows(tested->left) == values_.knows(tested->right)) {
      continue;
    }
    const bool is_ready = readiness(part, known_variables()) == cost_of_test;
    if (is_ready) static_cast<void>(is_true(*tested));
  }
  return values_.mark() != before;
}

std::vector<bool> rule_matcher::known_variables() const {
  std::vector<bool> known(source_->variables.size() + source_->head.arguments.size());
  for (std::uint32_t variable = 0; variable < known.size(); ++variable) known[variable] = values_.is_bound(variable);
  return known;
}

std::optional<bool> rule_matcher::hold(const std::vector<sema::literal>& parts, search_budget& budget) {
  budget_ = &budget;
  for (const sema::literal& part : parts) {
    const auto* tested = std::get_if<sema::constraint>(&part);
    if (tested != nullptr && (counts(tested->left) || counts(tested->right))) return std::nullopt;
  }
  std::optional<steps> ordered = order(parts, known_variables());
  if (!ordered) return std::nullopt;
  bool any = false;
  const std::function<bool()> found = [&any] {
    any = true;
    return false;
  };
  static_cast<void>(run({*ordered, 0, found}));
  return any;
}

}  // namespace gpulog::detail

#include "engine/proofs/proof_search.hpp"

#include <algorithm>
#include <utility>

#include "engine/run_context.hpp"
#include "exec/calibration.hpp"
#include "gpulog/error.hpp"

namespace gpulog::detail {

using exec::calibration::proof_deep_looks;
using exec::calibration::proof_layer_looks;
using exec::calibration::proof_linear_looks;
using exec::calibration::proof_most_instances;

rule_matcher& proof_search::matcher_of(rule_id rule) {
  auto& made = matchers_[rule];
  if (!made) made = std::make_unique<rule_matcher>(context_->analysed()[rule], *context_, stored_);
  return *made;
}

proof_search::number proof_search::tuple_number(relation_id relation, std::span<const word> words) {
  const std::size_t before = graph_.tuple_count();
  const number found = graph_.tuple_number(relation, words);
  if (graph_.tuple_count() != before && stored_.is_fact(relation, words)) graph_.set_fact(found);
  return found;
}

void proof_search::expand_rule(number of, std::uint32_t rule, bool only_proven, search_budget& budget) {
  const sema::rule& source = context_->analysed().rules[rule];
  rule_matcher& matcher = matcher_of(source.id);
  if (!matcher.can_match()) return;
  std::vector<relation_id> read;
  for (const sema::literal& part : source.body) {
    if (is_premise(part)) read.push_back(std::get<sema::atom>(part).relation);
  }
  const std::vector<word> head(graph_.words(of).begin(), graph_.words(of).end());
  std::vector<number> premises;
  matcher.for_each(head, budget, [&] {
    premises.clear();
    for (std::size_t i = 0; i < read.size(); ++i) premises.push_back(tuple_number(read[i], matcher.premises()[i]));
    graph_.add_instance(of, rule, premises);
    if (graph_.instance_count() > proof_most_instances) throw search_budget::spent{};
    return !(only_proven && graph_[of].is_proven);
  });
}

/// Adds the instances of reflexivity, symmetry and transitivity.
void proof_search::expand_closure(number of, search_budget& budget) {
  const relation_id relation = graph_[of].relation;
  const word left = graph_.words(of)[0];
  const word right = graph_.words(of)[1];
  const auto pair = [&](word a, word b) {
    const word words[] = {a, b};
    return tuple_number(relation, words);
  };
  const auto add = [&](std::vector<number> premises) {
    budget.spend();
    graph_.add_instance(of, closure, premises);
  };
  if (left != right) add({pair(right, left)});
  const std::vector<const word*>& columns = stored_.columns(relation);
  static_cast<void>(stored_.index(relation, {0}).for_each(std::span(&left, 1), [&](std::uint64_t row) {
    const word between = columns[1][row];
    if (between == left || between == right) return true;
    if (left == right) {
      add({pair(left, between)});
    } else {
      add({pair(left, between), pair(between, right)});
    }
    return true;
  }));
}

void proof_search::expand(number of, bool only_proven, search_budget& budget) {
  if (graph_[of].is_expanded || graph_[of].is_fact) return;
  if (context_->options.cancelled != nullptr && *context_->options.cancelled) {
    throw cancelled_error("The run was cancelled");
  }
  const relation_id relation = graph_[of].relation;
  for (const rule_id rule : context_->analysed()[relation].rules) {
    expand_rule(of, rule.value, only_proven, budget);
    if (only_proven && graph_[of].is_proven) return;  // A later search may add the remaining instances.
  }
  if (context_->is_equivalence(relation.value)) expand_closure(of, budget);
  graph_[of].is_expanded = true;
}

std::vector<std::unique_ptr<proof_search::linear_form>>& proof_search::linear_forms_of(rule_id rule) {
  const auto [found, is_new] = linear_forms_.try_emplace(rule);
  if (!is_new) return found->second;
  for (linear_rule& made : linear_rules_of(context_->analysed(), context_->analysed()[rule])) {
    found->second.push_back(std::make_unique<linear_form>(std::move(made), *context_, stored_));
  }
  return found->second;
}

std::optional<proof_search::number> proof_search::replaced_premise(const linear_rule::premise& of, linear_form& by) {
  std::vector<word> words;
  for (const sema::expression& there : of.values) {
    const auto known = by.matcher.value(there);
    if (!known) return std::nullopt;
    words.push_back(*known);
  }
  if (!stored_.contains(of.relation, words)) return std::nullopt;
  const number made = tuple_number(of.relation, words);
  if (graph_[made].is_proven) return made;
  std::vector<number> premises;
  std::size_t next = of.first;
  for (const sema::literal& part : context_->analysed().rules[of.by].body) {
    if (is_premise(part)) {
      premises.push_back(tuple_number(std::get<sema::atom>(part).relation, by.matcher.premises()[next++]));
    }
  }
  graph_.add_instance(made, of.by, premises);
  return made;
}

void proof_search::add_instance_of(number head, std::uint32_t rule, linear_form& by) {
  std::vector<number> premises;
  for (const linear_rule::premise& one : by.form.premises) {
    const bool is_replaced = one.by != linear_rule::none;
    const std::optional<number> found =
        is_replaced ? replaced_premise(one, by) : tuple_number(one.relation, by.matcher.premises()[one.first]);
    if (!found) return;
    premises.push_back(*found);
  }
  graph_.add_instance(head, rule, premises);
  if (graph_.instance_count() > proof_most_instances) throw search_budget::spent{};
}

void proof_search::follow(number of, search_budget& budget) {
  if (graph_[of].is_followed || graph_[of].is_expanded || graph_[of].is_fact) return;
  const relation_id relation = graph_[of].relation;
  const std::vector<word> head(graph_.words(of).begin(), graph_.words(of).end());
  for (const rule_id rule : context_->analysed()[relation].rules) {
    for (const auto& by : linear_forms_of(rule)) {
      if (!by->matcher.can_match()) continue;
      by->matcher.for_each(head, budget, [&] {
        add_instance_of(of, rule.value, *by);
        return !graph_[of].is_proven;
      });
      if (graph_[of].is_proven) return;
    }
  }
  if (context_->is_equivalence(relation.value)) expand_closure(of, budget);
  graph_[of].is_followed = true;
}

bool proof_search::visit(number of) {
  if (graph_[of].cone == cone_number_) return false;
  graph_[of].cone = cone_number_;
  cone_.push_back(of);
  return true;
}

void proof_search::begin_search(number goal) {
  ++cone_number_;
  cone_.clear();
  visit(goal);
}

proof_search::outcome proof_search::search_layers(number goal, search_budget& budget) {
  begin_search(goal);
  std::uint32_t layers = 0;
  std::uint32_t wanted = 0;  // minimum number of layers
  for (std::size_t begin = 0; begin < cone_.size();) {
    const std::size_t end = cone_.size();
    for (; begin < end; ++begin) {
      const number head = cone_[begin];
      expand(head, false, budget);
      for (number i = graph_[head].first_instance; i != proof_graph::none; i = graph_.instance_at(i).next) {
        for (const number premise : graph_.premises(graph_.instance_at(i))) visit(premise);
      }
    }
    ++layers;
    const bool is_all = begin == cone_.size();
    if (!graph_[goal].is_proven || (layers < wanted && !is_all)) continue;
    graph_.find_heights(cone_, cone_number_);
    const std::uint32_t height = graph_[goal].height;
    if (is_all || height <= layers) return outcome::least;
    // Instances of earlier searches may prove the goal through tuples that this search has not reached yet.
    wanted = height == proof_graph::none ? layers + layers / 2 + 1 : height;
  }
  return graph_[goal].is_proven ? outcome::least : outcome::none;
}

/// Searches breadth-first, so that proofs are not much higher than necessary.
void proof_search::search_linear(number goal, search_budget& budget) {
  begin_search(goal);
  for (std::size_t next = 0; next < cone_.size() && !graph_[goal].is_proven; ++next) {
    const number head = cone_[next];
    follow(head, budget);
    for (number i = graph_[head].first_instance; i != proof_graph::none; i = graph_.instance_at(i).next) {
      for (const number premise : graph_.premises(graph_.instance_at(i))) {
        if (!graph_[premise].is_proven) visit(premise);
      }
    }
  }
}

/// Visits each tuple once. The search leaves a tuple as soon as it is proven, and otherwise tries all its instances, so
/// an unproven goal has no proof.
proof_search::outcome proof_search::search_deep(number goal, search_budget& budget) {
  struct open_tuple {
    number of;
    number instance;
    std::uint32_t premise;
  };
  begin_search(goal);
  expand(goal, true, budget);
  std::vector<open_tuple> open = {{goal, graph_[goal].first_instance, 0}};
  while (!open.empty() && !graph_[goal].is_proven) {
    open_tuple& last = open.back();
    if (graph_[last.of].is_proven || last.instance == proof_graph::none) {
      open.pop_back();
      continue;
    }
    const proof_graph::instance& tried = graph_.instance_at(last.instance);
    if (last.premise == tried.premise_count) {
      last.instance = tried.next;
      last.premise = 0;
      continue;
    }
    const number premise = graph_.premises(tried)[last.premise++];
    if (graph_[premise].is_proven || !visit(premise)) continue;
    expand(premise, true, budget);
    open.push_back({premise, graph_[premise].first_instance, 0});
  }
  return graph_[goal].is_proven ? outcome::found : outcome::none;
}

bool proof_search::find_all_heights(number goal) {
  ++cone_number_;
  cone_.clear();
  for (number of = 0; of < graph_.tuple_count(); ++of) visit(of);
  graph_.find_heights(cone_, cone_number_);
  return graph_[goal].height != proof_graph::none;
}

proof_search::outcome proof_search::prove(number goal) {
  try {
    search_budget budget{proof_layer_looks};
    return search_layers(goal, budget);
  } catch (const search_budget::spent&) {
    if (graph_[goal].is_proven) return find_all_heights(goal) ? outcome::found : outcome::given_up;
  }
  try {
    search_budget budget{proof_linear_looks};
    search_linear(goal, budget);
  } catch (const search_budget::spent&) {
  }
  if (graph_[goal].is_proven) return find_all_heights(goal) ? outcome::found : outcome::given_up;
  try {
    search_budget budget{proof_deep_looks};
    if (search_deep(goal, budget) == outcome::none) return outcome::none;
  } catch (const search_budget::spent&) {
    if (!graph_[goal].is_proven) return outcome::given_up;
  }
  return find_all_heights(goal) ? outcome::found : outcome::given_up;
}

std::string proof_search::obstacle(relation_id relation) {
  const sema::relation& declared = context_->analysed()[relation];
  for (const rule_id rule : declared.rules) {
    if (!matcher_of(rule).can_match()) return "a rule uses autoinc(), and its values are not stored";
  }
  if (!declared.lattices.empty()) return "its value is the least upper bound of several tuples";
  return "no instance of its rules is left in the results: what it was derived from may have been subsumed, or depends "
         "on a count";
}

std::optional<proof> proof_search::why(relation_id relation, std::span<const word> words, std::size_t depth) {
  if (!stored_.contains(relation, words)) return std::nullopt;
  if (graph_.instance_count() > proof_most_instances / 2) graph_ = {};
  const number goal = tuple_number(relation, words);
  const outcome result = prove(goal);
  if (result == outcome::least || result == outcome::found) {
    constexpr std::size_t most_tuples_shown = 100'000;
    tuples_left_ = most_tuples_shown;
    return shown(goal, std::max<std::size_t>(depth, 2), result == outcome::least);
  }
  proof none = shown(goal, 0, false);
  none.what = proof::kind::unknown;
  none.note = result == outcome::none ? obstacle(relation) : "too many tuples would have to be looked at";
  return none;
}

}  // namespace gpulog::detail

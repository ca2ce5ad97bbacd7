#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/proofs/linear_rules.hpp"
#include "engine/proofs/proof_graph.hpp"
#include "engine/proofs/rule_matcher.hpp"
#include "engine/proofs/stored_relations.hpp"
#include "gpulog/proof.hpp"

namespace gpulog::detail {

struct run_context;

/// Searches proofs of an evaluation's tuples on request. Later questions reuse the results of earlier questions.
///
/// The first search proceeds from the goal, layer by layer, and finds all instances of rules with the tuples of a layer
/// as heads. As soon as these instances prove the goal, the least height of a proof is known: a proof of height h lies
/// within h layers. If this takes too long, a second search uses linear forms of the rules, with few instances per
/// tuple. A third search follows one instance of each tuple first and tries further instances only if necessary. Proofs
/// of the second and third search are also well-founded, but may be higher than necessary.
class proof_search {
 public:
  proof_search(run_context& context, const evaluations& results, const fact_store& facts)
      : context_(&context), stored_(context, results, facts) {}

  /// Returns a proof; empty if the tuple does not exist.
  /// @param depth levels of tuples to show, at least 2
  [[nodiscard]] std::optional<proof> why(relation_id relation, std::span<const word> words, std::size_t depth);
  [[nodiscard]] std::vector<failed_rule> why_not(relation_id relation, std::span<const word> words,
                                                 const variable_values& given);

  /// Returns the tuples that proofs refer to.
  [[nodiscard]] stored_relations& stored() { return stored_; }

 private:
  using number = proof_graph::number;
  /// Rule number of instances that close an equivalence relation.
  static constexpr std::uint32_t closure = UINT32_MAX;
  enum class outcome : std::uint8_t { least, found, none, given_up };
  struct linear_form {
    linear_rule form;  ///< must stay at its address: the matcher refers to it
    rule_matcher matcher;
    linear_form(linear_rule made, run_context& context, stored_relations& stored)
        : form(std::move(made)), matcher(form.rule, context, stored) {}
  };

  [[nodiscard]] std::vector<std::unique_ptr<linear_form>>& linear_forms_of(rule_id rule);
  [[nodiscard]] rule_matcher& matcher_of(rule_id rule);
  [[nodiscard]] number tuple_number(relation_id relation, std::span<const word> words);
  /// Finds the instances with this head.
  /// @param only_proven whether to stop at the first instance that proves the head
  void expand(number of, bool only_proven, search_budget& budget);
  void expand_rule(number of, std::uint32_t rule, bool only_proven, search_budget& budget);
  void expand_closure(number of, search_budget& budget);
  /// Finds the instances of the linear forms of its rules.
  void follow(number of, search_budget& budget);
  void add_instance_of(number head, std::uint32_t rule, linear_form& by);
  /// Returns the tuple that a replaced atom stands for, and adds its instance; empty if the instance was dropped.
  [[nodiscard]] std::optional<number> replaced_premise(const linear_rule::premise& of, linear_form& by);
  /// @return whether the current search visits the tuple for the first time
  bool visit(number of);
  void begin_search(number goal);
  [[nodiscard]] outcome prove(number goal);
  [[nodiscard]] outcome search_layers(number goal, search_budget& budget);
  void search_linear(number goal, search_budget& budget);
  [[nodiscard]] outcome search_deep(number goal, search_budget& budget);
  /// Computes heights over the whole graph.
  /// @return whether the goal is proven
  [[nodiscard]] bool find_all_heights(number goal);

  /// Returns the proving instance with the lowest premises. Ties are broken independently of the order of discovery.
  [[nodiscard]] const proof_graph::instance* best_instance(number of) const;
  [[nodiscard]] proof shown(number of, std::size_t depth, bool is_least);
  void show_instance(number of, const proof_graph::instance& by, std::size_t depth, bool is_least, proof& into);
  /// Returns the rule with the instance's values as names of the variables; variables without a value keep their names.
  [[nodiscard]] sema::rule with_values(number of, const proof_graph::instance& by);
  [[nodiscard]] std::string obstacle(relation_id relation);
  [[nodiscard]] failed_rule failure_of(relation_id relation, std::size_t rule, std::span<const word> words,
                                       const variable_values& given);

  run_context* context_;
  stored_relations stored_;
  std::map<rule_id, std::unique_ptr<rule_matcher>> matchers_;
  std::map<rule_id, std::vector<std::unique_ptr<linear_form>>> linear_forms_;
  proof_graph graph_;
  std::vector<number> cone_;       ///< tuples reached by the current search
  std::uint32_t cone_number_ = 0;  ///< number of the current search
  std::size_t tuples_left_ = 0;    ///< maximum number of further tuples to show
};

}  // namespace gpulog::detail

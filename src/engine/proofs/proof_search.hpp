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

struct engine_state;

/// Proofs of an evaluation's tuples, looked for when they are asked for. What one question finds serves the next ones.
///
/// From the goal on, layer by layer, all instances of rules are found that have the tuples of a layer as heads. As soon
/// as these prove the goal, the least height of its proofs is known: a proof of height h lies within h layers. Where
/// that takes too long, a second search goes on by linear forms of the rules, of which tuples have few instances. A
/// third one follows one instance of each tuple first and goes on with others only if it has to. Proofs of these two
/// are well-founded, too, but may be higher than need be.
class proof_search {
 public:
  explicit proof_search(engine_state& engine) : engine_(&engine), stored_(engine) {}

  /// Nothing where the tuple is not there. @param depth levels of tuples that are shown, at least 2
  [[nodiscard]] std::optional<proof> why(relation_id relation, std::span<const word> words, std::size_t depth);
  [[nodiscard]] std::vector<failed_rule> why_not(relation_id relation, std::span<const word> words,
                                                 const variable_values& given);

  /// What is proven.
  [[nodiscard]] stored_relations& stored() { return stored_; }

 private:
  using number = proof_graph::number;
  /// As the rule of an instance: what makes an equivalence relation of what its rules derive.
  static constexpr std::uint32_t closure = UINT32_MAX;
  enum class outcome : std::uint8_t { least, found, none, given_up };
  struct linear_form {
    linear_rule form;  ///< the matcher refers to it
    rule_matcher matcher;
    linear_form(linear_rule made, engine_state& engine, stored_relations& stored)
        : form(std::move(made)), matcher(form.rule, engine, stored) {}
  };

  [[nodiscard]] std::vector<std::unique_ptr<linear_form>>& linear_forms_of(rule_id rule);
  [[nodiscard]] rule_matcher& matcher_of(rule_id rule);
  [[nodiscard]] number tuple_number(relation_id relation, std::span<const word> words);
  /// Finds the instances with this head. @param only_proven whether the first one that proves it is enough
  void expand(number of, bool only_proven, search_budget& budget);
  void expand_rule(number of, std::uint32_t rule, bool only_proven, search_budget& budget);
  void expand_closure(number of, search_budget& budget);
  /// Finds the instances that linear forms of its rules have.
  void follow(number of, search_budget& budget);
  void add_instance_of(number head, std::uint32_t rule, linear_form& by);
  /// A tuple that the body of another rule stands for, with its instance; nothing where it was dropped.
  [[nodiscard]] std::optional<number> replaced_premise(const linear_rule::premise& of, linear_form& by);
  /// @return whether the search has not been here
  bool visit(number of);
  void begin_search(number goal);
  [[nodiscard]] outcome prove(number goal);
  [[nodiscard]] outcome search_layers(number goal, search_budget& budget);
  void search_linear(number goal, search_budget& budget);
  [[nodiscard]] outcome search_deep(number goal, search_budget& budget);
  /// By all that is known. @return whether the goal is proven
  [[nodiscard]] bool find_all_heights(number goal);

  /// Of the instances that prove it, one whose premises are lowest; among these the same one in whatever order they
  /// were found.
  [[nodiscard]] const proof_graph::instance* best_instance(number of) const;
  [[nodiscard]] proof shown(number of, std::size_t depth, bool is_least);
  void show_instance(number of, const proof_graph::instance& by, std::size_t depth, bool is_least, proof& into);
  /// The instance's values for the variables, as texts; names of those without one.
  [[nodiscard]] sema::rule with_values(number of, const proof_graph::instance& by);
  [[nodiscard]] std::string obstacle(relation_id relation);
  [[nodiscard]] failed_rule failure_of(relation_id relation, std::size_t rule, std::span<const word> words,
                                       const variable_values& given);

  engine_state* engine_;
  stored_relations stored_;
  std::map<rule_id, std::unique_ptr<rule_matcher>> matchers_;
  std::map<rule_id, std::vector<std::unique_ptr<linear_form>>> linear_forms_;
  proof_graph graph_;
  std::vector<number> cone_;       ///< tuples that the search has come to
  std::uint32_t cone_number_ = 0;  ///< of the search
  std::size_t tuples_left_ = 0;    ///< that may be shown
};

}  // namespace gpulog::detail

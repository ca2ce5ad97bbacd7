#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/proofs/expression_values.hpp"
#include "engine/proofs/stored_relations.hpp"
#include "kernels/join/fold.hpp"
#include "sema/program.hpp"

namespace gpulog::detail {

/// Whether a literal is a positive atom.
[[nodiscard]] bool is_premise(const sema::literal& part);

/// What a search may still do before it gives up. Looks at a tuple count.
struct search_budget {
  std::uint64_t looks = 0;

  /// @throws spent when nothing is left
  void spend() {
    if (looks == 0) throw spent{};
    --looks;
  }
  struct spent {};
};

/// Finds instances of one rule in relations that are complete: the rule as the program has it, by nested loops with
/// indexes, from the head's values on. So it depends neither on the plan nor on what passes made of the rules.
class rule_matcher {
 public:
  /// @param source stays where it is
  rule_matcher(const sema::rule& source, engine_state& engine, stored_relations& stored);

  /// False: values of the rule depend on when they are asked for, and the head does not have them.
  [[nodiscard]] bool can_match() const { return has_order_; }

  /// Calls found() for each instance with this head, until it returns false. @throws search_budget::spent
  void for_each(std::span<const word> head, search_budget& budget, const std::function<bool()>& found);

  // Of the instance, while found() runs:
  /// Tuples of the positive atoms, in the order of the body.
  [[nodiscard]] const std::vector<std::vector<word>>& premises() const { return premises_; }
  [[nodiscard]] const expression_values& values() const { return values_; }
  [[nodiscard]] std::optional<word> value(const sema::expression& e) { return values_.value(e); }

  /// What is known from a head and from other values, by variable, without looking at a relation. @return false: the
  /// head cannot be this tuple
  [[nodiscard]] bool assume(std::span<const word> head, const std::vector<std::optional<word>>& given);
  /// Whether a literal of the body holds alone under what is assumed: an atom where some tuple fits; nothing where that
  /// depends on variables without a value.
  [[nodiscard]] std::optional<bool> holds(const sema::literal& part, search_budget& budget);

 private:
  /// A literal at its place in the order: which of its variables are bound then is known.
  struct step {
    const sema::literal* part = nullptr;
    std::size_t premise = 0;  ///< number of a positive atom, outside of aggregates
    bool is_premise = false;
    std::vector<std::uint32_t> keys;  ///< columns of an atom that are known
    std::vector<word> key;
    const column_index* index = nullptr;                ///< by the keys; nullptr: not needed yet
    const std::vector<const word*>* columns = nullptr;  ///< likewise
    std::vector<step> inside;                           ///< of an aggregate
    std::vector<std::uint32_t> named;  ///< of an aggregate: variables that tell matches apart; empty: none need to
    std::shared_ptr<kernels::fold_state> folding;
  };
  using steps = std::vector<step>;
  struct place {
    steps& all;
    std::size_t number;
    const std::function<bool()>& found;
  };

  [[nodiscard]] bool is_known(const sema::expression& e, const std::vector<bool>& bound) const;
  [[nodiscard]] bool can_unify(const sema::expression& form, const std::vector<bool>& bound) const;
  [[nodiscard]] double readiness(const sema::literal& part, const std::vector<bool>& bound) const;
  [[nodiscard]] step step_of(const sema::literal& part, const std::vector<bool>& bound);
  /// Empty where there is none and the body is not.
  [[nodiscard]] std::optional<steps> order(const std::vector<sema::literal>& body, std::vector<bool> bound);

  [[nodiscard]] bool go_on(const place& here) { return run({here.all, here.number + 1, here.found}); }
  [[nodiscard]] bool run(const place& here);
  [[nodiscard]] bool match(const sema::atom& read, const place& here);
  [[nodiscard]] bool match_row(const sema::atom& read, std::uint64_t row, const place& here);
  [[nodiscard]] bool has_match(const sema::atom& read, step& own);
  [[nodiscard]] bool is_true(const sema::constraint& tested);
  [[nodiscard]] bool assume_equalities();
  [[nodiscard]] std::vector<bool> known_variables() const;
  [[nodiscard]] bool test(const sema::constraint& tested, const place& here);
  [[nodiscard]] bool fold(const sema::aggregate& folded, const place& here);
  [[nodiscard]] std::optional<word> fold_value(const sema::aggregate& folded, step& own);
  void fold_match(const sema::aggregate& folded, kernels::fold_state& folding);
  [[nodiscard]] bool generate(const sema::generator& made, const place& here);
  [[nodiscard]] bool fits(const sema::aggregate& folded, word value);
  [[nodiscard]] const std::vector<word>& key_of(const sema::atom& read, step& own);

  const sema::rule* source_;
  engine_state* engine_;
  stored_relations* stored_;
  std::vector<sema::literal> head_;  ///< each value of the head = what the rule has there
  expression_values values_;
  steps order_;
  bool has_order_ = false;
  std::vector<std::vector<word>> premises_;
  search_budget* budget_ = nullptr;
};

}  // namespace gpulog::detail

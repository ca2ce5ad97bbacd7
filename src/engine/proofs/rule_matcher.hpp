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

/// Returns whether a literal is a positive atom.
[[nodiscard]] bool is_premise(const sema::literal& part);

/// Remaining effort of a search; counts inspected tuples.
struct search_budget {
  std::uint64_t looks = 0;

  /// @throws spent if the budget is exhausted
  void spend() {
    if (looks == 0) throw spent{};
    --looks;
  }
  struct spent {};
};

/// Finds instances of one rule in complete relations: evaluates the rule as written, with nested loops and indexes,
/// starting from the head's values. Independent of the plan and of rewriting passes.
class rule_matcher {
 public:
  /// @param source must stay at its address
  rule_matcher(const sema::rule& source, run_context& context, stored_relations& stored);

  /// Returns false if values of the rule depend on the time of evaluation and the head does not contain them.
  [[nodiscard]] bool can_match() const { return has_order_; }

  /// Calls found() for each instance with this head, until found() returns false.
  /// @throws search_budget::spent
  void for_each(std::span<const word> head, search_budget& budget, const std::function<bool()>& found);

  // State of the current instance, valid during found():
  /// Returns the tuples of the positive atoms, in the order of the body.
  [[nodiscard]] const std::vector<std::vector<word>>& premises() const { return premises_; }
  [[nodiscard]] const expression_values& values() const { return values_; }
  [[nodiscard]] std::optional<word> value(const sema::expression& e) { return values_.value(e); }

  /// Derives values of variables from a head and from given values, without reading relations.
  /// @return false if the head cannot be this tuple
  [[nodiscard]] bool assume(std::span<const word> head, const std::vector<std::optional<word>>& given);
  /// Returns whether literals of the body hold together under the assumed values: for an atom, whether a matching tuple
  /// exists. Empty if the result depends on variables without a value.
  /// @throws search_budget::spent
  [[nodiscard]] std::optional<bool> hold(const std::vector<sema::literal>& parts, search_budget& budget);

 private:
  /// A literal at its position in the order; the position determines which variables are bound.
  struct step {
    const sema::literal* part = nullptr;
    std::size_t premise = 0;  ///< number of the positive atom, outside of aggregates
    bool is_premise = false;
    std::vector<std::uint32_t> keys;  ///< bound columns of an atom
    std::vector<word> key;
    const column_index* index = nullptr;                ///< index on the keys; nullptr: not needed yet
    const std::vector<const word*>* columns = nullptr;  ///< nullptr: not needed yet
    std::vector<step> inside;                           ///< body of an aggregate
    /// of an aggregate: variables that distinguish matches; empty: all matches count
    std::vector<std::uint32_t> named;
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
  /// Returns the order of a body; empty if no order can evaluate it.
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
  run_context* context_;
  stored_relations* stored_;
  std::vector<sema::literal> head_;  ///< equalities of the head's values and the rule's head arguments
  expression_values values_;
  steps order_;
  bool has_order_ = false;
  std::vector<std::vector<word>> premises_;
  search_budget* budget_ = nullptr;
};

}  // namespace gpulog::detail

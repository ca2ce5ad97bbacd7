#include "sema/order_dependence.hpp"

#include <algorithm>
#include <variant>
#include <vector>

namespace gpulog::sema {
namespace {

bool notices_order(const expression& tree, bool has_state) {
  const bool itself =
      tree.is_operation() && (tree.op == scalar_op::next_counter || tree.op == scalar_op::iteration_number ||
                              (has_state && tree.op == scalar_op::call_functor));
  return itself || std::any_of(tree.arguments.begin(), tree.arguments.end(),
                               [&](const expression& part) { return notices_order(part, has_state); });
}

bool notices_order(const std::vector<literal>& body, bool has_state) {
  return std::any_of(body.begin(), body.end(), [&](const literal& part) {
    if (const auto* test = std::get_if<constraint>(&part)) {
      return notices_order(test->left, has_state) || notices_order(test->right, has_state);
    }
    if (const auto* made = std::get_if<generator>(&part)) {
      return std::any_of(made->arguments.begin(), made->arguments.end(),
                         [&](const expression& one) { return notices_order(one, has_state); });
    }
    const auto* folded = std::get_if<aggregate>(&part);
    if (folded == nullptr) return false;
    const bool in_order =
        folded->op == fold_op::sum_float || folded->op == fold_op::mean || folded->op == fold_op::functor;
    return in_order || notices_order(folded->target, has_state) || notices_order(folded->body, has_state);
  });
}

/// Finds values with internal numbers whose kind a cast or ord() changes, and operations that read their numbers.
class number_reader {
 public:
  explicit number_reader(const program& source) : source_(source) {
    has_branches_ = std::any_of(source.structures.begin(), source.structures.end(), [](const structure_type& one) {
      return one.kind == value_kind::adt && !one.is_enumeration();
    });
  }

  [[nodiscard]] bool reads(const rule& asked) const {
    return std::any_of(asked.head.arguments.begin(), asked.head.arguments.end(),
                       [&](const expression& one) { return reads(asked, one); }) ||
           reads(asked, asked.body);
  }

  /// Functors without state receive records as numbers.
  [[nodiscard]] bool reads(const user_functor& functor) const {
    const auto is_record = [this](value_kind kind) { return kind != value_kind::symbol && is_numbered(kind); };
    return is_record(functor.result) || std::any_of(functor.parameters.begin(), functor.parameters.end(), is_record);
  }

 private:
  /// The values of an enumeration have numbers of the program.
  [[nodiscard]] bool is_numbered(value_kind kind) const {
    return kind == value_kind::symbol || kind == value_kind::record || (kind == value_kind::adt && has_branches_);
  }

  [[nodiscard]] bool is_cast(value_kind from, value_kind to) const {
    return from != to && (is_numbered(from) || is_numbered(to));
  }

  /// Returns the kind of an operation's results, before casts.
  [[nodiscard]] value_kind kind_of(const expression& operation) const {
    switch (operation.op) {
      case scalar_op::copy:
        return operation.arguments.front().kind;
      case scalar_op::call_functor:
        return source_.functors[static_cast<std::size_t>(operation.arguments.front().constant)].result;
      case scalar_op::min_symbol:
      case scalar_op::max_symbol:
      case scalar_op::concatenate:
      case scalar_op::substring:
      case scalar_op::number_to_string:
      case scalar_op::unsigned_to_string:
      case scalar_op::float_to_string:
      case scalar_op::replace_text:
      case scalar_op::to_lower:
      case scalar_op::to_upper:
      case scalar_op::trim:
      case scalar_op::part_of:
        return value_kind::symbol;
      default:
        return value_kind::number;
    }
  }

  [[nodiscard]] bool reads(const rule& asked, const expression& tree) const {
    bool is_read = false;
    if (tree.is_variable()) is_read = is_cast(asked.variables[tree.variable].kind, tree.kind);
    if (tree.is_operation()) is_read = is_cast(kind_of(tree), tree.kind);
    if (tree.is_record()) is_read = !is_numbered(tree.kind);
    return is_read || std::any_of(tree.arguments.begin(), tree.arguments.end(),
                                  [&](const expression& one) { return reads(asked, one); });
  }

  [[nodiscard]] bool reads(const rule& asked, const constraint& test) const {
    const bool is_of_numbers =
        test.op >= comparison_op::less_number && test.op <= comparison_op::greater_equal_unsigned;
    return (is_of_numbers && (is_numbered(test.left.kind) || is_numbered(test.right.kind))) ||
           reads(asked, test.left) || reads(asked, test.right);
  }

  [[nodiscard]] bool reads(const rule& asked, const std::vector<literal>& body) const {
    const auto reads_any = [&](const std::vector<expression>& all) {
      return std::any_of(all.begin(), all.end(), [&](const expression& one) { return reads(asked, one); });
    };
    return std::any_of(body.begin(), body.end(), [&](const literal& part) {
      if (const auto* read = std::get_if<atom>(&part)) return reads_any(read->arguments);
      if (const auto* test = std::get_if<constraint>(&part)) return reads(asked, *test);
      if (const auto* made = std::get_if<generator>(&part)) return reads_any(made->arguments);
      const auto& folded = std::get<aggregate>(part);
      const bool has_target = folded.op != fold_op::count;
      return (has_target && (is_numbered(folded.target.kind) || reads(asked, folded.target))) ||
             reads(asked, folded.body);
    });
  }

  const program& source_;
  bool has_branches_ = false;
};

}  // namespace

bool reads_internal_numbers(const program& source) {
  const number_reader reader(source);
  const auto reads = [&reader](const auto& one) { return reader.reads(one); };
  return std::any_of(source.rules.begin(), source.rules.end(), reads) ||
         std::any_of(source.subsumptions.begin(), source.subsumptions.end(), reads) ||
         std::any_of(source.functors.begin(), source.functors.end(), reads);
}

bool has_stateful_functors(const program& source) {
  return std::any_of(source.functors.begin(), source.functors.end(),
                     [](const user_functor& functor) { return functor.stateful; });
}

bool notices_order(const rule& rule, bool has_state) {
  return notices_order(rule.body, has_state) ||
         std::any_of(rule.head.arguments.begin(), rule.head.arguments.end(),
                     [&](const expression& argument) { return notices_order(argument, has_state); });
}

}  // namespace gpulog::sema

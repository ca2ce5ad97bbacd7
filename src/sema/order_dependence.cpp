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

}  // namespace

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

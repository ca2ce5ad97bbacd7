#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "sema/program.hpp"

namespace gpulog::detail {

/// A rule in which at most one atom is of its own recursion: in place of the others stand bodies of rules that do not
/// recur. Where each of them has far fewer matches, instances are found far faster.
struct linear_rule {
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  /// A positive atom of the rule that this is made of.
  struct premise {
    relation_id relation;
    std::size_t first = 0;  ///< of the positive atoms that stand for it
    std::size_t count = 1;
    std::uint32_t by = none;               ///< number of the rule whose body stands here; none: the atom itself
    std::vector<sema::expression> values;  ///< then: of the tuple
  };

  sema::rule rule;
  std::vector<premise> premises;  ///< in the order of the body
};

/// All ways to make a rule linear, a few at most; the rule as it is where it is so.
[[nodiscard]] std::vector<linear_rule> linear_rules_of(const sema::program& program, const sema::rule& source);

}  // namespace gpulog::detail

#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "sema/program.hpp"

namespace gpulog::detail {

/// A rule with at most one atom of its own recursion: each further recursive atom is replaced by the body of a
/// non-recursive rule. If the replacements have far fewer matches, instances are found far faster.
struct linear_rule {
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  /// A positive atom of the original rule.
  struct premise {
    relation_id relation;
    std::size_t first = 0;  ///< first positive atom of its replacement
    std::size_t count = 1;
    std::uint32_t by = none;               ///< number of the rule whose body replaces the atom; none: not replaced
    std::vector<sema::expression> values;  ///< with a replacement: values of the replaced tuple
  };

  sema::rule rule;
  std::vector<premise> premises;  ///< in the order of the body
};

/// Returns the linear forms of a rule, up to a limit; a rule that is already linear is returned as it is.
[[nodiscard]] std::vector<linear_rule> linear_rules_of(const sema::program& program, const sema::rule& source);

}  // namespace gpulog::detail

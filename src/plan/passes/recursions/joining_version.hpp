#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "plan/plan.hpp"

namespace gpulog::plan {

/// Place where a version binds a value: an atom, by its place in the join order, and a column.
struct value_origin {
  std::size_t atom = 0;
  std::uint32_t column = 0;
  friend bool operator==(const value_origin&, const value_origin&) = default;
};
using origins = std::vector<std::optional<value_origin>>;  ///< empty: a constant

/// `for R(...), match a[...], ..., if ..., insert S(...)`: a version that only joins and compares.
struct joining_version {
  struct atom {
    relation_id relation;
    row_part rows = row_part::all;
    index_id index;  ///< invalid: the scan
    origins keys;    ///< by place in the index
    std::size_t bindings;
  };
  struct comparison {
    filter compared;
    std::optional<value_origin> left, right;
  };
  std::vector<atom> atoms;  ///< the first one is scanned
  std::vector<comparison> comparisons;
  relation_id head;
  origins values;
};

/// @return empty if the version has further operators, or searches an equivalence relation
[[nodiscard]] std::optional<joining_version> read_joining_version(const program& plan, const rule_version& version);

}  // namespace gpulog::plan

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/row_wise/row_wise_task.hpp"
#include "kernels/search/decomposed_task.hpp"

/// A recursion of products: r(x,y) :- left(x,u), r(u,v), right(v,y). The relation is a matrix of bits, a row for each
/// value x. A round unites the rows of all u that follow x, goes from each v of the union to the values that follow it,
/// and adds those to the row of x.
namespace gpulog::kernels {

struct product_rule {
  std::optional<pair_columns> left;   ///< by x; none: u is x
  std::optional<pair_columns> right;  ///< by v; none: y is v
  bool is_recursive = true;
  bool is_first = false;  ///< r(x,y) :- left(x,u), right(u,y) is a rule, too
};

struct product_task {
  static constexpr std::size_t most_rules = 6;

  relation_number target = 0;
  std::vector<product_rule> rules;
  bool without_equal = false;  ///< results have x != y
};

/// Groups of rows that may be looked at, by what is read and made; where there are more, rows are nearly empty. Zeros:
/// any number.
struct product_steps {
  double of_pair = 0;   ///< that is read
  double of_tuple = 0;  ///< that is made
};

struct product_counts {
  std::uint64_t candidates = 0;
  std::uint64_t rounds = 0;
  std::vector<search_stage> stages = {};  ///< that a device measured
};

}  // namespace gpulog::kernels

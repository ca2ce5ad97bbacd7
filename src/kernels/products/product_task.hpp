#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/row_wise/row_wise_task.hpp"
#include "kernels/search/decomposed_task.hpp"

/// A product recursion: r(x,y) :- left(x,u), r(u,v), right(v,y). The relation is a bit matrix with a row for each value
/// x. A round unites the rows of all u that follow x, maps each v of the union to the values that follow v, and adds
/// these values to the row of x.
namespace gpulog::kernels {

struct product_rule {
  std::optional<pair_columns> left;   ///< by x; nothing: u is x
  std::optional<pair_columns> right;  ///< by v; nothing: y is v
  bool is_recursive = true;
  bool is_first = false;  ///< r(x,y) :- left(x,u), right(u,y) is also a rule
};

struct product_task {
  static constexpr std::size_t most_rules = 6;

  relation_number target = 0;
  std::vector<product_rule> rules;
  bool without_equal = false;  ///< results satisfy x != y
};

/// Limit for visited groups, relative to pairs read and tuples produced; more groups mean that rows are nearly empty.
/// Zeros: no limit.
struct product_steps {
  double of_pair = 0;   ///< per pair read
  double of_tuple = 0;  ///< per tuple produced
};

struct product_counts {
  std::uint64_t candidates = 0;
  std::uint64_t rounds = 0;
  std::vector<search_stage> stages = {};  ///< measured on a device
};

}  // namespace gpulog::kernels

#pragma once

#include <cstddef>

/// Row equations with recursive rules: r(x,y) :- left(x,u), r(u,v), right(v,y). The relation is a bit matrix with a row
/// for each source x. A round unites the rows of all u that follow x, maps each v of the union to the values that
/// follow v, and adds these values to the row of x.
namespace gpulog::kernels {

constexpr std::size_t most_product_rules = 6;

/// Limit for visited blocks and groups, relative to pairs read and tuples produced, and for tables: more steps mean
/// that rows are nearly empty. Zeros: no limit.
struct product_steps {
  double of_pair = 0;              ///< per pair read
  double of_tuple = 0;             ///< per tuple produced
  double table_bytes_of_pair = 0;  ///< without blocks, per pair read
};

}  // namespace gpulog::kernels

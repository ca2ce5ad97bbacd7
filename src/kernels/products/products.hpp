#pragma once

#include <cstdint>

#include "backend/gpu/launch.hpp"
#include "kernels/products/product_task.hpp"

/// Arguments of the kernels for product recursions on a device (docs/internals/row-products.md).
namespace gpulog::kernels::gpu {

/// A list of numbers, as a range of `all`.
struct number_list {
  std::uint32_t first;
  std::uint32_t count;
};

/// The successors of each number.
struct number_lists {
  const number_list* of = nullptr;  ///< by number; null: each number is its only successor
  const word* all = nullptr;
};

struct product_rule_view {
  number_lists left;
  number_lists readers;  ///< the rows that read a row: inverse of left
  number_lists right;
  number_lists sources;               ///< inverse of right
  std::uint32_t* followed = nullptr;  ///< [number][word]: the union's bits that were already followed; null: not stored
  std::uint32_t pull_factor = 0;      ///< pull if the union has at least numbers / pull_factor bits
  bool is_recursive = false;
  bool is_first = false;
};

/// Rows consist of groups of words, one word per lane of a wave.
struct product_arguments {
  product_rule_view rules[most_product_rules];
  std::uint32_t rule_count = 0;
  bool without_equal = false;
  std::uint32_t round = 0;
  std::uint32_t numbers = 0;
  std::uint32_t groups = 0;
  std::uint32_t narrow_rows = 0;  ///< up to this many rows are computed by large blocks
  bool is_narrow = false;         ///< whether this launch has large blocks
  /// Whether all groups are initialized; otherwise only groups with a stamp have valid words.
  bool has_words = true;
  std::uint32_t enough_ready = 1;  ///< at least 1; if this many due rows are ready, rows that read due rows wait

  std::uint32_t* rows = nullptr;        ///< [number][word]
  std::uint32_t* stamps = nullptr;      ///< [number][group]: last round that added bits; 0: none
  std::uint32_t* visited = nullptr;     ///< by number: last round that computed the row; 0: none
  std::uint32_t* is_due = nullptr;      ///< by number: whether a row that it reads has changed
  std::uint32_t* due = nullptr;         ///< numbers of due rows
  std::uint32_t* ready = nullptr;       ///< due rows that read no different due row
  unsigned long long* sizes = nullptr;  ///< by number

  struct round_counts {
    unsigned due;
    unsigned ready;
    unsigned next;
    unsigned visited;  ///< rows
    unsigned long long candidates;
  }* counts = nullptr;  ///< for the current round
};

/// Queue for the topological order: a row is computed once all rows that it reads are complete.
struct product_queue {
  static constexpr std::uint32_t none = UINT32_MAX;

  std::uint32_t* numbers = nullptr;  ///< ready rows; none after them
  std::uint32_t* unread = nullptr;   ///< by number: incomplete rows that it reads
  double waited_row = 0;             ///< a row is slow if its nanoseconds times the share of waiting blocks exceed this
  struct progress {
    unsigned pushed;
    unsigned popped;
    unsigned completed;  ///< of the pushed rows
    unsigned empty;      ///< rows that read no row, which are complete from the start
    int slow;            ///< grows with slow rows that blocks wait for, shrinks with fast rows
    unsigned is_stopped;
    unsigned long long candidates;
  }* counts = nullptr;
};

}  // namespace gpulog::kernels::gpu

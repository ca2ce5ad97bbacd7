#pragma once

#include <cstdint>

#include "backend/gpu/launch.hpp"
#include "kernels/products/product_task.hpp"

/// Arguments of the kernels that make a recursion of products on a device (docs/internals/row-products.md).
namespace gpulog::kernels::gpu {

/// A list of numbers, as a part of all lists.
struct number_list {
  std::uint32_t first;
  std::uint32_t count;
};

/// Numbers that follow a number.
struct number_lists {
  const number_list* of = nullptr;  ///< by number; null: a number is followed by itself
  const word* all = nullptr;
};

struct product_rule_view {
  number_lists left;
  number_lists readers;  ///< the rows that read a row: left the other way round
  number_lists right;
  number_lists sources;               ///< right the other way round
  std::uint32_t* followed = nullptr;  ///< [number][word]: the bits of the union that were gone from; null: not kept
  std::uint32_t pull_factor = 0;      ///< a union with so many times fewer bits than there are numbers, or more, pulls
  bool is_recursive = false;
  bool is_first = false;
};

/// Rows have groups of words, a word for each lane of a wave.
struct product_arguments {
  product_rule_view rules[product_task::most_rules];
  std::uint32_t rule_count = 0;
  bool without_equal = false;
  std::uint32_t round = 0;
  std::uint32_t numbers = 0;
  std::uint32_t groups = 0;
  std::uint32_t narrow_rows = 0;   ///< up to so many rows are made by large blocks
  bool is_narrow = false;          ///< the launch of large blocks
  bool has_words = true;           ///< rows are zero where they have no bits; else only groups with a stamp have words
  std::uint32_t enough_ready = 1;  ///< from so many rows on that need not wait, the others do; at least 1

  std::uint32_t* rows = nullptr;        ///< [number][word]
  std::uint32_t* stamps = nullptr;      ///< [number][group]: the last round in which it got bits; 0: none
  std::uint32_t* visited = nullptr;     ///< by number: the last round in which the row was made; 0: none
  std::uint32_t* is_due = nullptr;      ///< by number: a row that it reads has changed
  std::uint32_t* due = nullptr;         ///< numbers of rows that are due
  std::uint32_t* ready = nullptr;       ///< of them, those that read no other one that is
  unsigned long long* sizes = nullptr;  ///< by number

  struct round_counts {
    unsigned due;
    unsigned ready;
    unsigned next;
    unsigned visited;  ///< rows
    unsigned long long candidates;
  }* counts = nullptr;  ///< of this round
};

/// Rows in topological order: a row is made once all rows that it reads are complete.
struct product_queue {
  static constexpr std::uint32_t none = UINT32_MAX;

  std::uint32_t* numbers = nullptr;  ///< rows whose turn has come; none behind them
  std::uint32_t* unread = nullptr;   ///< by number: rows that it reads and that are not complete
  double waited_row = 0;  ///< nanoseconds of a row, times the part of all blocks that wait: a slow row has more
  struct progress {
    unsigned pushed;
    unsigned popped;
    unsigned completed;  ///< of those that were pushed
    unsigned empty;      ///< rows that read nothing; they are complete from the start
    int slow;            ///< grows with slow rows that others wait for, and falls with other ones
    unsigned is_stopped;
    unsigned long long candidates;
  }* counts = nullptr;
};

}  // namespace gpulog::kernels::gpu

#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "kernels/products/product_graph.hpp"
#include "kernels/search/numbered_graph.hpp"
#include "storage/factorized/group_table.hpp"
#include "storage/factorized/row_groups.hpp"
#include "storage/factorized/word_rows.hpp"
#include "storage/relation/relation.hpp"
#include "support/long_vector.hpp"
#include "support/row_equations.hpp"

/// A product recursion on a CPU (kernels/products/product_task.hpp): the bit matrix, and the computation of a row.
namespace gpulog::kernels {

using storage::row_groups;

/// Work spent on rows.
struct product_work {
  std::uint64_t candidates = 0;
  std::uint64_t steps = 0;  ///< visited blocks of groups, plus the equivalent cost of united and allocated groups
  std::uint64_t bits = 0;   ///< new bits

  product_work& operator+=(const product_work& other) {
    candidates += other.candidates;
    steps += other.steps;
    bits += other.bits;
    return *this;
  }
};

/// A set of the groups of a row, one byte each.
class group_marks {
 public:
  explicit group_marks(std::uint64_t groups) : bytes_((groups / 8 + 1) * 8) {}
  /// Returns the number of words that for_each() reads.
  [[nodiscard]] std::uint64_t words() const { return bytes_.size() / 8; }
  [[nodiscard]] std::uint8_t* bytes() { return bytes_.data(); }
  void add(std::uint64_t group) { bytes_[group] = 1; }
  void remove(std::uint64_t group) { bytes_[group] = 0; }
  /// Calls action(group) in ascending order. The action may remove this group.
  template <class Action>
  void for_each(const Action& action) const {
    for (std::uint64_t first = 0; first < bytes_.size(); first += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes_.data() + first, 8);
      if (word == 0) continue;
      for (std::uint64_t group = first; group < first + 8; ++group) {
        if (bytes_[group] != 0) action(group);
      }
    }
  }

 private:
  long_vector<std::uint8_t> bytes_;
};

class product_rows {
 public:
  /// Buffers of one worker.
  class scratch {
   public:
    scratch(backend::memory_resource& resource, const product_rows& rows);

   private:
    friend class product_rows;
    backend::array<std::uint64_t> united_;   // in words
    backend::array<std::uint64_t> reached_;  // in words
    group_marks in_union_;                   // groups that may have bits
    group_marks in_reached_;
    row_groups::reserve block_reserve_;
    row_groups::reserve followed_block_reserve_;
    row_groups::reserve reserve_;
    row_groups::reserve followed_reserve_;
    product_work done_;
  };

  /// @param bound exclusive bound of the task's values if values serve directly as row numbers, else 0
  /// @throws backend::memory_exceeded
  product_rows(const backend::piece_runner& workers, backend::memory_resource& resource, const row_equations& task,
               const relation_list<storage::relation>& relations, std::uint64_t bound);

  [[nodiscard]] std::uint64_t numbers() const { return numbers_; }
  /// Returns the number of groups per row.
  [[nodiscard]] std::uint64_t groups() const { return groups_; }
  /// Returns the size of the tables without blocks.
  [[nodiscard]] std::uint64_t table_bytes() const;
  /// Allocates the tables. Call before make_row().
  /// @throws backend::memory_exceeded
  void make_tables(unsigned workers);

  /// The rows in an order where each row comes after the rows that it reads, if there are no cycles; and the start of
  /// each level, with one extra entry. No row reads a row of the same level.
  [[nodiscard]] const std::vector<std::uint32_t>& order() const { return order_; }
  [[nodiscard]] const std::vector<std::uint64_t>& levels() const { return levels_; }
  /// Returns whether a row that this row reads has changed since its last computation.
  [[nodiscard]] bool is_due(std::uint32_t number) const;
  /// @param step increases from call to call, except for rows of the same level
  void make_row(std::uint32_t number, std::uint32_t step, scratch& own);
  [[nodiscard]] static const product_work& work_of(const scratch& of) { return of.done_; }
  /// Returns the number of pairs in all lists.
  [[nodiscard]] std::uint64_t pairs() const { return graph_.pairs(); }
  /// Returns the result once all rows are complete, and invalidates this object.
  /// @throws backend::memory_exceeded
  [[nodiscard]] storage::row_words take_words();

 private:
  static constexpr std::uint64_t word_size = row_groups::word_size;
  static constexpr std::uint64_t group_words = row_groups::words;
  static constexpr std::uint64_t group_size = row_groups::bits;

  struct rule {
    const storage::adjacency* left = nullptr;
    const storage::adjacency* readers = nullptr;  ///< inverse of left
    const storage::adjacency* right = nullptr;
    const storage::adjacency* sources = nullptr;  ///< inverse of right
    bool is_recursive = false;
    bool is_first = false;
    storage::group_table followed;  ///< places of the union's bits that were already followed
  };
  [[nodiscard]] std::uint64_t words() const { return groups_ * group_words; }
  void find_order();
  template <class Visit>
  void for_each_read(std::uint32_t number, const Visit& visit) const;
  template <class Visit>
  void for_each_reader(std::uint32_t number, const Visit& visit) const;

  [[nodiscard]] bool unite(const rule& one, std::uint32_t number, std::uint32_t visited, scratch& own) const;
  [[nodiscard]] std::uint64_t leave_new(rule& one, std::uint32_t number, scratch& own);
  [[nodiscard]] std::uint32_t take_group(row_groups& from, row_groups::reserve& reserve, scratch& own) const;
  void follow(const rule& one, std::uint32_t number, std::uint64_t bits, scratch& own) const;
  void push(const rule& one, scratch& own) const;
  void pull(const rule& one, std::uint32_t number, scratch& own) const;
  [[nodiscard]] std::uint64_t add_reached(std::uint32_t number, std::uint32_t step, scratch& own);

  backend::memory_resource* resource_;
  bool without_equal_;
  relation_id target_;
  product_graph<host_numbers, relation_list<storage::relation>> graph_;
  std::uint64_t numbers_ = 0;
  std::uint64_t groups_ = 0;
  std::vector<rule> rules_;
  long_vector<std::uint32_t> order_;
  std::vector<std::uint64_t> levels_;
  // An entry of rows_: the place of the bits, and the last step that added bits.
  [[nodiscard]] static std::uint32_t place_of(std::uint64_t entry) { return static_cast<std::uint32_t>(entry); }
  [[nodiscard]] static std::uint32_t stamp_of(std::uint64_t entry) { return static_cast<std::uint32_t>(entry >> 32); }
  [[nodiscard]] static std::uint64_t entry_of(std::uint32_t place, std::uint32_t stamp) {
    return std::uint64_t{stamp} << 32 | place;
  }
  [[nodiscard]] const std::uint64_t* bits_of(std::uint64_t row, std::uint64_t group) const {
    const std::uint32_t place = place_of(rows_.find(blocks_, row, group));
    return place == 0 ? nullptr : bits_.at(place);
  }

  row_groups blocks_;           // of rows_
  row_groups followed_blocks_;  // of the tables of rules
  row_groups bits_;
  row_groups followed_;  // for rules
  // By number: whether all rows that it reads come earlier in the order and are complete.
  long_vector<std::uint8_t> is_once_;
  bool are_all_once_ = false;
  storage::group_table rows_;
  backend::array<std::uint32_t> visited_;     // by number: last step that computed the row; 0: never
  backend::array<std::uint64_t> sizes_;       // by number, with one extra entry
  mutable long_vector<std::uint8_t> is_due_;  // by number
};

}  // namespace gpulog::kernels

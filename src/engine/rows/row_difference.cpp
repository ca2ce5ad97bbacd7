#include "engine/rows/row_difference.hpp"

#include <algorithm>
#include <utility>

#include "backend/array.hpp"
#include "storage/sets/hash.hpp"
#include "support/long_vector.hpp"

namespace gpulog::detail {
namespace {

struct row_range {
  std::uint64_t begin, end;
};
/// Some rows of a view, in ascending order.
using row_ranges = std::vector<row_range>;

void add_row(std::uint64_t row, row_ranges& to) {
  if (to.empty() || to.back().end != row) to.push_back({row, row});
  ++to.back().end;
}

std::uint64_t count(const row_ranges& ranges) {
  std::uint64_t rows = 0;
  for (const auto& [begin, end] : ranges) rows += end - begin;
  return rows;
}

template <class Visit>
void for_each_row(const row_ranges& ranges, const Visit& visit) {
  for (const auto& [begin, end] : ranges) {
    for (std::uint64_t row = begin; row < end; ++row) visit(row);
  }
}

bool are_equal_rows(const row_view& left, std::uint64_t row, const row_view& right, std::uint64_t other) {
  for (std::size_t c = 0; c < left.columns.size(); ++c) {
    if (left.columns[c][row] != right.columns[c][other]) return false;
  }
  return true;
}

struct unmatched_rows {
  row_ranges left, right;
};

/// Returns the rows without an equal row near the same position of the other side.
unmatched_rows match_in_order(const row_view& left, const row_view& right) {
  constexpr std::uint64_t longest_shift = 8;  // by inserted and removed rows
  // After many misses, the order differs: grouping all remaining rows takes less time.
  constexpr std::uint64_t most_misses = 1024;
  unmatched_rows unmatched;
  std::uint64_t row = 0;
  std::uint64_t other = 0;
  for (std::uint64_t misses = 0; row < left.rows && other < right.rows && misses < most_misses; ++row, ++other) {
    bool is_matched = false;
    for (std::uint64_t shift = 0; shift <= longest_shift && !is_matched; ++shift) {
      if (row + shift < left.rows && are_equal_rows(left, row + shift, right, other)) {
        is_matched = true;
        for (const std::uint64_t end = row + shift; row < end; ++row) add_row(row, unmatched.left);
      } else if (other + shift < right.rows && are_equal_rows(left, row, right, other + shift)) {
        is_matched = true;
        for (const std::uint64_t end = other + shift; other < end; ++other) add_row(other, unmatched.right);
      }
    }
    misses = is_matched ? 0 : misses + 1;
    if (is_matched) continue;
    add_row(row, unmatched.left);
    add_row(other, unmatched.right);
  }
  if (row < left.rows) unmatched.left.push_back({row, left.rows});
  if (other < right.rows) unmatched.right.push_back({other, right.rows});
  return unmatched;
}

/// Numbers and values of rows, grouped by hash. A group and the table of a group fit into a cache.
class grouped_rows {
 public:
  grouped_rows(const row_view& from, const row_ranges& chosen, std::uint64_t groups, backend::memory_resource& memory)
      : arity_(from.columns.size()),
        begins_(groups + 1),
        numbers_(memory, count(chosen), backend::fresh_memory::anything),
        values_(memory, count(chosen) * arity_, backend::fresh_memory::anything) {
    const auto group_of = [&](std::uint64_t row) {
      storage::key_hash hash;
      for (const word* const column : from.columns) hash.add(column[row]);
      return storage::scale(hash.value(), groups);
    };
    for_each_row(chosen, [&](std::uint64_t row) { ++begins_[group_of(row) + 1]; });
    for (std::uint64_t group = 0; group < groups; ++group) begins_[group + 1] += begins_[group];
    long_vector<std::uint64_t> ends(begins_.begin(), begins_.end() - 1);
    for_each_row(chosen, [&](std::uint64_t row) {
      const std::uint64_t place = ends[group_of(row)]++;
      numbers_[place] = row;
      for (std::size_t c = 0; c < arity_; ++c) values_[place * arity_ + c] = from.columns[c][row];
    });
  }

  [[nodiscard]] std::size_t arity() const { return arity_; }
  [[nodiscard]] std::uint64_t begin_of(std::uint64_t group) const { return begins_[group]; }
  [[nodiscard]] std::uint64_t end_of(std::uint64_t group) const { return begins_[group + 1]; }
  [[nodiscard]] std::uint64_t number(std::uint64_t place) const { return numbers_[place]; }
  [[nodiscard]] const word* values(std::uint64_t place) const { return values_.data() + place * arity_; }

 private:
  std::size_t arity_;
  long_vector<std::uint64_t> begins_;  ///< by group, and the end
  backend::array<std::uint64_t> numbers_;
  backend::array<word> values_;
};

/// A hash table of the rows of one group.
class row_table {
 public:
  row_table(const grouped_rows& rows, std::uint64_t groups, backend::memory_resource& memory)
      : rows_(&rows), groups_(groups), places_(memory) {}

  /// Replaces the contents by the rows of a group, except rows that equal an earlier row.
  template <class Visit>
  void fill(std::uint64_t group, const Visit& visit_equal) {
    places_.resize(2 * (rows_->end_of(group) - rows_->begin_of(group)) + 1);
    std::fill_n(places_.data(), places_.size(), 0);
    for (std::uint64_t place = rows_->begin_of(group); place < rows_->end_of(group); ++place) {
      std::uint64_t& slot = slot_of(rows_->values(place));
      if (slot == 0) {
        slot = place + 1;
      } else {
        visit_equal(place, slot - 1);
      }
    }
  }
  /// Calls visit(place) for the row with equal values, if any.
  template <class Visit>
  void find(const word* values, const Visit& visit) {
    if (const std::uint64_t slot = slot_of(values); slot != 0) visit(slot - 1);
  }

 private:
  [[nodiscard]] std::uint64_t& slot_of(const word* values) {
    storage::key_hash hash;
    for (std::size_t c = 0; c < rows_->arity(); ++c) hash.add(values[c]);
    // A group has a range of hashes: the product modulo 2^64 is the place in the range.
    std::uint64_t slot = storage::scale(hash.value() * groups_, places_.size());
    while (places_[slot] != 0 && !std::equal(values, values + rows_->arity(), rows_->values(places_[slot] - 1)))
      slot = slot + 1 == places_.size() ? 0 : slot + 1;
    return places_[slot];
  }

  const grouped_rows* rows_;
  std::uint64_t groups_;
  backend::array<std::uint64_t> places_;  ///< by slot: place in `rows_` + 1; 0: empty
};

/// Whether the other side has an equal row, by row.
struct equal_rows {
  long_vector<bool> left, right;
};

/// @param left the side with fewer rows: gets the table
equal_rows find_equal_rows(const row_view& left, const row_ranges& of_left, const row_view& right,
                           const row_ranges& of_right, backend::memory_resource& memory) {
  constexpr std::uint64_t rows_of_group = 1U << 13;
  constexpr std::uint64_t most_groups = 1024;  // written side by side; no other value was tried
  const std::uint64_t groups = std::clamp<std::uint64_t>(count(of_left) / rows_of_group, 1, most_groups);
  equal_rows equal{long_vector<bool>(left.rows), long_vector<bool>(right.rows)};
  const grouped_rows indexed(left, of_left, groups, memory);
  row_table table(indexed, groups, memory);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> repeated;
  const auto fill = [&](std::uint64_t group) {
    table.fill(group, [&](std::uint64_t place, std::uint64_t first) {
      repeated.emplace_back(indexed.number(place), indexed.number(first));
    });
  };
  const auto search = [&](const word* values, std::uint64_t row) {
    table.find(values, [&](std::uint64_t place) { equal.left[indexed.number(place)] = equal.right[row] = true; });
  };
  if (groups == 1) {
    fill(0);
    std::vector<word> values(right.columns.size());
    for_each_row(of_right, [&](std::uint64_t row) {
      for (std::size_t c = 0; c < values.size(); ++c) values[c] = right.columns[c][row];
      search(values.data(), row);
    });
  } else {
    const grouped_rows searched(right, of_right, groups, memory);
    for (std::uint64_t group = 0; group < groups; ++group) {
      fill(group);
      for (std::uint64_t place = searched.begin_of(group); place < searched.end_of(group); ++place)
        search(searched.values(place), searched.number(place));
    }
  }
  for (const auto& [row, first] : repeated) equal.left[row] = equal.left[first];
  return equal;
}

/// Returns the chosen rows without an equal row.
row_ranges without_equal(const row_ranges& chosen, const long_vector<bool>& has_equal) {
  row_ranges rows;
  for_each_row(chosen, [&](std::uint64_t row) {
    if (!has_equal[row]) add_row(row, rows);
  });
  return rows;
}

/// Drops the rows of both sides that have an equal row on the other side.
void drop_equal_rows(const row_view& left, row_ranges& of_left, const row_view& right, row_ranges& of_right,
                     backend::memory_resource& memory) {
  if (of_left.empty() || of_right.empty()) return;
  const bool is_left_smaller = count(of_left) <= count(of_right);
  equal_rows equal = is_left_smaller ? find_equal_rows(left, of_left, right, of_right, memory)
                                     : find_equal_rows(right, of_right, left, of_left, memory);
  if (!is_left_smaller) std::swap(equal.left, equal.right);
  of_left = without_equal(of_left, equal.left);
  of_right = without_equal(of_right, equal.right);
}

staged_rows copy_of(const row_view& from, const row_ranges& chosen, backend::memory_resource& memory) {
  staged_rows rows;
  rows.rows = count(chosen);
  for (const word* const column : from.columns) {
    word* to = rows.columns.emplace_back(memory, rows.rows).data();
    for (const auto& [begin, end] : chosen) to = std::copy(column + begin, column + end, to);
  }
  return rows;
}

row_ranges all_rows(const row_view& view) {
  if (view.rows == 0) return {};
  return {{0, view.rows}};
}

}  // namespace

row_changes difference_of(const row_view& before, const row_view& now, bool are_distinct,
                          backend::memory_resource& memory) {
  row_changes changes;
  if (now.columns.empty()) {
    changes.added.rows = now.rows != 0 && before.rows == 0 ? 1 : 0;
    changes.removed.rows = before.rows != 0 && now.rows == 0 ? 1 : 0;
    return changes;
  }
  auto [removed, added] = match_in_order(before, now);
  if (are_distinct) {
    drop_equal_rows(before, removed, now, added, memory);
  } else {
    // A row may equal matched rows.
    row_ranges all_before = all_rows(before);
    row_ranges all_now = all_rows(now);
    drop_equal_rows(before, all_before, now, added, memory);
    drop_equal_rows(before, removed, now, all_now, memory);
  }
  return {copy_of(now, added, memory), copy_of(before, removed, memory)};
}

staged_rows joined(std::vector<staged_rows> blocks, std::size_t columns, backend::memory_resource& memory) {
  if (blocks.size() == 1) return std::move(blocks.front());
  staged_rows all;
  for (const staged_rows& block : blocks) all.rows += block.rows;
  for (std::size_t c = 0; c < columns; ++c) {
    word* to = all.columns.emplace_back(memory, all.rows).data();
    for (const staged_rows& block : blocks) to = std::copy_n(block.columns[c].data(), block.rows, to);
  }
  return all;
}

}  // namespace gpulog::detail

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "support/ids.hpp"
#include "support/operations.hpp"

/// Row equations: a binary relation as rows, where row(x), the row of the source x, is the set of all targets y with
/// (x,y) in the relation. The planner recognizes the equations (plan/passes/recursions/row_equations.hpp), and kernels
/// solve them (docs/internals/rows.md).
namespace gpulog {

/// The rows of a relation that an operator reads. Rows are append-only: old = [0,d), delta = [d,n), all = [0,n); rows
/// appended by the running phase follow after n and become visible with the relation's next advance.
enum class row_part : std::uint8_t { all, old, delta };

/// Pairs of values in two columns of a relation.
struct column_pairs {
  relation_id relation;
  std::uint32_t key = 0;    ///< column
  std::uint32_t value = 0;  ///< column; may equal the key
  row_part rows = row_part::all;
  friend bool operator==(const column_pairs&, const column_pairs&) = default;
};

/// A relation of the equations. Sources and targets are tuples.
struct row_member {
  relation_id relation;
  /// Columns; all members have the same number, with corresponding values at the same positions.
  std::vector<std::uint32_t> sources;
  std::vector<std::uint32_t> targets;  ///< the remaining columns, ascending; at least one
};

/// Targets of a member lead to targets of a member with the same source: by a complete relation, or by copied values.
struct row_step {
  std::uint32_t from = 0;                   ///< member
  std::uint32_t to = 0;                     ///< member
  relation_id relation;                     ///< invalid: one target follows, made of values of the first target
  index_id index;                           ///< index on the key; invalid without a relation
  std::vector<std::uint32_t> from_targets;  ///< positions in the target of `from` that equal the key
  std::vector<std::uint32_t> key;           ///< columns of the relation, in the same order
  /// The target of `to`: columns of the relation; without a relation, positions in the target of `from`.
  std::vector<std::uint32_t> columns;

  [[nodiscard]] bool copies() const { return !relation.valid(); }
};

/// Recursive: row(x) includes the targets that `right` maps row(u) to, for each u that `left` maps x to.
/// First: row(x) includes the targets that `right` maps each such u to; without `right`, each such u.
struct row_rule {
  std::optional<column_pairs> left;   ///< nothing: u is x
  std::optional<column_pairs> right;  ///< nothing: maps each value to itself
  bool is_recursive = false;
  bool is_first = false;
  friend bool operator==(const row_rule&, const row_rule&) = default;
};

/// A comparison that all tuples of a relation satisfy.
struct row_filter {
  enum class side : std::uint8_t { source, target, constant };
  comparison_op op = comparison_op::equal;
  side left = side::source;
  side right = side::target;
  wide_word left_constant = 0;
  wide_word right_constant = 0;
  friend bool operator==(const row_filter&, const row_filter&) = default;
};

/// Either steps (a recursion that passes sources through unchanged, so that each row is a search), or rules and filters
/// for one binary relation.
struct row_equations {
  std::vector<row_member> members;
  std::vector<row_step> steps;
  std::vector<row_rule> rules;
  std::vector<row_filter> filters;

  /// Returns whether sources and targets of a single member are single values.
  [[nodiscard]] bool is_binary() const {
    return members.size() == 1 && members[0].sources.size() == 1 && members[0].targets.size() == 1;
  }
  /// Returns the relation of the only member.
  [[nodiscard]] relation_id relation() const { return members.front().relation; }
};

/// The planner finds row equations, and the executor solves them.
enum class row_mode : std::uint8_t {
  off,         ///< never
  loops,       ///< not for recursions; otherwise automatic
  searches,    ///< steps by a search per row, never from complete rows; otherwise automatic
  automatic,   ///< where it pays
  recursions,  ///< recursions wherever it is correct; otherwise automatic
  always       ///< wherever it is correct
};
[[nodiscard]] constexpr bool forces_recursions(row_mode mode) {
  return mode == row_mode::recursions || mode == row_mode::always;
}

}  // namespace gpulog

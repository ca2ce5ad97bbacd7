#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "plan/cost/cost_model.hpp"
#include "plan/rules/normalized_rule.hpp"

namespace gpulog::plan {

/// Tracks the source columns of a body's variables while its atoms are placed.
class variable_sources {
 public:
  explicit variable_sources(std::size_t variables) : places_(variables) {}

  /// Returns the rows of an atom that a binding finds. For a search of one column, a join of the samples gives a lower
  /// bound: earlier atoms may have bound frequent values more often than the source column contains them.
  [[nodiscard]] double fan_out(const body_atom& read, row_part rows, const std::vector<std::uint32_t>& bound_columns,
                               const cost_model& costs) const {
    const double found = costs.fan_out(read.relation, rows, bound_columns) * found_share(read, bound_columns, costs);
    if (bound_columns.size() != 1 || !read.arguments[bound_columns.front()].is_variable()) return found;
    const std::optional<column_place>& source = places_[read.arguments[bound_columns.front()].value];
    const column_place searched{read.relation, bound_columns.front()};
    const std::optional<double> joined = source ? costs.joined_fan_out(*source, searched, rows) : std::nullopt;
    return std::max(found, joined.value_or(0));
  }

  void begin(std::uint32_t variable, column_place place) { places_[variable] = place; }

  /// Records a placed atom. The source of a variable is the last column that did not contain all values of the previous
  /// source. Waiting atoms with the variable are not updated, because thousands of atoms may wait.
  /// @param bound variables bound before the atom
  void note(const body_atom& read, const std::vector<bool>& bound, const cost_model& costs) {
    for (std::uint32_t column = 0; column < read.arguments.size(); ++column) {
      if (!read.arguments[column].is_variable()) continue;
      const std::uint32_t variable = read.arguments[column].value;
      std::optional<column_place>& source = places_[variable];
      const column_place place{read.relation, column};
      if (!source && bound[variable]) continue;  // the values are computed
      if (source && costs.found_share(*source, place) >= 1) continue;
      source = place;
    }
  }

 private:
  /// Returns the share of bindings that find rows of an atom: the minimum over the searched columns.
  [[nodiscard]] double found_share(const body_atom& read, const std::vector<std::uint32_t>& bound_columns,
                                   const cost_model& costs) const {
    double share = 1;
    for (const std::uint32_t column : bound_columns) {
      if (!read.arguments[column].is_variable()) continue;
      const std::optional<column_place>& source = places_[read.arguments[column].value];
      if (source) share = std::min(share, costs.found_share(*source, {read.relation, column}));
    }
    return share;
  }

  std::vector<std::optional<column_place>> places_;
};

}  // namespace gpulog::plan

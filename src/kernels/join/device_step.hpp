#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/join/pipeline.hpp"

/// A step in the form for kernels, for any representation of relations.
namespace gpulog::kernels::gpu {

/// @tparam Run a view of an index run
/// @tparam Set a view of a relation's tuple set
template <class Run, class Set>
struct device_step {
  static constexpr std::uint32_t most_arguments = 8;

  step_kind kind = step_kind::compute;
  scalar_op scalar{};
  comparison_op comparison{};
  bool negated = false;
  bool holds = false;  ///< exists_any: whether the part has rows
  register_number result = 0;
  register_number arguments[most_arguments] = {};
  std::uint32_t argument_count = 0;  ///< exists_key and exists_tuple: all arguments are in wide_arguments
  std::uint32_t run_count = 0;
  const register_number* wide_arguments = nullptr;
  const Run* runs = nullptr;
  Set set;
  // For unpack: record n has its fields at fields[(n - 1) * record_arity]; wide_arguments are pairs of a field and a
  // target register.
  const word* fields = nullptr;
  word records = 0;
  std::uint32_t record_arity = 0;
};

/// A register that is loaded for each pair, from a column of the input rows or of the matching rows.
struct device_binding {
  register_number target = 0;
  /// Carried: a column of the input, indexed by first_row + row, because first_row changes between iterations and this
  /// pointer does not. Matched, in a product: a column of the relation.
  const word* column = nullptr;
  std::uint32_t stored = 0;  ///< matched: number of the run's stored column
};

/// Converts the common part of all kinds of steps to device form.
/// @param put copies a vector to the device
template <class Step, class Relations, class Put>
[[nodiscard]] Step device_step_of(const step& one, const Relations& relations, const Put& put) {
  Step made;
  made.kind = one.kind;
  made.scalar = one.scalar;
  made.comparison = one.comparison;
  made.negated = one.negated;
  made.result = one.result;
  made.argument_count = static_cast<std::uint32_t>(one.arguments.size());
  std::copy_n(one.arguments.begin(), std::min<std::size_t>(one.arguments.size(), Step::most_arguments), made.arguments);
  made.wide_arguments = put(one.arguments);
  if (one.kind == step_kind::exists_any) {
    const auto rows = rows_of(*relations[one.source], one.part);
    made.holds = rows.begin != rows.end;
  } else if (one.kind == step_kind::exists_tuple) {
    made.set = relations[one.source]->set();
  } else if (one.kind == step_kind::exists_key) {
    const auto views = relations[one.source]->index(one.index).views(one.part != row_part::delta,
                                                                     one.part != row_part::old, one.level);
    made.runs = put(views);
    made.run_count = static_cast<std::uint32_t>(views.size());
  }
  return made;
}

}  // namespace gpulog::kernels::gpu

#include "kernels/join/tile_steps.hpp"

#include <algorithm>

#include "kernels/join/equivalence_reader.hpp"
#include "kernels/steps/functor_table.hpp"
#include "kernels/steps/steps.hpp"
#include "kernels/steps/wide_steps.hpp"

namespace gpulog::kernels {

/// Runs a step that reads relations or records.
std::uint32_t tile_steps::look_up(std::size_t number, const step& one, std::uint32_t n) {
  switch (one.kind) {
    case step_kind::compute:
    case step_kind::filter:
      break;  // apply_step
    case step_kind::exists_any: {
      const part_rows rows = rows_of(relation_of(one.source), one.part);
      return (rows.begin != rows.end) != one.negated ? n : 0;
    }
    case step_kind::exists_tuple:
      if (one.tests_erasure && relation_of(one.source).has_only_tuples()) return n;
      find_tuples(number, one, n);
      return keep_found(number, one, n);
    case step_kind::exists_key:
      find_any(number, one, n);
      return keep_found(number, one, n);
    case step_kind::pack:
    case step_kind::find_record:
      look_up_records(
          one, n, [&](register_number argument) { return value(number, argument); }, own(number, one.result),
          scratch_->found, scratch_->records);
      return one.kind == step_kind::pack ? n : keep_found(number, one, n);
    case step_kind::unpack:
      unpack_records(
          one, n, value(number, one.arguments.front()), [&](register_number target) { return own(number, target); },
          scratch_->found);
      return keep_found(number, one, n);
  }
  return n;
}

void tile_steps::compute(std::size_t number, const step& one, std::uint32_t n) {
  if (one.is_wide || is_text_operation(one.scalar)) return compute_other(number, one, n);
  compute_tile(one.scalar, value(number, one.arguments.front()), value(number, one.arguments.back()), n,
               own(number, one.result));
}

/// Computes what needs more than two columns of words.
void tile_steps::compute_other(std::size_t number, const step& one, std::uint32_t n) {
  word* const result = own(number, one.result);
  if (one.is_wide) {
    compute_wide(
        one, n, [&](register_number argument) { return value(number, argument); },
        [&](register_number target) { return own(number, target); }, *program_->wide);
  } else if (one.scalar == scalar_op::next_counter) {
    count_up(*program_, n, result);
  } else if (one.scalar == scalar_op::iteration_number) {
    std::fill_n(result, n, *program_->iteration);
  } else {
    std::vector<const word*> arguments;
    for (register_number argument : one.arguments) arguments.push_back(value(number, argument));
    if (one.scalar == scalar_op::call_functor) {
      program_->functors->call(arguments, n, result);
    } else {
      compute_text_tile(one.scalar, arguments, n, result, *program_->symbols, scratch_->parts, program_->wide);
    }
  }
}

std::uint32_t tile_steps::filter(std::size_t number, const step& one, std::uint32_t n) {
  if (one.is_wide) return filter_wide(number, one, n);
  const std::uint32_t kept = select_tile(one.comparison, value(number, one.arguments[0]),
                                         value(number, one.arguments[1]), n, program_->symbols, scratch_->selected);
  return compact(number, one, n, kept);
}

std::uint32_t tile_steps::filter_wide(std::size_t number, const step& one, std::uint32_t n) {
  const auto read = [&](register_number argument) { return value(number, argument); };
  return compact(number, one, n, select_wide(one, n, read, *program_->wide, scratch_->selected));
}

void tile_steps::find_tuples(std::size_t number, const step& one, std::uint32_t n) {
  std::vector<const word*>& tuple = scratch_->tuple;
  tuple.resize(one.arguments.size());
  for (std::size_t c = 0; c < tuple.size(); ++c) tuple[c] = value(number, one.arguments[c]);
  if (storage::matrix_reader* const reader = step_reader(one.source)) {
    reader->contains(tuple.data(), n, scratch_->found);
    return check_cost(*reader);
  }
  relation_of(one.source).contains(tuple.data(), n, scratch_->insert, scratch_->found);
}

storage::matrix_reader* tile_steps::reader_of(std::vector<std::unique_ptr<storage::matrix_reader>>& readers,
                                              std::size_t place, relation_number number) {
  storage::host_row_matrix* const matrix = relation_of(number).matrix();
  if (matrix == nullptr) return nullptr;
  if (readers.size() <= place) readers.resize(place + 1);
  if (readers[place] == nullptr) readers[place] = matrix->make_reader();
  return readers[place].get();
}

tile_steps::reader_keys tile_steps::keys_of(const storage::host_row_matrix& matrix, const storage::index_layout& layout,
                                            const std::vector<register_number>& keys, std::size_t from) const {
  reader_keys found;
  const auto begin = layout.order.begin();
  const auto end = begin + static_cast<std::ptrdiff_t>(keys.size());
  found.are_sources = std::find(begin, end, matrix.source_columns().front()) != end;
  for (const std::uint32_t column : found.are_sources ? matrix.source_columns() : matrix.target_columns())
    found.columns.push_back(value(from, keys[static_cast<std::size_t>(std::find(begin, end, column) - begin)]));
  return found;
}

void tile_steps::find_in_matrix(storage::matrix_reader& reader, std::size_t number, const step& one, std::uint32_t n) {
  const reader_keys keys =
      keys_of(reader.matrix(), relation_of(one.source).index(one.index).layout(), one.arguments, number);
  for (std::uint32_t i = 0; i < n; ++i) {
    if (keys.are_sources) {
      const std::uint32_t source = reader.source_number(keys.columns.data(), i);
      scratch_->found[i] = source != storage::matrix_reader::none && reader.has_targets(source) ? 1 : 0;
    } else {
      scratch_->found[i] = reader.target_number(keys.columns.data(), i) != storage::matrix_reader::none ? 1 : 0;
    }
  }
  check_cost(reader);
}

/// Tests whether a relation has rows with a key.
void tile_steps::find_any(std::size_t number, const step& one, std::uint32_t n) {
  std::fill_n(scratch_->found, n, std::uint8_t{0});
  if (const auto* classes = relation_of(one.source).as_equivalence()) {
    return find_in_equivalence(*classes, number, one, n);
  }
  if (storage::matrix_reader* const reader = step_reader(one.source)) {
    return find_in_matrix(*reader, number, one, n);
  }
  expansion_scratch& state = scratch_->probe;
  index_of(one.source, one.index)
      .for_each_run(one.part != row_part::delta, one.part != row_part::old, [&](const storage::sorted_run& run) {
        find_keys(run.level(one.level), one.arguments, number, n, state);
        for (std::uint32_t i = 0; i < n; ++i) scratch_->found[i] |= state.ranges[i].count != 0 ? 1 : 0;
      });
}

void tile_steps::find_in_equivalence(const storage::equivalence& classes, std::size_t number, const step& one,
                                     std::uint32_t n) {
  const bool with_old = reads_old(one.part);
  const bool with_delta = reads_delta(one.part);
  const word* const first = value(number, one.arguments.front());
  const word* const second = value(number, one.arguments.back());
  for (std::uint32_t i = 0; i < n; ++i) {
    const bool found = one.arguments.size() == 1 ? classes.is_element(first[i], with_old, with_delta)
                                                 : classes.is_pair(first[i], second[i], with_old, with_delta);
    scratch_->found[i] = found ? 1 : 0;
  }
}

std::uint32_t tile_steps::keep_found(std::size_t number, const step& one, std::uint32_t n) {
  const std::uint8_t wanted = one.negated ? 0 : 1;
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i < n; ++i) {
    scratch_->selected[kept] = static_cast<std::uint16_t>(i);
    kept += scratch_->found[i] == wanted ? 1 : 0;
  }
  return compact(number, one, n, kept);
}

std::uint32_t tile_steps::compact(std::size_t number, const step& one, std::uint32_t n, std::uint32_t kept) {
  if (kept == n || kept == 0) return kept;
  for (register_number live : one.live) {
    word* const values = own(number, live);
    for (std::uint32_t i = 0; i < kept; ++i) values[i] = values[scratch_->selected[i]];
  }
  return kept;
}

}  // namespace gpulog::kernels

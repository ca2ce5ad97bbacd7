#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/join/pipeline.hpp"
#include "kernels/join/tile_scratch.hpp"
#include "storage/relation/relation.hpp"

namespace gpulog::kernels {

using storage::relation;

/// A pipeline's tiles, with tile_rows words per segment and slot, and the steps that compute on tiles.
class tile_steps {
 public:
  tile_steps(const pipeline& program, const relation_list<relation>& relations, tile_scratch& scratch)
      : program_(&program), relations_(&relations), scratch_(&scratch) {
    scratch.prepare(program);
  }

  [[nodiscard]] relation& relation_of(relation_number number) const { return *(*relations_)[number]; }
  /// An index to search. With several workers it is up to date.
  [[nodiscard]] const storage::sorted_index& index_of(relation_number number, std::size_t index) const {
    const relation& source = relation_of(number);
    if (program_->indexes != nullptr && !source.is_fresh(index)) program_->indexes->refresh(number, index);
    return source.index(index);
  }

  /// Returns the reader for steps, or nullptr if the relation has columns.
  [[nodiscard]] storage::matrix_reader* step_reader(relation_number number) {
    return reader_of(scratch_->step_readers, number, number);
  }
  /// Returns the reader for an expansion of this relation, or nullptr if the relation has columns.
  [[nodiscard]] storage::matrix_reader* expansion_reader(std::size_t segment_number, relation_number number) {
    return reader_of(scratch_->expansion_readers, segment_number, number);
  }
  /// @throws costly_reading
  static void check_cost(const storage::matrix_reader& reader) {
    if (reader.matrix().is_over_limit()) throw costly_reading{};
  }
  /// The keys of a lookup in a matrix: whether they select a source or a target, and the key columns in
  /// segment `from`, in column order. The pipeline builder guarantees that every key column is bound.
  struct reader_keys {
    bool are_sources = true;
    std::vector<const word*> columns;
  };
  [[nodiscard]] reader_keys keys_of(const storage::host_row_matrix& matrix, const storage::index_layout& layout,
                                    const std::vector<register_number>& keys, std::size_t from) const;

  [[nodiscard]] word* own(std::size_t segment_number, register_number number) {
    return scratch_->registers.data() + (segment_number * program_->slot_count + number) * tile_rows;
  }
  [[nodiscard]] const word* value(std::size_t segment_number, register_number number) const {
    if (number >= program_->slot_count) return scratch_->constants.data() + (number - program_->slot_count) * tile_rows;
    return scratch_->registers.data() + (segment_number * program_->slot_count + number) * tile_rows;
  }

  /// Runs a step on the first n bindings of a segment's tile.
  /// @return the number of bindings left
  /// @throws arithmetic_fault
  std::uint32_t apply_step(std::size_t number, const step& one, std::uint32_t n) {
    if (one.kind == step_kind::filter) return filter(number, one, n);
    if (one.kind != step_kind::compute) return look_up(number, one, n);
    compute(number, one, n);
    return n;
  }

  /// Looks up the range of each binding of segment `from` in a run, prefetching all slots.
  void find_keys(const storage::key_level& level, const std::vector<register_number>& keys, std::size_t from,
                 std::uint32_t n, expansion_scratch& state) {
    const word* columns[3] = {value(from, keys[0]), keys.size() > 1 ? value(from, keys[1]) : nullptr, nullptr};
    if (level.is_direct()) {
      for (std::uint32_t i = 0; i < n; ++i) state.ranges[i] = level.find_direct(columns[0][i]);
      return;
    }
    const auto find_all = [&](const auto& key_of) {
      for (std::uint32_t i = 0; i < n; ++i) {
        state.codes[i] = level.code(key_of(i));
        state.homes[i] = level.home(state.codes[i]);
        level.prefetch(state.homes[i]);
      }
      for (std::uint32_t i = 0; i < n; ++i) state.ranges[i] = level.find(state.codes[i], state.homes[i], key_of(i));
    };
    if (keys.size() <= 2) {
      find_all([&](std::uint32_t i) { return [&columns, i](std::uint32_t c) { return columns[c][i]; }; });
    } else {
      find_all(
          [&](std::uint32_t i) { return [this, &keys, from, i](std::uint32_t c) { return value(from, keys[c])[i]; }; });
    }
  }

 private:
  void compute(std::size_t number, const step& one, std::uint32_t n);
  void compute_other(std::size_t number, const step& one, std::uint32_t n);
  std::uint32_t filter(std::size_t number, const step& one, std::uint32_t n);
  std::uint32_t filter_wide(std::size_t number, const step& one, std::uint32_t n);
  std::uint32_t look_up(std::size_t number, const step& one, std::uint32_t n);
  [[nodiscard]] storage::matrix_reader* reader_of(std::vector<std::unique_ptr<storage::matrix_reader>>& readers,
                                                  std::size_t place, relation_number number);
  void find_tuples(std::size_t number, const step& one, std::uint32_t n);
  void find_any(std::size_t number, const step& one, std::uint32_t n);
  void find_in_matrix(storage::matrix_reader& reader, std::size_t number, const step& one, std::uint32_t n);
  void find_in_equivalence(const storage::equivalence& classes, std::size_t number, const step& one, std::uint32_t n);
  std::uint32_t keep_found(std::size_t number, const step& one, std::uint32_t n);
  std::uint32_t compact(std::size_t number, const step& one, std::uint32_t n, std::uint32_t kept);

  const pipeline* program_;
  const relation_list<relation>* relations_;
  tile_scratch* scratch_;
};

}  // namespace gpulog::kernels

#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "kernels/calibration.hpp"
#include "kernels/join/fold.hpp"
#include "kernels/join/fold_memory.hpp"
#include "kernels/join/tile_sources.hpp"
#include "kernels/steps/functor_table.hpp"
#include "kernels/steps/wide_steps.hpp"

namespace gpulog::kernels {

/// Folds tiles of an aggregate's body, with shortcuts that avoid reading rows.
class tile_folds {
 public:
  tile_folds(tile_steps& steps, tile_sources& sources, const pipeline& program, tile_scratch& scratch)
      : steps_(&steps), sources_(&sources), program_(&program), scratch_(&scratch) {}

  /// Adds the values of n bindings to their groups.
  void add_to_fold(const segment& here, fold_state& state, std::size_t number, const word* owners, std::uint32_t n) {
    if (program_->segments[here.ended_fold].first_match) return state.add_matches(owners, n);
    if (here.fold == fold_op::functor)
      return call_for_values(here, state, steps_->value(number, here.folded), owners, n);
    if (program_->wide == nullptr)
      return state.add(here.fold, here.is_signed, owners, steps_->value(number, here.folded), n);
    wide_word values[tile_rows];
    const word* const upper = here.upper_folded == no_register ? nullptr : steps_->value(number, here.upper_folded);
    read_values(steps_->value(number, here.folded), upper, n, *program_->wide, values);
    state.add(here.fold, here.is_signed, owners, values, n);
  }
  [[nodiscard]] word folded_value(const fold_state& state, fold_op op, std::uint32_t group) const {
    // A functor receives and returns column words.
    if (op == fold_op::functor) return static_cast<word>(state.value(op, group, word_size::bits32));
    const word_size words = program_->wide == nullptr ? word_size::bits32 : word_size::bits64;
    return storage::word_of(state.value(op, group, words), program_->wide);
  }

  /// Returns the equivalence relation if an aggregate or a first match reads all partners of one key and nothing else
  /// of the binding: the result is then the same for all members of a class. Otherwise returns nullptr: the partners in
  /// delta differ between the members of merged classes.
  [[nodiscard]] const storage::equivalence* folded_classes(std::size_t number) const {
    const segment& fold = program_->segments[number];
    const segment& body = program_->segments[number + 1];
    const bool is_search = body.kind == expansion_kind::match && body.ended_fold == number && body.keys.size() == 1;
    if (!is_search || body.part != row_part::all || !fold.steps.empty() || body.folds_row_counts) return nullptr;
    const bool depends_on_key_only = fold.carried == body.keys && std::find(body.carried.begin(), body.carried.end(),
                                                                            body.keys.front()) == body.carried.end();
    return depends_on_key_only ? steps_->relation_of(body.source).as_equivalence() : nullptr;
  }

  /// Finds the columns that an aggregate's body reads, and those that group its n bindings: values of an equivalence
  /// relation are grouped by their classes.
  void read_columns(std::size_t number, std::uint32_t n, fold_state& state) const {
    state.columns().clear();
    for (const register_number carried : program_->segments[number].carried)
      state.columns().push_back(steps_->value(number - 1, carried));
    state.keys() = state.columns();
    if (const storage::equivalence* const classes = folded_classes(number)) {
      word* const class_numbers = state.class_numbers();
      for (std::uint32_t i = 0; i < n; ++i) class_numbers[i] = classes->class_number(state.columns().front()[i]);
      state.keys().front() = class_numbers;
    }
  }

  /// Computes the results of all groups: uses remembered results, and calls run(groups, n) for the remaining groups.
  /// @param known nullptr: nothing is remembered
  /// @param worker number of the calling worker; nullptr: the only worker
  /// @param run returns the number of bindings of the body
  template <class Run>
  static void fold_groups(fold_results* known, fold_state& state, const fold_keys& keys, std::uint32_t groups,
                          const unsigned* worker, const Run& run) {
    std::uint16_t* const wanted = state.wanted();
    std::iota(wanted, wanted + groups, std::uint16_t{0});
    if (known == nullptr) {
      run(wanted, groups);
      return;
    }
    std::uint32_t left = known->find(keys, wanted, groups, state.results());
    if (left == 0) return;
    // Workers that need the same large groups at the same time start with different ones. After each piece, a worker
    // checks which of the remaining groups are now complete.
    if (worker != nullptr) std::rotate(wanted, wanted + *worker * 0x9E37U % left, wanted + left);
    std::uint32_t piece = worker != nullptr ? std::max(1U, left / calibration::fold_pieces) : left;
    while (left != 0) {
      piece = std::min(piece, left);
      left -= piece;
      const std::uint64_t bindings = run(wanted + left, piece);
      known->add(keys, wanted + left, piece, state.results(), bindings);
      if (bindings < calibration::few_fold_bindings * piece) piece = left;
      if (left != 0) left = known->find(keys, wanted, left, state.results());
    }
  }

  /// Loads the columns of some groups, and numbers the groups, in the tile of the fold.
  void load_groups(std::size_t number, const std::vector<const word*>& columns, const std::uint16_t* wanted,
                   std::uint32_t n) {
    const segment& fold = program_->segments[number];
    fold_state& state = *scratch_->folds[number];
    state.clear(n);
    for (std::size_t c = 0; c < columns.size(); ++c) {
      word* const to = steps_->own(number, fold.carried[c]);
      for (std::uint32_t i = 0; i < n; ++i) to[i] = columns[c][state.representatives()[wanted[i]]];
    }
    word* const owners = steps_->own(number, fold.owner);
    for (std::uint32_t i = 0; i < n; ++i) owners[i] = i;
  }
  /// Copies the carried registers of n selected bindings of segment `from`.
  void carry_selected(std::size_t from, std::size_t into, std::uint32_t n) {
    for (const register_number carried : program_->segments[into].carried) {
      const word* const values = steps_->value(from, carried);
      word* const to = steps_->own(into, carried);
      for (std::uint32_t i = 0; i < n; ++i) to[i] = values[scratch_->selected[i]];
    }
  }

  /// Returns the result of a group at the end of the body, or whether a first match has a match.
  [[nodiscard]] fold_result result_of(const fold_state& state, const segment& fold, std::uint32_t group) const {
    if (fold.first_match) return {0, state.has_match(group)};
    const segment& last = program_->segments[fold.unfold - 1];
    const fold_op op = last.fold;
    if (program_->wraps_around != nullptr) {
      const word_size words = program_->wide == nullptr ? word_size::bits32 : word_size::bits64;
      if (state.wraps_around(op, last.is_signed, group, words)) program_->wraps_around->store(true);
    }
    const bool has_value = state.has_value(op, group);
    return {has_value ? folded_value(state, op, group) : 0, has_value};
  }

  /// Returns whether an aggregate is a single search whose rows are only counted, which is cheaper than a lookup of a
  /// remembered result.
  [[nodiscard]] bool is_counted_search(std::size_t number) const {
    const segment& body = program_->segments[number + 1];
    return program_->segments[number].steps.empty() && body.ended_fold == number && body.folds_row_counts;
  }
  /// For the last segment of a body and n bindings of the previous segment: folds one value per matching row, without
  /// reading the rows.
  /// @return the number of matching rows
  std::uint64_t fold_row_counts(std::size_t number, std::uint32_t n) {
    const segment& last = program_->segments[number];
    fold_state& folded = *scratch_->folds[last.ended_fold];
    const word* const owners = steps_->value(number - 1, program_->segments[last.ended_fold].owner);
    const word* const lower = last.fold == fold_op::count ? nullptr : steps_->value(number - 1, last.folded);
    const word* const upper =
        lower == nullptr || last.upper_folded == no_register ? nullptr : steps_->value(number - 1, last.upper_folded);
    wide_word wide_values[tile_rows];
    if (lower != nullptr && program_->wide != nullptr) read_values(lower, upper, n, *program_->wide, wide_values);
    std::uint64_t all = 0;
    for_each_row_count(number, n, [&](std::uint32_t i, std::uint64_t rows) {
      all += rows;
      if (lower == nullptr) {
        folded.add_matches(owners[i], rows);
      } else if (program_->wide == nullptr) {
        folded.add_repeated(last.is_signed, owners[i], lower[i], rows);
      } else {
        folded.add_repeated(last.is_signed, owners[i], wide_values[i], rows);
      }
    });
    return all;
  }

 private:
  /// Calls action(i, rows) for each binding and each range of matching rows.
  template <class Action>
  void for_each_row_count(std::size_t number, std::uint32_t n, const Action& action) {
    const segment& here = program_->segments[number];
    if (here.kind == expansion_kind::scan) {
      const part_rows rows = rows_of(steps_->relation_of(here.source), here);
      for (std::uint32_t i = 0; i < n; ++i) action(i, rows.end - rows.begin);
      return;
    }
    if (const auto* classes = steps_->relation_of(here.source).as_equivalence()) {
      const auto [first, second] = sources_->keys_of(number);
      for (std::uint32_t i = 0; i < n; ++i) {
        for (const auto& found : find_pairs(*classes, here.part, first, second, i)) action(i, found.count);
      }
      return;
    }
    if (storage::matrix_reader* const reader = steps_->expansion_reader(number, here.source)) {
      sources_->count_found(*reader, number, n, action);
      return;
    }
    expansion_scratch& state = *scratch_->expansions[number];
    steps_->index_of(here.source, here.index)
        .for_each_run(here.part != row_part::delta, here.part != row_part::old, [&](const storage::sorted_run& run) {
          sources_->find_ranges(number, run.level(here.level), n);
          for (std::uint32_t i = 0; i < n; ++i) action(i, state.ranges[i].count);
        });
  }

  /// Sequential, because a functor's result depends on the previous result.
  void call_for_values(const segment& here, fold_state& state, const word* values, const word* owners,
                       std::uint32_t n) {
    for (std::uint32_t i = 0; i < n; ++i) {
      wide_word& so_far = state.so_far(owners[i], here.initial);
      const auto before = static_cast<word>(so_far);
      word result = 0;
      program_->functors->call({&here.called, &before, values + i}, 1, &result);
      so_far = result;
    }
  }

  tile_steps* steps_;
  tile_sources* sources_;
  const pipeline* program_;
  tile_scratch* scratch_;
};

}  // namespace gpulog::kernels

#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "kernels/join/equivalence_reader.hpp"
#include "kernels/join/shared_matches.hpp"
#include "kernels/join/tile_steps.hpp"
#include "kernels/join/windows.hpp"
#include "kernels/steps/ranges.hpp"

namespace gpulog::kernels {

/// Finds the rows that a segment's expansion pairs with the bindings of the previous tile, and loads the pairs into the
/// segment's tile: from a relation, an index, a range of numbers, or rows sorted for a window.
class tile_sources {
 public:
  /// @param windows of this run, shared by all workers; nullptr: scans read all rows
  tile_sources(tile_steps& steps, const pipeline& program, tile_scratch& scratch, run_windows* windows)
      : steps_(&steps), program_(&program), scratch_(&scratch), windows_(windows) {}

  /// Returns whether sorted_for() may return sorted rows.
  [[nodiscard]] bool has_window(std::size_t number) const {
    return windows_ != nullptr && !program_->segments[number].limits.bounds.empty();
  }

  /// Returns the rows of a scan sorted by the window's column, or nullptr to scan in row order.
  [[nodiscard]] const sorted_rows* sorted_for(std::size_t number, part_rows rows, std::uint32_t n) {
    const segment& here = program_->segments[number];
    if (!has_window(number)) return nullptr;
    return windows_->find(number, here, steps_->relation_of(here.source).column(here.limits.column), rows, n);
  }

  /// Returns the rows of a key in a run, sorted by the window's column, or nullptr.
  [[nodiscard]] const sorted_rows* sorted_for(std::size_t number, const storage::sorted_run& run,
                                              const storage::row_range& range) {
    const segment& here = program_->segments[number];
    if (!has_window(number)) return nullptr;
    const std::uint32_t* const positions = run.positions();
    const word* const column = positions != nullptr ? steps_->relation_of(here.source).column(here.limits.column)
                                                    : run.stored(here.limits.column);
    return windows_->find_of_key(number, here.limits, &run, range.first, range.count, [&](std::uint64_t row) {
      return positions != nullptr ? column[positions[range.first + row]] : column[range.first + row];
    });
  }

  /// Calls action(places) for each range of sorted rows within a binding's bounds. If an aggregate needs only the
  /// number of rows, the minimum or the maximum, or if a first match needs only existence, the range has at most one
  /// row.
  template <class Action>
  void for_each_wanted(std::size_t number, const sorted_rows& sorted, std::uint32_t i, const Action& action) {
    const segment& here = program_->segments[number];
    const auto is_of_sum = [](const window::bound& bound) { return bound.is_of_sum(); };
    if (std::none_of(here.limits.bounds.begin(), here.limits.bounds.end(), is_of_sum)) {
      action(wanted_of(number, sorted, i));
      return;
    }
    const word_size words = program_->wide == nullptr ? word_size::bits32 : word_size::bits64;
    window_ranges ranges(words);
    for (const window::bound& bound : here.limits.bounds) {
      wide_word sum = 0;
      for (const window::summand& one : bound.summands) {
        const wide_word value = known_value(number, one.value, i);
        sum += one.is_subtracted ? 0 - value : value;
      }
      ranges.keep(bound, here.limits.is_signed, known_value(number, bound.value, i), sum);
    }
    for (const key_range& range : ranges) {
      const auto first = std::lower_bound(sorted.keys.begin(), sorted.keys.end(), range.first);
      const auto last = std::upper_bound(first, sorted.keys.end(), range.last);
      action(part_rows{static_cast<std::uint64_t>(first - sorted.keys.begin()),
                       static_cast<std::uint64_t>(last - sorted.keys.begin())});
    }
  }

  /// Returns the number of values in a binding's range.
  [[nodiscard]] std::uint64_t size_of_range(std::size_t number, std::uint32_t i) const {
    const auto kind = program_->segments[number].value;
    if (program_->wide == nullptr)
      return range_size(kind, range_key(number, 0, i), range_key(number, 1, i), step_of_range(number, i));
    return range_size(kind, wide_range_key(number, 0, i), wide_range_key(number, 1, i), wide_step_of_range(number, i));
  }

  /// Returns the values of the one or two keys of a search in an equivalence relation.
  [[nodiscard]] std::pair<const word*, const word*> keys_of(std::size_t number) const {
    const segment& here = program_->segments[number];
    const std::size_t from = number == 0 ? 0 : number - 1;
    return {steps_->value(from, here.keys[0]), here.keys.size() > 1 ? steps_->value(from, here.keys[1]) : nullptr};
  }

  /// Makes the first segment read the given columns: one per column of the relation, nullptr for unread columns.
  /// nullptr: reads the relation again.
  void give_rows(const word* const* columns) { given_ = columns; }
  [[nodiscard]] bool are_given() const { return given_ != nullptr; }

  /// Looks up n bindings of the previous segment in a matrix. Calls action(wanted_rows) for places in the columns of
  /// targets, or in the columns of sources if the keys are targets.
  /// @throws costly_reading
  template <class Action>
  void find_in_matrix(storage::matrix_reader& reader, std::size_t number, std::uint32_t n, const Action& action) {
    const tile_steps::reader_keys keys = reader_keys_of(reader.matrix(), number);
    for (std::uint32_t i = 0; i < n; ++i) {
      const std::uint32_t key = keys.are_sources ? reader.source_number(keys.columns.data(), i)
                                                 : reader.target_number(keys.columns.data(), i);
      if (key == storage::matrix_reader::none) continue;
      const storage::found_places found = keys.are_sources ? reader.targets_of(key) : reader.sources_of(key);
      tile_steps::check_cost(reader);
      found.for_each_range([&](std::uint64_t first, std::uint64_t behind) { action(wanted_rows{i, first, behind}); });
    }
  }
  /// Calls action(i, number of rows) for each binding with rows.
  template <class Action>
  void count_found(storage::matrix_reader& reader, std::size_t number, std::uint32_t n, const Action& action) {
    const tile_steps::reader_keys keys = reader_keys_of(reader.matrix(), number);
    for (std::uint32_t i = 0; i < n; ++i) {
      const std::uint32_t key = keys.are_sources ? reader.source_number(keys.columns.data(), i)
                                                 : reader.target_number(keys.columns.data(), i);
      if (key == storage::matrix_reader::none) continue;
      action(i, keys.are_sources ? reader.count_targets(key) : reader.count_sources(key));
    }
    tile_steps::check_cost(reader);
  }

  /// Reads rows [begin, begin + n) of the first segment's relation into the tile.
  void read_rows(const segment& first, std::uint64_t begin, std::uint32_t n) {
    if (given_ != nullptr) {
      for (const binding& bound : first.bindings)
        std::copy_n(given_[bound.column] + begin, n, steps_->own(0, bound.target));
      return;
    }
    const relation& from = steps_->relation_of(first.source);
    if (const storage::equivalence* const classes = from.as_equivalence()) {
      read_equivalence(*classes, first, begin, n,
                       [this](const binding& bound) { return steps_->own(0, bound.target); });
      return;
    }
    for (const binding& bound : first.bindings) {
      const word* const column = from.column(bound.column) + begin;
      word* const to = steps_->own(0, bound.target);
      *to = *column;  // one row needs no call
      if (n > 1) std::copy(column + 1, column + n, to + 1);
    }
  }

  /// Reads the given rows of a relation into the tile of segment `into`.
  void load_rows(const segment& read, const std::uint64_t* rows, std::uint32_t n, std::size_t into) {
    for (const binding& bound : read.bindings) {
      const word* const column = steps_->relation_of(read.source).column(bound.column);
      word* const to = steps_->own(into, bound.target);
      for (std::uint32_t i = 0; i < n; ++i) to[i] = column[rows[i]];
    }
  }

  /// Calls action(run) for each run of a search, after looking up the ranges of all bindings.
  template <class Action>
  void for_each_run_of(const search_choice& choice, std::size_t number, std::uint32_t n, const Action& action) {
    steps_->index_of(choice.source, choice.index).for_each_run(true, true, [&](const storage::sorted_run& run) {
      steps_->find_keys(run.level(choice.level), choice.keys, number - 1, n, *scratch_->expansions[number]);
      action(run);
    });
  }

  /// Chooses, for each binding, the search with the fewest rows.
  void choose_fewest(std::size_t number, std::uint32_t n) {
    const segment& here = program_->segments[number];
    const expansion_scratch& state = *scratch_->expansions[number];
    choice_scratch& choosing = *scratch_->choices[number];
    for (std::size_t c = 0; c < here.choices.size(); ++c) {
      std::uint64_t* const counts = c == 0 ? choosing.fewest : choosing.counts;
      std::fill_n(counts, n, 0);
      for_each_run_of(here.choices[c], number, n, [&](const storage::sorted_run&) {
        for (std::uint32_t i = 0; i < n; ++i) counts[i] += state.ranges[i].count;
      });
      if (c == 0) {
        std::fill_n(choosing.chosen, n, std::uint8_t{0});
        continue;
      }
      for (std::uint32_t i = 0; i < n; ++i) {
        if (counts[i] >= choosing.fewest[i]) continue;
        choosing.fewest[i] = counts[i];
        choosing.chosen[i] = static_cast<std::uint8_t>(c);
      }
    }
  }

  /// Looks up the rows of each binding's key, prefetching all slots.
  void find_ranges(std::size_t number, const storage::key_level& level, std::uint32_t n) {
    const segment& here = program_->segments[number];
    expansion_scratch& state = *scratch_->expansions[number];
    // The keys of the first segment are constants; keys of later segments are in the previous tile.
    const std::size_t from = number == 0 ? 0 : number - 1;
    steps_->find_keys(level, here.keys, from, n, state);
  }

  /// Looks up keys, and lists the bindings with rows in state.matched. Branchless, because the branch would be
  /// unpredictable.
  /// @return the number of bindings with rows
  std::uint32_t find_matched(std::size_t number, const storage::key_level& level, std::uint32_t n) {
    find_ranges(number, level, n);
    expansion_scratch& state = *scratch_->expansions[number];
    std::uint32_t matched = 0;
    for (std::uint32_t i = 0; i < n; ++i) {
      state.matched[matched] = static_cast<std::uint16_t>(i);
      matched += state.ranges[i].count != 0 ? 1 : 0;
    }
    return matched;
  }

  /// Lists in state.matched the bindings with rows that use choice number c.
  /// @return the number of these bindings
  std::uint32_t find_chosen(std::size_t number, std::size_t c, std::uint32_t n) {
    expansion_scratch& state = *scratch_->expansions[number];
    const choice_scratch& choosing = *scratch_->choices[number];
    std::uint32_t matched = 0;
    for (std::uint32_t i = 0; i < n; ++i) {
      if (choosing.chosen[i] == c && state.ranges[i].count != 0)
        state.matched[matched++] = static_cast<std::uint16_t>(i);
    }
    return matched;
  }

  /// Leaves n bindings to all workers if they have many matches and are not in the body of an aggregate.
  /// @param wanted returns the rows that match binding k
  /// @return whether the matches were shared
  template <class Wanted>
  bool share(match_sharer& sharer, std::size_t number, const row_source& source, std::uint32_t n,
             const Wanted& wanted) {
    std::uint64_t all = 0;
    for (std::uint32_t k = 0; k < n; ++k) all += wanted(k).end - wanted(k).begin;
    if (!sharer.takes(all) || program_->is_in_fold(number)) return false;
    const std::vector<register_number>& carried = program_->segments[number].carried;
    backend::memory_resource& memory = scratch_->registers.resource();
    constexpr auto anything = backend::fresh_memory::anything;
    shared_matches shared{number,
                          source,
                          n,
                          {memory, carried.size() * n, anything},
                          {memory, n, anything},
                          {memory, n + std::uint64_t{1}, anything}};
    all = 0;
    for (std::uint32_t k = 0; k < n; ++k) {
      const wanted_rows rows = wanted(k);
      shared.rows[k] = rows.begin;
      shared.begins[k] = all;
      all += rows.end - rows.begin;
      for (std::size_t c = 0; c < carried.size(); ++c)
        shared.carried[c * n + k] = steps_->value(number - 1, carried[c])[rows.owner];
    }
    shared.begins[n] = all;
    sharer.share(std::move(shared));
    return true;
  }

  /// Loads the bindings of matches [begin, end) into the previous segment's tile. Calls action(wanted_rows) for the
  /// rows of each binding.
  template <class Action>
  void load_matches(const shared_matches& shared, std::uint64_t begin, std::uint64_t end, const Action& action) {
    const std::uint64_t* const begins = shared.begins.data();
    const std::uint64_t first =
        static_cast<std::uint64_t>(std::upper_bound(begins, begins + shared.bindings, begin) - begins) - 1;
    const std::uint64_t last =
        static_cast<std::uint64_t>(std::lower_bound(begins + first, begins + shared.bindings, end) - begins);
    const std::vector<register_number>& carried = program_->segments[shared.segment].carried;
    for (std::size_t c = 0; c < carried.size(); ++c) {
      std::copy_n(shared.carried.data() + c * shared.bindings + first, last - first,
                  steps_->own(shared.segment - 1, carried[c]));
    }
    for (std::uint64_t k = first; k < last; ++k) {
      const std::uint64_t row = shared.rows[k] - begins[k];
      action(wanted_rows{static_cast<std::uint32_t>(k - first), row + std::max(begin, begins[k]),
                         row + std::min(end, begins[k + 1])});
    }
  }

  /// Loads the registers of the pairs written since the last call, all from one run. Reads the column pointers anew,
  /// because growth of the relation may have moved the columns.
  void gather(std::size_t number, const row_source& source) {
    const storage::sorted_run* const run = source.run;
    const segment& here = program_->segments[number];
    expansion_scratch& state = *scratch_->expansions[number];
    const std::uint32_t begin = state.gathered;
    const std::uint32_t end = state.filled;
    state.gathered = end;
    if (begin == end) return;
    if (number != 0) {
      for (register_number kept : here.carried) {
        const word* const from = steps_->value(number - 1, kept);
        word* const to = steps_->own(number, kept);
        for (std::uint32_t i = begin; i < end; ++i) to[i] = from[state.owners[i]];
      }
    }
    if (here.kind == expansion_kind::range) {
      if (program_->wide != nullptr) return gather_wide_range(number, begin, end);
      return gather_range(number, begin, end);
    }
    if (source.choice != nullptr) {
      read_column(number, steps_->relation_of(source.choice->source), run, source.choice->bound, begin);
      return;
    }
    if (source.sorted != nullptr) {
      for (const binding& bound : here.bindings) {
        const word* const column = steps_->relation_of(here.source).column(bound.column);
        word* const to = steps_->own(number, bound.target);
        for (std::uint32_t i = begin; i < end; ++i) to[i] = column[source.sorted->rows[state.rows[i]]];
      }
      return;
    }
    if (here.kind == expansion_kind::match) {
      if (const storage::host_row_matrix* const matrix = steps_->relation_of(here.source).matrix())
        return gather_targets(*matrix, number, begin);
    }
    const storage::equivalence* const classes = steps_->relation_of(here.source).as_equivalence();
    if (classes != nullptr && here.kind == expansion_kind::scan) {
      gather_equivalence(*classes, here, state.rows + begin, end - begin,
                         [&](const binding& bound) { return steps_->own(number, bound.target) + begin; });
      return;
    }
    for (const binding& bound : here.bindings) {
      if (classes == nullptr) {
        read_column(number, steps_->relation_of(here.source), run, bound, begin);
        continue;
      }
      word* const to = steps_->own(number, bound.target);
      const word* const column = classes->members();
      for (std::uint32_t i = begin; i < end; ++i) to[i] = column[state.rows[i]];
    }
  }

 private:
  [[nodiscard]] part_rows wanted_of(std::size_t number, const sorted_rows& sorted, std::uint32_t i) {
    part_rows wanted = window_of(number, sorted, i);
    const segment& here = program_->segments[number];
    if (wanted.begin == wanted.end || here.ended_fold == 0 || !asks_window_only(here)) return wanted;
    if (program_->segments[here.ended_fold].first_match) return {wanted.begin, wanted.begin + 1};
    if (here.fold == fold_op::count) {
      const word owner = steps_->value(number - 1, program_->segments[here.ended_fold].owner)[i];
      scratch_->folds[here.ended_fold]->add_matches(owner, wanted.end - wanted.begin);
      return {wanted.begin, wanted.begin};
    }
    const bool is_signed = here.limits.is_signed;
    const auto folds_column = [&here](const binding& bound) {
      return bound.target == here.folded && bound.column == here.limits.column;
    };
    if (std::none_of(here.bindings.begin(), here.bindings.end(), folds_column)) return wanted;
    if (here.fold == (is_signed ? fold_op::min_number : fold_op::min_unsigned)) wanted.end = wanted.begin + 1;
    if (here.fold == (is_signed ? fold_op::max_number : fold_op::max_unsigned)) wanted.begin = wanted.end - 1;
    return wanted;
  }

  /// Returns whether the window implies all filters: each filter became a bound.
  static bool asks_window_only(const segment& body) {
    return body.steps.size() == body.limits.bounds.size() &&
           std::all_of(body.steps.begin(), body.steps.end(),
                       [](const step& one) { return one.kind == step_kind::filter; });
  }

  /// Returns the range of sorted rows within a binding's bounds.
  [[nodiscard]] part_rows window_of(std::size_t number, const sorted_rows& sorted, std::uint32_t i) const {
    const window& limits = program_->segments[number].limits;
    auto first = sorted.keys.begin();
    auto last = sorted.keys.end();
    for (const window::bound& bound : limits.bounds) {
      const wide_word key = windows_->key_of(known_value(number, bound.value, i), limits.is_signed);
      // A strict lower bound and an inclusive upper bound: after all equal keys.
      const auto place =
          bound.is_upper == bound.is_strict ? std::lower_bound(first, last, key) : std::upper_bound(first, last, key);
      (bound.is_upper ? last : first) = place;
    }
    return {static_cast<std::uint64_t>(first - sorted.keys.begin()),
            static_cast<std::uint64_t>(last - sorted.keys.begin())};
  }

  [[nodiscard]] wide_word known_value(std::size_t number, const window::known_value& known, std::uint32_t i) const {
    const word lower = steps_->value(number - 1, known.value)[i];
    if (program_->wide == nullptr) return lower;
    if (known.upper == no_register) return program_->wide->value(lower);
    return wide_word{steps_->value(number - 1, known.upper)[i]} << 32 | lower;
  }

  [[nodiscard]] word range_key(std::size_t number, std::size_t key, std::uint32_t i) const {
    return steps_->value(number - 1, program_->segments[number].keys[key])[i];
  }
  [[nodiscard]] word step_of_range(std::size_t number, std::uint32_t i) const {
    const segment& here = program_->segments[number];
    if (here.keys.size() > 2) return range_key(number, 2, i);
    return default_step(here.value, range_key(number, 0, i), range_key(number, 1, i));
  }
  [[nodiscard]] wide_word wide_range_key(std::size_t number, std::size_t key, std::uint32_t i) const {
    const register_number upper = program_->segments[number].upper_keys[key];
    const word lower = range_key(number, key, i);
    if (upper == no_register) return program_->wide->value(lower);
    return wide_word{steps_->value(number - 1, upper)[i]} << 32 | lower;
  }
  [[nodiscard]] wide_word wide_step_of_range(std::size_t number, std::uint32_t i) const {
    const segment& here = program_->segments[number];
    if (here.keys.size() > 2) return wide_range_key(number, 2, i);
    return default_step(here.value, wide_range_key(number, 0, i), wide_range_key(number, 1, i));
  }

  void gather_range(std::size_t number, std::uint32_t begin, std::uint32_t end) {
    const segment& here = program_->segments[number];
    const expansion_scratch& state = *scratch_->expansions[number];
    const word* const from = steps_->value(number - 1, here.keys[0]);
    for (const binding& bound : here.bindings) {
      word* const to = steps_->own(number, bound.target);
      for (std::uint32_t i = begin; i < end; ++i) {
        const std::uint16_t owner = state.owners[i];
        to[i] = range_value(here.value, from[owner], step_of_range(number, owner), state.rows[i]);
      }
    }
  }
  void gather_wide_range(std::size_t number, std::uint32_t begin, std::uint32_t end) {
    const segment& here = program_->segments[number];
    const expansion_scratch& state = *scratch_->expansions[number];
    word* const lower = steps_->own(number, here.bindings.front().target);
    word* const upper = steps_->own(number, here.upper_value);
    for (std::uint32_t i = begin; i < end; ++i) {
      const std::uint16_t owner = state.owners[i];
      const wide_word made =
          range_value(here.value, wide_range_key(number, 0, owner), wide_step_of_range(number, owner), state.rows[i]);
      lower[i] = static_cast<word>(made);
      upper[i] = static_cast<word>(made >> 32);
    }
  }

  [[nodiscard]] tile_steps::reader_keys reader_keys_of(const storage::host_row_matrix& matrix,
                                                       std::size_t number) const {
    const segment& here = program_->segments[number];
    const std::size_t from = number == 0 ? 0 : number - 1;
    return steps_->keys_of(matrix, steps_->relation_of(here.source).index(here.index).layout(), here.keys, from);
  }

  /// The rows of pairs are places of targets, or of sources.
  void gather_targets(const storage::host_row_matrix& matrix, std::size_t number, std::uint32_t begin) {
    const segment& here = program_->segments[number];
    const expansion_scratch& state = *scratch_->expansions[number];
    const storage::index_layout& layout = steps_->relation_of(here.source).index(here.index).layout();
    for (const binding& bound : here.bindings) {
      const std::uint32_t column = layout.positions ? bound.column : layout.stored[bound.column];
      const word* const from = matrix.values_of(column).values;
      word* const to = steps_->own(number, bound.target);
      for (std::uint32_t i = begin; i < state.filled; ++i) to[i] = from[state.rows[i]];
    }
  }

  /// Loads one register of the pairs from `begin` on.
  void read_column(std::size_t number, const relation& from, const storage::sorted_run* run, const binding& bound,
                   std::uint32_t begin) {
    const expansion_scratch& state = *scratch_->expansions[number];
    const std::uint32_t end = state.filled;
    word* const to = steps_->own(number, bound.target);
    if (run != nullptr && run->positions() != nullptr) {
      const std::uint32_t* const positions = run->positions();
      const word* const column = from.column(bound.column);
      for (std::uint32_t i = begin; i < end; ++i) to[i] = column[positions[state.rows[i]]];
    } else {
      const word* const column = run == nullptr ? from.column(bound.column) : run->stored(bound.column);
      for (std::uint32_t i = begin; i < end; ++i) to[i] = column[state.rows[i]];
    }
  }

  tile_steps* steps_;
  const pipeline* program_;
  tile_scratch* scratch_;
  run_windows* windows_;
  const word* const* given_ = nullptr;
};

}  // namespace gpulog::kernels

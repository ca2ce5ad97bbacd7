#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <numeric>
#include <shared_mutex>
#include <utility>
#include <vector>

#include "kernels/equivalence_reader.hpp"
#include "kernels/fold.hpp"
#include "kernels/fold_memory.hpp"
#include "kernels/functor_table.hpp"
#include "kernels/ranges.hpp"
#include "kernels/records.hpp"
#include "kernels/steps.hpp"
#include "kernels/wide_steps.hpp"
#include "kernels/windows.hpp"
#include "storage/relation.hpp"

namespace gpulog::kernels {

using storage::relation;
using storage::tile_rows;

/// What an expansion knows of the tile before it, and of the pairs that it writes out.
struct expansion_scratch {
  std::uint64_t codes[tile_rows];
  std::uint64_t homes[tile_rows];
  storage::row_range ranges[tile_rows];
  std::uint16_t owners[tile_rows];
  std::uint64_t rows[tile_rows];
  std::uint32_t filled = 0;
  std::uint32_t gathered = 0;
};

/// What an expansion with a choice of searches knows of the tile before it.
struct choice_scratch {
  std::uint64_t fewest[tile_rows];
  std::uint64_t counts[tile_rows];
  std::uint8_t chosen[tile_rows];
};

/// One worker's memory for tiles; kept from rule to rule, so that a rule with a tiny delta pays no allocation.
struct tile_scratch {
  std::vector<word> registers;  // [segment][register][row of the tile]
  std::vector<word> constants;
  std::vector<std::unique_ptr<expansion_scratch>> expansions;
  std::vector<std::unique_ptr<fold_state>> folds;        // by segment; null for others
  expansion_scratch probe;                               // of existence tests
  std::vector<std::unique_ptr<choice_scratch>> choices;  // by segment; null for others
  storage::insert_scratch insert;
  std::uint16_t selected[tile_rows];
  std::uint8_t found[tile_rows];
  std::vector<word> fields;  // of one record
};

/// One worker's run of a pipeline. A tile of bindings, held in registers, flows through the segments: an expansion
/// looks up the keys of a tile together, writes out (binding, match) pairs until the next tile is full, and hands it
/// on; the last one offers the tile to the head's tuple set. So a body of any length needs one tile a segment and no
/// memory that grows with the candidates.
template <bool Concurrent>
class tile_runner {
 public:
  /// @param gate shared while the worker touches relations, exclusive while one makes room
  /// @param windows of this run, for all its workers; nullptr: scans read all rows
  /// @param folded what aggregates gave; nullptr: it is remembered as long as this runner lives
  tile_runner(const pipeline& program, const relation_list<relation>& relations, unsigned worker, tile_scratch& scratch,
              std::shared_mutex& gate, const std::atomic<bool>* stop, run_windows* windows = nullptr,
              std::shared_ptr<fold_memory> folded = nullptr)
      : program_(&program),
        relations_(&relations),
        scratch_(&scratch),
        gate_(&gate),
        stop_(stop),
        windows_(windows),
        worker_(worker),
        folded_(std::move(folded)) {
    const std::size_t segments = program.segments.size();
    const std::size_t words = segments * program.slot_count * tile_rows;
    if (scratch.registers.size() < words) scratch.registers.resize(words);
    scratch.constants.resize(std::max(scratch.constants.size(), program.constants.size() * tile_rows));
    for (std::size_t i = 0; i < program.constants.size(); ++i) {
      std::fill_n(scratch.constants.begin() + static_cast<std::ptrdiff_t>(i * tile_rows), tile_rows,
                  program.constants[i]);
    }
    while (scratch.expansions.size() < segments) scratch.expansions.push_back(std::make_unique<expansion_scratch>());
    scratch.folds.resize(std::max(scratch.folds.size(), segments));
    for (std::size_t i = 0; i < segments; ++i) {
      if (program.segments[i].kind == expansion_kind::fold && scratch.folds[i] == nullptr) {
        scratch.folds[i] = std::make_unique<fold_state>();
      }
    }
    scratch.choices.resize(std::max(scratch.choices.size(), segments));
    for (std::size_t i = 0; i < segments; ++i) {
      if (!program.segments[i].choices.empty() && scratch.choices[i] == nullptr) {
        scratch.choices[i] = std::make_unique<choice_scratch>();
      }
    }
    if (folded_ == nullptr) folded_ = memory_of_folds(program);
    head_.resize(program.head.size());
  }

  [[nodiscard]] std::uint64_t candidates() const { return candidates_; }
  [[nodiscard]] std::uint64_t fresh() const { return fresh_; }

  /// Runs over rows [begin, end) of the first segment's input. make_room is called with everybody else elsewhere.
  /// @throws arithmetic_fault, interrupted, backend::memory_exceeded
  template <class MakeRoom>
  void run(std::uint64_t begin, std::uint64_t end, const MakeRoom& make_room) {
    const hold held(*this);
    const segment& first = program_->segments.front();
    switch (first.kind) {
      case expansion_kind::unit:
        process(0, 1, make_room);
        break;
      case expansion_kind::match:
        expand(0, 1, make_room);
        break;
      case expansion_kind::scan: {
        const std::uint64_t offset = rows_of(relation_of(first.source), first).begin;
        const storage::equivalence* const classes = relation_of(first.source).as_equivalence();
        for (std::uint64_t row = begin; row < end; row += tile_rows) {
          const auto n = static_cast<std::uint32_t>(std::min<std::uint64_t>(tile_rows, end - row));
          if (classes != nullptr) {
            if (stop_ != nullptr && stop_->load(std::memory_order_relaxed)) throw interrupted{};
            read_equivalence(*classes, first, offset + row, n,
                             [this](const binding& bound) { return own(0, bound.target); });
            process(0, n, make_room);
            continue;
          }
          for (const binding& bound : first.bindings) {
            const word* const column = relation_of(first.source).column(bound.column) + offset + row;
            std::copy(column, column + n, own(0, bound.target));
          }
          process(0, n, make_room);
        }
        break;
      }
      case expansion_kind::range:
      case expansion_kind::fold:
      case expansion_kind::unfold:
      case expansion_kind::host:
        break;  // never first
    }
  }

  /// Of a pipeline that begins with two scans: runs what follows them on pairs of rows, n <= tile_rows. passes[i] =
  /// whether pair i reaches the end, where the head holds the register of the second segment that numbers the pairs.
  /// @throws as run
  void run_pairs(const std::uint64_t* first, const std::uint64_t* second, std::uint32_t n, std::uint8_t* passes) {
    const hold held(*this);
    const auto load = [&](std::size_t number, const std::uint64_t* rows, std::size_t into) {
      const segment& read = program_->segments[number];
      for (const binding& bound : read.bindings) {
        const word* const column = relation_of(read.source).column(bound.column);
        word* const to = own(into, bound.target);
        for (std::uint32_t i = 0; i < n; ++i) to[i] = column[rows[i]];
      }
    };
    load(0, first, 1);
    load(1, second, 1);
    word* const numbers = own(1, program_->head.front());
    for (std::uint32_t i = 0; i < n; ++i) numbers[i] = i;
    std::fill_n(passes, n, std::uint8_t{0});
    passes_ = passes;
    process(1, n, [] {});
    passes_ = nullptr;
  }

 private:
  /// Holds the gate while relations are read or written.
  class hold {
   public:
    explicit hold(tile_runner& runner) : runner_(runner) { runner_.enter(); }
    ~hold() { runner_.leave(); }
    hold(const hold&) = delete;
    hold& operator=(const hold&) = delete;

   private:
    tile_runner& runner_;
  };
  void enter() {
    if constexpr (Concurrent) gate_->lock_shared();
  }
  void leave() {
    if constexpr (Concurrent) gate_->unlock_shared();
  }

  [[nodiscard]] relation& relation_of(relation_number number) const { return *(*relations_)[number]; }

  [[nodiscard]] word* own(std::size_t segment_number, register_number number) {
    return scratch_->registers.data() + (segment_number * program_->slot_count + number) * tile_rows;
  }
  [[nodiscard]] const word* value(std::size_t segment_number, register_number number) const {
    if (number >= program_->slot_count) return scratch_->constants.data() + (number - program_->slot_count) * tile_rows;
    return scratch_->registers.data() + (segment_number * program_->slot_count + number) * tile_rows;
  }

  /// Runs the steps of a segment over its tile, then what follows.
  template <class MakeRoom>
  void process(std::size_t number, std::uint32_t n, const MakeRoom& make_room) {
    bindings_ += n;
    for (const step& one : program_->segments[number].steps) {
      n = apply_step(number, one, n);
      if (n == 0) return;
    }
    if (const segment& here = program_->segments[number]; here.ended_fold != 0) {
      const segment& fold = program_->segments[here.ended_fold];
      add_to_fold(here, *scratch_->folds[here.ended_fold], number, value(number, fold.owner), n);
    } else if (number + 1 == program_->segments.size()) {
      insert(number, n, make_room);
    } else if (program_->segments[number + 1].kind == expansion_kind::fold) {
      fold(number + 1, n, make_room);
    } else {
      expand(number + 1, n, make_room);
    }
  }

  void add_to_fold(const segment& here, fold_state& state, std::size_t number, const word* owners, std::uint32_t n) {
    if (here.fold == fold_op::functor) return call_for_values(here, state, value(number, here.folded), owners, n);
    if (program_->wide == nullptr) return state.add(here.fold, owners, value(number, here.folded), n);
    wide_word values[tile_rows];
    const word* const upper = here.upper_folded == no_register ? nullptr : value(number, here.upper_folded);
    read_values(value(number, here.folded), upper, n, *program_->wide, values);
    state.add(here.fold, owners, values, n);
  }
  /// One value after the other: what a functor gives depends on what it gave before.
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
  [[nodiscard]] word folded_value(const fold_state& state, fold_op op, std::uint32_t group) const {
    // A functor takes and gives words as they stand in columns.
    if (op == fold_op::functor) return static_cast<word>(state.value(op, group, word_size::bits32));
    const word_size words = program_->wide == nullptr ? word_size::bits32 : word_size::bits64;
    return storage::word_of(state.value(op, group, words), program_->wide);
  }

  /// Runs an aggregate for the tile of the segment before, then what follows the aggregate.
  template <class MakeRoom>
  void fold(std::size_t number, std::uint32_t n, const MakeRoom& make_room) {
    const segment& here = program_->segments[number];
    fold_state& state = *scratch_->folds[number];
    std::vector<const word*> columns;
    for (register_number carried : here.carried) columns.push_back(value(number - 1, carried));
    std::vector<const word*> keys = columns;
    if (const storage::equivalence* const classes = folded_classes(number)) {
      word* const class_numbers = state.class_numbers();
      for (std::uint32_t i = 0; i < n; ++i) class_numbers[i] = classes->class_number(columns.front()[i]);
      keys.front() = class_numbers;
    }
    const std::uint32_t groups = state.group(keys, n);
    fold_groups(number, columns, {&keys, state.representatives()}, groups, make_room);
    std::uint32_t kept = 0;
    word* const result = own(here.unfold, program_->segments[here.unfold].result);
    for (std::uint32_t i = 0; i < n; ++i) {
      const fold_result& found = state.results()[state.group_of(i)];
      if (!found.has_value) continue;
      result[kept] = found.value;
      scratch_->selected[kept++] = static_cast<std::uint16_t>(i);
    }
    unfold(number, kept, make_room);
  }

  /// Results of all groups: remembered ones, and the others from the body.
  template <class MakeRoom>
  void fold_groups(std::size_t number, const std::vector<const word*>& columns, const fold_keys& keys,
                   std::uint32_t groups, const MakeRoom& make_room) {
    fold_state& state = *scratch_->folds[number];
    std::uint16_t* const wanted = state.wanted();
    std::iota(wanted, wanted + groups, std::uint16_t{0});
    fold_results* const known = folded_->of(number);
    if (known == nullptr || !known->is_on() || counts_rows(number)) {
      return fold_wanted(number, columns, wanted, groups, make_room);
    }
    std::uint32_t left = known->find(keys, wanted, groups, state.results());
    if (left == 0) return;
    // Workers that want the same large groups at the same time begin with different ones, and look again after each
    // few.
    constexpr std::uint32_t pieces = 8;
    constexpr std::uint64_t few_bindings = 64;
    if constexpr (Concurrent) std::rotate(wanted, wanted + worker_ * 0x9E37U % left, wanted + left);
    std::uint32_t piece = Concurrent ? std::max(1U, left / pieces) : left;
    while (left != 0) {
      piece = std::min(piece, left);
      const std::uint64_t before = bindings_;
      left -= piece;
      fold_wanted(number, columns, wanted + left, piece, make_room);
      known->add(keys, wanted + left, piece, state.results(), bindings_ - before);
      if (bindings_ - before < few_bindings * piece) piece = left;
      if (left != 0) left = known->find(keys, wanted, left, state.results());
    }
  }

  /// Runs the body of an aggregate for some groups, each of which stands for its key's binding.
  template <class MakeRoom>
  void fold_wanted(std::size_t number, const std::vector<const word*>& columns, const std::uint16_t* wanted,
                   std::uint32_t n, const MakeRoom& make_room) {
    const segment& here = program_->segments[number];
    const fold_op op = program_->segments[here.unfold - 1].fold;
    fold_state& state = *scratch_->folds[number];
    state.clear(n);
    for (std::size_t c = 0; c < columns.size(); ++c) {
      word* const to = own(number, here.carried[c]);
      for (std::uint32_t i = 0; i < n; ++i) to[i] = columns[c][state.representatives()[wanted[i]]];
    }
    word* const owners = own(number, here.owner);
    for (std::uint32_t i = 0; i < n; ++i) owners[i] = i;
    if (counts_rows(number)) {
      count_rows(number, n);
    } else {
      process(number, n, make_room);
    }
    for (std::uint32_t i = 0; i < n; ++i) {
      const bool has_value = state.has_value(op, i);
      state.results()[wanted[i]] = {has_value ? folded_value(state, op, i) : 0, has_value};
    }
  }

  /// Goes on behind an aggregate with the selected bindings, which have its results.
  template <class MakeRoom>
  void unfold(std::size_t number, std::uint32_t kept, const MakeRoom& make_room) {
    if (kept == 0) return;
    const std::size_t behind = program_->segments[number].unfold;
    for (register_number carried : program_->segments[behind].carried) {
      const word* const values = value(number - 1, carried);
      word* const to = own(behind, carried);
      for (std::uint32_t i = 0; i < kept; ++i) to[i] = values[scratch_->selected[i]];
    }
    process(behind, kept, make_room);
  }

  /// The equivalence relation of which an aggregate folds the partners of one value, and of that value it reads nothing
  /// else: the result is the same for all members of a class. nullptr: it is no such aggregate.
  [[nodiscard]] const storage::equivalence* folded_classes(std::size_t number) const {
    const segment& fold = program_->segments[number];
    const segment& body = program_->segments[number + 1];
    const bool is_search = body.kind == expansion_kind::match && body.ended_fold == number && body.keys.size() == 1;
    if (!is_search || !fold.steps.empty() || counts_rows(number)) return nullptr;
    const bool depends_on_key_only = fold.carried == body.keys && std::find(body.carried.begin(), body.carried.end(),
                                                                            body.keys.front()) == body.carried.end();
    return depends_on_key_only ? relation_of(body.source).as_equivalence() : nullptr;
  }

  /// Whether the aggregate counts the rows of one search or relation, so that nobody has to look at them.
  [[nodiscard]] bool counts_rows(std::size_t number) const {
    const segment& body = program_->segments[number + 1];
    return program_->segments[number].steps.empty() && body.ended_fold == number && body.fold == fold_op::count &&
           body.steps.empty() && (body.kind == expansion_kind::scan || body.kind == expansion_kind::match);
  }
  void count_rows(std::size_t number, std::uint32_t groups) {
    const segment& body = program_->segments[number + 1];
    fold_state& counted = *scratch_->folds[number];
    if (body.kind == expansion_kind::scan) {
      const part_rows rows = rows_of(relation_of(body.source), body);
      for (std::uint32_t g = 0; g < groups; ++g) counted.add_matches(g, rows.end - rows.begin);
      return;
    }
    if (const auto* classes = relation_of(body.source).as_equivalence()) {
      const auto [first, second] = keys_of(number + 1);
      for (std::uint32_t g = 0; g < groups; ++g) {
        for (const auto& found : find_pairs(*classes, body.part, first, second, g)) counted.add_matches(g, found.count);
      }
      return;
    }
    expansion_scratch& state = *scratch_->expansions[number + 1];
    relation_of(body.source)
        .index(body.index)
        .for_each_run(body.part != row_part::delta, body.part != row_part::old, [&](const storage::sorted_run& run) {
          find_ranges(number + 1, run.level(body.level), groups);
          for (std::uint32_t g = 0; g < groups; ++g) counted.add_matches(g, state.ranges[g].count);
        });
  }

  template <class MakeRoom>
  void insert(std::size_t number, std::uint32_t n, const MakeRoom& make_room) {
    if (passes_ != nullptr) {
      const word* const numbers = value(number, program_->head.front());
      for (std::uint32_t i = 0; i < n; ++i) passes_[numbers[i]] = 1;
      return;
    }
    relation& target = relation_of(program_->target);
    while (!target.has_room()) {
      leave();
      try {
        std::unique_lock<std::shared_mutex> everybody_else_waits(*gate_, std::defer_lock);
        if constexpr (Concurrent) everybody_else_waits.lock();
        if (!target.has_room()) make_room();
      } catch (...) {
        enter();
        throw;
      }
      enter();
    }
    for (std::size_t c = 0; c < head_.size(); ++c) head_[c] = value(number, program_->head[c]);
    candidates_ += n;
    fresh_ += target.insert<Concurrent>(head_.data(), n, scratch_->insert, worker_);
  }

  /// Expands the tile of the segment before by the rows that match each binding.
  template <class MakeRoom>
  void expand(std::size_t number, std::uint32_t n, const MakeRoom& make_room) {
    if (stop_ != nullptr && stop_->load(std::memory_order_relaxed)) throw interrupted{};
    const segment& here = program_->segments[number];
    if (!here.choices.empty()) return expand_by_fewest(number, n, make_room);
    expansion_scratch& state = *scratch_->expansions[number];
    state.filled = state.gathered = 0;
    if (here.kind == expansion_kind::scan) {
      const part_rows rows = rows_of(relation_of(here.source), here);
      const sorted_rows* const sorted = sorted_for(number, rows, n);
      for (std::uint32_t i = 0; i < n; ++i) {
        const part_rows wanted = sorted == nullptr ? rows : wanted_of(number, *sorted, i);
        const std::uint64_t count = wanted.end - wanted.begin;
        if (count != 0) write_pairs(number, {nullptr, nullptr, sorted}, i, wanted.begin, count, make_room);
      }
      gather(number, {nullptr, nullptr, sorted});
    } else if (here.kind == expansion_kind::range) {
      for (std::uint32_t i = 0; i < n; ++i) {
        const std::uint64_t size =
            program_->wide == nullptr
                ? range_size(here.value, range_key(number, 0, i), range_key(number, 1, i), step_of_range(number, i))
                : range_size(here.value, wide_range_key(number, 0, i), wide_range_key(number, 1, i),
                             wide_step_of_range(number, i));
        write_pairs(number, {}, i, 0, size, make_room);
      }
      gather(number, {});
    } else if (const auto* classes = relation_of(here.source).as_equivalence()) {
      const auto [first, second] = keys_of(number);
      for (std::uint32_t i = 0; i < n; ++i) classes->prefetch(first[i]);
      for (std::uint32_t i = 0; i < n; ++i) {
        for (const auto& found : find_pairs(*classes, here.part, first, second, i)) {
          write_pairs(number, {}, i, found.begin, found.count, make_room);
        }
      }
      gather(number, {});
    } else {
      relation_of(here.source)
          .index(here.index)
          .for_each_run(here.part != row_part::delta, here.part != row_part::old, [&](const storage::sorted_run& run) {
            find_ranges(number, run.level(here.level), n);
            for (std::uint32_t i = 0; i < n; ++i) {
              const storage::row_range range = state.ranges[i];
              if (range.count == 0) continue;
              if (const sorted_rows* const sorted = sorted_for(number, run, range)) {
                const part_rows wanted = wanted_of(number, *sorted, i);
                write_places(number, {&run}, i, range.first, *sorted, wanted, make_room);
              } else {
                write_pairs(number, {&run}, i, range.first, range.count, make_room);
              }
            }
            gather(number, {&run});
          });
    }
    if (state.filled != 0) process(number, state.filled, make_room);
  }

  [[nodiscard]] const sorted_rows* sorted_for(std::size_t number, part_rows rows, std::uint32_t n) {
    const segment& here = program_->segments[number];
    if (windows_ == nullptr || here.limits.bounds.empty()) return nullptr;
    return windows_->find(number, here, relation_of(here.source).column(here.limits.column), rows, n);
  }

  /// The same for one key's rows in a run.
  [[nodiscard]] const sorted_rows* sorted_for(std::size_t number, const storage::sorted_run& run,
                                              const storage::row_range& range) {
    const segment& here = program_->segments[number];
    if (windows_ == nullptr || here.limits.bounds.empty()) return nullptr;
    const std::uint32_t* const positions = run.positions();
    const word* const column =
        positions != nullptr ? relation_of(here.source).column(here.limits.column) : run.stored(here.limits.column);
    return windows_->find_of_key(number, here.limits, &run, range.first, range.count, [&](std::uint64_t row) {
      return positions != nullptr ? column[positions[range.first + row]] : column[range.first + row];
    });
  }

  /// Places in the sorted rows that a binding needs: those within its bounds, and of them none or one where an
  /// aggregate asks no more than how many there are, or which is the least or greatest.
  [[nodiscard]] part_rows wanted_of(std::size_t number, const sorted_rows& sorted, std::uint32_t i) {
    part_rows wanted = window_of(number, sorted, i);
    const segment& here = program_->segments[number];
    if (wanted.begin == wanted.end || here.ended_fold == 0 || !asks_window_only(here)) return wanted;
    if (here.fold == fold_op::count) {
      const word owner = value(number - 1, program_->segments[here.ended_fold].owner)[i];
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

  /// Whether all that is asked of a row is that its value is within the window: each filter has given a bound.
  static bool asks_window_only(const segment& body) {
    return body.steps.size() == body.limits.bounds.size() &&
           std::all_of(body.steps.begin(), body.steps.end(),
                       [](const step& one) { return one.kind == step_kind::filter; });
  }

  /// Places in the sorted rows that are within a binding's bounds.
  [[nodiscard]] part_rows window_of(std::size_t number, const sorted_rows& sorted, std::uint32_t i) const {
    const window& limits = program_->segments[number].limits;
    auto first = sorted.keys.begin();
    auto last = sorted.keys.end();
    for (std::size_t k = 0; k < limits.bounds.size(); ++k) {
      const window::bound& bound = limits.bounds[k];
      const wide_word key = windows_->key_of(bound_value(number, k, i), limits.is_signed);
      // Strict from below and not strict from above: behind all that are equal.
      const auto place =
          bound.is_upper == bound.is_strict ? std::lower_bound(first, last, key) : std::upper_bound(first, last, key);
      (bound.is_upper ? last : first) = place;
    }
    return {static_cast<std::uint64_t>(first - sorted.keys.begin()),
            static_cast<std::uint64_t>(last - sorted.keys.begin())};
  }

  [[nodiscard]] wide_word bound_value(std::size_t number, std::size_t bound, std::uint32_t i) const {
    const word lower = value(number - 1, program_->segments[number].limits.bounds[bound].value)[i];
    if (program_->wide == nullptr) return lower;
    const register_number upper = windows_->upper_half(number, bound);
    if (upper == no_register) return program_->wide->value(lower);
    return wide_word{value(number - 1, upper)[i]} << 32 | lower;
  }

  /// Where the rows of pairs are: in a run of an index (nullptr: in the relation), searched by the segment itself or by
  /// one of its choices, or in the order of a window's column.
  struct row_source {
    const storage::sorted_run* run = nullptr;
    const search_choice* choice = nullptr;
    const sorted_rows* sorted = nullptr;
  };

  /// Expands each binding by the search that has the fewest rows for it; the relations of the others are asked whether
  /// they have the value too.
  template <class MakeRoom>
  void expand_by_fewest(std::size_t number, std::uint32_t n, const MakeRoom& make_room) {
    const segment& here = program_->segments[number];
    expansion_scratch& state = *scratch_->expansions[number];
    choice_scratch& choosing = *scratch_->choices[number];
    const std::size_t from = number - 1;
    const auto for_each_run = [&](const search_choice& choice, const auto& action) {
      relation_of(choice.source).index(choice.index).for_each_run(true, true, [&](const storage::sorted_run& run) {
        find_keys(run.level(choice.level), choice.keys, from, n, state);
        action(run);
      });
    };
    for (std::size_t c = 0; c < here.choices.size(); ++c) {
      std::uint64_t* const counts = c == 0 ? choosing.fewest : choosing.counts;
      std::fill_n(counts, n, 0);
      for_each_run(here.choices[c], [&](const storage::sorted_run&) {
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
    for (std::size_t c = 0; c < here.choices.size(); ++c) {
      const search_choice& choice = here.choices[c];
      std::uint64_t wanted = 0;
      for (std::uint32_t i = 0; i < n; ++i) wanted += choosing.chosen[i] == c ? choosing.fewest[i] : 0;
      if (wanted == 0) continue;
      state.filled = state.gathered = 0;
      for_each_run(choice, [&](const storage::sorted_run& run) {
        for (std::uint32_t i = 0; i < n; ++i) {
          const storage::row_range range = state.ranges[i];
          if (choosing.chosen[i] != c || range.count == 0) continue;
          write_pairs(number, {&run, &choice}, i, range.first, range.count, make_room);
        }
        gather(number, {&run, &choice});
      });
      if (state.filled != 0) process_found(number, {nullptr, &choice}, state.filled, make_room);
    }
  }

  /// Goes on with a full tile of pairs.
  template <class MakeRoom>
  void process_found(std::size_t number, const row_source& source, std::uint32_t n, const MakeRoom& make_room) {
    if (source.choice != nullptr) {
      for (const step& check : source.choice->checks) {
        n = apply_step(number, check, n);
        if (n == 0) return;
      }
    }
    process(number, n, make_room);
  }

  [[nodiscard]] word range_key(std::size_t number, std::size_t key, std::uint32_t i) const {
    return value(number - 1, program_->segments[number].keys[key])[i];
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
    return wide_word{value(number - 1, upper)[i]} << 32 | lower;
  }
  [[nodiscard]] wide_word wide_step_of_range(std::size_t number, std::uint32_t i) const {
    const segment& here = program_->segments[number];
    if (here.keys.size() > 2) return wide_range_key(number, 2, i);
    return default_step(here.value, wide_range_key(number, 0, i), wide_range_key(number, 1, i));
  }
  void gather_wide_range(std::size_t number, std::uint32_t begin, std::uint32_t end) {
    const segment& here = program_->segments[number];
    const expansion_scratch& state = *scratch_->expansions[number];
    word* const lower = own(number, here.bindings.front().target);
    word* const upper = own(number, here.upper_value);
    for (std::uint32_t i = begin; i < end; ++i) {
      const std::uint16_t owner = state.owners[i];
      const wide_word made =
          range_value(here.value, wide_range_key(number, 0, owner), wide_step_of_range(number, owner), state.rows[i]);
      lower[i] = static_cast<word>(made);
      upper[i] = static_cast<word>(made >> 32);
    }
  }

  /// Of a search of an equivalence relation: the values of its one or two keys.
  [[nodiscard]] std::pair<const word*, const word*> keys_of(std::size_t number) const {
    const segment& here = program_->segments[number];
    const std::size_t from = number == 0 ? 0 : number - 1;
    return {value(from, here.keys[0]), here.keys.size() > 1 ? value(from, here.keys[1]) : nullptr};
  }

  /// The rows of each binding's key, all fetched ahead.
  void find_ranges(std::size_t number, const storage::key_level& level, std::uint32_t n) {
    const segment& here = program_->segments[number];
    expansion_scratch& state = *scratch_->expansions[number];
    // A first segment's keys are constants; other keys stand in the tile of the segment before.
    const std::size_t from = number == 0 ? 0 : number - 1;
    find_keys(level, here.keys, from, n, state);
  }
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

  /// Pairs binding `owner` with rows [first, first + count); passes every full tile on.
  template <class MakeRoom>
  void write_pairs(std::size_t number, const row_source& source, std::uint32_t owner, std::uint64_t first,
                   std::uint64_t count, const MakeRoom& make_room) {
    expansion_scratch& state = *scratch_->expansions[number];
    // Most keys have few matches: a fixed number of stores, of which the ones behind count are written over, has no
    // branch to mispredict.
    constexpr std::uint32_t few = 4;
    if (count <= few && state.filled + few < tile_rows) {
      for (std::uint32_t k = 0; k < few; ++k) {
        state.owners[state.filled + k] = static_cast<std::uint16_t>(owner);
        state.rows[state.filled + k] = first + k;
      }
      state.filled += static_cast<std::uint32_t>(count);
      return;
    }
    while (count != 0) {
      const auto taken = static_cast<std::uint32_t>(std::min<std::uint64_t>(count, tile_rows - state.filled));
      for (std::uint32_t k = 0; k < taken; ++k) {
        state.owners[state.filled + k] = static_cast<std::uint16_t>(owner);
        state.rows[state.filled + k] = first + k;
      }
      state.filled += taken;
      first += taken;
      count -= taken;
      if (state.filled == tile_rows) {
        gather(number, source);
        state.filled = state.gathered = 0;
        process_found(number, source, tile_rows, make_room);
        if (stop_ != nullptr && stop_->load(std::memory_order_relaxed)) throw interrupted{};
      }
    }
  }

  /// The same with rows of one key in the order of a window's column.
  template <class MakeRoom>
  void write_places(std::size_t number, const row_source& source, std::uint32_t owner, std::uint64_t first,
                    const sorted_rows& sorted, const part_rows& wanted, const MakeRoom& make_room) {
    for (std::uint64_t place = wanted.begin; place < wanted.end; ++place) {
      write_pairs(number, source, owner, first + sorted.rows[place], 1, make_room);
    }
  }

  /// Fills the registers of the pairs that were written since the last call, which are all of one run. Columns are
  /// looked up anew each time: a relation that grew has moved them.
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
        const word* const from = value(number - 1, kept);
        word* const to = own(number, kept);
        for (std::uint32_t i = begin; i < end; ++i) to[i] = from[state.owners[i]];
      }
    }
    if (here.kind == expansion_kind::range) {
      if (program_->wide != nullptr) return gather_wide_range(number, begin, end);
      const word* const from = value(number - 1, here.keys[0]);
      for (const binding& bound : here.bindings) {
        word* const to = own(number, bound.target);
        for (std::uint32_t i = begin; i < end; ++i) {
          const std::uint16_t owner = state.owners[i];
          to[i] = range_value(here.value, from[owner], step_of_range(number, owner), state.rows[i]);
        }
      }
      return;
    }
    if (source.choice != nullptr) {
      read_column(number, relation_of(source.choice->source), run, source.choice->bound, begin);
      return;
    }
    if (source.sorted != nullptr) {
      for (const binding& bound : here.bindings) {
        const word* const column = relation_of(here.source).column(bound.column);
        word* const to = own(number, bound.target);
        for (std::uint32_t i = begin; i < end; ++i) to[i] = column[source.sorted->rows[state.rows[i]]];
      }
      return;
    }
    const storage::equivalence* const classes = relation_of(here.source).as_equivalence();
    if (classes != nullptr && here.kind == expansion_kind::scan) {
      gather_equivalence(*classes, here, state.rows + begin, end - begin,
                         [&](const binding& bound) { return own(number, bound.target) + begin; });
      return;
    }
    for (const binding& bound : here.bindings) {
      if (classes == nullptr) {
        read_column(number, relation_of(here.source), run, bound, begin);
        continue;
      }
      word* const to = own(number, bound.target);
      const word* const column = classes->members();
      for (std::uint32_t i = begin; i < end; ++i) to[i] = column[state.rows[i]];
    }
  }

  /// One register of the pairs from `begin` on.
  void read_column(std::size_t number, const relation& from, const storage::sorted_run* run, const binding& bound,
                   std::uint32_t begin) {
    const expansion_scratch& state = *scratch_->expansions[number];
    const std::uint32_t end = state.filled;
    word* const to = own(number, bound.target);
    if (run != nullptr && run->positions() != nullptr) {
      const std::uint32_t* const positions = run->positions();
      const word* const column = from.column(bound.column);
      for (std::uint32_t i = begin; i < end; ++i) to[i] = column[positions[state.rows[i]]];
    } else {
      const word* const column = run == nullptr ? from.column(bound.column) : run->stored(bound.column);
      for (std::uint32_t i = begin; i < end; ++i) to[i] = column[state.rows[i]];
    }
  }

  std::uint32_t apply_step(std::size_t number, const step& one, std::uint32_t n) {
    switch (one.kind) {
      case step_kind::compute: {
        word* const result = own(number, one.result);
        if (one.is_wide) {
          compute_wide(
              one, n, [&](register_number argument) { return value(number, argument); },
              [&](register_number target) { return own(number, target); }, *program_->wide);
        } else if (one.scalar == scalar_op::next_counter) {
          count_up(*program_, n, result);
        } else if (one.scalar == scalar_op::iteration_number) {
          std::fill_n(result, n, *program_->iteration);
        } else if (is_text_operation(one.scalar)) {
          std::vector<const word*> arguments;
          for (register_number argument : one.arguments) arguments.push_back(value(number, argument));
          if (one.scalar == scalar_op::call_functor) {
            program_->functors->call(arguments, n, result);
          } else {
            compute_text_tile(one.scalar, arguments, n, result, *program_->symbols, program_->wide);
          }
        } else {
          compute_tile(one.scalar, value(number, one.arguments.front()), value(number, one.arguments.back()), n,
                       result);
        }
        return n;
      }
      case step_kind::filter: {
        const std::uint32_t kept =
            one.is_wide ? select_wide(
                              one, n, [&](register_number argument) { return value(number, argument); },
                              *program_->wide, scratch_->selected)
                        : select_tile(one.comparison, value(number, one.arguments[0]), value(number, one.arguments[1]),
                                      n, program_->symbols, scratch_->selected);
        return compact(number, one, n, kept);
      }
      case step_kind::exists_any: {
        const part_rows rows = rows_of(relation_of(one.source), one.part);
        return (rows.begin != rows.end) != one.negated ? n : 0;
      }
      case step_kind::exists_tuple: {
        tuple_.resize(one.arguments.size());
        for (std::size_t c = 0; c < tuple_.size(); ++c) tuple_[c] = value(number, one.arguments[c]);
        relation_of(one.source).contains(tuple_.data(), n, scratch_->insert, scratch_->found);
        return keep_found(number, one, n);
      }
      case step_kind::exists_key: {
        std::fill_n(scratch_->found, n, std::uint8_t{0});
        if (const auto* classes = relation_of(one.source).as_equivalence()) {
          test_equivalence(*classes, number, one, n);
          return keep_found(number, one, n);
        }
        expansion_scratch& state = scratch_->probe;
        relation_of(one.source)
            .index(one.index)
            .for_each_run(one.part != row_part::delta, one.part != row_part::old, [&](const storage::sorted_run& run) {
              find_keys(run.level(one.level), one.arguments, number, n, state);
              for (std::uint32_t i = 0; i < n; ++i) scratch_->found[i] |= state.ranges[i].count != 0 ? 1 : 0;
            });
        return keep_found(number, one, n);
      }
      case step_kind::pack:
      case step_kind::find_record:
        look_up_records(
            one, n, [&](register_number argument) { return value(number, argument); }, own(number, one.result),
            scratch_->found, scratch_->fields);
        return one.kind == step_kind::pack ? n : keep_found(number, one, n);
      case step_kind::unpack:
        unpack_records(
            one, n, value(number, one.arguments.front()), [&](register_number target) { return own(number, target); },
            scratch_->found);
        return keep_found(number, one, n);
    }
    return n;
  }

  void test_equivalence(const storage::equivalence& classes, std::size_t number, const step& one, std::uint32_t n) {
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

  std::uint32_t keep_found(std::size_t number, const step& one, std::uint32_t n) {
    const std::uint8_t wanted = one.negated ? 0 : 1;
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < n; ++i) {
      scratch_->selected[kept] = static_cast<std::uint16_t>(i);
      kept += scratch_->found[i] == wanted ? 1 : 0;
    }
    return compact(number, one, n, kept);
  }

  std::uint32_t compact(std::size_t number, const step& one, std::uint32_t n, std::uint32_t kept) {
    if (kept == n) return n;
    for (register_number live : one.live) {
      word* const values = own(number, live);
      for (std::uint32_t i = 0; i < kept; ++i) values[i] = values[scratch_->selected[i]];
    }
    return kept;
  }

  const pipeline* program_;
  const relation_list<relation>* relations_;
  tile_scratch* scratch_;
  std::shared_mutex* gate_;
  const std::atomic<bool>* stop_;
  run_windows* windows_;
  unsigned worker_;
  std::vector<const word*> head_;
  std::vector<const word*> tuple_;
  std::shared_ptr<fold_memory> folded_;
  std::uint64_t bindings_ = 0;  ///< that came to segments
  std::uint64_t candidates_ = 0;
  std::uint64_t fresh_ = 0;
  std::uint8_t* passes_ = nullptr;  // of run_pairs
};

}  // namespace gpulog::kernels

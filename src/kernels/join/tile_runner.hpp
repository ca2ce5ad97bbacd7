#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/calibration.hpp"
#include "kernels/join/equivalence_reader.hpp"
#include "kernels/join/fold.hpp"
#include "kernels/join/fold_memory.hpp"
#include "kernels/join/tile_folds.hpp"
#include "kernels/join/tile_sources.hpp"
#include "kernels/join/tile_steps.hpp"
#include "kernels/join/windows.hpp"
#include "kernels/join/worker_gate.hpp"
#include "storage/relation/relation.hpp"

namespace gpulog::kernels {

/// A single worker's run of a pipeline. A tile of bindings, held in registers, flows through the segments: an expansion
/// looks up the keys of a tile together, writes (binding, match) pairs until the next tile is full, and passes the tile
/// on; the last segment offers the tile to the head's tuple set. Therefore a body of any length needs one tile per
/// segment, and the memory does not grow with the candidates.
/// @tparam Access policy for writes to the head: storage::exclusive_access, storage::concurrent_access
template <class Access>
class tile_runner {
 public:
  /// @param gate of all workers of the run
  /// @param windows of this run, for all its workers; nullptr: scans read all rows
  /// @param folded what aggregates gave, for all workers of the run; nullptr: nothing is remembered
  /// @param sharer takes the matches of bindings with many; nullptr: the worker runs them all
  tile_runner(const pipeline& program, const relation_list<relation>& relations, unsigned worker, tile_scratch& scratch,
              worker_gate& gate, const std::atomic<bool>* stop, run_windows* windows = nullptr,
              fold_memory* folded = nullptr, match_sharer* sharer = nullptr)
      : program_(&program),
        scratch_(&scratch),
        steps_(program, relations, scratch),
        sources_(steps_, program, scratch, windows),
        folds_(steps_, sources_, program, scratch),
        gate_(&gate),
        shared_room_(relation::room_for(gate.workers())),
        stop_(stop),
        worker_(worker),
        folded_(folded),
        sharer_(sharer),
        ends_when_full_(program.ends_when_full()) {
    if (program.counted == nullptr) return;
    if constexpr (Access::is_concurrent) {
      own_counts_.assign(program.counted->counts.size(), 0);
      counts_ = own_counts_.data();
    } else {
      counts_ = program.counted->counts.data();
    }
  }

  tile_runner(const tile_runner&) = delete;  // parts refer to each other
  tile_runner& operator=(const tile_runner&) = delete;

  /// Begins another run of the pipeline, whose counts start at 0.
  void restart() {
    bindings_ = candidates_ = fresh_ = 0;
    spent_ = 0;
    scratch_->forget_readers();
  }

  [[nodiscard]] std::uint64_t candidates() const { return candidates_; }
  [[nodiscard]] std::uint64_t fresh() const { return fresh_; }
  /// Returns the number of bindings that entered segments: the work of the joins.
  [[nodiscard]] std::uint64_t bindings() const { return bindings_; }
  /// Adds the counters of a concurrent worker to the pipeline's counters, if it has any. Not thread-safe.
  void add_counts() const {
    if (!Access::is_concurrent || counts_ == nullptr) return;
    std::vector<std::uint64_t>& all = program_->counted->counts;
    for (std::size_t place = 0; place < all.size(); ++place) all[place] += counts_[place];
  }

  /// Runs over rows [begin, end) of the first segment's input, or until the head has all it can have.
  /// make_room is called as worker_gate::require_room() says. given: columns of these rows (tile_sources::give_rows).
  /// @throws arithmetic_fault, interrupted, costly_reading, over_budget, backend::memory_exceeded
  template <class MakeRoom>
  void run(std::uint64_t begin, std::uint64_t end, const MakeRoom& make_room, const word* const* given = nullptr) {
    scratch_->return_to(*program_);
    sources_.give_rows(given);
    const worker_gate::visit inside(Access::is_concurrent ? gate_ : nullptr);
    try {
      expand_rows(begin, end, make_room);
    } catch (const head_is_full&) {  // filled by any worker or rule
    }
  }

  /// Runs matches [begin, end) of shared bindings. Throws like run().
  template <class MakeRoom>
  void run_matches(const shared_matches& shared, std::uint64_t begin, std::uint64_t end, const MakeRoom& make_room) {
    scratch_->return_to(*program_);
    const worker_gate::visit inside(Access::is_concurrent ? gate_ : nullptr);
    expansion_scratch& state = *scratch_->expansions[shared.segment];
    state.filled = state.gathered = 0;
    try {
      check_end();
      sources_.load_matches(shared, begin, end, [&](const wanted_rows& rows) {
        write_rows(shared.segment, shared.source, rows, make_room);
      });
      process_pairs(shared.segment, shared.source, make_room);
    } catch (const head_is_full&) {  // as in run()
    }
  }

  /// Runs the segments after two initial scans on n <= tile_rows pairs of rows. Sets passes[i] if pair i reaches the
  /// end, where the head holds the register of the second segment that numbers the pairs. Throws like run().
  void run_pairs(const std::uint64_t* first, const std::uint64_t* second, std::uint32_t n, std::uint8_t* passes) {
    const worker_gate::visit inside(Access::is_concurrent ? gate_ : nullptr);
    sources_.load_rows(program_->segments[0], first, n, 1);
    sources_.load_rows(program_->segments[1], second, n, 1);
    word* const numbers = steps_.own(1, program_->head.front());
    for (std::uint32_t i = 0; i < n; ++i) numbers[i] = i;
    std::fill_n(passes, n, std::uint8_t{0});
    passes_ = passes;
    process(1, n, [](const auto&...) {});
    passes_ = nullptr;
  }

 private:
  /// Thrown when the rest of the run cannot find any new tuple.
  class head_is_full {};

  /// @throws interrupted, head_is_full, over_budget
  void check_end() {
    if (stop_ != nullptr && stop_->load(std::memory_order_relaxed)) throw interrupted{};
    if (ends_when_full_ && steps_.relation_of(program_->target).is_full()) throw head_is_full{};
    if (program_->budget != nullptr) spend(*program_->budget);
  }

  /// Takes what was done since the last call from the budget.
  void spend(kernels::work_budget& budget) {
    const double cost = static_cast<double>(bindings_) + budget.cost_of_results(candidates_, fresh_);
    budget.spend(cost - std::exchange(spent_, cost));
  }

  /// Runs rows [begin, end) of the first segment's input through the pipeline. Throws like run(), and head_is_full.
  template <class MakeRoom>
  void expand_rows(std::uint64_t begin, std::uint64_t end, const MakeRoom& make_room) {
    const segment& first = program_->segments.front();
    switch (first.kind) {
      case expansion_kind::unit:
        process(0, 1, make_room);
        break;
      case expansion_kind::match:
        expand(0, 1, make_room);
        break;
      case expansion_kind::scan: {
        const std::uint64_t offset = sources_.are_given() ? 0 : rows_of(steps_.relation_of(first.source), first).begin;
        for (std::uint64_t row = begin; row < end; row += tile_rows) {
          check_end();
          const auto n = static_cast<std::uint32_t>(std::min<std::uint64_t>(tile_rows, end - row));
          sources_.read_rows(first, offset + row, n);
          process(0, n, make_room);
          if (program_->progress != nullptr) program_->progress->rows.fetch_add(n, std::memory_order_relaxed);
        }
        break;
      }
      case expansion_kind::range:
      case expansion_kind::fold:
      case expansion_kind::unfold:
      case expansion_kind::host:
      case expansion_kind::lookups:
        break;  // never first
    }
  }

  /// Runs the steps of a segment on its tile, then the following segments.
  template <class MakeRoom>
  void process(std::size_t number, std::uint32_t n, const MakeRoom& make_room) {
    bindings_ += n;
    scratch_->need_constants(n);
    std::uint64_t* count = counts_ == nullptr ? nullptr : counts_ + program_->counted->first[number] + 1;
    if (count != nullptr) *count += n;
    for (const step& one : program_->segments[number].steps) {
      n = steps_.apply_step(number, one, n);
      if (n == 0) return;
      if (count != nullptr) *++count += n;
    }
    if (const segment& here = program_->segments[number]; here.ended_fold != 0) {
      const segment& fold = program_->segments[here.ended_fold];
      folds_.add_to_fold(here, *scratch_->folds[here.ended_fold], number, steps_.value(number, fold.owner), n);
    } else if (number + 1 == program_->segments.size()) {
      insert(number, n, make_room);
    } else if (program_->segments[number + 1].kind == expansion_kind::fold) {
      fold(number + 1, n, make_room);
    } else {
      expand(number + 1, n, make_room);
    }
  }

  /// Runs an aggregate on the tile of the previous segment, then the segments after the aggregate.
  template <class MakeRoom>
  void fold(std::size_t number, std::uint32_t n, const MakeRoom& make_room) {
    const segment& here = program_->segments[number];
    fold_state& state = *scratch_->folds[number];
    folds_.read_columns(number, n, state);
    const std::uint32_t groups = state.group(state.keys(), n);
    fold_groups(number, state.columns(), {&state.keys(), state.representatives()}, groups, make_room);
    std::uint32_t kept = 0;
    word* const result = steps_.own(here.unfold, program_->segments[here.unfold].result);
    for (std::uint32_t i = 0; i < n; ++i) {
      const fold_result& found = state.results()[state.group_of(i)];
      if (!found.has_value) continue;
      result[kept] = found.value;
      scratch_->selected[kept++] = static_cast<std::uint16_t>(i);
    }
    unfold(number, kept, make_room);
  }

  /// Computes the results of all groups: uses remembered results and runs the body for the remaining groups, each of
  /// which represents the bindings with its key.
  template <class MakeRoom>
  void fold_groups(std::size_t number, const std::vector<const word*>& columns, const fold_keys& keys,
                   std::uint32_t groups, const MakeRoom& make_room) {
    const segment& here = program_->segments[number];
    fold_state& state = *scratch_->folds[number];
    fold_results* const known = folded_ == nullptr ? nullptr : folded_->of(number);
    const bool remembers = known != nullptr && known->is_on() && !folds_.is_counted_search(number);
    const auto run_body = [&](const std::uint16_t* wanted, std::uint32_t n) {
      const std::uint64_t before = bindings_;
      folds_.load_groups(number, columns, wanted, n);
      process(number, n, make_room);
      for (std::uint32_t i = 0; i < n; ++i) state.results()[wanted[i]] = folds_.result_of(state, here, i);
      return bindings_ - before;
    };
    folds_.fold_groups(remembers ? known : nullptr, state, keys, groups, Access::is_concurrent ? &worker_ : nullptr,
                       run_body);
  }

  /// Continues after an aggregate with the selected bindings and their results.
  template <class MakeRoom>
  void unfold(std::size_t number, std::uint32_t kept, const MakeRoom& make_room) {
    if (kept == 0) return;
    const std::size_t behind = program_->segments[number].unfold;
    folds_.carry_selected(number - 1, behind, kept);
    process(behind, kept, make_room);
  }

  template <class MakeRoom>
  void insert(std::size_t number, std::uint32_t n, const MakeRoom& make_room) {
    if (passes_ != nullptr) {
      const word* const numbers = steps_.value(number, program_->head.front());
      for (std::uint32_t i = 0; i < n; ++i) passes_[numbers[i]] = 1;
      return;
    }
    relation& target = steps_.relation_of(program_->target);
    gate_->require_room<Access>(target, Access::is_concurrent ? shared_room_ : n, make_room);
    const word** const head = scratch_->head.data();
    for (std::size_t c = 0; c < program_->head.size(); ++c) head[c] = steps_.value(number, program_->head[c]);
    candidates_ += n;
    if (program_->progress != nullptr) program_->progress->candidates.fetch_add(n, std::memory_order_relaxed);
    fresh_ += target.insert<Access>(head, n, scratch_->insert, worker_);
    if (ends_when_full_) check_end();
  }

  /// Expands the tile of the previous segment by the rows that match each binding.
  template <class MakeRoom>
  void expand(std::size_t number, std::uint32_t n, const MakeRoom& make_room) {
    check_end();
    const segment& here = program_->segments[number];
    if (here.folds_row_counts) {
      const std::uint64_t rows = folds_.fold_row_counts(number, n);
      if (counts_ != nullptr) counts_[program_->counted->first[number] + 1] += rows;
      return;
    }
    scratch_->rounds[number].clear();  // an aborted run may have left some
    if (!here.choices.empty()) return expand_by_fewest(number, n, make_room);
    expansion_scratch& state = *scratch_->expansions[number];
    state.filled = state.gathered = 0;
    const auto pair_found = [&](const wanted_rows& found) { pair(number, {}, found, make_room); };
    if (here.kind == expansion_kind::scan) {
      const part_rows rows = rows_of(steps_.relation_of(here.source), here);
      const sorted_rows* const sorted = sources_.sorted_for(number, rows, n);
      const auto all_rows = [&rows](std::uint32_t i) { return wanted_rows{i, rows.begin, rows.end}; };
      if (sorted == nullptr && share(number, {}, n, all_rows)) return;
      const auto pair_with = [&](std::uint32_t i, const part_rows& wanted) {
        pair(number, {nullptr, nullptr, sorted}, {i, wanted.begin, wanted.end}, make_room);
      };
      for (std::uint32_t i = 0; i < n; ++i) {
        if (sorted == nullptr) pair_with(i, rows);
        if (sorted != nullptr) sources_.for_each_wanted(number, *sorted, i, [&](auto wanted) { pair_with(i, wanted); });
      }
      end_pairs(number, {nullptr, nullptr, sorted}, make_room);
    } else if (here.kind == expansion_kind::range) {
      for (std::uint32_t i = 0; i < n; ++i) pair_found({i, 0, sources_.size_of_range(number, i)});
      end_pairs(number, {}, make_room);
    } else if (const auto* classes = steps_.relation_of(here.source).as_equivalence()) {
      const auto [first, second] = sources_.keys_of(number);
      for (std::uint32_t i = 0; i < n; ++i) classes->prefetch(first[i]);
      for (std::uint32_t i = 0; i < n; ++i)
        for (const auto& found : find_pairs(*classes, here.part, first, second, i))
          pair_found({i, found.begin, found.begin + found.count});
      end_pairs(number, {}, make_room);
    } else if (storage::matrix_reader* const reader = steps_.expansion_reader(number, here.source)) {
      sources_.find_in_matrix(*reader, number, n, pair_found);
      end_pairs(number, {}, make_room);
    } else {
      const bool has_window = sources_.has_window(number);
      steps_.index_of(here.source, here.index)
          .for_each_run(here.part != row_part::delta, here.part != row_part::old, [&](const storage::sorted_run& run) {
            const std::uint32_t matched = sources_.find_matched(number, run.level(here.level), n);
            if (!has_window && share_matched(number, {&run}, matched)) return;
            for (std::uint32_t k = 0; k < matched; ++k) {
              const std::uint32_t i = state.matched[k];
              const storage::row_range range = state.ranges[i];
              const sorted_rows* const sorted = has_window ? sources_.sorted_for(number, run, range) : nullptr;
              const auto pair_wanted = [&](const part_rows& wanted) {
                pair(number, {&run}, {i, wanted.begin, wanted.end, sorted, range.first}, make_room);
              };
              if (sorted == nullptr) pair_key(number, {&run}, i, range, make_room);
              if (sorted != nullptr) sources_.for_each_wanted(number, *sorted, i, pair_wanted);
            }
            end_pairs(number, {&run}, make_room);
          });
    }
    if (state.filled != 0) process(number, state.filled, make_room);
  }

  /// Expands each binding by the search with the fewest rows; tests the value in the relations of the remaining
  /// searches.
  template <class MakeRoom>
  void expand_by_fewest(std::size_t number, std::uint32_t n, const MakeRoom& make_room) {
    const segment& here = program_->segments[number];
    expansion_scratch& state = *scratch_->expansions[number];
    const choice_scratch& choosing = *scratch_->choices[number];
    sources_.choose_fewest(number, n);
    for (std::size_t c = 0; c < here.choices.size(); ++c) {
      const search_choice& choice = here.choices[c];
      std::uint64_t wanted = 0;
      for (std::uint32_t i = 0; i < n; ++i) wanted += choosing.chosen[i] == c ? choosing.fewest[i] : 0;
      if (wanted == 0) continue;
      state.filled = state.gathered = 0;
      sources_.for_each_run_of(choice, number, n, [&](const storage::sorted_run& run) {
        const std::uint32_t matched = sources_.find_chosen(number, c, n);
        if (share_matched(number, {&run, &choice}, matched)) return;
        for (std::uint32_t k = 0; k < matched; ++k)
          pair_key(number, {&run, &choice}, state.matched[k], state.ranges[state.matched[k]], make_room);
        end_pairs(number, {&run, &choice}, make_room);
      });
      if (state.filled != 0) process_found(number, {nullptr, &choice}, state.filled, make_room);
    }
  }

  /// Leaves n bindings to all workers if this saves time.
  /// @return whether the bindings were shared
  template <class Wanted>
  bool share(std::size_t number, const row_source& source, std::uint32_t n, const Wanted& wanted) {
    return sharer_ != nullptr && sources_.share(*sharer_, number, source, n, wanted);
  }
  bool share_matched(std::size_t number, const row_source& source, std::uint32_t n) {
    const expansion_scratch& state = *scratch_->expansions[number];
    return share(number, source, n, [&state](std::uint32_t k) {
      const storage::row_range& range = state.ranges[state.matched[k]];
      return wanted_rows{state.matched[k], range.first, std::uint64_t{range.first} + range.count};
    });
  }

  /// Continues with a full tile of pairs.
  template <class MakeRoom>
  void process_found(std::size_t number, const row_source& source, std::uint32_t n, const MakeRoom& make_room) {
    if (source.choice != nullptr) {
      scratch_->need_constants(n);
      if (counts_ != nullptr) counts_[program_->counted->first[number]] += n;
      for (const step& check : source.choice->checks) {
        n = steps_.apply_step(number, check, n);
        if (n == 0) return;
      }
    }
    process(number, n, make_room);
  }

  /// Pairs a binding with rows of the source; for first matches, end_pairs() does.
  template <class MakeRoom>
  void pair(std::size_t number, const row_source& source, const wanted_rows& wanted, const MakeRoom& make_room) {
    if (program_->segments[number].first_match_around != 0) {
      if (wanted.begin != wanted.end) scratch_->rounds[number].push_back(wanted);
    } else {
      write_rows(number, source, wanted, make_room);
    }
  }
  /// Like pair(), for the rows of a key: the most frequent case.
  template <class MakeRoom>
  void pair_key(std::size_t number, const row_source& source, std::uint32_t owner, const storage::row_range& range,
                const MakeRoom& make_room) {
    if (program_->segments[number].first_match_around != 0) {
      scratch_->rounds[number].push_back({owner, range.first, std::uint64_t{range.first} + range.count});
    } else {
      write_pairs(number, source, owner, range.first, range.count, make_room);
    }
  }
  template <class MakeRoom>
  void end_pairs(std::size_t number, const row_source& source, const MakeRoom& make_room) {
    if (program_->segments[number].first_match_around != 0) {
      find_first(number, source, make_room);
    } else {
      sources_.gather(number, source);
    }
  }

  /// Searches for first matches in rounds: each binding gets a few rows, which run to the end of the first match, and
  /// the remaining bindings get twice as many in the next round. Therefore an early match costs little, and a missing
  /// match hardly more than processing all rows at once.
  template <class MakeRoom>
  void find_first(std::size_t number, const row_source& source, const MakeRoom& make_room) {
    const segment& body = program_->segments[program_->segments[number].first_match_around];
    const fold_state& state = *scratch_->folds[program_->segments[number].first_match_around];
    const word* const groups = steps_.value(number - 1, body.owner);
    std::vector<wanted_rows>& left = scratch_->rounds[number];
    for (std::uint64_t round = calibration::first_match_rows; !left.empty(); round *= 2) {
      std::size_t kept = 0;
      for (wanted_rows one : left) {
        if (state.has_match(groups[one.owner])) continue;
        wanted_rows now = one;
        now.end = one.begin + std::min(round, one.end - one.begin);
        one.begin = now.end;
        if (one.begin != one.end) left[kept++] = one;
        write_rows(number, source, now, make_room);
      }
      left.resize(kept);
      process_pairs(number, source, make_room);
    }
  }

  template <class MakeRoom>
  void write_rows(std::size_t number, const row_source& source, const wanted_rows& wanted, const MakeRoom& make_room) {
    if (wanted.sorted == nullptr) {
      write_pairs(number, source, wanted.owner, wanted.begin, wanted.end - wanted.begin, make_room);
      return;
    }
    for (std::uint64_t place = wanted.begin; place < wanted.end; ++place) {
      write_pairs(number, source, wanted.owner, wanted.first + wanted.sorted->rows[place], 1, make_room);
    }
  }

  /// Continues with the pairs written so far.
  template <class MakeRoom>
  void process_pairs(std::size_t number, const row_source& source, const MakeRoom& make_room) {
    expansion_scratch& state = *scratch_->expansions[number];
    sources_.gather(number, source);
    const std::uint32_t n = state.filled;
    state.filled = state.gathered = 0;
    if (n != 0) process_found(number, source, n, make_room);
  }

  /// Pairs binding `owner` with rows [first, first + count); passes every full tile on.
  template <class MakeRoom>
  void write_pairs(std::size_t number, const row_source& source, std::uint32_t owner, std::uint64_t first,
                   std::uint64_t count, const MakeRoom& make_room) {
    expansion_scratch& state = *scratch_->expansions[number];
    // Most keys have few matches. A fixed number of stores has no branch to mispredict; the next pairs overwrite those
    // past `count`.
    constexpr std::uint32_t few = calibration::branchless_matches;
    if (count <= few && state.filled + few < tile_rows) {
      state.write(owner, first, few);
      state.filled += static_cast<std::uint32_t>(count);
      return;
    }
    while (count != 0) {
      const auto taken = static_cast<std::uint32_t>(std::min<std::uint64_t>(count, tile_rows - state.filled));
      state.write(owner, first, taken);
      state.filled += taken;
      first += taken;
      count -= taken;
      if (state.filled == tile_rows) {
        process_pairs(number, source, make_room);
        check_end();
      }
    }
  }

  const pipeline* program_;
  tile_scratch* scratch_;
  tile_steps steps_;
  tile_sources sources_;
  tile_folds folds_;
  worker_gate* gate_;
  std::uint64_t shared_room_;
  const std::atomic<bool>* stop_;
  unsigned worker_;
  fold_memory* folded_;
  match_sharer* sharer_;
  bool ends_when_full_;
  std::uint64_t* counts_ = nullptr;        ///< by place (step_counts); nullptr: not counted
  std::vector<std::uint64_t> own_counts_;  ///< of a concurrent worker
  std::uint64_t bindings_ = 0;             ///< bindings that entered segments
  std::uint64_t candidates_ = 0;
  std::uint64_t fresh_ = 0;
  double spent_ = 0;                ///< of the pipeline's budget
  std::uint8_t* passes_ = nullptr;  // for run_pairs()
};

}  // namespace gpulog::kernels

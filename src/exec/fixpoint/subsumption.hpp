#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "exec/calibration.hpp"
#include "exec/fixpoint/stratum_subsumptions.hpp"
#include "kernels/join/tile_runner.hpp"
#include "storage/relation/relation.hpp"
#include "storage/sets/row_chains.hpp"

namespace gpulog::exec {

/// The subsumptions of one relation in a stratum, on the host's processors.
///
/// Rows with equal key columns of a subsumption form a chain (storage::row_chains): one set of chains for the rows of
/// the relation, kept between iterations, and one for the rows appended by the current iteration. A row walks its
/// chains until a row dominates it; kernels process tiles of such pairs, for up to 512 rows at a time. As in Soufflé
/// (src/ast2ram, semi-naive), an iteration first rejects dominated new rows, against new rows and rows of the relation,
/// then deletes rows of the relation that the remaining new rows dominate. Rejected rows are dropped at once. Deleted
/// rows leave the tuple set and the chains at once, and the columns once many rows are deleted.
template <class Backend>
class subsumption_runner {
 public:
  using relation = storage::relation;

  subsumption_runner(Backend& backend, backend::memory_resource& resource,
                     std::vector<std::unique_ptr<kernels::tile_scratch>>& scratch,
                     kernels::relation_list<relation>& relations, std::size_t target,
                     std::vector<bound_subsumption> subsumptions, const std::atomic<bool>* stop)
      : backend_(&backend),
        scratch_(&scratch),
        relations_(&relations),
        target_(relations[target].get()),
        stop_(stop),
        subsumptions_(std::move(subsumptions)),
        erased_(resource),
        marks_(resource),
        champions_(resource),
        figures_(subsumptions_.size()) {
    for (const bound_subsumption& one : subsumptions_) {
      const auto has_keys = [&](const chain_pair& known) { return known.of_relation.key_columns() == one.key_columns; };
      auto found = std::find_if(chains_.begin(), chains_.end(), has_keys);
      if (found == chains_.end()) {
        chains_.push_back(
            {storage::row_chains(resource, one.key_columns), storage::row_chains(resource, one.key_columns)});
        found = chains_.end() - 1;
      }
      chains_of_.push_back(static_cast<std::size_t>(found - chains_.begin()));
    }
  }

  [[nodiscard]] std::size_t count() const { return subsumptions_.size(); }
  /// Return, for subsumption `number`, the number of compared pairs and of removed rows (if the tuple set keeps the
  /// best rows: removed rows of the relation).
  [[nodiscard]] std::uint64_t pairs(std::size_t number) const { return figures_[number].pairs; }
  [[nodiscard]] std::uint64_t removed(std::size_t number) const { return figures_[number].removed; }

  /// Removes every row that any row dominates, all at once, after the rules that run once. All rows are visible.
  /// @param last no step follows
  /// @throws kernels::arithmetic_fault, kernels::interrupted, backend::memory_exceeded
  void purge(bool last) {
    if (target_->keeps_best()) return finish();
    const std::uint64_t rows = target_->rows();
    grow(marks_, rows);
    std::fill_n(marks_.data(), rows, std::uint8_t{0});
    for (chain_pair& chains : chains_) chains.of_relation.add_until(target_->columns(), rows);
    std::uint64_t found = 0;
    for (std::size_t number = 0; number < subsumptions_.size(); ++number) {
      found += find_dominated_by_own(number, 0, rows, marks_.data(), chains_[chains_of_[number]].of_relation);
    }
    for (std::uint64_t row = 0; row < rows; ++row) {
      if (marks_[row] != 0) target_->erase(row);
    }
    if (last) chains_.clear();
    if (found != 0) compact(marks_);
  }

  /// Call after the rules of an iteration and before the advance.
  void step() {
    if (target_->keeps_best()) {
      // The tuple set has already removed dominated rows.
      if (is_worth_compacting()) compact_best();
      return;
    }
    reject_appended();
    for (std::size_t number = 0; number < subsumptions_.size(); ++number) delete_dominated(number);
    for (chain_pair& chains : chains_) chains.of_relation.add_until(target_->columns(), end_of_appended());
    grow(erased_, end_of_appended());
    if (is_worth_compacting()) compact(erased_);
  }

  /// Afterwards all rows are tuples.
  void finish() {
    if (target_->erased_rows() == 0) return;
    if (target_->keeps_best()) {
      compact_best();
    } else {
      compact(erased_);
    }
  }

 private:
  struct chain_pair {
    storage::row_chains of_relation;
    storage::row_chains of_appended;
  };
  struct figures {
    std::uint64_t pairs = 0;
    std::uint64_t removed = 0;
  };
  static constexpr std::uint64_t none = storage::row_chains::none;

  /// A row that walks the chains of its key.
  struct walk {
    std::uint64_t row;
    std::uint64_t at;  // the next row of the chain
  };

  static void grow(storage::array<std::uint8_t>& flags, std::uint64_t rows) {
    if (flags.capacity() < rows) flags.set_capacity(rows + rows / 2);
    const std::uint64_t before = flags.size();
    flags.resize(rows);
    if (rows > before) std::fill_n(flags.data() + before, rows - before, std::uint8_t{0});
  }

  [[nodiscard]] bool is_worth_compacting() const {
    return target_->erased_rows() > calibration::least_dropped_rows && target_->erased_rows() > end_of_appended() / 2;
  }

  [[nodiscard]] std::uint64_t end_of_appended() const { return target_->rows() + target_->appended_rows(); }

  /// Calls action(tester, begin, end) on pieces of [0, n), with one tester per worker.
  template <class Action>
  void for_each_piece(std::size_t number, std::uint64_t n, const Action& action) {
    const kernels::pipeline& pipeline = subsumptions_[number].pipeline;
    constexpr std::uint64_t piece = calibration::tiles_of_a_piece * storage::tile_rows;
    kernels::worker_gate gate(backend_->workers());
    const auto folded = kernels::memory_of_folds(pipeline, marks_.resource());
    if (n <= piece || backend_->workers() == 1) {
      kernels::tile_runner<storage::exclusive_access> tester(pipeline, *relations_, 0, *(*scratch_)[0], gate, stop_,
                                                             nullptr, folded.get());
      figures_[number].pairs += action(tester, 0, n);
      return;
    }
    std::vector<std::optional<kernels::tile_runner<storage::concurrent_access>>> testers(backend_->workers());
    std::atomic<std::uint64_t> pairs{0};
    backend_->for_each_tile(n, piece, [&](unsigned worker, std::uint64_t begin, std::uint64_t end) {
      auto& tester = testers[worker];
      if (!tester)
        tester.emplace(pipeline, *relations_, worker, *(*scratch_)[worker], gate, stop_, nullptr, folded.get());
      pairs.fetch_add(action(*tester, begin, end), std::memory_order_relaxed);
    });
    figures_[number].pairs += pairs.load();
  }

  void check_stop() const {
    if (stop_ != nullptr && stop_->load(std::memory_order_relaxed)) throw kernels::interrupted{};
  }

  /// Walks rows along the chains of their keys, in tiles of pairs. next_row() returns the next row, or none;
  /// meets(walk) returns whether to test the pair, passed(walk) whether the row continues.
  /// @return the number of pairs
  template <class Tester, class NextRow, class Meets, class Passed>
  std::uint64_t walk_rows(Tester& tester, bool row_is_dominated, const storage::row_chains& chains,
                          const NextRow& next_row, const Meets& meets, const Passed& passed) {
    const storage::column_pointers columns = target_->columns();
    std::vector<walk> walks;
    walks.reserve(storage::tile_rows);
    std::uint64_t rows[storage::tile_rows];
    std::uint64_t others[storage::tile_rows];
    std::uint8_t passes[storage::tile_rows];
    std::uint64_t pairs = 0;
    // Moves a walk to the next row to test; returns false at the end of the chain.
    const auto settle = [&](walk& one) {
      while (one.at != none && !meets(one)) one.at = chains.next(one.at);
      return one.at != none;
    };
    for (bool exhausted = false;;) {
      while (!exhausted && walks.size() < storage::tile_rows) {
        const std::uint64_t row = next_row();
        exhausted = row == none;
        if (exhausted) break;
        walk started{row, chains.first(chains.group(columns, row))};
        if (settle(started)) walks.push_back(started);
      }
      if (walks.empty()) return pairs;
      check_stop();
      const auto n = static_cast<std::uint32_t>(walks.size());
      for (std::uint32_t i = 0; i < n; ++i) {
        rows[i] = walks[i].row;
        others[i] = walks[i].at;
      }
      tester.run_pairs(row_is_dominated ? rows : others, row_is_dominated ? others : rows, n, passes);
      pairs += n;
      std::size_t kept = 0;
      for (std::uint32_t i = 0; i < n; ++i) {
        walk one = walks[i];
        if (passes[i] != 0 && !passed(one)) continue;
        one.at = chains.next(one.at);
        if (settle(one)) walks[kept++] = one;
      }
      walks.resize(kept);
    }
  }

  /// Marks rows of [begin, end) that a row of the chains dominates; marks[row - begin].
  /// @return the number of newly marked rows
  std::uint64_t find_dominated(std::size_t number, std::uint64_t begin, std::uint64_t end, std::uint8_t* marks,
                               const storage::row_chains& chains) {
    std::atomic<std::uint64_t> found{0};
    for_each_piece(number, end - begin, [&](auto& tester, std::uint64_t from, std::uint64_t to) {
      std::uint64_t row = begin + from;
      std::uint64_t own_found = 0;
      const auto next_row = [&] {
        while (row < begin + to && is_marked(marks[row - begin])) ++row;
        return row < begin + to ? row++ : none;
      };
      const auto meets = [](const walk& one) { return one.at != one.row; };
      const auto passed = [&](const walk& one) {
        mark(marks[one.row - begin]);
        ++own_found;
        return false;
      };
      const std::uint64_t pairs = walk_rows(tester, true, chains, next_row, meets, passed);
      found.fetch_add(own_found, std::memory_order_relaxed);
      return pairs;
    });
    figures_[number].removed += found.load();
    return found.load();
  }

  /// The same for chains that hold the rows [begin, end) themselves.
  std::uint64_t find_dominated_by_own(std::size_t number, std::uint64_t begin, std::uint64_t end, std::uint8_t* marks,
                                      const storage::row_chains& own) {
    std::uint64_t found = 0;
    if (own.groups() != 0 && (end - begin) / own.groups() >= calibration::long_chain) {
      found = sweep(number, begin, end, marks, own);
    }
    return found + find_dominated(number, begin, end, marks, own);
  }

  // Several workers may mark the same row.
  static void mark(std::uint8_t& flag) { __atomic_store_n(&flag, std::uint8_t{1}, __ATOMIC_RELAXED); }
  static bool is_marked(const std::uint8_t& flag) { return __atomic_load_n(&flag, __ATOMIC_RELAXED) != 0; }

  /// In a long chain one row often dominates most of the rest. Each chain has a champion: compares each row with the
  /// champion, and replaces the champion if the row dominates it. Marks rows that the champion dominates; the rest must
  /// walk.
  /// @return the number of marked rows
  std::uint64_t sweep(std::size_t number, std::uint64_t begin, std::uint64_t end, std::uint8_t* marks,
                      const storage::row_chains& own) {
    champions_.resize(own.groups());
    for (std::uint64_t group = 0; group < own.groups(); ++group) champions_[group] = own.first(group);
    std::vector<std::uint64_t> left;
    for (std::uint64_t row = begin; row < end; ++row) {
      if (!is_marked(marks[row - begin])) left.push_back(row);
    }
    const std::size_t all = left.size();
    while (left.size() > storage::tile_rows) {
      const std::size_t before = left.size();
      for_each_piece(number, left.size(), [&](auto& tester, std::uint64_t from, std::uint64_t to) {
        return meet_champions(tester, left.data() + from, to - from, begin, marks, own);
      });
      std::erase_if(left, [&](std::uint64_t row) { return is_marked(marks[row - begin]); });
      if (left.size() > before / 4 * 3) break;
    }
    figures_[number].removed += all - left.size();
    return all - left.size();
  }

  template <class Tester>
  std::uint64_t meet_champions(Tester& tester, const std::uint64_t* rows, std::uint64_t n, std::uint64_t begin,
                               std::uint8_t* marks, const storage::row_chains& own) {
    const storage::column_pointers columns = target_->columns();
    std::uint64_t challengers[storage::tile_rows];
    std::uint64_t champions[storage::tile_rows];
    std::uint64_t groups[storage::tile_rows];
    std::uint8_t passes[storage::tile_rows];
    std::uint64_t pairs = 0;
    for (std::uint64_t done = 0; done < n; done += storage::tile_rows) {
      check_stop();
      std::uint32_t count = 0;
      for (std::uint64_t i = done; i < std::min<std::uint64_t>(n, done + storage::tile_rows); ++i) {
        challengers[count] = rows[i];
        groups[count] = own.group(columns, rows[i]);
        champions[count] = __atomic_load_n(&champions_[groups[count]], __ATOMIC_RELAXED);
        if (champions[count] != rows[i]) ++count;
      }
      tester.run_pairs(challengers, champions, count, passes);
      pairs += count;
      std::uint32_t unbeaten = 0;
      for (std::uint32_t i = 0; i < count; ++i) {
        if (passes[i] != 0) {
          mark(marks[challengers[i] - begin]);
          continue;
        }
        challengers[unbeaten] = challengers[i];
        champions[unbeaten] = champions[i];
        groups[unbeaten++] = groups[i];
      }
      tester.run_pairs(champions, challengers, unbeaten, passes);
      pairs += unbeaten;
      for (std::uint32_t i = 0; i < unbeaten; ++i) {
        if (passes[i] == 0) continue;
        mark(marks[champions[i] - begin]);
        __atomic_store_n(&champions_[groups[i]], challengers[i], __ATOMIC_RELAXED);
      }
    }
    return pairs;
  }

  void reject_appended() {
    const std::uint64_t begin = target_->rows();
    const std::uint64_t end = end_of_appended();
    if (begin == end) return;
    for (chain_pair& chains : chains_) {
      chains.of_appended.clear(begin);
      chains.of_appended.add_until(target_->columns(), end);
    }
    grow(marks_, end - begin);
    std::fill_n(marks_.data(), end - begin, std::uint8_t{0});
    std::uint64_t found = 0;
    for (std::size_t number = 0; number < subsumptions_.size(); ++number) {
      const chain_pair& chains = chains_[chains_of_[number]];
      found += find_dominated(number, begin, end, marks_.data(), chains.of_relation);
      found += find_dominated_by_own(number, begin, end, marks_.data(), chains.of_appended);
    }
    if (found != 0) target_->erase_appended(marks_.data());
  }

  void delete_dominated(std::size_t number) {
    const bool changed = std::any_of(subsumptions_[number].changing.begin(), subsumptions_[number].changing.end(),
                                     [this](relation_id read) { return (*relations_)[read.value]->delta_rows() != 0; });
    const std::uint64_t rows = target_->rows();
    grow(erased_, rows);
    std::vector<std::uint64_t> found;
    storage::row_chains& chains = chains_[chains_of_[number]].of_relation;
    delete_by_appended(number, chains, found);
    if (changed) {
      // Pairs tested earlier may have changed their result.
      grow(marks_, rows);
      std::copy_n(erased_.data(), rows, marks_.data());
      if (find_dominated_by_own(number, 0, rows, marks_.data(), chains) != 0) {
        for (std::uint64_t row = 0; row < rows; ++row) {
          if (marks_[row] == 0 || erased_[row] != 0) continue;
          erased_[row] = 1;
          found.push_back(row);
        }
      }
    }
    for (const std::uint64_t row : found) {
      for (chain_pair& each : chains_) each.of_relation.remove(target_->columns(), row);
      target_->erase(row);
    }
  }

  /// Finds rows of the relation that appended rows dominate. The rows stay in their chains meanwhile.
  void delete_by_appended(std::size_t number, const storage::row_chains& chains, std::vector<std::uint64_t>& found) {
    const std::uint64_t begin = target_->rows();
    const std::uint64_t end = end_of_appended();
    std::mutex merging;
    for_each_piece(number, end - begin, [&](auto& tester, std::uint64_t from, std::uint64_t to) {
      std::vector<std::uint64_t> own_found;
      std::uint64_t row = begin + from;
      const auto next_row = [&] { return row < begin + to ? row++ : none; };
      const auto meets = [&](const walk& one) { return !is_marked(erased_[one.at]); };
      const auto passed = [&](const walk& one) {
        const bool was_marked = __atomic_exchange_n(&erased_[one.at], std::uint8_t{1}, __ATOMIC_RELAXED) != 0;
        if (!was_marked) own_found.push_back(one.at);
        return true;
      };
      const std::uint64_t pairs = walk_rows(tester, false, chains, next_row, meets, passed);
      const std::scoped_lock lock(merging);
      found.insert(found.end(), own_found.begin(), own_found.end());
      return pairs;
    });
    figures_[number].removed += found.size();
  }

  void compact_best() {
    figures_.front().removed += target_->erased_rows();
    target_->compact_best();
  }

  void compact(storage::array<std::uint8_t>& marks) {
    target_->compact(marks.data());
    rebuild();
  }

  void rebuild() {
    erased_.resize(0);
    grow(erased_, end_of_appended());
    for (chain_pair& chains : chains_) {
      chains.of_relation.clear(0);
      chains.of_relation.add_until(target_->columns(), end_of_appended());
    }
  }

  Backend* backend_;
  std::vector<std::unique_ptr<kernels::tile_scratch>>* scratch_;
  kernels::relation_list<relation>* relations_;
  relation* target_;
  const std::atomic<bool>* stop_;
  std::vector<bound_subsumption> subsumptions_;
  std::vector<chain_pair> chains_;       // one per set of key columns
  std::vector<std::size_t> chains_of_;   // by subsumption
  storage::array<std::uint8_t> erased_;  // by row: whether the row is erased, but still in the columns
  storage::array<std::uint8_t> marks_;
  storage::array<std::uint64_t> champions_;  // by chain
  std::vector<figures> figures_;             // by subsumption
};

}  // namespace gpulog::exec

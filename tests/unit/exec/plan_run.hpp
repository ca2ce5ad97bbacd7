#pragma once

#include <cstdint>
#include <memory>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "backend/cpu/more_threads.hpp"
#include "exec/executor.hpp"
#include "oracle/random_runs.hpp"

namespace gpulog::exec {

using tuple = std::vector<wide_word>;
using tuples = std::set<tuple>;

/// How to run a plan.
struct run_mode {
  storage::storage_mode storage = storage::storage_mode::hash;
  unsigned threads = 1;
  bool small_cut_offs = false;  ///< everything in parallel, candidates deduplicated in small batches
  bool eager_buffers = true;
  storage::set_choice sets = storage::set_choice::automatic;
};

inline std::string name_of(const run_mode& mode) {
  std::string name = mode.storage == storage::storage_mode::hash ? "hash" : "hisa";
  name += "_" + std::to_string(mode.threads);
  if (mode.small_cut_offs) name += "_small_cut_offs";
  if (!mode.eager_buffers) name += "_exact_buffers";
  if (mode.sets == storage::set_choice::bits) name += "_bits";
  if (mode.sets == storage::set_choice::words) name += "_words";
  return name;
}
inline std::ostream& operator<<(std::ostream& out, const run_mode& mode) { return out << name_of(mode); }

inline std::vector<run_mode> all_run_modes() {
  std::vector<run_mode> modes;
  for (const auto storage : {storage::storage_mode::hash, storage::storage_mode::hisa}) {
    const bool hisa = storage == storage::storage_mode::hisa;
    modes.push_back({storage, 1});
    if (!oracle::is_sanitized) modes.push_back({storage, 2});
    if (!oracle::is_sanitized) modes.push_back({storage, 4});
    if (!oracle::is_sanitized) modes.push_back({storage, 1, true});
    modes.push_back({storage, 3, true, !hisa});
  }
  for (const auto sets : {storage::set_choice::bits, storage::set_choice::words}) {
    if (!oracle::is_sanitized) modes.push_back({storage::storage_mode::hash, 1, false, true, sets});
    if (!oracle::is_sanitized) modes.push_back({storage::storage_mode::hash, 1, true, true, sets});
    modes.push_back({storage::storage_mode::hash, 3, true, true, sets});
  }
  return modes;
}

/// A run of a plan, with symbols and memory.
class plan_run {
 public:
  /// @param memory_limit in bytes; 0: no limit
  plan_run(const plan::program& plan, const run_mode& mode, std::uint64_t memory_limit = 0, options chosen = {})
      : more_threads_(mode.threads), symbols_(plan.symbols) {
    memory_.set_limit(memory_limit);
    chosen.threads = mode.threads;
    chosen.storage = mode.storage;
    chosen.buffers.eager = mode.eager_buffers;
    chosen.sets = mode.sets;
    if (mode.small_cut_offs) {
      chosen.cut.parallel_candidates = 0;
      chosen.cut.shared_matches = 2;
      chosen.cut.range_elements = 1;
      chosen.cut.candidate_rows = 200;
      chosen.rows = row_mode::always;
    } else {
      chosen.cut.together_candidates = 0;
      chosen.cut.shared_matches = 40;
    }
    executor_ = make_cpu_executor(plan, symbols_, memory_, chosen);
  }

  executor& operator*() { return *executor_; }
  executor* operator->() { return executor_.get(); }
  [[nodiscard]] const backend::memory_resource& memory() const { return memory_; }

  template <class Rows>
  void load(relation_id relation, std::size_t arity, const Rows& rows) {
    std::vector<std::vector<word>> columns(arity);
    for (const tuple& row : rows) {
      for (std::size_t c = 0; c < arity; ++c) columns[c].push_back(static_cast<word>(row[c]));
    }
    std::vector<const word*> pointers;
    for (const auto& column : columns) pointers.push_back(column.data());
    executor_->load(relation, pointers, rows.size());
  }

  /// Returns the rows of a relation.
  /// @param distinct set to false if a row repeats
  [[nodiscard]] tuples rows_of(relation_id relation, bool* distinct = nullptr) {
    tuples rows;
    const std::vector<const word*> columns = executor_->columns(relation);
    const std::uint64_t count = executor_->rows(relation);
    for (std::uint64_t row = 0; row < count; ++row) {
      tuple values;
      for (const word* const column : columns) values.push_back(column[row]);
      rows.insert(std::move(values));
    }
    if (distinct != nullptr) *distinct = rows.size() == count;
    return rows;
  }

 private:
  backend::cpu::more_threads more_threads_;
  backend::host_memory memory_;
  storage::symbol_table symbols_;
  std::unique_ptr<executor> executor_;
};

}  // namespace gpulog::exec

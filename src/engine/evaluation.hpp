#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "engine/figures/plan_figures.hpp"
#include "engine/figures/run_measures.hpp"
#include "engine/rows/dense_domain_encoding.hpp"
#include "exec/executor.hpp"
#include "plan/plan.hpp"
#include "plan/reoptimizer.hpp"
#include "sema/program.hpp"

namespace gpulog::detail {

struct program_state;

/// One evaluation of a program, or of the part of it that facts have changed (affected.hpp), with its results. It uses
/// memory of its engine_state, which outlives it.
struct evaluation {
  /// Has the text that places in what it evaluates point to.
  std::shared_ptr<const program_state> text;
  /// What it evaluates; the planner points to it.
  std::shared_ptr<const sema::program> source;
  std::optional<plan::reoptimizer> planner;
  std::vector<bool> members;             ///< by relation: a stratum of the plan has it
  plan_record record;                    ///< what the planner knew
  std::optional<run_measures> measures;  ///< of the executor
  /// Whether a stratum that a device can run can be run there still; empty: there is none.
  std::function<bool(std::size_t stratum)> suits_device;
  /// While it runs, some values may be numbers. Reading results may keep some of them with values.
  std::optional<dense_domain_encoding> numbers;
  std::unique_ptr<exec::executor> executor;

  /// Of an evaluation that goes on with facts that are inserted (continue_evaluation.cpp): its program is one
  /// recursion.
  struct recursion {
    std::vector<bool> changed;                   ///< by relation: those whose facts it was planned for
    std::vector<bool> growing;                   ///< relations of the recursion
    std::vector<bool> held;                      ///< these, and those that it reads
    exec::stratum_executor* executor = nullptr;  ///< evaluation::executor
  };
  std::optional<recursion> continued;
  /// Who shows columns to others has a copy: as long as there is one, rows stay where they are.
  std::shared_ptr<const void> shown = std::make_shared<char>();
  [[nodiscard]] bool is_shown() const { return shown.use_count() > 1; }

  [[nodiscard]] const plan::program& plan() const { return planner->plan(); }
  /// What the executor runs.
  [[nodiscard]] const plan::program& running_plan() const { return numbers ? numbers->plan() : plan(); }

  /// Of a relation that has its rows here, and is no equivalence relation; they stay as long as this does. @throws
  /// exec::memory_fault
  [[nodiscard]] const std::vector<const word*>& columns_of(std::uint32_t relation);
  [[nodiscard]] bool has_columns(std::uint32_t relation) const { return columns_.contains(relation); }
  /// Rows come.
  void forget_columns() { columns_.clear(); }

 private:
  /// By relation: fetched when they are asked for, as rows may have to come from a device.
  std::map<std::uint32_t, std::vector<const word*>> columns_;
};

}  // namespace gpulog::detail

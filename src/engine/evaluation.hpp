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

/// One evaluation of a program, or of the part affected by changed facts (affected.hpp), with its results. Uses memory
/// of its engine_state, which must outlive the evaluation.
struct evaluation {
  /// Owns the text that locations in `source` point to.
  std::shared_ptr<const program_state> text;
  /// The evaluated program; the planner points to it.
  std::shared_ptr<const sema::program> source;
  std::optional<plan::reoptimizer> planner;
  std::vector<bool> members;             ///< by relation: whether a stratum of the plan contains it
  plan_record record;                    ///< sizes that the planner assumed
  std::optional<run_measures> measures;  ///< measures of the executor
  /// Returns whether a stratum that a device supports can still run on the device; empty: no device.
  std::function<bool(std::size_t stratum)> suits_device;
  /// Present while some values are encoded as numbers during the run. Reading results stores decoded columns here.
  std::optional<dense_domain_encoding> numbers;
  std::unique_ptr<exec::executor> executor;

  /// State of an evaluation that continues with inserted facts (continue_evaluation.cpp): its program is a single
  /// recursion.
  struct recursion {
    std::vector<bool> changed;                   ///< by relation: relations whose changed facts the plan expects
    std::vector<bool> growing;                   ///< relations of the recursion
    std::vector<bool> held;                      ///< `growing` and the relations that the recursion reads
    exec::stratum_executor* executor = nullptr;  ///< the same object as evaluation::executor
  };
  std::optional<recursion> continued;
  /// Each view of columns outside the engine holds a copy; while a copy exists, rows must not move.
  std::shared_ptr<const void> shown = std::make_shared<char>();
  [[nodiscard]] bool is_shown() const { return shown.use_count() > 1; }

  [[nodiscard]] const plan::program& plan() const { return planner->plan(); }
  /// Returns the plan that the executor runs.
  [[nodiscard]] const plan::program& running_plan() const { return numbers ? numbers->plan() : plan(); }

  /// Returns the columns of a relation whose rules are evaluated here, except an equivalence relation. The columns stay
  /// valid as long as this object.
  /// @throws exec::memory_fault
  [[nodiscard]] const std::vector<const word*>& columns_of(std::uint32_t relation);
  [[nodiscard]] bool has_columns(std::uint32_t relation) const { return columns_.contains(relation); }
  /// Call before rows are added.
  void forget_columns() { columns_.clear(); }

 private:
  /// By relation; fetched on request, because rows may have to be copied from a device.
  std::map<std::uint32_t, std::vector<const word*>> columns_;
};

}  // namespace gpulog::detail

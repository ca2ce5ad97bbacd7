#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "exec/fixpoint/stratum_run.hpp"

namespace gpulog::exec {

/// Compares the bindings per delta row of a version in a running loop, before and after the last change of the order.
/// A version returns to the former order if the new order makes more than cut_offs::worse_order_factor times the
/// bindings. The first run of the former order, with the same delta, has the bindings of the new order as a limit. Both
/// orders take turns with this delta, each time with a larger limit; the first order that ends within the limit stays.
/// A machine without budgets (`hisa` mode) does not compare.
template <class Machine>
class order_costs {
 public:
  explicit order_costs(stratum_run<Machine>& run) : run_(&run) {
    if (run.stops == nullptr || !run.stops->put_back) return;
    for (const auto& versions : run.phases) {
      for (const running_version& version : versions) has_changes_ = has_changes_ || has_changed(version);
    }
  }

  /// Limits the observed versions of a phase.
  void grant(std::size_t phase) {
    if (!has_changes_) return;
    for (const observed& one : observed_) one.version->pipeline.budget = nullptr;
    observed_.clear();
    std::size_t number = 0;
    for (std::size_t p = 0; p < phase; ++p) number += run_->phases[p].size();
    for (running_version& version : run_->phases[phase]) {
      const std::optional<double> left = kept_.contains(number) ? std::nullopt : bindings_left(version);
      if (left && version.pipeline.budget == nullptr) {
        observed_.push_back({number, &version, *left, std::make_unique<kernels::work_budget>()});
        observed_.back().budget->grant(*left);
        version.pipeline.budget = observed_.back().budget.get();
      }
      ++number;
    }
  }

  /// Returns the number of a version that exceeded the limit in the last run.
  [[nodiscard]] std::optional<std::size_t> find_worse() const {
    for (const observed& one : observed_) {
      if (one.budget->is_exceeded()) return one.number;
    }
    return std::nullopt;
  }

  /// Removes the limit of a version whose run ended early. The limit counts as the bindings of the run, because the
  /// limit is the same with any number of threads.
  void end(std::size_t number) {
    for (const observed& one : observed_) {
      if (one.number != number) continue;
      one.version->pipeline.budget = nullptr;
      one.version->figures->bindings += static_cast<std::uint64_t>(std::max(one.limit, 0.0));
    }
    std::erase_if(observed_, [number](const observed& one) { return one.number == number; });
  }
  /// Ends the limit of a version that cannot return to a former order.
  void keep(std::size_t number) { kept_.insert(number); }

 private:
  struct observed {
    std::size_t number;
    running_version* version;
    double limit;
    std::unique_ptr<kernels::work_budget> budget;
  };

  [[nodiscard]] static bool has_changed(const running_version& version) {
    const plan::rule_version& planned = *version.planned;
    return !planned.is_retired && version.delta && !version.figures->former.empty();
  }
  /// Returns the bindings that a run may make; nothing: no limit.
  [[nodiscard]] std::optional<double> bindings_left(const running_version& version) const {
    if (!has_changed(version)) return std::nullopt;
    const version_statistics& figures = *version.figures;
    const plan_work change = figures.former.back();
    const plan_work start = figures.former.size() < 2 ? plan_work() : figures.former[figures.former.size() - 2];
    const std::uint64_t rows_before = change.delta_rows - start.delta_rows;
    const std::uint64_t rows_since = figures.delta_rows - change.delta_rows;
    if (rows_before == 0 || (version.planned->is_put_back && rows_since != 0)) return std::nullopt;
    const std::uint64_t rows = rows_since + run_->shared.relation_of(*version.delta).delta_rows();
    const double per_row = static_cast<double>(change.bindings - start.bindings) / static_cast<double>(rows_before);
    const cut_offs& cut = run_->shared.chosen.cut;
    const double free_bindings = std::ldexp(cut.free_order_bindings, static_cast<int>(figures.former.size()) - 1);
    return free_bindings + cut.worse_order_factor * per_row * static_cast<double>(rows) -
           static_cast<double>(figures.bindings - change.bindings);
  }

  stratum_run<Machine>* run_;
  bool has_changes_ = false;  ///< whether the order of any version has changed
  std::vector<observed> observed_;
  std::set<std::size_t> kept_;  ///< versions that cannot return to a former order
};

}  // namespace gpulog::exec

#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "exec/executor.hpp"
#include "plan/reoptimizer.hpp"

namespace gpulog::oracle {

/// A plan whose supplementary relations, with semi-join reductions for odd seeds and magic sets for half of all seeds,
/// are abandoned at a budget that depends on a seed: some at once, some after a few iterations, some never, as if the
/// rules as written took longer.
class abandoning_plan {
 public:
  abandoning_plan(const sema::program& source, std::uint64_t seed)
      : seed_(seed),
        planner_(source, {},
                 {.modes = {{"semi-join-reduction", seed % 2 == 0 ? tuning_mode::automatic : tuning_mode::always},
                            {"magic-sets", seed % 4 < 2 ? tuning_mode::automatic : tuning_mode::always}}},
                 0) {}
  abandoning_plan(const abandoning_plan&) = delete;
  abandoning_plan& operator=(const abandoning_plan&) = delete;

  [[nodiscard]] const plan::program& plan() const { return planner_.plan(); }

  /// Options for an executor that watch() gets afterwards.
  [[nodiscard]] exec::options options_of_run(exec::options chosen = {}) {
    constexpr std::uint64_t budgets = 5;
    constexpr double step = 60;
    chosen_budget_ = static_cast<double>(seed_ % budgets) * step;
    chosen.cut.free_supplementary_bindings = chosen_budget_;
    chosen.cut.supplementary_share = 0;
    chosen.supplementary.work_without = [this](std::size_t stratum, relation_id one) {
      const double expected = planner_.work_without(stratum, one, *sizes_);
      const double slightly_more = chosen_budget_ + 1;  // exhausted again by most runs
      return seed_ % 3 == 0 ? expected : seed_ % 3 == 1 ? slightly_more : 0;
    };
    // Each change of an order is undone in the first run, or after some bindings.
    chosen.cut.reoptimized_bindings = 0;
    chosen.cut.worse_order_factor = seed_ % 4 < 2 ? 0 : 1;
    chosen.cut.free_order_bindings = static_cast<double>(1 + seed_ % 7);
    chosen.reoptimize = [this](std::size_t stratum) { return planner_.reoptimize(stratum, *sizes_); };
    chosen.reoptimize_loop = [this](std::size_t stratum) { return planner_.reoptimize_loop(stratum, *sizes_); };
    chosen.put_back = [this](std::size_t stratum, std::size_t version) {
      const bool is_changed = planner_.put_back(stratum, version);
      put_back_ += is_changed ? 1 : 0;
      return is_changed;
    };
    chosen.supplementary.abandon = [this](std::size_t stratum, relation_id one) {
      std::vector<relation_id> lost = planner_.abandon(stratum, one, *sizes_);
      abandoned_ += lost.size();
      return lost;
    };
    return chosen;
  }

  void watch(const exec::executor& running) { sizes_.emplace(running); }

  /// How many versions got a former order back.
  [[nodiscard]] std::size_t put_back() const { return put_back_; }
  /// How many relations were abandoned.
  [[nodiscard]] std::size_t abandoned() const { return abandoned_; }

 private:
  /// The sizes that relations have; nothing else is known of them.
  class running_sizes final : public plan::relation_measures {
   public:
    explicit running_sizes(const exec::executor& running) : running_(&running) {}
    [[nodiscard]] std::uint64_t rows(relation_id relation) const override { return running_->rows(relation); }
    [[nodiscard]] std::optional<double> rows_per_key(relation_id, const std::vector<std::uint32_t>&) const override {
      return std::nullopt;
    }

   private:
    const exec::executor* running_;
  };

  std::uint64_t seed_;
  double chosen_budget_ = 0;
  plan::reoptimizer planner_;
  std::optional<running_sizes> sizes_;
  std::size_t abandoned_ = 0;
  std::size_t put_back_ = 0;
};

}  // namespace gpulog::oracle

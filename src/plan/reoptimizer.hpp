#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <vector>

#include "plan/cost/relation_measures.hpp"
#include "plan/plan.hpp"
#include "plan/planner.hpp"

namespace gpulog::plan {

class planning;
struct stratum_builder;

/// Makes a plan, and orders the joins of its strata again while it runs, when the relations that they read are complete
/// (mid-query re-optimization: Kabra and DeWitt, SIGMOD 1998). Relations, strata and rules stay as they are planned;
/// what may change is the order of a version's atoms, and with it the indexes that it searches.
class reoptimizer {
 public:
  /// Where a stratum reads fewer rows of each relation, no order takes long.
  static constexpr std::uint64_t few_rows = 1000;

  /// Plans as make_plan(). @param source outlives this @param least_rows strata that read fewer stay as they are
  /// planned
  reoptimizer(const sema::program& source, statistics known, options chosen, std::uint64_t least_rows = few_rows);
  ~reoptimizer();
  reoptimizer(const reoptimizer&) = delete;
  reoptimizer& operator=(const reoptimizer&) = delete;

  [[nodiscard]] const program& plan() const;

  /// Plans the versions of a stratum again, in front of it; strata before it are complete. Not where the order of joins
  /// decides on the result (choice-domains, counters, sums of floats), nor that of `.plan`, nor where little is read.
  /// Indexes that it needs and that are not there are added behind those of the plan.
  /// @param measures outlive this
  /// @param suits asked of the plan behind it; if it says no, the stratum stays as it was; may be empty
  /// @return whether versions were planned again, or indexes added
  bool reoptimize(std::size_t stratum, const relation_measures& measures, const std::function<bool()>& suits = {});
  /// Versions whose order has changed so far.
  [[nodiscard]] std::size_t reordered() const { return reordered_; }

 private:
  struct place;
  [[nodiscard]] std::vector<place> places_in(const stratum& planned, const stratum_builder& recipes) const;
  [[nodiscard]] bool reads_much(const std::vector<place>& places, const relation_measures& measures) const;
  void order_again(std::size_t number, const std::vector<place>& places, const relation_measures& measures);
  void note_uses();

  statistics known_;
  options chosen_;
  std::uint64_t least_rows_;
  std::unique_ptr<planning> shared_;
  // The last stratum that uses it.
  std::vector<std::size_t> index_uses_;  ///< by index
  std::vector<std::size_t> set_uses_;    ///< by relation: its tuple set
  std::vector<std::size_t> other_uses_;  ///< by relation: its tuple set, or that of a machine with match::others
  std::size_t reordered_ = 0;
};

}  // namespace gpulog::plan

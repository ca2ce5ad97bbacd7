#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "plan/cost/calibration.hpp"
#include "plan/cost/relation_measures.hpp"
#include "plan/plan.hpp"
#include "plan/planner.hpp"

namespace gpulog::plan {

class planning;
struct normalized_rule;
struct schedule;
struct stratum_builder;
struct version_recipe;

/// Creates a plan, and reorders the joins of a stratum during the run, when the relations that the stratum reads are
/// complete (mid-query re-optimization: Kabra and DeWitt, SIGMOD 1998). Relations, strata and rules remain as planned;
/// only the order of a version's atoms may change, and therefore the indexes used.
class reoptimizer {
 public:
  /// Plans like make_plan().
  /// @param source must outlive the object
  /// @param least_rows strata that read fewer rows keep their plans
  reoptimizer(const sema::program& source, statistics known, options chosen,
              std::uint64_t least_rows = calibration::least_reordered_rows);
  ~reoptimizer();
  reoptimizer(const reoptimizer&) = delete;
  reoptimizer& operator=(const reoptimizer&) = delete;

  [[nodiscard]] const program& plan() const;

  /// Declares that several executors share the strata: for each executor the strata that it may run; empty: all. An
  /// executor keeps tuple sets only for its own strata; relations of further strata may have no set.
  void set_sides(std::vector<std::vector<bool>> strata_of_sides);

  /// Plans the versions of a stratum again before it runs; earlier strata are complete. Does not apply if the order of
  /// joins affects the result (choice-domains, counters, sums of floats), to orders of `.plan`, and if few rows are
  /// read. Missing indexes are appended to the plan's indexes.
  /// @param measures must outlive the object
  /// @param suits called for the new plan; if it returns false, the stratum stays unchanged; may be empty
  /// @return whether versions were planned again, or indexes added
  bool reoptimize(std::size_t stratum, const relation_measures& measures, const std::function<bool()>& suits = {}) {
    return follow_abandoned_steps(stratum, measures) || plan_again(stratum, extent::all, measures, suits);
  }
  /// Before a stratum that reads abandoned steps of earlier strata: retires the versions that extend or read the steps,
  /// and plans the rules as written.
  /// @return whether the stratum has changed
  bool follow_abandoned_steps(std::size_t stratum, const relation_measures& measures);
  /// Like reoptimize(), between two iterations of the stratum's loop, for the versions of the loop: uses the present
  /// sizes of its own relations. Requires substantial growth of some relation and a clear gain; if strata of any size
  /// are planned again, any gain is enough.
  bool reoptimize_loop(std::size_t stratum, const relation_measures& measures,
                       const std::function<bool()>& suits = {}) {
    return plan_again(stratum, extent::loop, measures, suits);
  }
  /// Continues a running loop without a supplementary relation: retires the versions that extend or read the relation
  /// and plans the original rules in their place, with the delta of the same iteration. Also abandons supplementary
  /// relations that read the relation, or that only retired versions read. All readers must have seen each delta of the
  /// relation. In a stratum without recursion, which is a step of later rules (stratum_builder::is_step()), only
  /// retires the versions: follow_abandoned_steps() changes the later strata.
  /// @param measures must outlive the object
  /// @param suits as for reoptimize()
  /// @return the abandoned relations; empty if the stratum stays unchanged
  std::vector<relation_id> abandon(std::size_t stratum, relation_id supplementary, const relation_measures& measures,
                                   const std::function<bool()>& suits = {});
  /// Returns an upper estimate of the bindings that the original rules would have made by now, for the rules that
  /// abandon() would plan again: each row of their relations has been in a delta once. For a step of later rules, the
  /// bindings that these rules will make; infinite if the step cannot be abandoned.
  /// @param measures must outlive the object
  [[nodiscard]] double work_without(std::size_t stratum, relation_id supplementary, const relation_measures& measures);
  /// Returns a version of a running loop to the order before its last change; the version then keeps this order.
  /// @param version number of the version in the stratum
  /// @param suits as for reoptimize()
  /// @return whether the order has changed
  bool put_back(std::size_t stratum, std::size_t version, const std::function<bool()>& suits = {});
  /// Returns the number of versions whose order has changed so far.
  [[nodiscard]] std::size_t reordered() const { return former_plans_.size(); }
  /// A plan of a version before a change of its order.
  struct former_plan {
    rule_version version;
    std::vector<std::uint32_t> atom_order;  ///< as version_recipe::atom_order
  };
  /// Returns the plans of a version before each change of its order.
  [[nodiscard]] const std::vector<former_plan>& former_plans(std::size_t stratum, std::size_t version) const;
  /// The present number of rows in a relation, and whether the rows were counted.
  struct known_size {
    double rows = 0;
    bool is_counted = false;
  };
  [[nodiscard]] known_size size_of(relation_id relation) const;

 private:
  /// The position in the plan and the recipe of a version that is planned again.
  struct place {
    std::size_t phase = 0;  ///< 0: before the loop; n + 1: phase n of the loop
    std::size_t version = 0;
    version_recipe* recipe = nullptr;
  };
  /// The part of a stratum that is planned again.
  enum class extent : std::uint8_t { all, loop };
  bool plan_again(std::size_t number, extent planned_part, const relation_measures& measures,
                  const std::function<bool()>& suits);
  [[nodiscard]] std::vector<place> places_in(std::size_t number, extent planned_part) const;
  [[nodiscard]] bool reads_much(const std::vector<place>& places, const relation_measures& measures) const;
  void measure(std::size_t number, extent planned_part, const std::vector<place>& places,
               const relation_measures& measures);
  [[nodiscard]] std::vector<schedule> order_again(std::size_t number, extent planned_part,
                                                  const std::vector<place>& places);
  [[nodiscard]] std::vector<std::optional<schedule>> present_orders(const std::vector<place>& places) const;
  [[nodiscard]] double least_difference_of(const std::vector<std::optional<schedule>>& present) const;
  [[nodiscard]] bool has_grown(const std::vector<place>& places, const relation_measures& measures);
  void take_over(std::size_t number, const std::vector<place>& places, std::vector<schedule> orders);
  /// The parts of the loop that depend on an abandoned supplementary relation.
  struct abandonment {
    std::set<relation_id> relations;  ///< the relation, relations that read it, and relations that only these use
    /// Versions that extend or read the relations: phase and number.
    std::set<std::pair<std::size_t, std::size_t>> versions;
    std::vector<std::shared_ptr<const normalized_rule>> originals;  ///< rules that replace the versions
  };
  [[nodiscard]] abandonment abandonment_of(std::size_t number, relation_id supplementary) const;
  /// Plans the versions of the original rules in the last phase of the loop, or of a stratum without recursion.
  [[nodiscard]] stratum_builder plan_originals(std::size_t number, const abandonment& lost);
  void add_originals(std::size_t number, const abandonment& lost, const relation_measures& measures);
  [[nodiscard]] std::size_t stratum_behind(std::size_t step) const;
  [[nodiscard]] double work_without_step(std::size_t number, const relation_measures& measures);
  std::vector<relation_id> abandon_step(std::size_t number);
  bool retire_without_steps(std::size_t number);
  [[nodiscard]] abandonment without_steps(std::size_t number, const std::set<relation_id>& abandoned) const;
  struct lost_sets {
    std::set<relation_id> without_set;  ///< relations whose tuple set is gone
    /// Relations whose tuple set is gone, or the set of an executor with match::others.
    std::set<relation_id> without_any_set;
  };
  [[nodiscard]] lost_sets lost_sets_of(std::size_t number, const std::vector<place>& places) const;
  void note_uses();
  void note_uses_of(const std::vector<bool>& may_run);

  statistics known_;
  options chosen_;
  std::uint64_t least_rows_;
  std::unique_ptr<planning> shared_;
  std::vector<std::vector<bool>> sides_ = {{}};
  // End of use: the last stratum that uses an index on any side, or sets on a side, plus one.
  std::vector<std::size_t> index_uses_;        ///< by index
  std::vector<std::size_t> first_index_uses_;  ///< by index: the first stratum that uses it
  struct uses_of_sets {
    std::vector<std::size_t> sets;  ///< by relation: use of the tuple set
    /// By relation: use of the tuple set, or of the set of an executor with match::others.
    std::vector<std::size_t> others;
  };
  std::vector<uses_of_sets> set_uses_;                 // by side
  std::set<relation_id> abandoned_steps_;              ///< abandoned steps, and steps that read abandoned steps
  std::map<relation_id, std::uint64_t> noticed_rows_;  ///< at the last attempt to reorder
  /// By stratum and version.
  std::map<std::pair<std::size_t, std::size_t>, std::vector<former_plan>> former_plans_;
};

}  // namespace gpulog::plan

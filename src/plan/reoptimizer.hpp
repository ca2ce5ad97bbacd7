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

/// Makes a plan, and orders the joins of its strata again while it runs, when the relations that they read are complete
/// (mid-query re-optimization: Kabra and DeWitt, SIGMOD 1998). Relations, strata and rules stay as they are planned;
/// what may change is the order of a version's atoms, and with it the indexes that it searches.
class reoptimizer {
 public:
  /// Plans as make_plan(). @param source outlives this @param least_rows strata that read fewer stay as they are
  /// planned
  reoptimizer(const sema::program& source, statistics known, options chosen,
              std::uint64_t least_rows = calibration::least_reordered_rows);
  ~reoptimizer();
  reoptimizer(const reoptimizer&) = delete;
  reoptimizer& operator=(const reoptimizer&) = delete;

  [[nodiscard]] const program& plan() const;

  /// Says that several executors share the strata: for each of them those that it may run; empty: all. An executor
  /// keeps tuple sets only for its own strata, so that others of their relations may have none there.
  void set_sides(std::vector<std::vector<bool>> strata_of_sides);

  /// Plans the versions of a stratum again, in front of it; strata before it are complete. Not where the order of joins
  /// decides on the result (choice-domains, counters, sums of floats), nor that of `.plan`, nor where little is read.
  /// Indexes that it needs and that are not there are added behind those of the plan.
  /// @param measures outlive this
  /// @param suits asked of the plan behind it; if it says no, the stratum stays as it was; may be empty
  /// @return whether versions were planned again, or indexes added
  bool reoptimize(std::size_t stratum, const relation_measures& measures, const std::function<bool()>& suits = {});
  /// The same between two iterations of its loop, for the versions of the loop: its own relations are measured as they
  /// are by then. Only where some have grown much, and for a clear gain; where strata of any size are planned again,
  /// for any.
  bool reoptimize_loop(std::size_t stratum, const relation_measures& measures, const std::function<bool()>& suits = {});
  /// Continues a running loop without a supplementary relation: versions that extend or read it are retired, and the
  /// rules as written are planned in their place, with their delta of the same iteration. Supplementary relations that
  /// read it, or that only retired versions read, are abandoned as well. The relation has a delta of no iteration yet
  /// that its readers have not seen.
  /// @param measures outlive this
  /// @param suits as for reoptimize()
  /// @return the relations that were abandoned: none if the stratum stays as it was
  std::vector<relation_id> abandon(std::size_t stratum, relation_id supplementary, const relation_measures& measures,
                                   const std::function<bool()>& suits = {});
  /// Returns an upper estimate of the bindings that the rules as written would have made by now, for the rules that
  /// abandon() would plan again: each row of their relations has been in a delta once.
  /// @param measures outlive this
  [[nodiscard]] double work_without(std::size_t stratum, relation_id supplementary, const relation_measures& measures);
  /// Versions whose order has changed so far.
  [[nodiscard]] std::size_t reordered() const { return first_plans_.size(); }
  /// What a version was before its order changed; nullptr: it has not. @param version as for_each_version() counts
  [[nodiscard]] const rule_version* first_plan(std::size_t stratum, std::size_t version) const;
  /// Rows that a relation has by what is known now, and whether they were counted.
  struct known_size {
    double rows = 0;
    bool is_counted = false;
  };
  [[nodiscard]] known_size size_of(relation_id relation) const;

 private:
  struct place;
  /// What of a stratum is planned again.
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
  /// What the loop loses with a supplementary relation.
  struct abandonment {
    std::set<relation_id> relations;  ///< it, those that read it, and those that nothing else reads
    std::set<std::pair<std::size_t, std::size_t>> versions;         ///< that extend or read them: phase and number
    std::vector<std::shared_ptr<const normalized_rule>> originals;  ///< the rules that run instead
  };
  [[nodiscard]] abandonment abandonment_of(std::size_t number, relation_id supplementary) const;
  /// The versions of these rules in the last phase of the loop.
  [[nodiscard]] stratum_builder plan_originals(std::size_t number, const abandonment& lost);
  struct lost_sets {
    std::set<relation_id> without_set;      ///< their tuple set is gone
    std::set<relation_id> without_any_set;  ///< or that of a machine with match::others
  };
  [[nodiscard]] lost_sets lost_sets_of(std::size_t number, const std::vector<place>& places) const;
  void note_uses();
  void note_uses_of(const std::vector<bool>& may_run);

  statistics known_;
  options chosen_;
  std::uint64_t least_rows_;
  std::unique_ptr<planning> shared_;
  std::vector<std::vector<bool>> sides_ = {{}};
  // One behind the last stratum that uses it: of an index on any side, of sets on a side.
  std::vector<std::size_t> index_uses_;        ///< by index
  std::vector<std::size_t> first_index_uses_;  ///< by index: the first stratum that uses it
  struct uses_of_sets {
    std::vector<std::size_t> sets;    ///< by relation: its tuple set
    std::vector<std::size_t> others;  ///< by relation: its tuple set, or that of a machine with match::others
  };
  std::vector<uses_of_sets> set_uses_;                                       // by side
  std::map<relation_id, std::uint64_t> noticed_rows_;                        ///< when orders were last tried
  std::map<std::pair<std::size_t, std::size_t>, rule_version> first_plans_;  ///< by stratum and version
};

}  // namespace gpulog::plan

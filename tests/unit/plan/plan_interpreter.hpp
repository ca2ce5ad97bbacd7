#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "plan/plan.hpp"

namespace gpulog::plan {

/// Runs a plan row by row with nested loops, as plan.hpp describes it; indexes are only asked for their order. The
/// meaning of plans for tests, without any of the engine's data structures.
class plan_interpreter {
 public:
  using tuple = std::vector<wide_word>;

  explicit plan_interpreter(const program& plan);

  void load(relation_id relation, const tuple& row);
  /// @param gives_up whether strata with restricted relations are given up when their loop would begin
  void run(bool gives_up = false);

  [[nodiscard]] std::set<tuple> tuples(relation_id relation) const;
  /// Inserts tried, those of tuples that are there already included; supplementary relations too.
  [[nodiscard]] std::uint64_t candidates() const { return candidates_; }
  [[nodiscard]] std::uint64_t candidates(relation_id relation) const { return relations_[relation.value].candidates; }
  /// Relations in which a row was made twice though the plan says that this cannot be (relation::needs_set,
  /// relation::begins_distinct).
  [[nodiscard]] const std::set<relation_id>& repeating() const { return repeating_; }
  /// Whether some operation needed the symbol table or a version trapped: then the results mean nothing.
  [[nodiscard]] bool gave_up() const { return gave_up_; }

 private:
  struct stored {
    std::vector<tuple> rows;  ///< [0, old) [old, end) and what the running phase appended
    std::set<tuple> set;
    std::size_t old = 0;
    std::size_t end = 0;
    std::uint64_t candidates = 0;
    bool is_distinct = false;  ///< the plan says so of the rows that are made now
  };

  void insert(relation_id relation, const tuple& row);
  void run(const phase& phase);
  void step(const rule_version& version, std::size_t position, std::vector<wide_word>& slots);
  template <class Visit>
  void for_each_row(relation_id relation, part rows, Visit&& visit);
  [[nodiscard]] bool agrees(const tuple& row, index_id index, const std::vector<wide_word>& keys) const;

  const program& plan_;
  std::vector<stored> relations_;
  std::uint64_t candidates_ = 0;
  std::set<relation_id> repeating_;
  bool gave_up_ = false;
};

}  // namespace gpulog::plan

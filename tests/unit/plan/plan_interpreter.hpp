#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "plan/plan.hpp"

namespace gpulog::plan {

/// Runs a plan row by row with nested loops, as plan.hpp defines; uses only the order of indexes. The reference
/// semantics of plans for tests, without any data structures of the engine.
class plan_interpreter {
 public:
  using tuple = std::vector<wide_word>;

  explicit plan_interpreter(const program& plan);

  void load(relation_id relation, const tuple& row);
  void run();

  [[nodiscard]] std::set<tuple> tuples(relation_id relation) const;
  /// Returns the number of attempted insertions, including duplicates and supplementary relations.
  [[nodiscard]] std::uint64_t candidates() const { return candidates_; }
  [[nodiscard]] std::uint64_t candidates(relation_id relation) const { return relations_[relation.value].candidates; }
  /// Returns the relations in which a row repeated although the plan excludes duplicates (relation::needs_set,
  /// relation::begins_distinct).
  [[nodiscard]] const std::set<relation_id>& repeating() const { return repeating_; }
  /// Returns whether an operation needed the symbol table or a version trapped, so that the results are meaningless.
  [[nodiscard]] bool gave_up() const { return gave_up_; }

 private:
  struct stored {
    std::vector<tuple> rows;  ///< [0, old), [old, end), then the rows appended by the running phase
    std::set<tuple> set;
    std::size_t old = 0;
    std::size_t end = 0;
    std::uint64_t candidates = 0;
    bool is_distinct = false;  ///< whether the plan declares the current rows distinct
  };

  void insert(relation_id relation, const tuple& row);
  void run(const phase& phase);
  void step(const rule_version& version, std::size_t position, std::vector<wide_word>& slots);
  template <class Visit>
  void for_each_row(relation_id relation, row_part rows, Visit&& visit);
  [[nodiscard]] bool agrees(const tuple& row, index_id index, const std::vector<wide_word>& keys) const;

  const program& plan_;
  std::vector<stored> relations_;
  std::uint64_t candidates_ = 0;
  std::set<relation_id> repeating_;
  bool gave_up_ = false;
};

}  // namespace gpulog::plan

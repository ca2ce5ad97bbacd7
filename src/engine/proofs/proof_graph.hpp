#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "support/ids.hpp"

namespace gpulog::detail {

/// Tuples and instances of rules that have them as heads and premises: a directed hypergraph. A tuple is proven when it
/// is a fact, or all premises of one of its instances are proven.
class proof_graph {
 public:
  using number = std::uint32_t;
  static constexpr number none = UINT32_MAX;

  struct tuple {
    relation_id relation;
    std::uint32_t arity = 0;
    std::uint64_t words = 0;  ///< where its values begin
    number first_instance = none;
    number last_instance = none;
    number first_use = none;
    std::uint32_t height = none;  ///< of heights()
    bool is_fact = false;
    bool is_proven = false;
    bool is_expanded = false;  ///< its instances are here
    std::uint32_t cone = 0;    ///< of the last search that came here
  };
  struct instance {
    number head = none;
    std::uint32_t rule = 0;  ///< whatever it means to who adds it
    std::uint64_t first_premise = 0;
    std::uint32_t premise_count = 0;
    std::uint32_t unproven = 0;  ///< premises
    std::uint32_t waiting = 0;   ///< premises without a height
    number next = none;          ///< of the same head
  };

  /// The number of a tuple; a new one has no instances.
  [[nodiscard]] number tuple_number(relation_id relation, std::span<const word> words);
  [[nodiscard]] tuple& operator[](number of) { return tuples_[of]; }
  [[nodiscard]] const tuple& operator[](number of) const { return tuples_[of]; }
  [[nodiscard]] std::span<const word> words(number of) const {
    return {words_.data() + tuples_[of].words, tuples_[of].arity};
  }
  [[nodiscard]] const instance& instance_at(number of) const { return instances_[of]; }
  [[nodiscard]] std::span<const number> premises(const instance& of) const {
    return {premises_.data() + of.first_premise, of.premise_count};
  }
  [[nodiscard]] std::size_t instance_count() const { return instances_.size(); }
  [[nodiscard]] std::size_t tuple_count() const { return tuples_.size(); }

  void add_instance(number head, std::uint32_t rule, std::span<const number> premises);
  void set_fact(number of);
  /// Finds the least heights of these tuples by instances whose premises are among them. Facts have 0; none: unproven.
  /// @param cone they are marked with it
  void find_heights(const std::vector<number>& tuples, std::uint32_t cone);

 private:
  /// An occurrence of a tuple as a premise.
  struct use {
    number of = none;
    number next = none;
  };
  [[nodiscard]] std::uint64_t slot_of(relation_id relation, std::span<const word> words) const;
  void grow();
  void prove(number first);

  std::vector<tuple> tuples_;
  std::vector<word> words_;
  std::vector<number> slots_;  ///< numbers of tuples + 1, with linear probing; 0: free
  std::vector<instance> instances_;
  std::vector<number> premises_;
  std::vector<use> uses_;
};

}  // namespace gpulog::detail

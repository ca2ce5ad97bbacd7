#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "support/ids.hpp"
#include "support/long_vector.hpp"

namespace gpulog::detail {

/// Tuples, and instances of rules with tuples as head and premises: a directed hypergraph. A tuple is proven if it is a
/// fact or if an instance with proven premises derives it.
class proof_graph {
 public:
  using number = std::uint32_t;
  static constexpr number none = UINT32_MAX;

  struct tuple {
    relation_id relation;
    std::uint32_t arity = 0;
    std::uint64_t words = 0;  ///< start of the values in words_
    number first_instance = none;
    number last_instance = none;
    number first_use = none;
    std::uint32_t height = none;  ///< set by find_heights()
    bool is_fact = false;
    bool is_proven = false;
    bool is_expanded = false;  ///< all instances are in the graph
    bool is_followed = false;  ///< all instances of linear rules are in the graph
    std::uint32_t cone = 0;    ///< number of the last search that reached the tuple
  };
  struct instance {
    number head = none;
    std::uint32_t rule = 0;  ///< meaning defined by the caller
    std::uint64_t first_premise = 0;
    std::uint32_t premise_count = 0;
    std::uint32_t unproven = 0;  ///< number of unproven premises
    std::uint32_t waiting = 0;   ///< number of premises without a height
    number next = none;          ///< next instance of the same head
  };

  /// Returns the number of a tuple; a new tuple has no instances.
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
  /// Computes the least heights of the given tuples, using only instances between given tuples. Facts have height 0;
  /// `none`: unproven.
  /// @param cone number that marks the tuples
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
  long_vector<number> slots_;  ///< tuple numbers + 1, with linear probing; 0: free
  std::vector<instance> instances_;
  std::vector<number> premises_;
  std::vector<use> uses_;
};

}  // namespace gpulog::detail

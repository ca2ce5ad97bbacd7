#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace gpulog::oracle {

/// A random program that is well-typed, stratified by construction and terminating: every value comes from a small
/// domain, or near the ends of 64 bits; arithmetic is taken modulo its size. Facts are inline; every relation has an
/// .output, or, in a program with goals, only these.
struct random_program {
  std::string text;
  std::vector<std::string> relations;
};

struct random_program_options {
  std::uint32_t base_relations = 3;
  std::uint32_t layers = 3;  ///< each negates only what lies below
  std::uint32_t largest_arity = 4;
  std::uint32_t most_facts = 16;  ///< of one base relation
  bool symbols = true;
  bool floats = true;
  bool disjunctions = true;        ///< also several heads
  std::uint32_t equivalences = 0;  ///< percentage of binary relations that are eqrel, if their types allow it
  std::uint32_t guards = 0;    ///< percentage of variables of an atom of the own layer that a lower relation binds too
  std::uint32_t passages = 0;  ///< percentage of layers whose recursive rules pass some columns through
  std::uint32_t first_matches = 0;      ///< percentage of rules with atoms that only ask whether there is a match
  std::uint32_t cyclic_aggregates = 0;  ///< percentage of rules with an aggregate over a cycle of atoms
  bool wide_numbers = false;            ///< also numbers that need words of 64 bits
  std::uint32_t goals = 0;              ///< relations that ask others for constants
};

/// The same seed and options give the same text everywhere.
[[nodiscard]] random_program make_random_program(std::uint64_t seed, const random_program_options& options = {});

/// Distinct edges (loops included) of a random directed graph with nodes 0..nodes-1.
[[nodiscard]] std::vector<std::pair<std::uint32_t, std::uint32_t>> make_random_graph(std::uint64_t seed,
                                                                                     std::uint32_t nodes,
                                                                                     std::uint32_t edges);

/// A random graph, star, chain, ring, or a large component with others around it; also with a loop, or with large
/// values.
/// @param most_nodes at least 5
[[nodiscard]] std::vector<std::pair<std::uint32_t, std::uint32_t>> make_shaped_graph(std::uint64_t seed,
                                                                                     std::mt19937_64& random,
                                                                                     std::uint32_t most_nodes);

}  // namespace gpulog::oracle

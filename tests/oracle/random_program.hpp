#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace gpulog::oracle {

/// A random program that is well-typed, stratified by construction and terminating: every value is in a small domain,
/// or near the ends of 64 bits; arithmetic is modulo the domain's size. Facts are inline; every relation has an
/// .output, except in programs with goals, where only goals do.
struct random_program {
  std::string text;
  std::vector<std::string> relations;
};

struct random_program_options {
  std::uint32_t base_relations = 3;
  std::uint32_t layers = 3;  ///< each layer negates only lower layers
  std::uint32_t largest_arity = 4;
  std::uint32_t most_facts = 16;  ///< per base relation
  bool symbols = true;
  bool floats = true;
  bool disjunctions = true;        ///< also several heads
  std::uint32_t equivalences = 0;  ///< percentage of binary relations that are eqrel, if the types allow it
  std::uint32_t guards = 0;    ///< percentage of variables in an atom of the same layer that a lower relation binds too
  std::uint32_t passages = 0;  ///< percentage of layers whose recursive rules pass some columns through
  std::uint32_t first_matches = 0;      ///< percentage of rules with atoms that only test for a match
  std::uint32_t cyclic_aggregates = 0;  ///< percentage of rules with an aggregate over a cycle of atoms
  bool wide_numbers = false;            ///< also numbers that need 64-bit words
  std::uint32_t goals = 0;              ///< number of relations that query lower relations with constants
};

/// Returns a program that depends only on seed and options.
[[nodiscard]] random_program make_random_program(std::uint64_t seed, const random_program_options& options = {});

/// Returns recursive rules whose bodies are chains of binary atoms: steps of a chain may become relations.
[[nodiscard]] std::string make_chain_program(std::uint64_t seed);

/// Returns distinct edges (loops included) of a random directed graph with nodes 0..nodes-1.
[[nodiscard]] std::vector<std::pair<std::uint32_t, std::uint32_t>> make_random_graph(std::uint64_t seed,
                                                                                     std::uint32_t nodes,
                                                                                     std::uint32_t edges);

/// Returns a random graph, star, chain, ring, or a large component with further nodes around it; also with a loop, or
/// with large values.
/// @param most_nodes at least 5
[[nodiscard]] std::vector<std::pair<std::uint32_t, std::uint32_t>> make_shaped_graph(std::uint64_t seed,
                                                                                     std::mt19937_64& random,
                                                                                     std::uint32_t most_nodes);

}  // namespace gpulog::oracle

#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>

/// Number of random programs per test.
namespace gpulog::oracle {

#if defined(GPULOG_SANITIZED)
constexpr bool is_sanitized = true;
#else
constexpr bool is_sanitized = false;
#endif

/// Sanitizers find errors that few programs already trigger, and run ten to thirty times slower; the optimised build
/// runs all programs.
constexpr std::uint64_t fewer_when_sanitized(std::uint64_t usual) { return is_sanitized ? (usual + 19) / 20 : usual; }

inline std::uint64_t number_from_environment(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

/// Returns GPULOG_TEST_TURN, or 0: the number that selects seeds and samples of cases. scripts/test derives the number
/// from the commit. Builds with sanitizers always run turn 0, because they run too few programs for tests that require
/// a property of a share of the programs.
inline std::uint64_t turn() {
  static const std::uint64_t number = [] {
    const std::uint64_t chosen = is_sanitized ? 0 : number_from_environment("GPULOG_TEST_TURN", 0);
    if (chosen != 0) std::printf("GPULOG_TEST_TURN=%llu\n", static_cast<unsigned long long>(chosen));
    return chosen;
  }();
  return number;
}

/// Returns the seed that replaces `usual` in this turn.
inline std::uint64_t seed_of_turn(std::uint64_t usual) {
  constexpr std::uint64_t seeds_per_turn = 1'000'000;
  return usual + turn() * seeds_per_turn;
}

/// Returns whether a test that runs one of `one_of` cases runs case `number` in this turn.
inline bool is_in_sample(std::uint64_t number, std::uint64_t one_of) { return (number + turn()) % one_of == 0; }

/// GPULOG_RANDOM_SEED, if set, is the first seed of every random test.
inline std::uint64_t first_seed(std::uint64_t usual) {
  return number_from_environment("GPULOG_RANDOM_SEED", seed_of_turn(usual));
}

/// GPULOG_RANDOM_PROGRAMS, if set, is the number of programs of every random test. The usual numbers are small, because
/// seeds change with the commit; a twentieth of them runs with sanitizers.
inline std::uint64_t programs_to_try(std::uint64_t usual) {
  return number_from_environment("GPULOG_RANDOM_PROGRAMS", fewer_when_sanitized(usual));
}

}  // namespace gpulog::oracle

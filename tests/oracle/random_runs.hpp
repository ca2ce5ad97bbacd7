#pragma once

#include <cstdint>
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

/// GPULOG_RANDOM_SEED, if set, is the first seed of every random test.
inline std::uint64_t first_seed(std::uint64_t usual) { return number_from_environment("GPULOG_RANDOM_SEED", usual); }

/// GPULOG_RANDOM_PROGRAMS, if set, is the number of programs of every random test.
inline std::uint64_t programs_to_try(std::uint64_t usual) {
  return number_from_environment("GPULOG_RANDOM_PROGRAMS", fewer_when_sanitized(usual));
}

}  // namespace gpulog::oracle

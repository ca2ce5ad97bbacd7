#pragma once

/// How ranks exchange messages (`bench/ranks`; figures are in bench/results/ranks.txt).
namespace gpulog::ranks::calibration {

/// A message arrives piece by piece, each during a call of MPI_Test. So a rank that expects a message calls MPI_Test
/// without pauses as long as a link of this rate would need, in bytes per second. With pauses from the start, 8 ranks
/// counted com-dblp in 0.66 s instead of 0.16.
inline constexpr double slow_link_bytes_per_second = 1e8;
/// Calls of MPI_Test between two readings of the clock. No other number was tried.
inline constexpr int tests_per_reading = 1000;
/// First and last pause between calls of MPI_Test, in microseconds; each pause is twice as long as the pause before. A
/// rank without work then uses no processor. No other pauses were tried.
inline constexpr int first_pause_microseconds = 20;
inline constexpr int last_pause_microseconds = 2000;

}  // namespace gpulog::ranks::calibration

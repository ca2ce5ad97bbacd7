#pragma once

#include <chrono>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "backend/gpu/emulated/language.hpp"

/// Collective operations of a wave. Included by backend/gpu/wave.hpp, which defines wave_size and lane_mask.
namespace gpulog::backend::gpu {

namespace emulated {
static_assert(wave_size == wave_lanes);

/// Returns the mask of the lanes that pass true.
[[nodiscard]] inline std::uint64_t vote(bool holds, const meeting_place& place) {
  const thread_record& own = *current;
  std::uint64_t& votes = own.wave->votes[own.wave->turn];
  if (holds) votes |= std::uint64_t{1} << own.index.x % wave_lanes;
  meet_wave(place);
  return votes;
}

/// Returns the values of all lanes, by lane.
[[nodiscard]] inline const std::uint64_t* exchange(std::uint64_t value, const meeting_place& place) {
  const thread_record& own = *current;
  std::uint64_t* const values = own.wave->values[own.wave->turn];
  values[own.index.x % wave_lanes] = value;
  meet_wave(place);
  return values;
}

template <class T>
[[nodiscard]] T exchange(T value, unsigned from, const meeting_place& place) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(std::uint64_t));
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  bits = exchange(bits, place)[from];
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
}  // namespace emulated

inline void wave_barrier(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  emulated::meet_wave({file, line, emulated::operation::wave_barrier});
}

[[nodiscard]] inline lane_mask ballot(bool holds, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  return static_cast<lane_mask>(emulated::vote(holds, {file, line, emulated::operation::ballot}));
}
[[nodiscard]] inline bool any_lane(bool holds, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  return emulated::vote(holds, {file, line, emulated::operation::any_lane}) != 0;
}
[[nodiscard]] inline bool all_lanes(bool holds, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  return emulated::vote(!holds, {file, line, emulated::operation::all_lanes}) == 0;
}

template <class T>
[[nodiscard]] T shuffle(T value, unsigned from, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  return emulated::exchange(value, from % wave_size, {file, line, emulated::operation::shuffle});
}
template <class T>
[[nodiscard]] T shuffle_up(T value, unsigned distance, const char* file = __builtin_FILE(),
                           int line = __builtin_LINE()) {
  const unsigned own = lane();
  return emulated::exchange(value, distance > own ? own : own - distance,
                            {file, line, emulated::operation::shuffle_up});
}
template <class T>
[[nodiscard]] T shuffle_xor(T value, unsigned bits, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  const unsigned own = lane();
  const unsigned from = own ^ bits;
  return emulated::exchange(value, from < wave_size ? from : own, {file, line, emulated::operation::shuffle_xor});
}

[[nodiscard]] inline lane_mask lanes_with(unsigned long long value, const char* file = __builtin_FILE(),
                                          int line = __builtin_LINE()) {
  const std::uint64_t* const values = emulated::exchange(value, {file, line, emulated::operation::lanes_with});
  lane_mask same = 0;
  for (unsigned other = 0; other < emulated::current->wave->lanes; ++other) {
    if (values[other] == value) same |= mask_of(other);
  }
  return same;
}

/// Device code shares one atomic per wave; here each thread counts alone.
[[nodiscard]] inline std::uint64_t count_up(std::uint64_t* counter) { return atomicAdd(counter, 1U); }

template <class T>
[[nodiscard]] T load_past_first_cache(const T* from) {
  T value;
  __atomic_load(from, &value, __ATOMIC_SEQ_CST);
  return value;
}

[[nodiscard]] inline four_words load_past_first_cache(const four_words* from) {
  using half [[gnu::may_alias]] = std::uint64_t;
  const auto* const halves = reinterpret_cast<const half*>(from);
  const std::uint64_t lower = __atomic_load_n(halves, __ATOMIC_SEQ_CST);
  const std::uint64_t upper = __atomic_load_n(halves + 1, __ATOMIC_SEQ_CST);
  return {{static_cast<std::uint32_t>(lower), static_cast<std::uint32_t>(lower >> 32),
           static_cast<std::uint32_t>(upper), static_cast<std::uint32_t>(upper >> 32)}};
}

template <class T>
void store_past_caches(T* to, T value) {
  *to = value;
}
inline void store_past_caches(four_words* to, const four_words& values) { *to = values; }

inline void pause() { emulated::pause_thread(); }
inline unsigned long long nanoseconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<unsigned long long>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

}  // namespace gpulog::backend::gpu

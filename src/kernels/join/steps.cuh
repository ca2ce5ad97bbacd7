#pragma once

#include <cstdint>

#include "backend/gpu/wave.hpp"
#include "kernels/join/device_step.hpp"
#include "kernels/row_wise/words.cuh"
#include "storage/hisa/hisa_views.hpp"
#include "storage/relation/best_slots.cuh"
#include "storage/relation/views.hpp"
#include "storage/representation/kept_rows.cuh"
#include "storage/sets/packed_slots.cuh"
#include "storage/sets/row_slots.cuh"

/// Registers of a block, and the interpreter of a rule's steps, for all kernels that run steps.
namespace gpulog::kernels::gpu {

using storage::mix;
using storage::scale;
using storage::gpu::hisa_set_view;
using storage::gpu::set_view;

/// The registers of a block: [register][thread] in shared memory, followed by one copy of the constants.
template <std::uint32_t Threads>
class register_file {
 public:
  __device__ register_file(word* registers, std::uint32_t slot_count)
      : register_file(registers, slot_count, registers + slot_count * Threads) {}
  /// @param constants in shared memory, too
  __device__ register_file(word* registers, std::uint32_t slot_count, word* constants)
      : registers_(registers), constants_(constants), slot_count_(slot_count) {}

  /// All threads call this; a barrier must follow.
  __device__ void set_constants(const word* constants, std::uint32_t count) {
    for (std::uint32_t i = threadIdx.x; i < count; i += Threads) constants_[i] = constants[i];
  }
  [[nodiscard]] __device__ word get(register_number number) const {
    return number < slot_count_ ? registers_[number * Threads + threadIdx.x] : constants_[number - slot_count_];
  }
  __device__ void set(register_number number, word value) { registers_[number * Threads + threadIdx.x] = value; }

  /// Returns the words of shared memory that a block needs.
  [[nodiscard]] static std::size_t words(std::uint32_t slot_count, std::uint32_t constant_count) {
    return static_cast<std::size_t>(slot_count) * Threads + constant_count;
  }

 private:
  word* registers_;
  word* constants_;
  std::uint32_t slot_count_;
};

/// Returns whether a set contains a tuple.
/// @tparam AsksKeptRows whether the set may be factorized rows
template <bool AsksKeptRows, class Value>
__device__ bool set_contains(const set_view& set, const Value& value) {
  if constexpr (AsksKeptRows) {
    if (set.kept != nullptr) {
      word tuple[storage::gpu::numbered_columns::most];
      for (std::uint32_t c = 0; c < set.arity; ++c) tuple[c] = value(c);
      return storage::gpu::contains_kept(set.kept, tuple);
    }
  }
  if (set.capacity == 0) return false;  // the set never had a tuple
  if (set.best != nullptr) return storage::gpu::contains_best(set, value);
  if (set.arity <= 2) return storage::gpu::contains_packed(set, set_view::packed(set.arity, value));
  return storage::gpu::contains_row(set, value);
}

template <bool AsksKeptRows, class Value>
__device__ bool set_contains(const hisa_set_view& set, const Value& value) {
  return set.find(value).present;
}

/// Returns whether the binding passes the step.
template <bool AsksKeptRows = true, class Step, class Registers>
__device__ bool run_step(const Step& step, Registers& registers, std::uint32_t* fault) {
  const auto wide_argument = [&](std::uint32_t c) { return registers.get(step.wide_arguments[c]); };
  switch (step.kind) {
    case step_kind::compute: {
      const word a = registers.get(step.arguments[0]);
      const word b = registers.get(step.arguments[step.argument_count - 1]);
      if (may_fault(step.scalar) && divides_badly(step.scalar, a, b)) {
        *fault = 1;
        return false;
      }
      registers.set(step.result, compute_word(step.scalar, a, b));
      return true;
    }
    case step_kind::filter:
      return compare_words(step.comparison, registers.get(step.arguments[0]), registers.get(step.arguments[1]));
    case step_kind::unpack: {
      const word place = registers.get(step.arguments[0]) - 1;  // nil has no fields
      if (place >= step.records) return false;
      const word* const fields = step.fields + static_cast<std::uint64_t>(place) * step.record_arity;
      for (std::uint32_t i = 0; i < step.argument_count; i += 2)
        registers.set(step.wide_arguments[i + 1], fields[step.wide_arguments[i]]);
      return true;
    }
    case step_kind::exists_any:
      return step.holds != step.negated;
    case step_kind::exists_tuple:
      return set_contains<AsksKeptRows>(step.set, wide_argument) != step.negated;
    case step_kind::exists_key: {
      bool found = false;
      for (std::uint32_t r = 0; r < step.run_count && !found; ++r) {
        found = step.runs[r].find(wide_argument).count != 0;
      }
      return found != step.negated;
    }
    default:
      return true;  // the remaining kinds of steps never reach a device
  }
}

/// Returns the last row in [low, high] whose offset is at most c. The lanes of a wave search together, in a fifth of
/// the steps: latency matters here, because no other work overlaps.
__device__ inline std::uint64_t owner_by_wave(const std::uint64_t* offsets, std::uint64_t low, std::uint64_t high,
                                              std::uint64_t c) {
  while (low < high) {
    const std::uint64_t step = (high - low + backend::gpu::wave_size) / backend::gpu::wave_size;
    const std::uint64_t probe = low + step * (backend::gpu::lane() + 1);
    const backend::gpu::lane_mask below = backend::gpu::ballot(probe <= high && offsets[probe] <= c);
    low += step * backend::gpu::count_bits(below);
    high = min(high, low + step - 1);
  }
  return low;
}

}  // namespace gpulog::kernels::gpu

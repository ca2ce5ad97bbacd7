#pragma once

#include <cstdint>

#include "backend/gpu/wave.hpp"
#include "kernels/row_wise/row_rule_view.cuh"
#include "storage/sets/packed_slots.cuh"

/// Inserts the results of a row into a tuple set: 32 adjacent values at a time if the set stores words. Only one thread
/// at a time reads and extends a word of a row; further threads work on different rows.
namespace gpulog::kernels::gpu {

using storage::packed_word;
using storage::gpu::set_view;

/// Slots of a packed-words table that hold the values of a row's word, and the bits per slot.
constexpr unsigned slots_of_row_word = row_word_values / packed_word::bits;
constexpr std::uint32_t slot_mask = (1U << packed_word::bits) - 1;

__device__ inline std::uint64_t slot_number(const set_view& set, word row, std::uint32_t number, unsigned part) {
  return std::uint64_t{row} * set.words_per_row + std::uint64_t{number} * slots_of_row_word + part;
}

/// Returns the bits of a slot of words, or 0 if the slot does not exist.
__device__ inline std::uint32_t bits_of_slot(const set_view& set, std::uint64_t number) {
  for (std::uint64_t at = storage::scale(storage::mix(number), set.capacity);;
       at = at + 1 == set.capacity ? 0 : at + 1) {
    const std::uint64_t seen = *static_cast<volatile std::uint64_t*>(set.slots + at);
    if (seen == 0) return 0;
    if (seen >> packed_word::bits == number) return static_cast<std::uint32_t>(seen) & slot_mask;
  }
}

__device__ inline void set_bits_of_slot(const set_view& set, std::uint64_t number, std::uint32_t bits) {
  for (std::uint64_t at = storage::scale(storage::mix(number), set.capacity);;
       at = at + 1 == set.capacity ? 0 : at + 1) {
    auto* const slot = reinterpret_cast<unsigned long long*>(set.slots + at);
    std::uint64_t seen = *static_cast<volatile unsigned long long*>(slot);
    if (seen == 0) {
      seen = atomicCAS(slot, 0ULL, static_cast<unsigned long long>(number << packed_word::bits | bits));
      if (seen == 0) return;
    }
    if (seen >> packed_word::bits != number) continue;
    atomicOr(slot, static_cast<unsigned long long>(bits));
    return;
  }
}

/// Returns the values of a word that the set does not contain.
__device__ inline std::uint32_t missing_values(const set_view& set, word row, std::uint32_t number,
                                               std::uint32_t mask) {
  if (set.bits != nullptr) return mask & ~set.bits[std::uint64_t{row} * set.stride + number];
  std::uint32_t known = 0;
  if (set.words_per_row != 0) {
    for (unsigned part = 0; part < slots_of_row_word; ++part) {
      if ((mask >> (part * packed_word::bits) & slot_mask) != 0)
        known |= bits_of_slot(set, slot_number(set, row, number, part)) << (part * packed_word::bits);
    }
  } else {
    for (std::uint32_t left = mask; left != 0; left &= left - 1) {
      const auto bit = static_cast<unsigned>(backend::gpu::lowest_bit(left));
      if (storage::gpu::contains_packed(set, storage::pack(row, number << row_word_bits | bit))) known |= 1U << bit;
    }
  }
  return mask & ~known;
}

/// Inserts missing values of a word.
__device__ inline void insert_values(const set_view& set, word row, std::uint32_t number, std::uint32_t mask) {
  if (set.bits != nullptr) {
    set.bits[std::uint64_t{row} * set.stride + number] |= mask;
  } else if (set.words_per_row != 0) {
    for (unsigned part = 0; part < slots_of_row_word; ++part) {
      const std::uint32_t bits = mask >> (part * packed_word::bits) & slot_mask;
      if (bits != 0) set_bits_of_slot(set, slot_number(set, row, number, part), bits);
    }
  } else {
    for (std::uint32_t left = mask; left != 0; left &= left - 1) {
      const auto bit = static_cast<unsigned>(backend::gpu::lowest_bit(left));
      storage::gpu::insert_packed(set, storage::pack(row, number << row_word_bits | bit));
    }
  }
}

}  // namespace gpulog::kernels::gpu

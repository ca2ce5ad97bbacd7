#pragma once

#include <cstdint>

#include "backend/gpu/wave.hpp"
#include "storage/records/device_records.hpp"
#include "storage/sets/hash.hpp"

/// Finding and creating records in kernels.
namespace gpulog::storage::gpu {

/// A slot: the upper half of the fields' hash, then the record's number; 0: free. `being_made` replaces the number
/// while a thread writes the fields.
constexpr unsigned record_bits = 32;
constexpr word being_made = UINT32_MAX;

[[nodiscard]] __device__ inline std::uint64_t record_slot(std::uint32_t tag, word record) {
  return static_cast<std::uint64_t>(tag) << record_bits | record;
}
/// Returns where probing starts, from the part of the hash that a slot stores.
[[nodiscard]] __device__ inline std::uint64_t record_home(std::uint32_t tag, std::uint64_t slot_count) {
  return scale(static_cast<std::uint64_t>(tag) << record_bits, slot_count);
}

template <class Field>
[[nodiscard]] __device__ std::uint32_t record_tag(std::uint32_t arity, const Field& field) {
  key_hash hash;
  for (std::uint32_t f = 0; f < arity; ++f) hash.add(field(f));
  return static_cast<std::uint32_t>(mix(hash.value()) >> record_bits);
}

/// Returns each thread's record, or nil_record if none exists. All threads of a wave call this and leave together, so
/// that a thread waiting for a record cannot block the thread that creates the record.
/// @param active whether the thread looks up a record
/// @param makes whether to create a missing record
/// @param field field(f), for an active thread
/// @param no_room set if a record could not be created for lack of space
template <class Field>
[[nodiscard]] __device__ word look_up_record(const record_view& table, bool active, bool makes, const Field& field,
                                             bool& no_room) {
  const std::uint32_t tag = active ? record_tag(table.arity, field) : 0;
  std::uint64_t at = record_home(tag, table.slot_count);
  word found = nil_record;
  bool searches = active;
  do {
    if (searches) {
      auto* const slot = reinterpret_cast<unsigned long long*>(table.slots + at);
      std::uint64_t seen = *static_cast<volatile unsigned long long*>(slot);
      if (seen == 0 && !makes) {
        searches = false;
      } else if (seen == 0 && *static_cast<volatile std::uint64_t*>(table.count) >= table.safe_records) {
        no_room = true;
        searches = false;
      } else if (seen == 0) {
        seen = atomicCAS(slot, 0ULL, static_cast<unsigned long long>(record_slot(tag, being_made)));
        if (seen == 0) {
          const std::uint64_t place = atomicAdd(reinterpret_cast<unsigned long long*>(table.count), 1ULL);
          word* const fields = table.fields + place * table.arity;
          for (std::uint32_t f = 0; f < table.arity; ++f) fields[f] = field(f);
          __threadfence();
          found = static_cast<word>(place + 1);
          atomicExch(slot, static_cast<unsigned long long>(record_slot(tag, found)));
          searches = false;
        }
      }
      const auto number = static_cast<word>(seen);
      if (searches && seen != 0 && (seen >> record_bits != tag || number != being_made)) {
        bool same = seen >> record_bits == tag;
        // This multiprocessor's first-level cache may hold old contents.
        const word* const fields = table.fields + (number - 1ULL) * table.arity;
        for (std::uint32_t f = 0; f < table.arity && same; ++f)
          same = backend::gpu::load_past_first_cache(fields + f) == field(f);
        if (same) {
          found = number;
          searches = false;
        } else {
          at = at + 1 == table.slot_count ? 0 : at + 1;
        }
      }
    }
  } while (backend::gpu::any_lane(searches));
  return found;
}

}  // namespace gpulog::storage::gpu

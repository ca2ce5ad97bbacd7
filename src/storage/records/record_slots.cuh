#pragma once

#include <cstdint>

#include "backend/gpu/wave.hpp"
#include "storage/records/device_records.hpp"
#include "storage/sets/hash.hpp"

/// How kernels find and make records.
namespace gpulog::storage::gpu {

/// A slot: the upper half of the fields' hash above the record's number; 0: free. `being_made` stands for the number
/// while the fields are written.
constexpr unsigned record_bits = 32;
constexpr word being_made = UINT32_MAX;

[[nodiscard]] __device__ inline std::uint64_t record_slot(std::uint32_t tag, word record) {
  return static_cast<std::uint64_t>(tag) << record_bits | record;
}
/// Where the probes of a hash begin: by what a slot has of it.
[[nodiscard]] __device__ inline std::uint64_t record_home(std::uint32_t tag, std::uint64_t slot_count) {
  return scale(static_cast<std::uint64_t>(tag) << record_bits, slot_count);
}

template <class Field>
[[nodiscard]] __device__ std::uint32_t record_tag(std::uint32_t arity, const Field& field) {
  key_hash hash;
  for (std::uint32_t f = 0; f < arity; ++f) hash.add(field(f));
  return static_cast<std::uint32_t>(mix(hash.value()) >> record_bits);
}

/// Each thread's record: its number, or nil_record where there is none. All threads of a wave call it, and leave
/// together: one that waits for a record that another one makes never keeps that one from going on.
/// @param active whether the thread looks for one
/// @param makes whether a record that isn't there is made
/// @param field field(f), of an active thread
/// @param no_room set where a record should have been made and there was no room
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
        // This processor's first cache may have what stood there before.
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

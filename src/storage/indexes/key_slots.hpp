#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

#include "backend/array.hpp"
#include "storage/sets/hash.hpp"

namespace gpulog::storage {

/// The hash table of a key level, from a key to the number of its group: open addressing with linear probing. A slot
/// holds the number + 1 in its lower bits, and a print of the key in its upper bits: slots of 64 bits all bits of a key
/// of one word, slots of 32 bits as many as the numbers leave.
template <class Slot>
class key_slots {
 public:
  static constexpr std::uint64_t no_group = UINT64_MAX;

  explicit key_slots(backend::memory_resource& resource) : slots_(resource) {}

  [[nodiscard]] std::uint64_t bytes() const { return slots_.bytes(); }
  [[nodiscard]] std::uint64_t home(std::uint64_t code) const { return scale(mix(code), slots_.size()); }
  void prefetch(std::uint64_t home) const { __builtin_prefetch(slots_.data() + home); }
  void release() { slots_.release(); }

  /// Becomes empty, with room for this many groups.
  void open(std::uint64_t groups) {
    number_with(groups);
    slots_.resize(2 * groups + 2);
    std::fill_n(slots_.data(), slots_.size(), free_slot);
  }

  /// @param same same(group) returns whether the group has the key; only called for groups with the print of the key
  template <class Same>
  [[nodiscard]] std::uint64_t find(std::uint64_t code, std::uint64_t home, const Same& same) const {
    const Slot found = slots_[place_of(code, home, same)];
    return found == free_slot ? no_group : group_of(found);
  }
  /// Adds a group unless the key has one.
  /// @return the group of the key
  template <class Same>
  std::uint64_t add(std::uint64_t code, std::uint64_t group, const Same& same) {
    Slot& place = slots_[place_of(code, home(code), same)];
    if (place == free_slot) place = make_slot(code, group);
    return group_of(place);
  }

  /// Replaces the contents by groups 0 .. groups-1, which have distinct keys.
  /// @param code_of code_of(group) returns the code of the group's key
  /// @param has_spare_room whether later contents will use the memory again
  template <class Backend, class CodeOf>
  void fill(Backend& backend, std::uint64_t groups, double load, bool has_spare_room, const CodeOf& code_of) {
    number_with(groups);
    const auto capacity = static_cast<std::uint64_t>(static_cast<double>(groups) / load) + 2;
    if (slots_.capacity() < capacity) {
      slots_.release();
      // Fresh memory is zero.
      slots_.set_capacity(has_spare_room ? capacity + capacity / 4 : capacity);
      slots_.resize(capacity);
    } else {
      slots_.resize(capacity);
      backend.fill(slots_.data(), capacity, free_slot);
    }
    if (backend.workers() == 1) {
      insert_all(backend, groups, code_of, [](Slot& place, Slot used) {
        if (place != free_slot) return false;
        place = used;
        return true;
      });
    } else {
      insert_all(backend, groups, code_of, [](Slot& place, Slot used) {
        Slot expected = free_slot;
        return __atomic_compare_exchange_n(&place, &expected, used, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
      });
    }
  }

 private:
  static constexpr Slot free_slot = 0;

  void number_with(std::uint64_t groups) {
    const auto number_bits =
        sizeof(Slot) == sizeof(word) ? static_cast<int>(std::bit_width(groups)) : std::numeric_limits<word>::digits;
    number_mask_ = static_cast<Slot>((std::uint64_t{1} << number_bits) - 1);
  }
  [[nodiscard]] static Slot print_of(std::uint64_t code) {
    if constexpr (sizeof(Slot) == sizeof(std::uint64_t)) {
      return code << std::numeric_limits<word>::digits;
    } else {
      // Each bit of the code reaches the upper bits.
      return (static_cast<word>(code) + static_cast<word>(code >> 32) * 0x9e3779b1U) * 0x85ebca6bU;
    }
  }
  [[nodiscard]] Slot make_slot(std::uint64_t code, std::uint64_t group) const {
    return (print_of(code) & ~number_mask_) | static_cast<Slot>(group + 1);
  }
  [[nodiscard]] std::uint64_t group_of(Slot used) const { return std::uint64_t{used & number_mask_} - 1; }

  /// Returns the position of the key's slot, or of the free slot where the key belongs.
  template <class Same>
  [[nodiscard]] std::uint64_t place_of(std::uint64_t code, std::uint64_t home, const Same& same) const {
    const Slot* const slots = slots_.data();
    const std::uint64_t size = slots_.size();
    const Slot wanted = print_of(code);
    std::uint64_t at = home;
    for (; slots[at] != free_slot; at = at + 1 == size ? 0 : at + 1) {
      if (((slots[at] ^ wanted) & ~number_mask_) == 0 && same(group_of(slots[at]))) break;
    }
    return at;
  }

  /// @param take stores a used slot in a place if the place is free, and returns whether it was
  template <class Backend, class CodeOf, class Take>
  void insert_all(Backend& backend, std::uint64_t groups, const CodeOf& code_of, const Take& take) {
    Slot* const slots = slots_.data();
    const std::uint64_t size = slots_.size();
    backend.for_each(groups, [this, slots, size, code_of, take](std::uint64_t group) {
      const std::uint64_t code = code_of(group);
      std::uint64_t at = scale(mix(code), size);
      while (!take(slots[at], make_slot(code, group))) {
        if (++at == size) at = 0;
      }
    });
  }

  backend::array<Slot> slots_;
  Slot number_mask_ = 0;
};

}  // namespace gpulog::storage

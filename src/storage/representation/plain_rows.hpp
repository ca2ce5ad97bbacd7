#pragma once

#include <algorithm>
#include <cstdint>

#include "storage/representation/representation.hpp"
#include "support/error.hpp"

namespace gpulog::storage {

/// A relation without columns: the only tuple exists or not.
class nullary_rows : public row_representation {
 public:
  static constexpr representation_abilities abilities{.has_columns = false, .inserts_at_once = true};
  using row_representation::row_representation;

  [[nodiscard]] static const char* name() { return "none"; }
  [[nodiscard]] static bool has_room(std::uint64_t) { return true; }
  template <class Backend>
  void make_room(Backend&, std::uint64_t, const backend::piece_runner&) {}
  template <class>
  std::uint32_t insert(const word* const*, std::uint32_t n, insert_scratch&, unsigned) {
    return n != 0 && rows_->tail.exchange(1, std::memory_order_relaxed) == 0 ? 1 : 0;
  }
  void contains(const word* const*, std::uint32_t n, insert_scratch&, std::uint8_t* found) const {
    std::fill_n(found, n, static_cast<std::uint8_t>(rows_->end()));
  }
};
static_assert(representation<nullary_rows>);

/// A relation without a set: its rows are known to be distinct, and no tuples are looked up.
class distinct_rows : public row_representation {
 public:
  static constexpr representation_abilities abilities{.inserts_at_once = true};
  using row_representation::row_representation;

  [[nodiscard]] static const char* name() { return "none"; }
  template <class Access>
  std::uint32_t insert(const word* const* values, std::uint32_t n, insert_scratch&, unsigned) {
    return rows_->append<Access>(values, n);
  }
  [[noreturn]] void contains(const word* const*, std::uint32_t, insert_scratch&, std::uint8_t*) const {
    throw internal_error("a relation without a set is asked for a tuple");
  }
};
static_assert(representation<distinct_rows>);

}  // namespace gpulog::storage

#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "backend/array.hpp"
#include "support/long_vector.hpp"

namespace gpulog::storage {

/// Groups of words in rows of bits, initially zero: only groups with bits are stored.
class row_groups {
 public:
  static constexpr std::uint64_t word_size = 64;
  static constexpr std::uint64_t words = 16;
  static constexpr std::uint64_t bits = words * word_size;
  /// The next places reserved for a worker.
  struct reserve {
    std::uint32_t next = 0;
    std::uint32_t end = 0;
  };

  row_groups() = default;
  /// @param most maximum number of places
  row_groups(backend::memory_resource& resource, std::uint64_t most, unsigned workers)
      : resource_(&resource), chunks_(most / chunk_groups + workers + 2) {}

  /// Returns a free place, which is never 0.
  /// @throws backend::memory_exceeded
  [[nodiscard]] std::uint32_t take(reserve& own) {
    if (own.next == own.end) take_chunk(own);
    return own.next++;
  }
  [[nodiscard]] std::uint64_t* at(std::uint32_t place) {
    return chunks_[place / chunk_groups].data() + place % chunk_groups * words;
  }
  [[nodiscard]] const std::uint64_t* at(std::uint32_t place) const {
    return chunks_[place / chunk_groups].data() + place % chunk_groups * words;
  }
  [[nodiscard]] std::uint64_t bytes() const { return used_ * chunk_groups * words * sizeof(std::uint64_t); }

 private:
  static constexpr std::uint32_t chunk_groups = 1024;

  void take_chunk(reserve& own) {
    const std::lock_guard lock(*growing_);
    chunks_.at(used_) = backend::array<std::uint64_t>(*resource_, chunk_groups * words);
    own.next = static_cast<std::uint32_t>(used_ * chunk_groups);
    own.end = own.next + chunk_groups;
    if (used_++ == 0) ++own.next;  // 0 is not a place
  }

  backend::memory_resource* resource_ = nullptr;
  long_vector<backend::array<std::uint64_t>> chunks_;  // maximum number of chunks; only the first ones are allocated
  std::size_t used_ = 0;
  std::unique_ptr<std::mutex> growing_ = std::make_unique<std::mutex>();
};

}  // namespace gpulog::storage

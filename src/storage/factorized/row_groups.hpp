#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "backend/array.hpp"

namespace gpulog::storage {

/// Groups of words of rows of bits, all zero at first: only groups with bits have a place.
class row_groups {
 public:
  static constexpr std::uint64_t word_size = 64;
  static constexpr std::uint64_t words = 16;
  static constexpr std::uint64_t bits = words * word_size;
  /// Places that a worker may take next.
  struct reserve {
    std::uint32_t next = 0;
    std::uint32_t end = 0;
  };

  row_groups() = default;
  /// @param most places that are taken
  row_groups(backend::memory_resource& resource, std::uint64_t most, unsigned workers)
      : resource_(&resource), chunks_(most / chunk_groups + workers + 2) {}

  /// Not 0. @throws backend::memory_exceeded
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
    if (used_++ == 0) ++own.next;  // 0 is no place
  }

  backend::memory_resource* resource_ = nullptr;
  std::vector<backend::array<std::uint64_t>> chunks_;  // as many as there can be; the first ones are there
  std::size_t used_ = 0;
  std::unique_ptr<std::mutex> growing_ = std::make_unique<std::mutex>();
};

}  // namespace gpulog::storage

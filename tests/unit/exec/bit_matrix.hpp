#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpulog::exec {

/// A relation over nodes 0..n-1 as a bit matrix: the reference for results on graphs.
class bit_matrix {
 public:
  explicit bit_matrix(std::size_t nodes) : nodes_(nodes), words_((nodes + 63) / 64), bits_(nodes * words_) {}

  [[nodiscard]] std::size_t nodes() const { return nodes_; }
  void set(std::size_t from, std::size_t to) { bits_[from * words_ + to / 64] |= 1ULL << (to % 64); }
  [[nodiscard]] bool has(std::size_t from, std::size_t to) const {
    return (bits_[from * words_ + to / 64] >> (to % 64) & 1) != 0;
  }
  friend bool operator==(const bit_matrix&, const bit_matrix&) = default;

  friend bit_matrix operator|(bit_matrix a, const bit_matrix& b) {
    for (std::size_t i = 0; i < a.bits_.size(); ++i) a.bits_[i] |= b.bits_[i];
    return a;
  }
  /// Returns the pairs (x, y) with (x, z) in a and (z, y) in b for some z.
  friend bit_matrix operator*(const bit_matrix& a, const bit_matrix& b) {
    bit_matrix result(a.nodes_);
    for (std::size_t x = 0; x < a.nodes_; ++x) {
      for (std::size_t z = 0; z < a.nodes_; ++z) {
        if (!a.has(x, z)) continue;
        for (std::size_t w = 0; w < a.words_; ++w) result.bits_[x * a.words_ + w] |= b.bits_[z * b.words_ + w];
      }
    }
    return result;
  }
  [[nodiscard]] bit_matrix turned() const {
    bit_matrix result(nodes_);
    for (std::size_t x = 0; x < nodes_; ++x) {
      for (std::size_t y = 0; y < nodes_; ++y) {
        if (has(x, y)) result.set(y, x);
      }
    }
    return result;
  }
  [[nodiscard]] bit_matrix without_diagonal() const {
    bit_matrix result = *this;
    for (std::size_t x = 0; x < nodes_; ++x) result.bits_[x * words_ + x / 64] &= ~(1ULL << (x % 64));
    return result;
  }

 private:
  std::size_t nodes_;
  std::size_t words_;
  std::vector<std::uint64_t> bits_;
};

}  // namespace gpulog::exec

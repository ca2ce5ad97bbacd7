#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/task_runner.hpp"

/// A hash of 128 bits that identifies the content of files. Not safe against contents made to collide.
namespace gpulog::io {

struct content_hash {
  std::array<std::uint64_t, 2> words{};

  /// Returns 32 hexadecimal digits.
  [[nodiscard]] std::string text() const;
  friend bool operator==(const content_hash&, const content_hash&) = default;
};

/// Hashes bytes that arrive in parts; the division into parts does not matter. The content is hashed in pieces of a
/// fixed size, so that threads can share the work (hash_content).
class content_hasher {
 public:
  void add(std::string_view bytes);
  [[nodiscard]] content_hash finish();

 private:
  /// Eight sums of products, each over an eighth of the words.
  struct sums {
    std::array<std::uint64_t, 4> first{}, second{};
  };
  static constexpr std::size_t stripe_bytes = 64;

  static void add_stripe(sums& to, const char* stripe);
  void add_to_piece(std::string_view bytes);
  void finish_piece();

  sums sums_;
  std::array<char, stripe_bytes> rest_{};  ///< the bytes of an incomplete stripe
  std::size_t piece_size_ = 0;
  std::uint64_t size_ = 0;
  std::vector<content_hash> pieces_;

  friend content_hash hash_content(std::string_view bytes, task_runner& run);
  [[nodiscard]] static content_hash join(const std::vector<content_hash>& pieces, std::uint64_t bytes);
};

/// Returns the hash of a content_hasher, computed by several threads.
[[nodiscard]] content_hash hash_content(std::string_view bytes, task_runner& run);

}  // namespace gpulog::io

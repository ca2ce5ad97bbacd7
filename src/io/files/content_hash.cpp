#include "io/files/content_hash.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "backend/gpu/host_device.hpp"

namespace gpulog::io {
namespace {

constexpr std::size_t hashed_piece_bytes = std::size_t{1} << 22;

// Digits of the square roots of primes.
constexpr std::array<std::uint64_t, 4> first_keys = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b,
                                                     0xa54ff53a5f1d36f1};
constexpr std::array<std::uint64_t, 4> second_keys = {0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b,
                                                      0x5be0cd19137e2179};

/// Returns both halves of the product, combined.
std::uint64_t fold_product(std::uint64_t a, std::uint64_t b) { return (a * b) ^ backend::multiply_high(a, b); }

}  // namespace

std::string content_hash::text() const { return fmt::format("{:016x}{:016x}", words[0], words[1]); }

void content_hasher::add_stripe(sums& to, const char* stripe) {
  std::array<std::uint64_t, 8> words;
  std::memcpy(words.data(), stripe, stripe_bytes);
  for (std::size_t lane = 0; lane < 4; ++lane) {
    const std::uint64_t a = words[2 * lane];
    const std::uint64_t b = words[2 * lane + 1];
    to.first[lane] = fold_product(a ^ first_keys[lane], b ^ to.first[lane]);
    to.second[lane] = fold_product(b ^ second_keys[lane], a ^ to.second[lane]);
  }
}

void content_hasher::add_to_piece(std::string_view bytes) {
  const std::size_t in_rest = piece_size_ % stripe_bytes;
  piece_size_ += bytes.size();
  if (in_rest != 0) {
    const std::size_t taken = std::min(bytes.size(), stripe_bytes - in_rest);
    std::copy_n(bytes.data(), taken, rest_.data() + in_rest);
    bytes.remove_prefix(taken);
    if (in_rest + taken < stripe_bytes) return;
    add_stripe(sums_, rest_.data());
  }
  sums running = sums_;
  while (bytes.size() >= stripe_bytes) {
    add_stripe(running, bytes.data());
    bytes.remove_prefix(stripe_bytes);
  }
  sums_ = running;
  std::copy_n(bytes.data(), bytes.size(), rest_.data());
}

void content_hasher::finish_piece() {
  const std::size_t in_rest = piece_size_ % stripe_bytes;
  if (in_rest != 0) {
    std::fill(rest_.begin() + static_cast<std::ptrdiff_t>(in_rest), rest_.end(), '\0');
    add_stripe(sums_, rest_.data());
  }
  content_hash hash{{piece_size_, ~std::uint64_t{piece_size_}}};
  for (std::size_t lane = 0; lane < 4; ++lane) {
    hash.words[0] = fold_product(hash.words[0] ^ sums_.first[lane], first_keys[lane] ^ sums_.second[lane]);
    hash.words[1] = fold_product(hash.words[1] ^ sums_.second[lane], second_keys[lane] ^ sums_.first[lane]);
  }
  pieces_.push_back(hash);
  sums_ = {};
  piece_size_ = 0;
}

void content_hasher::add(std::string_view bytes) {
  size_ += bytes.size();
  while (!bytes.empty()) {
    const std::size_t taken = std::min(bytes.size(), hashed_piece_bytes - piece_size_);
    add_to_piece(bytes.substr(0, taken));
    bytes.remove_prefix(taken);
    if (piece_size_ == hashed_piece_bytes) finish_piece();
  }
}

content_hash content_hasher::finish() {
  if (piece_size_ > 0) finish_piece();
  return join(pieces_, size_);
}

content_hash content_hasher::join(const std::vector<content_hash>& pieces, std::uint64_t bytes) {
  content_hasher all;
  for (const content_hash& piece : pieces)
    all.add_to_piece({reinterpret_cast<const char*>(piece.words.data()), sizeof(piece.words)});
  all.add_to_piece({reinterpret_cast<const char*>(&bytes), sizeof(bytes)});
  all.finish_piece();
  return all.pieces_.front();
}

content_hash hash_content(std::string_view bytes, task_runner& run) {
  std::vector<content_hash> pieces((bytes.size() + hashed_piece_bytes - 1) / hashed_piece_bytes);
  run(pieces.size(), [&](std::size_t number) {
    content_hasher piece;
    piece.add_to_piece(bytes.substr(number * hashed_piece_bytes, hashed_piece_bytes));
    piece.finish_piece();
    pieces[number] = piece.pieces_.front();
  });
  return content_hasher::join(pieces, bytes.size());
}

}  // namespace gpulog::io

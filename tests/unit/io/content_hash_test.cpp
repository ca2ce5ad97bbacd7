#include "io/files/content_hash.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <random>
#include <set>
#include <string>

namespace gpulog::io {
namespace {

std::string random_bytes(std::size_t size, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

content_hash hash_in_parts(const std::string& bytes, std::size_t part) {
  content_hasher hasher;
  for (std::size_t begin = 0; begin < bytes.size(); begin += part)
    hasher.add(std::string_view(bytes).substr(begin, part));
  return hasher.finish();
}

TEST(content_hash, parts_and_threads_do_not_matter) {
  constexpr std::size_t piece = std::size_t{1} << 22;
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{63}, std::size_t{64}, std::size_t{65},
                                 std::size_t{1000}, piece - 1, piece, piece + 1, 2 * piece + 77}) {
    const std::string bytes = random_bytes(size, size);
    const content_hash expected = hash_in_parts(bytes, size + 1);
    for (const unsigned threads : {1U, 2U, 4U}) {
      task_runner run(threads);
      EXPECT_EQ(hash_content(bytes, run), expected) << size;
    }
    for (const std::size_t part : {std::size_t{64}, std::size_t{67}, std::size_t{100000}})
      EXPECT_EQ(hash_in_parts(bytes, part), expected) << size << " in parts of " << part;
  }
}

TEST(content_hash, every_bit_and_the_length_matter) {
  std::set<std::string> hashes;
  std::size_t contents = 0;
  const auto add = [&](const std::string& bytes) {
    hashes.insert(hash_in_parts(bytes, 1000).text());
    ++contents;
  };
  for (const std::size_t size : {std::size_t{1}, std::size_t{8}, std::size_t{64}, std::size_t{129}}) {
    const std::string bytes = random_bytes(size, 7);
    add(bytes);
    for (std::size_t bit = 0; bit < 8 * size; ++bit) {
      std::string changed = bytes;
      changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
      add(changed);
    }
  }
  for (std::size_t size = 0; size < 200; ++size) add(std::string(size, '\0'));
  EXPECT_EQ(hashes.size(), contents);
}

TEST(content_hash, the_text_has_32_digits) { EXPECT_EQ(content_hasher().finish().text().size(), 32U); }

}  // namespace
}  // namespace gpulog::io

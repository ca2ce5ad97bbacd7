// Numbers of tuples, from a hash table and from a table with a place for each value.

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include "backend/cpu/tbb_backend.hpp"
#include "backend/memory_resource.hpp"
#include "kernels/search/tuple_numbering.hpp"

namespace gpulog::kernels {
namespace {

using columns = std::vector<std::vector<word>>;

/// By first appearance, whatever the values and the workers are.
void expect_numbers(const columns& parts, const backend::piece_runner& workers) {
  backend::host_memory memory;
  tuple_numbering numbering(memory, 1);
  columns numbers;
  std::vector<numbered_tuples> tuples;
  for (const auto& part : parts) numbers.emplace_back(part.size());
  for (std::size_t i = 0; i < parts.size(); ++i)
    tuples.push_back({{parts[i].data()}, parts[i].size(), 7, numbers[i].data()});
  numbering.add_all(workers, tuples);
  std::map<word, std::uint32_t> known;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (std::size_t row = 0; row < parts[i].size(); ++row) {
      const word value = parts[i][row];
      const auto next = static_cast<std::uint32_t>(known.size());
      const std::uint32_t expected = known.try_emplace(value, next).first->second;
      EXPECT_EQ(numbers[i][row], 7 + expected);
      EXPECT_EQ(numbering.columns().front()[expected], value);
    }
  }
  EXPECT_EQ(numbering.size(), known.size());
  for (const word value : {word{0}, word{3}, word{99}, word{1'000'000}, UINT32_MAX}) {
    std::uint32_t found = 0;
    numbering.find({&value}, 1, 7, &found);
    EXPECT_EQ(found, known.contains(value) ? 7 + known[value] : tuple_numbering::none);
  }
}

TEST(tuple_numbering, small_and_large_values_by_one_and_several_workers) {
  std::mt19937 random(1);
  for (const word bound : {1U, 5U, 100U, 3'000U, 4'000'000'000U}) {
    for (const std::size_t rows : {0U, 1U, 31U, 33U, 1'000U}) {
      columns parts(3, std::vector<word>(rows));
      parts[1].resize(rows / 2);
      for (auto& part : parts)
        for (word& value : part) value = static_cast<word>(random()) % bound;
      expect_numbers(parts, backend::piece_runner());
      for (const std::uint64_t least : {1U, 10U}) {
        backend::cpu::tbb_backend several(3);
        expect_numbers(parts, backend::piece_runner(several, least));
      }
    }
  }
}

}  // namespace
}  // namespace gpulog::kernels

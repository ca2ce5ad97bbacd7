// Indexes of growing relations on the emulated device find the rows of each key, by one or several prefixes.

#include <map>
#include <random>
#include <unordered_map>

#include "backend/gpu/emulated/settings.hpp"
#include "backend/gpu/for_each.hpp"
#include "on_emulated_device.hpp"
#include "storage/relation/device_relation.hpp"

namespace gpulog::storage::gpu {
namespace {

using key = std::vector<word>;

/// Adds the count and the sum of the first stored column over the rows of each key in the runs of a view.
struct add_rows_of_key {
  const run_view* runs;
  std::uint64_t run_count;
  const word* keys;  ///< [key column][key]
  std::uint64_t key_count;
  std::uint64_t* counts;
  std::uint64_t* sums;
  __device__ void operator()(std::uint64_t i) const {
    for (std::uint64_t r = 0; r < run_count; ++r) {
      const row_range rows = runs[r].find([&](std::uint32_t c) { return keys[c * key_count + i]; });
      counts[i] += rows.count;
      for (std::uint32_t at = 0; at < rows.count; ++at) sums[i] += runs[r].stored[rows.first + at];
    }
  }
};

class emulated_indexes : public backend::gpu::on_emulated_device {
 protected:
  /// Indexes the rows in steps, and compares what the index finds for each key of `asked` with the rows.
  void compare(const std::vector<key>& rows, const index_layout& layout, const std::vector<std::uint64_t>& steps,
               const std::vector<key>& asked) {
    std::vector<const word*> columns;
    for (std::size_t c = 0; c < rows.front().size(); ++c) {
      std::vector<word> values;
      for (const key& row : rows) values.push_back(row[c]);
      columns.push_back(array(values));
    }
    device_index index(memory, layout, &small);
    std::uint64_t before = 0;
    for (const std::uint64_t end : steps) {
      index.refresh(context, columns, before, end);
      before = end;
    }
    small.flush();
    for (std::size_t level = 0; level < layout.key_lengths.size(); ++level) {
      compare_level(rows, layout, index.views(true, true, level), layout.key_lengths[level], asked);
    }
  }

  backend::gpu::device_context context{0};
  backend::gpu::device_memory memory{context, 0};
  small_run_builder small{context};

 private:
  void compare_level(const std::vector<key>& rows, const index_layout& layout, const std::vector<run_view>& views,
                     std::uint32_t length, const std::vector<key>& asked) {
    std::map<key, std::pair<std::uint64_t, std::uint64_t>> expected;
    const auto key_of = [&](const key& row) {
      key own;
      for (std::uint32_t c = 0; c < length; ++c) own.push_back(row[layout.order[c]]);
      return own;
    };
    for (const key& row : rows) {
      auto& [count, sum] = expected[key_of(row)];
      ++count;
      sum += row[layout.stored[0]];
    }
    std::vector<word> words;
    for (std::uint32_t c = 0; c < length; ++c) {
      for (const key& one : asked) words.push_back(one[layout.order[c]]);
    }
    auto* const counts = zeros<std::uint64_t>(asked.size());
    auto* const sums = zeros<std::uint64_t>(asked.size());
    const auto* const keys = array(words);
    const auto* const runs = array(views);
    backend::gpu::synchronize(stream);
    backend::gpu::for_each(context.stream(), asked.size(),
                           add_rows_of_key{runs, views.size(), keys, asked.size(), counts, sums});
    context.synchronize();
    const std::vector<std::uint64_t> seen_counts = read(counts, asked.size());
    const std::vector<std::uint64_t> seen_sums = read(sums, asked.size());
    backend::gpu::synchronize(stream);
    for (std::size_t i = 0; i < asked.size(); ++i) {
      const auto found = expected.find(key_of(asked[i]));
      const auto wanted = found == expected.end() ? std::pair<std::uint64_t, std::uint64_t>() : found->second;
      EXPECT_EQ((std::pair(seen_counts[i], seen_sums[i])), wanted) << "key " << i << ", length " << length;
    }
  }
};

std::vector<key> random_rows(std::uint64_t count, word values, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<key> rows;
  for (std::uint64_t i = 0; i < count; ++i) {
    key& row = rows.emplace_back();
    for (int c = 0; c < 4; ++c) row.push_back(static_cast<word>(random() % values));
  }
  return rows;
}

TEST_F(emulated_indexes, long_keys) {
  const std::vector<key> rows = random_rows(9'000, 9, 1);
  const std::vector<key> asked = random_rows(2'000, 10, 2);
  compare(rows, {{2, 0, 1}, {3}, {3}}, {100, 1'000, 9'000}, asked);
}

TEST_F(emulated_indexes, keys_of_several_lengths) {
  const std::vector<key> rows = random_rows(9'000, 9, 3);
  const std::vector<key> asked = random_rows(2'000, 10, 4);
  compare(rows, {{2, 0, 1}, {1, 3}, {3}}, {3'000, 4'000, 9'000}, asked);
  compare(rows, {{0, 1}, {1, 2}, {3, 2}}, {9'000, 9'000}, asked);
}

TEST_F(emulated_indexes, keys_with_the_same_fingerprint) {
  std::mt19937 random(5);
  std::unordered_map<std::uint32_t, key> keys;
  std::vector<key> alike;
  while (alike.size() < 6) {
    key one;
    for (int c = 0; c < 3; ++c) one.push_back(static_cast<word>(random()));
    key_hash hash;
    for (const word value : one) hash.add(value);
    const auto [known, is_new] = keys.try_emplace(static_cast<std::uint32_t>(hash.value()), one);
    if (!is_new) alike.insert(alike.end(), {known->second, one});
  }
  // A pair alone in a run shares a few slots.
  for (std::size_t pair = 0; pair < alike.size(); pair += 2) {
    std::vector<key> rows;
    for (word i = 0; i < 6; ++i) {
      key& row = rows.emplace_back(alike[pair + i % 2]);
      row.push_back(100 + i);
    }
    compare(rows, {{0, 1, 2}, {3}, {3}}, {1, 6}, rows);
  }
}

}  // namespace
}  // namespace gpulog::storage::gpu

// Every representation of rows accepts the same operations and ends with the rows that a std::set has.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "backend/cpu/cpu_backend.hpp"
#include "storage/relation/relation.hpp"

namespace gpulog::storage {
namespace {

using tuple = std::vector<word>;
using tuples = std::set<tuple>;
using backend::cpu::serial_backend;

constexpr word below = 50;

/// A kind of a relation, and what it keeps of tuples where that is not all of them.
struct kind {
  const char* name;
  std::uint32_t arity;
  void (*prepare)(relation& target);
  storage_mode mode = storage_mode::hash;
  set_choice sets = set_choice::automatic;
  tuples (*kept)(const tuples& all) = [](const tuples& all) { return all; };
};

void leave(relation&) {}
void bound(relation& target) { target.bound_values(std::vector<std::uint64_t>(target.arity(), below), 1u << 30); }

/// Of a choice whose domain is all columns but the last, and of the best values of the last: the smallest one.
tuples smallest_of_keys(const tuples& all) {
  tuples kept;
  for (const tuple& row : all) {
    const auto same_key = [&row](const tuple& other) { return std::equal(row.begin(), row.end() - 1, other.begin()); };
    if (std::none_of(kept.begin(), kept.end(), same_key)) kept.insert(row);
  }
  return kept;
}
tuples largest_of_keys(const tuples& all) {
  tuples kept;
  for (auto row = all.rbegin(); row != all.rend(); ++row) {
    const auto same_key = [row](const tuple& other) { return std::equal(row->begin(), row->end() - 1, other.begin()); };
    if (std::none_of(kept.begin(), kept.end(), same_key)) kept.insert(*row);
  }
  return kept;
}
tuples closure(const tuples& pairs) {
  std::vector<word> root(below);
  for (word value = 0; value < below; ++value) root[value] = value;
  std::set<word> elements;
  for (const tuple& pair : pairs) {
    const word from = root[pair[0]];
    for (word& one : root) one = one == from ? root[pair[1]] : one;
    elements.insert(pair.begin(), pair.end());
  }
  tuples all;
  for (const word left : elements) {
    for (const word right : elements) {
      if (root[left] == root[right]) all.insert({left, right});
    }
  }
  return all;
}

const std::vector<kind> kinds = {
    {"packed_1", 1, leave},
    {"packed_2", 2, leave},
    {"bits", 2, bound, storage_mode::hash, set_choice::bits},
    {"words", 2, bound, storage_mode::hash, set_choice::words},
    {"narrow", 2,
     [](relation& target) {
       target.bound_values({below, below}, 0);
     }},
    {"hashed", 3, leave},
    {"erasable", 2, [](relation& target) { target.make_erasable(); }},
    {"hisa_1", 1, leave, storage_mode::hisa},
    {"hisa_3", 3, leave, storage_mode::hisa},
    {"choice", 3,
     [](relation& target) {
       target.set_choice_domains({{0, 1}});
     },
     storage_mode::hash, set_choice::automatic, smallest_of_keys},
    {"best", 3,
     [](relation& target) {
       target.keep_best(2, {value_kind::number, false, nullptr});
     },
     storage_mode::hash, set_choice::automatic, smallest_of_keys},
    {"bounds", 3,
     [](relation& target) {
       target.keep_bounds({{2, [](word a, word b) { return std::max(a, b); }}});
     },
     storage_mode::hash, set_choice::automatic, largest_of_keys},
    {"equivalence", 2, [](relation& target) { target.become_equivalence(); }, storage_mode::hash, set_choice::automatic,
     closure},
};

class representations : public testing::TestWithParam<kind> {
 protected:
  [[nodiscard]] std::unique_ptr<relation> make() {
    relation_options options;
    options.mode = GetParam().mode;
    options.sets = GetParam().sets;
    options.candidate_rows = 700;
    auto made = std::make_unique<relation>(memory_, GetParam().arity, options);
    GetParam().prepare(*made);
    return made;
  }
  [[nodiscard]] std::vector<tuple> random_tuples(std::size_t n) {
    std::vector<tuple> rows(n, tuple(GetParam().arity));
    for (tuple& row : rows) {
      for (word& value : row) value = static_cast<word>(random_() % below);
    }
    return rows;
  }
  template <class Access>
  void insert(relation& target, const std::vector<tuple>& rows) {
    for (std::size_t begin = 0; begin < rows.size(); begin += tile_rows) {
      const std::size_t n = std::min<std::size_t>(tile_rows, rows.size() - begin);
      std::vector<std::vector<word>> columns(target.arity());
      std::vector<const word*> values;
      for (std::uint32_t c = 0; c < target.arity(); ++c) {
        for (std::size_t i = 0; i < n; ++i) columns[c].push_back(rows[begin + i][c]);
        values.push_back(columns[c].data());
      }
      while (!target.has_room()) target.make_room(backend_);
      target.insert<Access>(values.data(), static_cast<std::uint32_t>(n), *scratch_, 0);
    }
    target.choose(backend_);
  }
  [[nodiscard]] static std::vector<const word*> columns_of(const tuple& row) {
    std::vector<const word*> values;
    for (const word& value : row) values.push_back(&value);
    return values;
  }
  [[nodiscard]] bool has(const relation& source, const tuple& row) {
    std::uint8_t found = 2;
    source.contains(columns_of(row).data(), 1, *scratch_, &found);
    return found == 1;
  }
  /// Without rows that have been erased.
  [[nodiscard]] tuples rows_of(relation& source) {
    source.write_out();
    tuples rows;
    for (std::uint64_t row = 0; row < source.rows(); ++row) {
      tuple values;
      for (std::uint32_t c = 0; c < source.arity(); ++c) values.push_back(source.column(c)[row]);
      if (!has(source, values)) continue;
      EXPECT_TRUE(rows.insert(values).second);
    }
    source.forget_written();
    return rows;
  }

  serial_backend backend_;
  backend::host_memory memory_;
  std::unique_ptr<insert_scratch> scratch_ = std::make_unique<insert_scratch>();
  std::mt19937_64 random_{5};
};
INSTANTIATE_TEST_SUITE_P(kinds, representations, testing::ValuesIn(kinds),
                         [](const auto& asked) { return std::string(asked.param.name); });

TEST_P(representations, end_with_the_rows_of_a_set) {
  const auto target = make();
  tuples offered;
  tuples expected;
  const bool chooses = std::string(GetParam().name) == "choice";
  for (const std::size_t n : {0, 1, 31, 32, 33, 700, 3000}) {
    SCOPED_TRACE(n);
    const auto rows = random_tuples(n);
    if (n % 2 == 0) {
      insert<exclusive_access>(*target, rows);
    } else {
      insert<concurrent_access>(*target, rows);
    }
    EXPECT_EQ(rows_of(*target), expected) << "rows appear with the next advance";
    target->settle(backend_);
    target->advance();
    tuples found_now(rows.begin(), rows.end());
    // What a choice has taken stays.
    const auto taken = [&expected](const tuple& row) {
      return std::any_of(expected.begin(), expected.end(),
                         [&row](const tuple& other) { return std::equal(row.begin(), row.end() - 1, other.begin()); });
    };
    if (chooses) std::erase_if(found_now, taken);
    offered.insert(found_now.begin(), found_now.end());
    expected = GetParam().kept(offered);
    EXPECT_EQ(rows_of(*target), expected);
    EXPECT_EQ(target->tuples(), expected.size());
    for (const tuple& row : random_tuples(200)) EXPECT_EQ(has(*target, row), expected.contains(row));
  }
  target->complete();
  EXPECT_EQ(target->delta_rows(), 0U);
  target->restart();
  EXPECT_EQ(target->delta_rows(), target->rows());
  EXPECT_EQ(rows_of(*target), expected);
}

TEST_P(representations, of_nothing_have_no_rows_and_little_memory) {
  const auto target = make();
  target->settle(backend_);
  target->advance();
  EXPECT_EQ(target->rows(), 0U);
  EXPECT_FALSE(has(*target, tuple(GetParam().arity)));
  EXPECT_LT(target->bytes(), 100000U);
}

/// A bitmap is of second values.
class representations_of_pairs : public representations {};
std::vector<kind> kinds_of_pairs() {
  std::vector<kind> made;
  std::copy_if(kinds.begin(), kinds.end(), std::back_inserter(made), [](const kind& one) { return one.arity == 2; });
  return made;
}
INSTANTIATE_TEST_SUITE_P(kinds, representations_of_pairs, testing::ValuesIn(kinds_of_pairs()),
                         [](const auto& asked) { return std::string(asked.param.name); });

TEST_P(representations_of_pairs, take_words_of_a_bitmap_as_tuples) {
  const auto target = make();
  tuples offered;
  for (word first = 0; first < 5; ++first) {
    const std::uint64_t bits[] = {random_() & ((1ULL << below) - 1)};
    const std::uint32_t numbers[] = {0};
    while (!target->has_room()) target->make_room(backend_);
    target->insert_words<exclusive_access>(first, {numbers, bits}, 1, *scratch_, 0);
    for (word value = 0; value < below; ++value) {
      if ((bits[0] >> value & 1) != 0) offered.insert({first, value});
    }
  }
  target->settle(backend_);
  target->advance();
  EXPECT_EQ(rows_of(*target), GetParam().kept(offered));
}

}  // namespace
}  // namespace gpulog::storage

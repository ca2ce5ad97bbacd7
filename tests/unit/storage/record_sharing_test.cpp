// Records that two tables number in turn. The other table is one of this machine here, as a device's needs a device.

#include "storage/records/record_sharing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <vector>

namespace gpulog::storage {
namespace {

using pair_of_words = std::array<word, 2>;

/// What shared_records asks of a device's table, in the simplest way.
class other_table {
 public:
  [[nodiscard]] std::uint64_t size() const { return fields_.size() / 2; }
  void append(const word* fields, std::uint64_t records) {
    for (std::uint64_t i = 0; i < records; ++i) add({fields[2 * i], fields[2 * i + 1]});
  }
  void read(word first, std::uint64_t records, word* fields) const {
    std::copy_n(fields_.begin() + 2 * (std::ptrdiff_t{first} - 1), 2 * records, fields);
  }
  word intern(const pair_of_words& fields) {
    const auto found = numbers_.find(fields);
    return found == numbers_.end() ? add(fields) : found->second;
  }
  [[nodiscard]] const word* fields(word record) const { return fields_.data() + 2 * (record - std::size_t{1}); }

 private:
  word add(const pair_of_words& fields) {
    fields_.insert(fields_.end(), fields.begin(), fields.end());
    return numbers_[fields] = static_cast<word>(size());
  }
  std::vector<word> fields_;
  std::map<pair_of_words, word> numbers_;
};

TEST(record_sharing, both_know_what_either_made) {
  record_table host(2);
  const pair_of_words first{1, 2}, second{3, 4}, third{5, 6}, fourth{7, 8};
  EXPECT_EQ(host.intern(first.data()), 1U);
  shared_records<other_table> shared(host, other_table());
  EXPECT_EQ(shared.up_to_date().intern(second), 2U);
  EXPECT_EQ(shared.up_to_date().intern(first), 1U);
  EXPECT_EQ(host.size(), 1U) << "the host has not asked";
  shared.bring_to_host();
  EXPECT_EQ(host.find(second.data()), 2U);
  EXPECT_EQ(host.fields(2)[1], 4U);
  EXPECT_EQ(host.intern(third.data()), 3U);
  EXPECT_EQ(host.intern(second.data()), 2U);
  EXPECT_EQ(shared.up_to_date().intern(fourth), 4U);
  shared.bring_to_host();
  EXPECT_EQ(host.intern(fourth.data()), 4U);
  EXPECT_EQ(host.size(), 4U);
}

TEST(record_sharing, adopted_records_are_read_before_anybody_looks_for_one) {
  record_table host(2);
  shared_records<other_table> shared(host, other_table());
  for (word i = 0; i < 5000; ++i) shared.up_to_date().intern({i, i * 7});
  shared.bring_to_host();
  EXPECT_EQ(host.size(), 5000U);
  EXPECT_TRUE(host.has(5000));
  for (word i = 0; i < 5000; ++i) ASSERT_EQ(host.fields(i + 1)[1], i * 7);
  const pair_of_words missing{1, 1}, known{4999, 4999 * 7};
  EXPECT_EQ(host.find(missing.data()), nil_record);
  EXPECT_EQ(host.find(known.data()), 5000U);
}

TEST(record_sharing, two_that_make_records_at_a_time_are_a_bug) {
  record_table host(2);
  const pair_of_words fields{1, 2};
  shared_records<other_table> shared(host, other_table());
  shared.up_to_date().intern({3, 4});
  host.intern(fields.data());
  EXPECT_THROW(static_cast<void>(shared.up_to_date()), internal_error);
  EXPECT_THROW(shared.bring_to_host(), internal_error);
}

TEST(record_sharing, a_host_without_numbers_says_so) {
  record_table host(2, 3);
  shared_records<other_table> shared(host, other_table());
  for (word i = 0; i < 4; ++i) shared.up_to_date().intern({i, i});
  EXPECT_THROW(shared.bring_to_host(), std::length_error);
}

/// Whoever makes records in whatever order: fields and numbers belong together on both sides.
TEST(record_sharing, numbers_agree_after_any_turns) {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    record_table host(2);
    shared_records<other_table> shared(host, other_table());
    std::map<pair_of_words, word> known;
    const auto check = [&](const pair_of_words& fields, word record) {
      ASSERT_NE(record, nil_record);
      ASSERT_EQ(known.try_emplace(fields, record).first->second, record);
    };
    for (int turn = 0; turn < 20; ++turn) {
      const bool on_host = random() % 2 == 0;
      if (on_host) shared.bring_to_host();
      const word records = random() % 3 == 0 ? 0 : static_cast<word>(random() % 700);
      for (word i = 0; i < records; ++i) {
        const pair_of_words fields{static_cast<word>(random() % 40), static_cast<word>(random() % 60)};
        check(fields, on_host ? host.intern(fields.data()) : shared.up_to_date().intern(fields));
      }
    }
    shared.bring_to_host();
    const other_table& other = shared.up_to_date();
    ASSERT_EQ(host.size(), known.size());
    ASSERT_EQ(other.size(), known.size());
    for (const auto& [fields, record] : known) {
      ASSERT_EQ(host.find(fields.data()), record);
      ASSERT_TRUE(std::equal(fields.begin(), fields.end(), host.fields(record)));
      ASSERT_TRUE(std::equal(fields.begin(), fields.end(), other.fields(record)));
    }
  }
}

}  // namespace
}  // namespace gpulog::storage

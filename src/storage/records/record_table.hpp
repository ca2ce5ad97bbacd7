#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "backend/array.hpp"
#include "support/ids.hpp"

/// Records, hash-consed: equal fields have one number, so that a relation holds a word for a record whatever its size.
namespace gpulog::storage {

/// The number of the record that `nil` is, in every table.
constexpr word nil_record = 0;
/// What a std::length_error says when all are used up.
constexpr const char* too_many_records = "more records (or values that need 64 bits) than a word has numbers";

/// The records of one arity, numbered from 1 in the order in which they were first seen. Append-only; the fields of a
/// record lie together, since a lookup compares and a pattern reads all of them. Threads may do everything at the same
/// time; who has a number may read its fields.
class record_table {
 public:
  /// @param most how many records there may be @param memory where all that grows with the records comes from
  explicit record_table(std::uint32_t arity, word most = UINT32_MAX,
                        backend::memory_resource& memory = backend::unlimited_memory());
  record_table(const record_table&) = delete;
  record_table& operator=(const record_table&) = delete;

  [[nodiscard]] std::uint32_t arity() const { return arity_; }
  /// The record's number; a new one for fields that were not seen before.
  /// @param fields arity() words @throws std::length_error when all numbers of a word are taken,
  /// backend::memory_exceeded; the table is then as it was
  word intern(const word* fields) { return intern(fields, hash_of(fields)); }
  /// The record's number, or nil_record when there is none with these fields.
  [[nodiscard]] word find(const word* fields) const { return find(fields, hash_of(fields)); }
  /// For many records: their hashes first, a prefetch for each, then the same with the hash.
  [[nodiscard]] std::uint64_t hash_of(const word* fields) const;
  void prefetch(std::uint64_t hash) const {
    const shard& owner = shards_[shard_of(hash)];
    // Stale ones are harmless.
    __builtin_prefetch(owner.first.load(std::memory_order_relaxed) +
                       (static_cast<word>(hash) & owner.mask.load(std::memory_order_relaxed)));
  }
  word intern(const word* fields, std::uint64_t hash);
  [[nodiscard]] word find(const word* fields, std::uint64_t hash) const;
  /// arity() words. @param record not nil_record
  [[nodiscard]] const word* fields(word record) const {
    const place where = place_of(record);
    return chunks_[where.chunk].load(std::memory_order_acquire) + where.row * arity_;
  }
  /// Visits the fields of records [first, last] in runs that lie together: visit(fields, number of records).
  template <class Visit>
  void for_each_run(word first, word last, const Visit& visit) const {
    for (std::uint64_t record = first; record <= last;) {
      const place where = place_of(static_cast<word>(record));
      const std::uint64_t in_chunk = (std::uint64_t{1} << (where.chunk + first_chunk_bits)) - where.row;
      const std::uint64_t n = std::min<std::uint64_t>(in_chunk, last - record + 1);
      visit(fields(static_cast<word>(record)), n);
      record += n;
    }
  }
  /// Takes over records that were made elsewhere, under the numbers behind size(); their fields are those of no record
  /// here. write(fields, number of records) fills each run that lies together. Whoever looks for a record next pays for
  /// finding them: most of them are only read. Nobody uses the table meanwhile.
  /// @throws std::length_error when all numbers of a word are taken, backend::memory_exceeded
  template <class Write>
  void adopt(std::uint64_t records, const Write& write) {
    if (records == 0) return;
    const auto first = static_cast<word>(size() + 1);
    const word last = make_places(records);
    for_each_run(first, last, [&](const word* fields, std::uint64_t n) { write(const_cast<word*>(fields), n); });
    size_.store(last, std::memory_order_release);
    not_entered_.store(true, std::memory_order_release);
  }
  /// How many records there may be.
  [[nodiscard]] word most() const { return most_; }
  /// Whether this is the number of a record in here.
  [[nodiscard]] bool has(word record) const { return record != nil_record && record <= size(); }
  [[nodiscard]] std::uint64_t size() const { return size_.load(std::memory_order_acquire); }

 private:
  /// Chunks double, so that a record never moves and a table of few records is small.
  static constexpr unsigned first_chunk_bits = 10;
  static constexpr std::size_t chunk_count = 32 - first_chunk_bits + 1;
  static constexpr std::size_t shard_count = 64;

  struct place {
    std::size_t chunk;
    std::uint64_t row;
  };
  [[nodiscard]] static place place_of(word record);

  /// A part of the hash table, by the upper bits of the hash. Slots have a part of the hash too, so that records are
  /// looked at only where they are mostly equal, and never to grow: each look is a miss of the cache.
  struct alignas(64) shard {
    mutable std::mutex access;
    /// The lower half of the hash above the record's number; nil_record: free. A power of two.
    backend::array<std::uint64_t> slots;
    std::size_t used = 0;
    std::atomic<const std::uint64_t*> first = nullptr;  ///< of slots, for prefetches, and how many less one
    std::atomic<std::size_t> mask = 0;
  };

  [[nodiscard]] bool holds(word record, const word* fields) const;
  [[nodiscard]] static std::size_t shard_of(std::uint64_t hash) { return hash >> 58; }
  /// The slot of the record with these fields, or the free one where it belongs.
  [[nodiscard]] std::size_t find_slot(const shard& owner, std::uint64_t hash, const word* fields) const;
  void grow(shard& owner) const;
  [[nodiscard]] word append(const word* fields);
  word* chunk_for(std::size_t number);
  /// @return the last number of so many more records
  word make_places(std::uint64_t records);
  /// Puts adopted records into the hash table.
  void enter_adopted() const;
  void enter(shard& owner, std::uint64_t hash, word record) const;

  std::uint32_t arity_;
  word most_;
  backend::memory_resource* resource_;
  std::atomic<std::uint64_t> size_ = 0;
  std::array<std::atomic<word*>, chunk_count> chunks_{};
  std::array<backend::array<word>, chunk_count> memory_;
  std::mutex allocation_;
  // What is in them follows from the records, and so may come late.
  mutable std::array<shard, shard_count> shards_;
  mutable std::mutex entering_;
  mutable std::atomic<bool> not_entered_ = false;  ///< some of the adopted records are in no shard
};

/// The records of a running program: a table for each arity, made when it is first asked for.
class record_tables {
 public:
  /// @param most how many records of an arity there may be @param memory of all tables
  explicit record_tables(word most = UINT32_MAX, backend::memory_resource& memory = backend::unlimited_memory())
      : most_(most), memory_(&memory) {}
  record_table& operator[](std::uint32_t arity);
  /// One more than the largest arity that was asked for.
  [[nodiscard]] std::uint32_t arities() const;

 private:
  word most_;
  backend::memory_resource* memory_;
  mutable std::mutex access_;
  std::vector<std::unique_ptr<record_table>> tables_;  // by arity
};

}  // namespace gpulog::storage

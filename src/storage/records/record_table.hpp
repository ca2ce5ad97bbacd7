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

/// Hash-consed records: equal fields have one number, so that a relation stores a record of any size in a single word.
namespace gpulog::storage {

/// The number of the record `nil` in every table.
constexpr word nil_record = 0;
/// Message of the std::length_error when all numbers are used.
constexpr const char* too_many_records = "more records (or values that need 64 bits) than a word has numbers";

/// The records of one arity, numbered from 1 in order of first occurrence. Append-only; the fields of a record are
/// contiguous, since a lookup compares and a pattern reads all of them. All functions are thread-safe, and any thread
/// with a number may read its fields.
class record_table {
 public:
  /// @param most maximum number of records
  /// @param memory the source of all memory that grows with the records
  explicit record_table(std::uint32_t arity, word most = UINT32_MAX,
                        backend::memory_resource& memory = backend::unlimited_memory());
  record_table(const record_table&) = delete;
  record_table& operator=(const record_table&) = delete;

  [[nodiscard]] std::uint32_t arity() const { return arity_; }
  /// Returns the record's number; creates a record for new fields.
  /// @param fields arity() words
  /// @throws std::length_error when all numbers of a word are taken, backend::memory_exceeded; the table is then
  ///   unchanged
  word intern(const word* fields) { return intern(fields, hash_of(fields)); }
  /// Returns the record's number, or nil_record if no record has these fields.
  [[nodiscard]] word find(const word* fields) const { return find(fields, hash_of(fields)); }
  /// Computes a hash, for bulk operations: first all hashes, then a prefetch for each, then the operations with the
  /// hashes.
  [[nodiscard]] std::uint64_t hash_of(const word* fields) const;
  void prefetch(std::uint64_t hash) const {
    const shard& owner = shards_[shard_of(hash)];
    // Stale values are harmless.
    __builtin_prefetch(owner.first.load(std::memory_order_relaxed) +
                       (static_cast<word>(hash) & owner.mask.load(std::memory_order_relaxed)));
  }
  word intern(const word* fields, std::uint64_t hash);
  [[nodiscard]] word find(const word* fields, std::uint64_t hash) const;
  /// Returns arity() words.
  /// @param record not nil_record
  [[nodiscard]] const word* fields(word record) const {
    const place where = place_of(record);
    return chunks_[where.chunk].load(std::memory_order_acquire) + where.row * arity_;
  }
  /// Calls visit(fields, number of records) for each contiguous range of records in [first, last].
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
  /// Takes over records created elsewhere, numbered from size() + 1; no record with equal fields may exist. The next
  /// lookup pays for entering the records into the hash table: most of them are only read. No other thread may use the
  /// table.
  /// @param write write(fields, number of records) fills each contiguous range
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
  /// Returns the maximum number of records.
  [[nodiscard]] word most() const { return most_; }
  /// Returns whether the table contains the record.
  [[nodiscard]] bool has(word record) const { return record != nil_record && record <= size(); }
  [[nodiscard]] std::uint64_t size() const { return size_.load(std::memory_order_acquire); }

 private:
  /// Chunk sizes double, so that a record never moves and a table of few records is small.
  static constexpr unsigned first_chunk_bits = 10;
  static constexpr std::size_t chunk_count = 32 - first_chunk_bits + 1;
  static constexpr std::size_t shard_count = 64;

  struct place {
    std::size_t chunk;
    std::uint64_t row;
  };
  [[nodiscard]] static place place_of(word record);

  /// A part of the hash table, selected by the upper bits of the hash. Slots also contain a part of the hash, so that a
  /// lookup reads only records that are likely to be equal, and rehashing reads none: each access is a cache miss.
  struct alignas(64) shard {
    mutable std::mutex access;
    /// The lower half of the hash above the record's number; nil_record: free. The size is a power of two.
    backend::array<std::uint64_t> slots;
    std::size_t used = 0;
    /// Address of `slots`, for prefetches; `mask` is their number minus one.
    std::atomic<const std::uint64_t*> first = nullptr;
    std::atomic<std::size_t> mask = 0;
  };

  [[nodiscard]] bool holds(word record, const word* fields) const;
  [[nodiscard]] static std::size_t shard_of(std::uint64_t hash) { return hash >> 58; }
  /// Returns the slot of the record with these fields, or the free slot for it.
  [[nodiscard]] std::size_t find_slot(const shard& owner, std::uint64_t hash, const word* fields) const;
  void grow(shard& owner) const;
  [[nodiscard]] word append(const word* fields);
  word* chunk_for(std::size_t number);
  /// Returns the last number after allocating the given number of records.
  word make_places(std::uint64_t records);
  /// Enters adopted records into the hash table.
  void enter_adopted() const;
  void enter(shard& owner, std::uint64_t hash, word record) const;

  std::uint32_t arity_;
  word most_;
  backend::memory_resource* resource_;
  std::atomic<std::uint64_t> size_ = 0;
  std::array<std::atomic<word*>, chunk_count> chunks_{};
  std::array<backend::array<word>, chunk_count> memory_;
  std::mutex allocation_;
  // mutable: derived from the records on demand
  mutable std::array<shard, shard_count> shards_;
  mutable std::mutex entering_;
  mutable std::atomic<bool> not_entered_ = false;  ///< whether some adopted records are in no shard
};

/// The records of a running program: one table per arity, created on demand.
class record_tables {
 public:
  /// @param most maximum number of records per arity
  /// @param memory memory for all tables
  explicit record_tables(word most = UINT32_MAX, backend::memory_resource& memory = backend::unlimited_memory())
      : most_(most), memory_(&memory) {}
  record_table& operator[](std::uint32_t arity) {
    // Without a lock: printing finds the table of each record, in all threads.
    const by_arity* const all = all_.load(std::memory_order_acquire);
    const bool is_known = all != nullptr && arity < all->size() && (*all)[arity] != nullptr;
    return is_known ? *(*all)[arity] : create(arity);
  }
  /// Returns one more than the largest arity requested.
  [[nodiscard]] std::uint32_t arities() const;

 private:
  using by_arity = std::vector<record_table*>;

  record_table& create(std::uint32_t arity);

  word most_;
  backend::memory_resource* memory_;
  std::mutex creating_;
  std::vector<std::unique_ptr<record_table>> tables_;
  std::atomic<const by_arity*> all_ = nullptr;               // nullptr in unused places; never changed
  std::vector<std::unique_ptr<const by_arity>> all_so_far_;  // other threads may still read earlier ones
};

}  // namespace gpulog::storage

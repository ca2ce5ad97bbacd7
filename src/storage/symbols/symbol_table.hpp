#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/array.hpp"
#include "support/ids.hpp"

namespace gpulog::storage {

/// Calls work(0) .. work(count-1), in any order and perhaps at the same time, and returns when all are done.
using parallel_runner = std::function<void(std::size_t count, const std::function<void(std::size_t)>& work)>;

/// Texts and their numbers: 0, 1, 2, .. in the order of their first interning.
///
/// A text is stored once, with 8 bytes for its length and the way from its number to it, and 12 to 23 bytes of hash
/// table. intern, find and text may be called by any number of threads at a time; find and text take no lock. Numbers
/// given by concurrent calls of intern depend on timing; use bulk_interning where they must not.
class symbol_table {
 public:
  /// Numbers stay below this, so that the top bit of a word is free while a file is loaded.
  static constexpr std::uint64_t max_symbols = std::uint64_t{1} << 31;

  /// @param memory where all that grows with the texts comes from
  explicit symbol_table(backend::memory_resource& memory = backend::unlimited_memory());
  /// Starts with the given texts, which are distinct: constants[i] gets the number i.
  explicit symbol_table(std::span<const std::string> constants,
                        backend::memory_resource& memory = backend::unlimited_memory());
  ~symbol_table();
  symbol_table(const symbol_table&) = delete;
  symbol_table& operator=(const symbol_table&) = delete;

  /// Where a text is to be looked for.
  struct key {
    std::uint32_t tag;
    std::uint32_t shard_number;
  };
  static key key_of(std::string_view text);

  /// The number of the text, a new one if it has none yet. Throws user_error when the table is full or the text longer
  /// than 4 GiB, backend::memory_exceeded, after which the table is as it was.
  word intern(std::string_view text) { return intern(text, key_of(text)); }
  /// The same with the text's key.
  word intern(std::string_view text, key where);
  /// @throws user_error for a text that is too long to be stored
  static void require_length(std::uint64_t bytes);

  /// Looking up a text waits for memory three times, each time for an address that the last wait gave. Who has many
  /// texts to look up calls these three for all of them, each before the next, so that the waits overlap.
  void prefetch_slot(key where) const;
  void prefetch_entry(key where) const;
  void prefetch_text(key where) const;

  /// The number of the text if it has one.
  [[nodiscard]] std::optional<word> find(std::string_view text) const;
  /// The text of a number that intern returned; valid as long as the table.
  [[nodiscard]] std::string_view text(word id) const;
  /// How many numbers have been given.
  [[nodiscard]] std::uint64_t size() const { return size_.load(std::memory_order_acquire); }
  /// Memory held, in bytes.
  [[nodiscard]] std::uint64_t memory_bytes() const;
  /// Frees hash tables that were outgrown. No other thread may use the symbol table meanwhile.
  void free_outgrown();

 private:
  friend class bulk_interning;

  static constexpr unsigned shard_bits = 6;
  static constexpr std::size_t shard_count = std::size_t{1} << shard_bits;
  static constexpr unsigned first_segment_bits = 10;
  static constexpr std::size_t segment_count = 32 - first_segment_bits;

  /// Open addressing over 8-byte slots: tag in the upper half, number + 1 in the lower; 0 is an empty slot. The tag
  /// also gives the position, so that growing never touches a text.
  struct slot_array {
    slot_array(backend::memory_resource& memory, std::size_t capacity);
    std::size_t mask;
    backend::array<std::atomic<std::uint64_t>> slots;
  };

  struct alignas(64) shard {
    std::atomic<slot_array*> current{nullptr};
    std::mutex inserting;
    std::size_t used = 0;
    std::unique_ptr<slot_array> owner;
    /// Tables that concurrent readers may still be looking at (free_outgrown()).
    std::vector<std::unique_ptr<slot_array>> retired;
    std::vector<backend::array<char>> blocks;
    std::size_t block_bytes = 0;
    char* free_begin = nullptr;
    char* free_end = nullptr;
  };

  struct entry_place {
    std::size_t segment;
    std::size_t offset;
  };
  static entry_place place_of(std::uint64_t id);

  [[nodiscard]] std::optional<word> find(std::string_view text, key where) const;
  word insert(std::string_view text, key where);
  /// The entry of the first text with the tag; nullptr if there is none.
  [[nodiscard]] const char** first_entry(key where) const;
  /// For so many more texts. @param readers_possible the table that is outgrown may be in use
  void make_room(shard& owner, std::size_t texts, bool readers_possible);
  /// There is room.
  static void insert_slot(shard& owner, std::uint32_t tag, word id);
  char* allocate_text(shard& owner, std::size_t bytes);
  static std::size_t stored_bytes(std::string_view text) { return sizeof(std::uint32_t) + text.size(); }
  static void store_text(char* where, std::string_view text);
  void set_entry(std::uint64_t id, const char* stored);
  /// Makes places for the numbers begin .. end-1.
  void ensure_segments(std::uint64_t begin, std::uint64_t end);
  [[noreturn]] static void report_full();

  backend::memory_resource* memory_;
  std::array<shard, shard_count> shards_;
  /// Segment k holds the places of 2^(k + first_segment_bits) consecutive numbers, so that growth moves nothing.
  std::array<std::atomic<const char**>, segment_count> segments_{};
  std::array<backend::array<const char*>, segment_count> segment_memory_;
  std::mutex growing_segments_;
  std::atomic<std::uint64_t> size_{0};
  std::vector<backend::array<char>> bulk_blocks_;
  std::uint64_t bulk_bytes_ = 0;
};

/// Interning by many threads with the numbers that one thread would give.
///
/// The texts of a load are cut into parts, numbered in the order in which one thread would meet them. Each part is
/// filled by one thread, different parts concurrently; a part answers with the final number of a text that the table
/// has, else with a mark that finish() replaces. finish() numbers the new texts as if part 0 had been interned whole,
/// then part 1, and so on. Nothing else may intern between construction and finish(). Without finish() the table is
/// left as it was.
class bulk_interning {
 public:
  bulk_interning(symbol_table& table, std::size_t parts);
  ~bulk_interning();
  bulk_interning(const bulk_interning&) = delete;
  bulk_interning& operator=(const bulk_interning&) = delete;

  class part {
   public:
    /// A number or a mark. The text must stay where it is until finish() has returned.
    word intern(std::string_view text) { return intern(text, symbol_table::key_of(text)); }
    word intern(std::string_view text, symbol_table::key where);
    /// As of symbol_table.
    void prefetch_slot(symbol_table::key where) const;
    void prefetch_entry(symbol_table::key where) const { table_->prefetch_entry(where); }
    void prefetch_text(symbol_table::key where) const { table_->prefetch_text(where); }
    /// Whether a mark was given: else nothing is to be replaced.
    [[nodiscard]] bool has_marks() const { return !texts_.empty(); }
    /// After finish(): the number that a number or mark stands for.
    [[nodiscard]] word resolve(word number_or_mark) const {
      return (number_or_mark & mark_bit) == 0 ? number_or_mark : numbers_[number_or_mark & ~mark_bit];
    }

   private:
    friend class bulk_interning;
    static constexpr word mark_bit = word{1} << 31;

    void grow();

    const symbol_table* table_ = nullptr;
    std::vector<std::string_view> texts_;
    std::vector<symbol_table::key> keys_;
    /// Hash table of this part's new texts: tag in the upper half, position in texts_ + 1 in the lower.
    std::vector<std::uint64_t> slots_;
    std::vector<std::uint32_t> by_shard_;
    std::array<std::uint32_t, symbol_table::shard_count + 1> shard_begin_{};
    /// Where each text appears first: part in the upper half, position in its texts_ in the lower.
    std::vector<std::uint64_t> first_;
    std::vector<word> numbers_;
  };

  [[nodiscard]] part& operator[](std::size_t number) { return parts_[number]; }
  /// Numbers all new texts. Throws as symbol_table::intern.
  void finish(const parallel_runner& run);

 private:
  struct shard_firsts;

  void group_by_shard(std::size_t number);
  void find_firsts(std::size_t shard_number, shard_firsts& firsts);
  void number_part(std::size_t number, std::uint64_t first_id, char* storage);
  void insert_firsts(std::size_t shard_number, const shard_firsts& firsts);

  symbol_table& table_;
  std::vector<part> parts_;
};

}  // namespace gpulog::storage

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

/// Calls work(0) .. work(count-1) in any order, possibly concurrently, and returns after all calls.
using parallel_runner = std::function<void(std::size_t count, const std::function<void(std::size_t)>& work)>;

/// Texts and their numbers: 0, 1, 2, .. in the order in which they were first interned.
///
/// A text is stored once, with 8 bytes for its length and the mapping from its number, and 12 to 23 bytes of hash
/// table. intern, find and text are thread-safe; find and text take no lock. Numbers assigned by concurrent calls of
/// intern depend on timing; use bulk_interning if they must not.
class symbol_table {
 public:
  /// Numbers are less than this, so that the top bit of a word is free during the loading of a file.
  static constexpr std::uint64_t max_symbols = std::uint64_t{1} << 31;

  /// @param memory the source of all memory that grows with the texts
  explicit symbol_table(backend::memory_resource& memory = backend::unlimited_memory());
  /// Starts with the given distinct texts: constants[i] has number i.
  explicit symbol_table(std::span<const std::string> constants,
                        backend::memory_resource& memory = backend::unlimited_memory());
  ~symbol_table();
  symbol_table(const symbol_table&) = delete;
  symbol_table& operator=(const symbol_table&) = delete;

  /// The position of a text in the table.
  struct key {
    std::uint32_t tag;
    std::uint32_t shard_number;
  };
  static key key_of(std::string_view text);

  /// Returns the number of the text; assigns a number to a new text.
  /// @throws user_error when the table is full or the text is longer than 4 GiB, backend::memory_exceeded; the table is
  ///   then unchanged
  word intern(std::string_view text) { return intern(text, key_of(text)); }
  /// Like intern(text), for a known key.
  word intern(std::string_view text, key where);
  /// @throws user_error for a text that is too long to be stored
  static void require_length(std::uint64_t bytes);

  /// A lookup waits for memory three times, each time for an address from the previous wait. For many texts, call these
  /// functions for all texts, one function after another, so that the waits overlap.
  void prefetch_slot(key where) const;
  void prefetch_entry(key where) const;
  void prefetch_text(key where) const;

  /// Returns the number of the text, if it has one.
  [[nodiscard]] std::optional<word> find(std::string_view text) const;
  /// Returns the text of a number from intern(); valid as long as the table.
  [[nodiscard]] std::string_view text(word id) const;
  /// Returns the number of texts.
  [[nodiscard]] std::uint64_t size() const { return size_.load(std::memory_order_acquire); }
  /// Returns the allocated memory in bytes.
  [[nodiscard]] std::uint64_t memory_bytes() const;
  /// Frees hash tables that were outgrown. No other thread may use the symbol table meanwhile.
  void free_outgrown();

 private:
  friend class bulk_interning;

  static constexpr unsigned shard_bits = 6;
  static constexpr std::size_t shard_count = std::size_t{1} << shard_bits;
  static constexpr unsigned first_segment_bits = 10;
  static constexpr std::size_t segment_count = 32 - first_segment_bits;

  /// Open addressing over 8-byte slots: tag in the upper half, number + 1 in the lower half; 0 is an empty slot. The
  /// tag also determines the position, so that growing never reads a text.
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
  /// Returns the entry of the first text with the tag, or nullptr.
  [[nodiscard]] const char** first_entry(key where) const;
  /// Makes room for this number of further texts.
  /// @param readers_possible whether the replaced table may be in use
  void make_room(shard& owner, std::size_t texts, bool readers_possible);
  /// Requires sufficient room.
  static void insert_slot(shard& owner, std::uint32_t tag, word id);
  char* allocate_text(shard& owner, std::size_t bytes);
  static std::size_t stored_bytes(std::string_view text) { return sizeof(std::uint32_t) + text.size(); }
  static void store_text(char* where, std::string_view text);
  void set_entry(std::uint64_t id, const char* stored);
  /// Allocates entries for the numbers begin .. end-1.
  void ensure_segments(std::uint64_t begin, std::uint64_t end);
  [[noreturn]] static void report_full();

  backend::memory_resource* memory_;
  std::array<shard, shard_count> shards_;
  /// Segment k holds the entries of 2^(k + first_segment_bits) consecutive numbers, so that growth moves no entries.
  std::array<std::atomic<const char**>, segment_count> segments_{};
  std::array<backend::array<const char*>, segment_count> segment_memory_;
  std::mutex growing_segments_;
  std::atomic<std::uint64_t> size_{0};
  std::vector<backend::array<char>> bulk_blocks_;
  std::uint64_t bulk_bytes_ = 0;
};

/// Interns texts on many threads with the same numbers as on a single thread.
///
/// The texts of a load are split into parts, numbered in the order in which a single thread would process them. Each
/// part is filled by one thread, different parts concurrently; a part returns the final number of a text in the table,
/// otherwise a mark that finish() replaces. finish() numbers the new texts as if the whole of part 0 had been interned,
/// then part 1, and so on. No other code may intern between construction and finish(). Without finish() the table
/// remains unchanged.
class bulk_interning {
 public:
  bulk_interning(symbol_table& table, std::size_t parts);
  ~bulk_interning();
  bulk_interning(const bulk_interning&) = delete;
  bulk_interning& operator=(const bulk_interning&) = delete;

  class part {
   public:
    /// Returns a number or a mark. The text must remain valid until finish() has returned.
    word intern(std::string_view text) { return intern(text, symbol_table::key_of(text)); }
    word intern(std::string_view text, symbol_table::key where);
    /// Like the functions of symbol_table.
    void prefetch_slot(symbol_table::key where) const;
    void prefetch_entry(symbol_table::key where) const { table_->prefetch_entry(where); }
    void prefetch_text(symbol_table::key where) const { table_->prefetch_text(where); }
    /// Returns whether any mark was returned, so that marks must be replaced.
    [[nodiscard]] bool has_marks() const { return !texts_.empty(); }
    /// Returns the final number for a number or mark; valid after finish().
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
    /// Hash table of the part's new texts: tag in the upper half, position in texts_ + 1 in the lower.
    std::vector<std::uint64_t> slots_;
    std::vector<std::uint32_t> by_shard_;
    std::array<std::uint32_t, symbol_table::shard_count + 1> shard_begin_{};
    /// The first occurrence of each text: part in the upper half, position in its texts_ in the lower.
    std::vector<std::uint64_t> first_;
    std::vector<word> numbers_;
  };

  [[nodiscard]] part& operator[](std::size_t number) { return parts_[number]; }
  /// Numbers all new texts.
  /// @throws like symbol_table::intern()
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
